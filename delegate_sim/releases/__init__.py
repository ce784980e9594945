"""Runtime releases: names, order, log lines, and what is unknown about each."""
