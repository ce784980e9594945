"""Runtime releases: their names, their order, their log lines, and caveats about them."""
