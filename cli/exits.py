"""Exit codes."""

DONE = 0
FINDINGS = 1
"""The command found a problem. For example, a result is worse than the baseline or exceeds a budget."""
USAGE = 2
"""The command line is wrong, or an input cannot be read."""
INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The reader of the output closed the pipe."""
