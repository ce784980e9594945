"""Write analyses and checks in several formats, to standard output and to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .console.output_file import ReportFile, Written
from .console.terminal import format_option, write_file
from .formats import FORMATS as COMMON_FORMATS

FORMATS = ("text", "json", *COMMON_FORMATS)
GITHUB = "github"
MARKDOWN = "markdown"
CARD = "card"
"""A picture with a row for each target. The ending of the file chooses SVG, PNG or Markdown (see ``with_ending``)."""
CARD_IMAGE, CARD_MARKDOWN = "card.png", "card.md"
CARDS = (CARD, CARD_IMAGE, CARD_MARKDOWN)

if TYPE_CHECKING:
    from delegate_sim.gate.results import Results

    _ParamType = click.ParamType["ReportFile"]
else:
    _ParamType = click.ParamType  # takes no type in brackets before release 8.4

Command = TypeVar("Command", bound=Callable[..., Any])


class _ReportType(_ParamType):
    name = "FORMAT=FILE"

    def __init__(self, written: Written, formats: Sequence[str]) -> None:
        self.written = written
        self._formats = formats

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ReportFile:
        if isinstance(value, ReportFile):
            return value
        form, equals, path = value.partition("=")
        if not equals or not path:
            self.fail(f"takes FORMAT=FILE, not {value!r}", param, ctx)
        if form not in self._formats:
            self.fail(f"there is no format {form!r}; the formats are {', '.join(self._formats)}", param, ctx)
        return ReportFile(form, path)


def output_options(command: Command, *, replaces: bool = False, further: Sequence[str] = ()) -> Command:
    """Add ``--format`` and ``--report`` to a command. With ``replaces``, existing report files are replaced.

    ``further`` are formats that only this command has.
    """
    formats = (*FORMATS, *further)
    command = click.option(
        "--report",
        "files",
        multiple=True,
        type=_ReportType(Written(replaces=replaces), formats),
        help="Also write a file in one of these formats.",
    )(command)
    return format_option("Text to read, JSON for programs, or a format for a service.", formats)(command)


def with_ending(form: str, path: str | None) -> str:
    """Return the format of a file. The ending of its name chooses the format of a card."""
    ended = form + os.path.splitext(path or "")[1].lower()
    return ended if form == CARD and ended in CARDS else form


def write_files(files: Sequence[ReportFile], render: Callable[[str], str | bytes | Sequence[str]]) -> None:
    """Render all files, then write them. Raises ClickException if a file cannot be written."""
    rendered = [(path, render(form)) for form, path in files]
    for path, text in rendered:
        write_file(path, text)


def summarize(results: Results) -> None:
    """Append the results to the summary that GitHub shows for a step."""
    from .formats.github import write_summary

    write_summary(results, os.environ)
