"""Reports of runs: counts, findings, tables and displays."""
