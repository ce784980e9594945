"""Write output to a terminal, pipe or file, and errors as single lines.

GitHub's runner looks for ``::command::`` at the start of a line (after any whitespace) and for ``##[command]`` anywhere in a line
(``ActionCommand.cs`` of ``actions/runner``). Azure's runner looks for ``##vso[``, and TeamCity's for ``##teamcity[``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click

from ..exits import BROKEN_PIPE
from .output_file import Command, Outputs, gathered, output_option, single_output

if TYPE_CHECKING:
    from .progress import Progress


TEXT_OR_JSON = ("text", "json")
_NARROWEST = 60
_FIRST_LINES = "delegate_sim.first_lines"


class Line(NamedTuple):
    """A line of text, and its ``rich`` style on a terminal with colors."""

    text: str
    style: str = ""
    parts: tuple[tuple[int, int, str], ...] = ()
    """Parts with a different style, as (first column, last column + 1, style)."""


def print_error(message: str) -> None:
    """Print an error in one line on standard error."""
    _print_problem("error", message)


def print_warning(message: str) -> None:
    """Print a warning in one line on standard error. A warning does not change the exit code."""
    _print_problem("warning", message)


def _print_problem(kind: str, message: str) -> None:
    from delegate_sim.foundation.printable import printable

    print_on_stderr(neutral(f"{kind}: {printable(message)}", "text"))


def print_on_stderr(text: str) -> None:
    """Print text on standard error. If nobody can read it, continue without it."""
    hide_progress()
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def columns() -> int:
    """Return the width of the terminal in characters: the variable COLUMNS, else the actual width, else 80."""
    return shutil.get_terminal_size().columns


def width() -> int:
    """Return the width for text: the width of the terminal, but at least ``_NARROWEST``."""
    return max(columns(), _NARROWEST)


def can_write(text: str) -> bool:
    """Return whether the encoding of standard output has these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def has_colors() -> bool:
    """Return whether standard output is a terminal with colors: any but a dumb one, unless NO_COLOR is set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str | Iterable[str], form: str = "text") -> None:
    """Write a text, or the parts of a text, to standard output. Commands to a CI runner are neutralized.

    Raises ClickException if writing fails, for example on a full disk.
    """
    for part in [text] if isinstance(text, str) else text:
        hide_progress()
        with _writing():
            sys.stdout.write(neutral(part, form))
    with _writing():
        sys.stdout.flush()


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines to standard output, with color on a terminal unless NO_COLOR is set.

    On a terminal, each line is shown before the next line is computed.
    """
    context = click.get_current_context(silent=True)
    first = [] if context is None else context.meta.pop(_FIRST_LINES, [])
    lines = chain(first, lines)
    if has_colors():
        _write_colored(lines)
    else:
        write((f"{line.text}\n" for line in lines) if sys.stdout.isatty() else plain(lines))


def add_first_line(text: str) -> None:
    """Add a line before the text that the current command writes to standard output."""
    from .layout import wrapped  # the help needs no texts

    lines = [Line(line, "dim") for line in wrapped(text, width(), "", "  ")]
    click.get_current_context().meta.setdefault(_FIRST_LINES, []).extend(lines)


def plain(lines: Iterable[Line]) -> str:
    """Return the text of lines, without color."""
    return "".join([f"{line.text}\n" for line in lines])


def write_file(path: str, text: str | bytes | Iterable[str], *, is_updated: bool = False) -> None:
    """Write a file. An existing file is replaced when the new text is complete.

    An input file of the command is replaced only if ``is_updated`` is true. Raises ClickException.
    """
    from delegate_sim.foundation.files import naming_file, write_whole

    with naming_file(path, click.ClickException):
        write_whole(path, text, is_updated=is_updated)


def result_options(command: Command) -> Command:
    """Add ``--output`` and ``--format`` (text or JSON) to a command, which receives ``Outputs`` as ``outputs``."""
    return format_option()(output_option()(gathered("outputs", single_output)(command)))


def table_options(command: Command) -> Command:
    """Add ``--output`` and ``--format`` (text, JSON or CSV) to a command, which receives ``Outputs`` as ``outputs``."""
    told = "Text to read, JSON for programs, or CSV with a row for each model and target."
    return format_option(told, (*TEXT_OR_JSON, "csv"))(output_option()(gathered("outputs", single_output)(command)))


def format_option(
    told: str | None = "Text to read, or JSON for programs.", forms: Sequence[str] = TEXT_OR_JSON
) -> Callable[[Command], Command]:
    """Return the option ``--format``. The default format is text. ``told`` is the help text."""
    return click.option("--format", "form", type=click.Choice(forms), default="text", show_default=True, help=told)


