"""Displays of results: a line of text, tables in a notebook, and data frames. Results can also carry measured times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...foundation.columns import Declared, Table
from ...foundation.printable import printable, shortened

if TYPE_CHECKING:
    pass

_LONGEST_LINE = 240
_LONGEST_SENTENCE = 500
_LONGEST_CELL = 2000
_LONGEST_WORD = 24
_WIDEST = 700
"""The largest width of a display in a notebook, in pixels."""


class Shown(Declared):
    """Base class of results that can be displayed as a line of text, or as tables."""

    _rows_shown = 60
    """The largest number of rows of a table that a notebook shows."""

    def _line(self) -> str:
        raise NotImplementedError

    def _shown(self) -> Mapping[str, Sequence[str]]:
        """Return the columns to show in a notebook, keyed by table name. All other tables are not shown."""
        name, table = next(iter(self._tables().items()))
        return {name: table().columns}

    def _summary(self) -> Sequence[tuple[str, str]]:
        """Return pairs of a sentence and HTML, which a notebook shows above the tables.

        Sentences may contain unescaped names from a model. The HTML must not contain unescaped names.
        """
        return [(self._line(), "")]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shortened(printable(self._line()), _LONGEST_LINE)}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook. All text from a model is escaped."""
        tables = self._tables()
        parts = [f"<p><b>{_escaped(sentence, _LONGEST_SENTENCE)}</b></p>{picture}" for sentence, picture in self._summary()]
        for name, columns in self._shown().items():
            parts += _html(name, tables[name](), columns, self._rows_shown)
        return f'<div style="max-width:{_WIDEST}px;overflow-wrap:anywhere">{"".join(parts)}</div>'


class TimeRow(NamedTuple):
    """The time of one group of rows in a profile: the kernels of a delegate, the CPU nodes of an operator, or all other rows."""

    profile: str
    what: str
    number: int
    """The number of nodes or kernels."""
    ms: float
    share: float | None
    """The group's share of the profile's total, from 0 to 1. None if the total is 0."""


class TimeTotals(NamedTuple):
    """The time of one inference in milliseconds: in total, in delegate kernels, in CPU nodes, and in rows that match no node."""

    profile: str
    total_ms: float
    kernel_ms: float
    cpu_ms: float
    unmatched_ms: float


class Times(Protocol):
    """The times of one or more op profiles."""

    def rows(self) -> Iterator[TimeRow]:
        """Yield the times of each profile. In each kind of group, the largest time comes first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the times as plain data."""


def times_tables(times: Sequence[Times]) -> Mapping[str, Callable[[], Table]]:
    """Return the table of the times. If there are no times, the result is empty."""
    if not times:
        return {}
    return {"times": lambda: Table(TimeRow._fields, [tuple(row) for one in times for row in one.rows()])}


def shown_times(times: Sequence[Times]) -> Mapping[str, Sequence[str]]:
    """Return the columns of the times to show in a notebook. If there are no times, the result is empty."""
    return {"times": TimeRow._fields} if times else {}


def _html(name: str, table: Table, columns: Sequence[str], most: int) -> Iterator[str]:
    if not table.rows:
        return
    places = [table.columns.index(column) for column in columns]
    yield '<table border="1" style="width:100%;table-layout:auto">'
    yield f"<caption>{_escaped(_words(name), _LONGEST_CELL)}</caption><thead><tr>"
    yield from (_html_cell("th", _words(column)) for column in columns)
    yield "</tr></thead><tbody>"
    for row in table.rows[:most]:
        yield f"<tr>{''.join([_html_cell('td', _cell(row[place])) for place in places])}</tr>"
    yield "</tbody></table>"
    if len(table.rows) > most:
        yield f"<p>... and {len(table.rows) - most:,} more: to_pandas({_escaped(repr(name), _LONGEST_CELL)}) returns all rows</p>"


def _html_cell(tag: str, text: str) -> str:
    """Return an HTML table cell. Line breaks in long words, such as names of tensors, keep the table narrow."""
    breaks = "anywhere" if any(len(word) > _LONGEST_WORD for word in text.split()) else "normal"
    style = f"text-align:left;white-space:normal;overflow-wrap:{breaks}"
    return f'<{tag} style="{style}">{_escaped(text, _LONGEST_CELL)}</{tag}>'


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(_cell, value)) if isinstance(value, tuple) else str(value)


def _escaped(text: str, longest: int) -> str:
    import html

    return html.escape(shortened(printable(text), longest))


_STEP = "  "
_ONE_LINE_EACH = frozenset({"nodes", "partition_list"})
"""Lists that are written with one item per line and without indentation.

Writing with indentation takes about ten times as long.
"""


def json_value(entry: Any) -> Iterator[str]:
    """Yield plain data as parts of JSON. Each part is converted when the caller requests it."""
    if isinstance(entry, dict):
        yield from json_object({key: _field(key, value) for key, value in entry.items()})
    elif isinstance(entry, list):
        yield from json_array(map(json_value, entry))
    else:
        yield json.dumps(entry)


def _field(key: str, value: Any) -> Iterator[str]:
    if key in _ONE_LINE_EACH and isinstance(value, list):
        return json_array([json.dumps(item)] for item in value)
    return json_value(value)


def json_array(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the parts of a JSON array, given the parts of each item."""
    return _bracketed("[]", (("", item) for item in items))


def json_object(fields: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the parts of a JSON object, given the parts of each value."""
    return _bracketed("{}", ((f"{json.dumps(key)}: ", value) for key, value in fields.items()))


def _bracketed(brackets: str, items: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    before = brackets[0]
    for head, parts in items:
        yield f"{before}\n{_STEP}{head}"
        for part in parts:
            yield part.replace("\n", f"\n{_STEP}")  # strings in JSON contain no line breaks
        before = ","
    yield brackets if before == brackets[0] else f"\n{brackets[1]}"
