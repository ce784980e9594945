"""The entry point of the command line."""

import gc
import os
import sys

from .exits import INTERRUPTED

_ALLOCATIONS_BEFORE_COLLECTION = 200_000
"""Number of new objects after which Python looks for unreachable cycles.

Simulations make millions of objects and hardly any cycles. With 50,000, a tenth of the time of a command went
into collections that found nothing.
"""


def main() -> None:
    """Run the command line and exit. An interrupt during imports also ends the program without a traceback."""
    try:
        gc.set_threshold(_ALLOCATIONS_BEFORE_COLLECTION)
        leave_current_folder()
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # Python looks for cycles once more before it ends, although the memory is freed anyway


def leave_current_folder() -> None:
    """Remove the entries of ``PYTHONPATH`` that depend on the current folder, such as an empty entry, from the path."""
    variable = os.environ.get("PYTHONPATH")
    if variable:
        entries = variable.split(os.pathsep)
        relative = {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}
        sys.path[:] = [folder for folder in sys.path if folder in entries or os.path.abspath(folder) not in relative]
