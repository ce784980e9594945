"""The entry point of the command line."""

import gc
import sys

from .exits import INTERRUPTED

_FIRST_COLLECTION = 100_000
"""Number of new objects before the garbage collector looks for cycles.

A large model makes millions of objects that stay. At Python's default of 700, looking at them takes a third of the time.
"""


def main() -> None:
    """Run the command line and exit. Even an interrupt during imports ends the program without a traceback."""
    gc.set_threshold(_FIRST_COLLECTION)
    try:
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
