"""Errors of the program itself: one line that says what to report, and the traceback if that is asked for."""

from __future__ import annotations

import os

DEBUG_VARIABLE = "DELEGATE_SIM_DEBUG"


def fault_message(error: Exception) -> str:
    """Return what to say of an error that no input should cause; its traceback is printed if the variable asks for it."""
    from delegate_sim.errors import fault_text

    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exception(error)
    return f"{fault_text(error)}; please report it with the model, the command line and what {DEBUG_VARIABLE}=1 prints"
