"""The entry point of the command line."""

import sys

from .exits import INTERRUPTED


def main() -> None:
    """Run the command line and exit; an interrupt while modules are imported ends it without a traceback, as any later one."""
    try:
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
