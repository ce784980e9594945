"""The report as an HTML page in one file."""
