"""Command lines that users copy into a shell."""

from __future__ import annotations

from collections.abc import Iterable


def command_line(words: Iterable[str]) -> str:
    """Return a command line of delegate-sim.

    >>> command_line(["analyze", typed_path("-my model.tflite")])
    "delegate-sim analyze './-my model.tflite'"
    """
    import shlex  # imported here because most runs print no command

    return shlex.join(["delegate-sim", *words])


def typed_path(path: str | None) -> str:
    """Return a path as typed on a command line: ``-`` for standard input (None), and ``./-NAME`` for a name like an option."""
    if not path:
        return "-"
    return f"./{path}" if path.startswith("-") and path != "-" else path


def install_command(extra: str) -> str:
    """Return the command that installs an optional extra. It runs in a checkout, because no index has the package."""
    return f"pip install '.[{extra}]'"
