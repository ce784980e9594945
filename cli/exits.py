"""Exit codes."""

DONE = 0
FINDINGS = 1
"""Something is worse than a baseline or a budget allows."""
USAGE = 2
"""Wrong usage, or input that cannot be read."""
INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The reader of the output has closed it."""
