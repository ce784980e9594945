"""Write analyses and checks in several formats, to standard output and to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from .console.output_file import refuse_existing
from .console.terminal import format_option, write_file
from .formats import FORMATS as COMMON_FORMATS

FORMATS = ("text", "json", *COMMON_FORMATS)
GITHUB = "github"
MARKDOWN = "markdown"

if TYPE_CHECKING:
    from delegate_sim.gate.results import Results

    _ParamType = click.ParamType["ReportFile"]
else:
    _ParamType = click.ParamType  # takes no type in brackets before release 8.4

Command = TypeVar("Command", bound=Callable[..., Any])


class ReportFile(NamedTuple):
    """The format and the path of a report file."""

    form: str
    path: str


class _ReportType(_ParamType):
    name = "FORMAT=FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ReportFile:
        if isinstance(value, ReportFile):
            return value
        form, equals, path = value.partition("=")
        if not equals or not path:
            self.fail(f"takes FORMAT=FILE, not {value!r}", param, ctx)
        if form not in FORMATS:
            self.fail(f"there is no format {form!r}; the formats are {', '.join(FORMATS)}", param, ctx)
        return ReportFile(form, path)


def output_options(command: Command, *, replaces: bool = False) -> Command:
    """Add ``--format`` and ``--report`` to a command. With ``replaces``, existing report files are replaced."""
    command = click.option(
        "--report",
        "files",
        multiple=True,
        type=_ReportType(),
        callback=_different_files if replaces else _new_files,
        help="Also write a file in one of these formats.",
    )(command)
    return format_option("Text to read, JSON for programs, or a format for a service.", FORMATS)(command)


def write_files(files: Sequence[ReportFile], render: Callable[[str], str | Sequence[str]]) -> None:
    """Render all files, then write them. Raises ClickException if a file is given twice or cannot be written."""
    twice = _twice(files)
    if twice is not None:
        raise click.UsageError(f"{twice.path} is given twice")
    rendered = [(path, render(form)) for form, path in files]
    for path, text in rendered:
        write_file(path, text)


def summarize(results: Results) -> None:
    """Append the results to the summary that GitHub shows for a step."""
    from .formats.github import write_summary

    write_summary(results, os.environ)


def _new_files(context: click.Context, parameter: click.Parameter, files: Sequence[ReportFile]) -> Sequence[ReportFile]:
    for file in _different_files(context, parameter, files):
        refuse_existing(context, file.path)
    return files


def _different_files(_: click.Context, __: click.Parameter, files: Sequence[ReportFile]) -> Sequence[ReportFile]:
    twice = _twice(files)
    if twice is not None:
        raise click.BadParameter(f"{twice.path} is given twice")
    return files


def _twice(files: Sequence[ReportFile]) -> ReportFile | None:
    """Return a file that is given twice, or None if there is no such file. Different paths may lead to one file."""
    seen: set[str | tuple[int, int]] = set()
    for file in files:
        own: set[str | tuple[int, int]] = {os.path.realpath(file.path)}
        with suppress(OSError):
            status = os.stat(file.path)
            own.add((status.st_dev, status.st_ino))
        if not seen.isdisjoint(own):
            return file
        seen |= own
    return None
