"""The entry point of the command line."""

import sys

from .exits import INTERRUPTED


def main() -> None:
    """Run the command line and exit. An interrupt during imports also ends the program without a traceback."""
    try:
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
