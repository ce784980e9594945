"""Text output about device logs."""
