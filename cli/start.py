"""The entry point of the command line."""

import os
import sys

from .exits import INTERRUPTED


def main() -> None:
    """Run the command line and exit. An interrupt during imports also ends the program without a traceback."""
    try:
        leave_current_folder()
        from .main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def leave_current_folder() -> None:
    """Remove the entries of ``PYTHONPATH`` that depend on the current folder, such as an empty entry, from the path."""
    variable = os.environ.get("PYTHONPATH")
    if variable:
        entries = variable.split(os.pathsep)
        relative = {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}
        sys.path[:] = [folder for folder in sys.path if folder in entries or os.path.abspath(folder) not in relative]
