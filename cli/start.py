"""The entry point of the command line."""

import sys

from .exits import INTERRUPTED


def main() -> None:
    """Run the command line and exit; an interrupt while modules are imported ends it without a traceback, as any later one."""
    try:
        import gc

        from .main import main as run

        gc.set_threshold(200_000)  # most objects live until the report: 14 % less time for `diagnose`, which its budget needs
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
