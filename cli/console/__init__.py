"""Output on terminals and in logs of CI runners: layout, progress, and text without commands to a runner."""
