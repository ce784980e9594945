"""The program's entry: until it is ready to say so in one line, and once it is over, an interrupt just ends it."""

import gc
import os
import signal

from .exits import INTERRUPTED

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
