"""The entry point of the command line."""

import gc
import sys

from .exits import INTERRUPTED

_COLLECTED_AFTER = 100_000, 30, 30
"""Thresholds of Python's garbage collector. With the usual thresholds, collections take a third of the time of large models."""


def main() -> None:
    """Run the command line and exit. An interrupt during imports also ends the program without a traceback."""
    gc.set_threshold(*_COLLECTED_AFTER)
    try:
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
