"""Read device logs into plain data."""
