"""Displays of results: a line of text, tables and strips of execution plans in a notebook, data frames, and JSON in parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from ...foundation.columns import Declared, Table
from ...foundation.printable import printable, shortened
from ...runtime.interpreter import Run, SubgraphRun

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
    """Yield plain data as parts of JSON, which limits the memory for Python objects.

    For example, ``json.dumps`` takes 1.4 GiB for the overview of 30,000 nodes. In parts, it takes 0.5 GiB, the limit in
    ``SECURITY.md``. Each part is converted when the caller requests it.
    """
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


DELEGATED = "delegated"
REFUSED = "refused"
"""The state of an unsupported node, or of a node that the delegate does not check."""
LEFT = "left"
"""The state of a supported node on the CPU. A limit keeps the node on the CPU, or delegation was undone."""
MIXED = "mixed"
"""The state of a cell with nodes in several states."""
STATES = (DELEGATED, REFUSED, LEFT)


class Span(NamedTuple):
    """Consecutive nodes in one state, as node indices. All nodes of a span are in the same partition."""

    state: str
    nodes: tuple[int, ...]


def node_state(run: SubgraphRun, index: int) -> str:
    """Return the state of a node: one of ``STATES``."""
    if index in run.delegated:
        return DELEGATED
    verdict = run.decision.verdicts.get(index) if run.decision is not None else None
    return LEFT if verdict is not None and verdict.is_supported else REFUSED


def strip(run: SubgraphRun) -> tuple[Span, ...]:
    """Return the spans of a subgraph, in execution order after delegation."""
    return tuple(_spans(run))


def run_strip(run: Run) -> tuple[Span, ...]:
    """Return the spans of all subgraphs, one subgraph after another."""
    return tuple([span for subgraph in run.subgraphs for span in _spans(subgraph)])


Lengths = tuple[tuple[str, int], ...]
"""Groups of consecutive nodes in the same state, in execution order. A group is a pair of state and number of nodes."""


def run_lengths(run: Run) -> Lengths:
    """Group consecutive nodes in the same state, over all subgraphs."""
    lengths: list[tuple[str, int]] = []
    for span in run_strip(run):
        if lengths and lengths[-1][0] == span.state:
            lengths[-1] = (span.state, lengths[-1][1] + len(span.nodes))
        else:
            lengths.append((span.state, len(span.nodes)))
    return tuple(lengths)


def file_lengths(run: Run) -> Lengths:
    """Group consecutive nodes in the same state, in the order of the file, so that the strips of all targets align."""
    states = [node_state(subgraph, index) for subgraph in run.subgraphs for index in subgraph.graph.execution_plan]
    return tuple([(state, len(list(members))) for state, members in groupby(states)])


def cells(lengths: Sequence[tuple[str, int]], most: int) -> tuple[list[str], int]:
    """Return the states of the cells, and the number of nodes per cell.

    There are at most ``most`` cells. A cell is ``MIXED`` if its nodes are in more than one state.
    """
    states = [state for state, count in lengths for _ in range(count)]  # bounded: the nodes of the model
    size = max(1, -(-len(states) // max(most, 1)))
    groups = [states[start : start + size] for start in range(0, len(states), size)]
    return [group[0] if len(set(group)) == 1 else MIXED for group in groups], size


def _spans(run: SubgraphRun) -> Iterator[Span]:
    for nodes in [subset.nodes for subset in run.subsets] or [run.graph.execution_plan]:
        state, gathered = "", list[int]()
        for index in nodes:
            own = node_state(run, index)
            if own != state and gathered:
                yield Span(state, tuple(gathered))
                gathered = []
            state = own
            gathered.append(index)
        if gathered:
            yield Span(state, tuple(gathered))


_COLORS = {DELEGATED: "#1f7a6d", REFUSED: "#c2501a", LEFT: "#a98109", MIXED: "#7b6a9e"}
"""The colors of cells in HTML."""
_MOST_CELLS = 400
"""The largest number of cells in HTML."""


def strip_picture(run: Run) -> str:
    """Return an HTML element that shows the strip. For a model without nodes, the text is empty."""
    from html import escape  # only notebooks need it

    lengths = run_lengths(run)
    states, size = cells(lengths, _MOST_CELLS)
    if not states:
        return ""
    total = sum([count for _, count in lengths])
    delegated = sum([count for state, count in lengths if state == DELEGATED])
    words = (
        f"{run.delegate.name}: {delegated:,} of {total:,} nodes run on the delegate; the plan has "
        f"{len(lengths):,} pieces, shown in execution order"
    )
    words += "" if size == 1 else f"; each cell shows {size:,} nodes"
    drawn = "".join(
        [
            f'<div style="flex:{len(list(members))};background:{_COLORS[state]};margin-right:1px"></div>'
            for state, members in groupby(states)
        ]
    )
    return (
        f'<div role="img" aria-label="{escape(words)}" title="{escape(words)}" '
        f'style="display:flex;height:16px;max-width:900px;margin:4px 0">{drawn}</div>'
    )
