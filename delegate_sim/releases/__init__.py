"""Runtime releases: their names, order and log lines, and notes about them."""
