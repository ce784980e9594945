"""Write a command's answers about models: as text, as a table of many models, as JSON, and as formats for CI.

A command makes an ``Answer`` for each model, whatever the kind of target is. One function writes all answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from delegate_sim.foundation.printable import printable
from delegate_sim.results.report.display import json_array

from .console.output_file import Command, Outputs, ReportFile, Written
from .console.terminal import TEXT_OR_JSON, Line, format_option, plain, width, write, write_file, write_lines
from .formats import FORMATS, render
from .models import Models, Unreadable, unreadable_entry
from .text.analysis.view import MANY
from .text.elements.paragraphs import HEADING

if TYPE_CHECKING:
    from delegate_sim.gate.results import Case, Results

    from .text.many import Columns


JsonEntry = Callable[[], Iterable[str]] | dict[str, Any] | list[Any]
"""An entry in JSON (see ``Answer``)."""
GITHUB = "github"
MARKDOWN = "markdown"
CARD = "card"
"""A picture with a row for each target. The ending of the file chooses SVG, PNG or Markdown (see ``with_ending``)."""
CARD_IMAGE, CARD_MARKDOWN = "card.png", "card.md"
CARDS = (CARD, CARD_IMAGE, CARD_MARKDOWN)

if TYPE_CHECKING:
    _ParamType = click.ParamType["ReportFile"]
else:
    _ParamType = click.ParamType  # takes no type in brackets before release 8.4


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
    formats = (*TEXT_OR_JSON, *FORMATS, *further)
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


def write_files(files: Sequence[ReportFile], render: Callable[[str], str | bytes | Iterable[str]]) -> None:
    """Render all files, then write them. Raises ClickException if a file cannot be written."""
    rendered = [(path, render(form)) for form, path in files]
    for path, text in rendered:
        write_file(path, text)


def summarize(results: Results) -> None:
    """Append the results to the summary that GitHub shows for a step."""
    from .formats.github import write_summary  # few runs are on GitHub

    write_summary(results, os.environ)


class Answer(NamedTuple):
    """A command's answer about one model, in all forms that the command has. Each form is made only if it is written."""

    entries: Callable[[], list[JsonEntry]]
    """The entries in JSON: each as plain data, or as a function that returns the parts of its JSON, which can be long."""
    lines: Callable[[], Iterable[Line]]
    rows: Callable[[], list[Any]]
    """The rows for the table of many models."""
    results: Callable[[], list[Any]] = list
    """The results for ``ModelTable.sheet``."""
    cases: Callable[[bool], Sequence[Case]] = lambda _: ()
    """The cases for formats of CI, with notes that need more simulations if the argument is true."""
    verdicts: Callable[[], Sequence[str]] = tuple
    """The sentences before the cases of a single model."""
    footer: Callable[[], Sequence[Line]] = tuple
    """The text after the last model. The longest footer of all models is written."""
    card: Callable[[str], str | bytes] = str
    """The card, in one of ``CARDS``."""


class ModelTable(NamedTuple):
    """The output of a command about many models: the columns of the table, or full text instead."""

    columns: Columns | None
    """None if ``lines`` makes the table."""
    is_left_out: bool
    sheet: Callable[[Sequence[Any], Sequence[Unreadable]], str] | None = None
    """A function that returns CSV. Without it, CSV has the cases."""
    lines: Callable[[Sequence[Any], Sequence[Unreadable]], Iterable[Line]] | None = None
    """A function that returns the table from the rows of all models, in place of ``columns``."""
    targets: Sequence[tuple[str, str, str, Mapping[str, Any]]] = ()
    """The targets that a model without an answer has in the formats of CI: name, delegate, release and options."""
    totals: Callable[[Sequence[Case]], Sequence[str]] = lambda _: ()
    """A function that returns the sentences before the cases of several models."""


def write_all(models: Models, outputs: Outputs, table: ModelTable, answer: Callable[[str], Answer]) -> int:
    """Write the answer about each model in all formats, and return the exit code.

    Text output for several models has the name of the model above each answer. Many models are shown as a table. If text for
    standard output is not a table, each line is written as soon as it is known. If no model can be read, there is no text,
    because standard error already has all messages.
    """
    written = _Answers(models, table)
    output = outputs.output
    form, files = with_ending(outputs.form, output), [ReportFile(with_ending(*file), file.path) for file in outputs.files]
    streams = form == "text" and output is None and not written.is_table
    forms = [*([] if streams else [form]), *[file.form for file in files]]

    if not {*CARDS}.isdisjoint(forms) and not models.is_single:
        raise click.UsageError("a card shows one model: give one MODEL")

    def take(path: str) -> None:
        own = answer(path)
        if streams:
            write_lines(chain([Line("")] if written.parts else [], written.text(path, own)))
        written.add(path, own, forms)

    for _ in models.each(take):
        pass
    if streams and written.parts:
        write_lines(written.end())
    named = [*files, ReportFile(form, output)] if output is not None else files
    # Text and cards have no form for models that cannot be read.
    write_files([file for file in named if written.parts or file.form not in ("text", *CARDS)], written.whole)
    if GITHUB in forms:
        summarize(written.results(GITHUB))
    if output is None and not streams and (written.parts or form not in ("text", *CARDS)):
        if form == "text":
            write_lines(written.table_lines())
        else:
            whole = written.whole(form)
            write(whole if not isinstance(whole, bytes) else "", form)
    return models.exit_code