def write_result(
    outputs: Outputs,
    entry: Callable[[], Any],
    lines: Callable[[], Iterable[Line]],
    sheet: Callable[[], str] | None = None,
) -> None:
    """Write a result as JSON, text or CSV (``sheet``) to a file or to standard output.

    Raises ClickException if the file cannot be written.
    """
    form, output, _ = outputs
    if form == "csv" and sheet is not None:
        write_to(sheet(), "text", output)
    elif form == "json":
        import json

        write_to(json.dumps(entry(), indent=2, default=str) + "\n", form, output)
    elif output is None:
        write_lines(lines())
    else:
        write_file(output, plain(lines()))


def write_to(text: str, form: str, output: str | None) -> None:
    """Write a text to a file, or to standard output if ``output`` is None. Raises ClickException if writing fails."""
    if output is None:
        write(text, form)
    else:
        write_file(output, text)


_progress: Progress | None = None


def start_progress(program: str) -> None:
    """Start to show progress on standard error. Work that takes less than a second shows no progress."""
    global _progress  # noqa: PLW0603  # one process has one terminal
    if sys.stderr.isatty():
        from .progress import ProgressLine

        _progress = ProgressLine(sys.stderr, program)


def report_progress(report: Callable[[str, float], object]) -> None:
    """Pass the progress of the next command to a function, as arguments of ``show_progress``."""
    from .progress import ReportedProgress

    global _progress  # noqa: PLW0603  # one process runs one command at a time
    _progress = ReportedProgress(report)


def stop_progress() -> None:
    """Stop showing progress."""
    global _progress  # noqa: PLW0603
    if _progress is not None:
        _progress.stop()
        _progress = None


def show_progress(what: str, share: float = -1.0, width: float = 1.0) -> None:
    """Set the description of the current work. A ``share`` from 0 to 1 adds a progress bar.

    ``width`` is the share of the current work. ``show_step`` divides this share into steps.
    """
    if _progress is not None:
        from delegate_sim.foundation.printable import printable

        _progress.show(printable(what), share, width)


def show_step(step: str, share: float) -> None:
    """Set the current step of the work that ``show_progress`` described, and the share of this work that is done."""
    if _progress is not None:
        _progress.show_step(step, share)


def hide_progress() -> None:
    """Hide the progress line. Call this function before output that may go to the same terminal."""
    if _progress is not None:
        _progress.hide()


def open_closed_streams() -> None:
    """Open the standard streams that the caller closed. Otherwise, the next opened files get their numbers.

    Writing to a closed standard output remains an error (a bad file descriptor). A closed standard error takes and drops text.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free number
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def silence_stdout() -> None:
    """Redirect standard output to the null device. Otherwise, the flush at exit fails on a closed pipe."""
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _writing() -> Iterator[None]:
    """Raise an error of writing to standard output as ClickException, or as Exit if nobody reads the output."""
    try:
        yield
    except BrokenPipeError as error:
        silence_stdout()
        raise click.exceptions.Exit(BROKEN_PIPE) from error
    except OSError as error:
        silence_stdout()
        raise click.ClickException(f"standard output: {error.strerror or error}") from error


def _write_colored(lines: Iterable[Line]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout)
    for line in lines:
        text = Text(neutral(line.text, "text"), style=line.style)
        for start, end, style in line.parts:
            text.stylize(style, start, end)
        hide_progress()
        with _writing():
            console.print(text, soft_wrap=True)


_HASH = {"json": "#\\u0023", "sarif": "#\\u0023", "gitlab": "#\\u0023", "junit": "#&#35;", "markdown": "#\\#"}
"""The replacement for the ``##`` of a command, keyed by format. Other formats use a visible escape (``#\\x23``)."""
_COLON = {"junit": "&#58;", "markdown": "\\:"}
_OWN_COMMANDS = "github"
"""The format that contains workflow commands on purpose. The module of this format escapes the text in these commands."""


def neutral(text: str, form: str) -> str:
    """Neutralize runner commands in text of the format ``form``. The meaning of JSON and XML does not change."""
    if "##" in text:
        text = re.sub(r"##(?=\w*\[)", lambda _: _HASH.get(form, "#\\x23"), text)
    if "::" in text and form != _OWN_COMMANDS:
        text = re.sub(
            r"^([^\S\n]*):(?=:)", lambda match: f"{match[1]}{_COLON.get(form, chr(92) + 'x3a')}", text, flags=re.MULTILINE
        )
    return text
