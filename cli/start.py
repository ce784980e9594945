"""The program's entry: until it is ready to say so in one line, and once it is over, an interrupt just ends it."""

import os
import signal

from .exits import INTERRUPTED

signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run the command line and exit."""
    from .main import main as run

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