_WITH_NOTES, _WITHOUT_NOTES, _VERDICTS = "cases with notes", "cases", "verdicts"


class _Answers:
    def __init__(self, models: Models, table: ModelTable) -> None:
        self._models = models
        self._table = table
        self._footer: Sequence[Line] = ()
        self.is_table = len(models.paths) >= MANY and not table.is_left_out
        self.parts: list[tuple[str, dict[str, Any]]] = []

    def text(self, path: str, answer: Answer) -> Iterator[Line]:
        if not self._models.is_single:
            yield Line(f"=== {printable(path)} ===", HEADING)
        yield from answer.lines()
        self._footer = max(self._footer, answer.footer(), key=len)

    def add(self, path: str, answer: Answer, forms: Iterable[str]) -> None:
        parts: dict[str, Any] = {}
        for kind in dict.fromkeys(map(self._kind, forms)):
            if kind == "text":
                parts[kind] = answer.rows() if self.is_table else list(self.text(path, answer))
            elif kind == "json":
                parts[kind] = answer.entries()
            elif kind in CARDS:
                parts[kind] = answer.card(kind)
            elif kind == "csv":
                parts[kind] = answer.results()
            else:
                parts[kind] = answer.cases(kind == _WITH_NOTES)
                parts[_VERDICTS] = answer.verdicts()
        self.parts.append((path, parts))

    def _kind(self, form: str) -> str:
        """Return the kind of parts for a format. Only Markdown and GitHub's job summary have notes of more simulations."""
        if form in FORMATS and (form != "csv" or self._table.sheet is None):
            return _WITH_NOTES if form in (MARKDOWN, GITHUB) else _WITHOUT_NOTES
        return form

    def _of(self, kind: str) -> list[Any]:
        return [part for _, parts in self.parts for part in parts[kind]]

    def whole(self, form: str) -> str | bytes | Iterable[str]:
        """Return the whole output in one format, as a string or as parts of a long string."""
        if form == "text":
            if self.is_table:
                return plain(self.table_lines())
            return "\n".join([plain(parts["text"]) for _, parts in self.parts]) + plain(self.end())
        if form in CARDS:
            return self.parts[0][1][form]  # type: ignore[no-any-return]
        if form == "json":
            entries = [*self._of("json"), *map(unreadable_entry, self._models.unreadable)]
            is_single = self._models.is_single and len(entries) == 1
            return chain(_json_parts(entries[0]) if is_single else json_array(map(_json_parts, entries)), ["\n"])
        if form == "csv" and self._table.sheet is not None:
            return self._table.sheet(self._of("csv"), self._models.unreadable)
        return render(form, self.results(form))

    def results(self, form: str) -> Results:
        """Return the cases of all models for a format."""
        from delegate_sim.gate.results import INTERNAL_ERROR, UNREADABLE_MODEL, Results, unreadable_case

        cases, codes = self._of(self._kind(form)), (UNREADABLE_MODEL, INTERNAL_ERROR)
        verdicts = self.parts[0][1][_VERDICTS] if len(self.parts) == 1 else self._table.totals(cases)
        unreadable = [
            unreadable_case(model.path, model.path, *target, model.message, codes[model.is_fault])
            for model in self._models.unreadable
            for target in self._table.targets
        ]
        return Results("analyze", (*cases, *unreadable), tuple(verdicts))

    def end(self) -> Iterator[Line]:
        yield from self._footer
        if not self._models.is_single:
            from .text.many import unanswered_lines

            yield from unanswered_lines(self._messages(), width())

    def table_lines(self) -> Iterator[Line]:
        unreadable, columns = self._models.unreadable, self._table.columns
        if self._table.lines is not None:
            yield from self._table.lines(self._of("text"), unreadable)
            return
        assert columns is not None
        rows = [(path, row) for path, parts in self.parts for row in parts["text"]]
        rows += [(model.path, ["no answer", *[""] * (len(columns.headings) - 1)]) for model in unreadable]
        from .text.many import many_hint, many_lines, unanswered_lines

        yield from many_lines(columns, rows, width())
        yield from unanswered_lines(self._messages(), width())
        yield from many_hint()

    def _messages(self) -> list[str]:
        return [model.message for model in self._models.unreadable]


def _json_parts(entry: JsonEntry) -> Iterable[str]:
    return entry() if callable(entry) else [json.dumps(entry, indent=2, default=str)]
