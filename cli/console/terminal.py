"""Write output to a terminal, pipe or file, with its width, and errors in one line."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from ..exits import BROKEN_PIPE

if TYPE_CHECKING:
    from .progress import Progress

Command = TypeVar("Command", bound=Callable[..., Any])

TEXT_OR_JSON = ("text", "json")
_NARROWEST = 60


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text and its style (of rich) on a terminal that has colors."""

    text: str
    style: str = ""
    parts: tuple[tuple[int, int, str], ...] = ()
    """Parts with styles of their own: first and last column, the latter excluded, and style."""


def print_error(message: str) -> None:
    """Print one line on standard error."""
    from delegate_sim.foundation.printable import printable

    from .runner import neutral

    hide_progress()
    with suppress(OSError):  # there is nobody left to tell
        print(neutral(f"error: {printable(message)}", "text"), file=sys.stderr, flush=True)


def columns() -> int:
    """Return how wide the terminal is: COLUMNS, its own width, or 80."""
    return shutil.get_terminal_size().columns


def width() -> int:
    """Return the width for text, which has a least one; the terminal breaks its lines where it is narrower."""
    return max(columns(), _NARROWEST)


def can_write(text: str) -> bool:
    """Whether standard output has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(text: str | Iterable[str], form: str = "text") -> None:
    """Write a text, or its parts, to standard output and flush; nothing in the text is a command to what runs the program.

    Raises ClickException if it cannot be written, as on a full disk.
    """
    from .runner import neutral

    hide_progress()
    try:
        for part in [text] if isinstance(text, str) else text:
            sys.stdout.write(neutral(part, form))
        sys.stdout.flush()
    except BrokenPipeError:
        _stop_writing()
    except OSError as error:
        silence_stdout()
        raise click.ClickException(f"standard output: {error.strerror or error}") from error


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines to standard output, colored if that is a terminal and NO_COLOR is not set."""
    hide_progress()
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        _write_colored(lines)
    else:
        write(plain(lines))


def plain(lines: Iterable[Line]) -> str:
    """Return the text of lines, without color."""
    return "".join([f"{line.text}\n" for line in lines])


def write_file(path: str, text: str | Iterable[str], *, is_updated: bool = False) -> None:
    """Write a file, replacing an existing one once the new one is complete; an input is replaced only if it ``is_updated``."""
    from delegate_sim.foundation.files import write_whole

    try:
        write_whole(path, text, is_updated=is_updated)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error


def result_options(command: Command) -> Command:
    """Give a command ``--format`` with text and JSON, and ``--output``, for ``write_result``."""
    for option in reversed(_RESULT_OPTIONS):
        command = option(command)
    return command


def table_options(command: Command) -> Command:
    """Give a command ``--format`` with text, JSON and comma-separated values, and ``--output``, for ``write_result``."""
    told = "Text to read, JSON for programs, or comma-separated values, a row for each model and target."
    for option in reversed((format_option(told, (*TEXT_OR_JSON, "csv")), _OUTPUT_OPTION)):
        command = option(command)
    return command


def format_option(
    told: str | None = "Text to read, or JSON for programs.", forms: Sequence[str] = TEXT_OR_JSON
) -> Callable[[Command], Command]:
    """Return the option ``--format``, which is text unless given; ``told`` is its help."""
    return click.option("--format", "form", type=click.Choice(forms), default="text", show_default=True, help=told)


_OUTPUT_OPTION = click.option("--output", metavar="FILE", type=click.Path(), help="Write to a file instead of standard output.")
_RESULT_OPTIONS = (format_option(), _OUTPUT_OPTION)


def write_result(
    form: str,
    output: str | None,
    entry: Callable[[], Any],
    lines: Callable[[], Iterable[Line]],
    sheet: Callable[[], str] | None = None,
) -> None:
    """Write a result as JSON, as text or as the ``sheet`` of comma-separated values, to a file or to standard output.

    Raises ClickException if the file cannot be written.
    """
    if form == "csv" and sheet is not None:
        text = sheet()
        write(text) if output is None else write_file(output, text)
    elif form == "json":
        import json

        text = json.dumps(entry(), indent=2) + "\n"
        write(text, form) if output is None else write_file(output, text)
    elif output is None:
        write_lines(lines())
    else:
        write_file(output, plain(lines()))


_progress: Progress | None = None


def start_progress(program: str) -> None:
    """Show on standard error, if that is a terminal, what is being done whenever it takes more than a second."""
    global _progress  # noqa: PLW0603  # one process has one terminal
    if sys.stderr.isatty():
        from .progress import Progress

        _progress = Progress(sys.stderr, program)


def stop_progress() -> None:
    """Show nothing any more."""
    global _progress  # noqa: PLW0603
    if _progress is not None:
        _progress.stop()
        _progress = None


def show_progress(what: str, share: float = -1.0) -> None:
    """Say what is being done from now on, with a bar if the ``share`` that is done is known, from 0 to 1."""
    if _progress is not None:
        from delegate_sim.foundation.printable import printable

        _progress.show(printable(what), share)


def hide_progress() -> None:
    """Make room for output, which may go to the same terminal."""
    if _progress is not None:
        _progress.hide()


def silence_stdout() -> None:
    """Let the interpreter flush at exit what nobody reads any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop_writing() -> NoReturn:
    silence_stdout()
    raise click.exceptions.Exit(BROKEN_PIPE)


def _write_colored(lines: Iterable[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    from .runner import neutral

    console = Console(file=sys.stdout)
    for line in lines:
        text = Text(neutral(line.text, "text"), style=line.style)
        for start, end, style in line.parts:
            text.stylize(style, start, end)
        console.print(text, soft_wrap=True)
