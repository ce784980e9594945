"""The program's entry: until it is ready to say so in one line, and once it is over, an interrupt just ends it."""

import sys


def _end(kind, error, trace) -> None:  # type: ignore[no-untyped-def] # what types are written with takes time to import
    if kind is not KeyboardInterrupt:
        sys.__excepthook__(kind, error, trace)


# Importing what can do better takes half a millisecond, in which an interrupt would print where it happened.
sys.excepthook = _end

import gc  # noqa: E402
import os  # noqa: E402
import signal  # noqa: E402

from .exits import INTERRUPTED  # noqa: E402

signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run the command line and exit."""
    # A model is many small objects that all live until its report is written: garbage collection among them is wasted time.
    gc.set_threshold(200_000)
    from .main import main as run

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        gc.freeze()  # the ending process gives all its memory back at once: no garbage collection need visit every object before
