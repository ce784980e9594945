"""Output on terminals and in logs of CI runners: layout, progress, neutralized text."""
