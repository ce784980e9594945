"""Messages for internal errors: one line with instructions for a report, and a traceback if requested."""

from __future__ import annotations

import os

DEBUG_VARIABLE = "DELEGATE_SIM_DEBUG"


def fault_message(error: Exception) -> str:
    """Return the message for an internal error. Print the traceback if ``DEBUG_VARIABLE`` is set to 1."""
    from delegate_sim.errors import fault_text

    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exception(error)
    attached = f"the model, the command line and the output of a run with {DEBUG_VARIABLE}=1"
    return f"{fault_text(error)}; please report this error with {attached}"
