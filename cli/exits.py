"""Exit codes, and the message for an internal error."""

from __future__ import annotations

import os

DONE = 0
FINDINGS = 1
"""The command found a problem. For example, a result is worse than the baseline or exceeds a budget."""
USAGE = 2
"""The command line is wrong, or an input cannot be read."""
INTERNAL_ERROR = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The reader of the output closed the pipe."""

DEBUG_VARIABLE = "DELEGATE_SIM_DEBUG"


def fault_message(error: Exception) -> str:
    """Return the message for an internal error. Print the traceback if ``DEBUG_VARIABLE`` is set to 1."""
    from delegate_sim.errors import fault_text

    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exception(error)
    attached = f"the model, the command line and the output of a run with {DEBUG_VARIABLE}=1"
    return f"{fault_text(error)}; please report this error with {attached}"
