"""Models that once ended a command in an error, a hang or a flood of memory."""
