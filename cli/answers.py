"""Write a command's answers about models as JSON, as text, as a table or as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from delegate_sim.foundation.printable import printable

from .console.terminal import Line, width, write_result
from .models import Models, Unreadable, unreadable_entry
from .text.analysis.view import MANY
from .text.many import Columns, many_hint, many_lines, unanswered_lines


@dataclass(frozen=True, slots=True)
class Answer:
    """A command's answer about one model: as JSON, as text, as rows for a table of many models, and as results for CSV."""

    entries: Callable[[], list[Any]]
    lines: Callable[[], Iterable[Line]]
    rows: Callable[[], list[Sequence[str]]]
    results: Callable[[], list[Any]] = list


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The table of many models: the columns, whether to write full text instead, and a function that returns CSV."""

    columns: Columns
    is_left_out: bool
    sheet: Callable[[Sequence[Any], Sequence[Unreadable]], str] | None = None


def write_answers(models: Models, form: str, output: str | None, table: ModelTable, answer: Callable[[str], Answer]) -> int:
    """Write the answer about each model, and return the exit code.

    Text output for several models has the name of the model above each answer. Many models are shown as a table.
    """
    is_json = form == "json"
    is_table = len(models.paths) >= MANY and not table.is_left_out

    def take(path: str) -> tuple[str, list[Any]]:
        result = answer(path)
        if form == "csv":
            return path, result.results()
        return path, result.entries() if is_json else result.rows() if is_table else list(result.lines())

    def lines() -> Iterator[Line]:
        return _table(models, parts, table.columns) if is_table else _texts(models, parts)

    parts = list(models.each(take))

    def sheet() -> str:
        assert table.sheet is not None
        return table.sheet([result for _, results in parts for result in results], models.unreadable)

    if parts or form != "text":  # otherwise standard error already has every message
        write_result(form, output, lambda: _whole(models, parts), lines, sheet)
    return models.exit_code


def _whole(models: Models, parts: Sequence[tuple[str, list[Any]]]) -> Any:
    entries = [*[entry for _, part in parts for entry in part], *map(unreadable_entry, models.unreadable)]
    return entries[0] if models.is_single and len(entries) == 1 else entries


def _texts(models: Models, parts: Sequence[tuple[str, list[Line]]]) -> Iterator[Line]:
    for number, (path, lines) in enumerate(parts):
        if number:
            yield Line("")
        if not models.is_single:
            yield Line(f"=== {printable(path)} ===", "bold")
        yield from lines
    if not models.is_single:
        yield from unanswered_lines(_messages(models), width())


def _table(models: Models, parts: Sequence[tuple[str, list[Sequence[str]]]], columns: Columns) -> Iterator[Line]:
    rows = [(path, row) for path, own_rows in parts for row in own_rows]
    rows += [(model.path, ["no answer", *[""] * (len(columns.headings) - 1)]) for model in models.unreadable]
    yield from many_lines(columns, rows, width())
    yield from unanswered_lines(_messages(models), width())
    yield from many_hint()


def _messages(models: Models) -> list[str]:
    return [model.message for model in models.unreadable]
