"""Parse the operator tables of benchmark_model's ``--enable_op_profiling=true``, as text or CSV.

Sources of the formats: ``profiling/profile_summarizer.cc`` and ``profile_summary_formatter.cc``, and
``util/stats_calculator.cc`` of TensorFlow's xla.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table in execution order: the operator, the list of outputs as text, and the node index (None if missing)."""

    op: str
    outputs: str
    node: int | None


@dataclass(frozen=True, slots=True)
class RunOrder:
    """The rows of one subgraph in execution order. ``is_complete`` is true if the end of the table was read."""

    rows: tuple[Row, ...]
    is_complete: bool
    lacks_rows: bool = False
    """True if the percentages of the rows show that some rows are missing."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Number of nodes per operator in one subgraph. ``is_complete`` is true if the end of the table was read."""

    counts: Mapping[str, int]
    is_complete: bool


_NUMBER = r"-?(?:[\d.]{1,30}(?:e[+-]?\d{1,3})?|nan|inf)"
_BETWEEN = r"(?:, ?| )"
_ROW = re.compile(
    rf"(?:{_BETWEEN}{_NUMBER}){{2,3}}{_BETWEEN}(?P<share>{_NUMBER})%{_BETWEEN}(?P<sum>{_NUMBER})%{_BETWEEN}{_NUMBER}"
    rf"(?:{_BETWEEN}\d{{1,12}})?{_BETWEEN}(?P<name>[\[A-Za-z_].*)$"
)
_COUNT = re.compile(
    rf"{_BETWEEN}(?P<count>\d{{1,9}}){_BETWEEN}{_NUMBER}{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}%{_BETWEEN}{_NUMBER}"
    rf"(?:{_BETWEEN}\d{{1,12}})?$"
)
_NAME = re.compile(r"(?:\[(?P<outputs>.*)\]|(?P<other>.*?))(?::(?P<node>\d{1,9}))?")

_DECIMAL_COMMAS = re.compile(r" \d{1,3},\d{3}% -?\d")
"""Matches a percentage with a decimal comma, in a table with blanks between columns."""
_DECIMAL_COMMA = re.compile(r"(?<= \d),(?=\d{3}[ %])|(?<=\d\d),(?=\d{3}[ %])")

_TOLERANCE = 0.1
"""Largest rounding error of a sum of percentages that are printed with three decimals."""
_ALL = 99.0

RUN_ORDER, SUMMARY = "Run Order", "Summary by node type"
"""The titles of the tables that show all nodes."""

_EVENTS = ("AllocateTensors", "ModifyGraphWithDelegate", "Invoke", "PrepareOpsAndTensors", "ModifyGraphWithDelegateImpl")
"""Events that are not operators, but are rows of operator tables."""


def table_title(line: str) -> str:
    """Return the title of a table that begins with the names of its columns; empty for other lines."""
    columns = line.casefold()
    if not columns.startswith("[node type]"):
        return ""
    return SUMMARY if "[count]" in columns else RUN_ORDER


class OperatorTable:
    """A table that is still being read."""

    def __init__(self, subgraph: int, is_inference: bool, is_summary: bool) -> None:
        self.subgraph = subgraph
        self.is_inference = is_inference
        self.is_summary = is_summary
        self.rows: list[Row] = []
        self.counts: Counter[str] = Counter()
        self.sum: float | None = None
        """The cumulative percentage in the last row."""
        self.lacks_rows = False
        """True if the percentages do not add up because rows are missing."""

    def read(self, line: str) -> bool:
        """Parse a line; return whether the line is a row."""
        text = " ".join(line.split())
        if _DECIMAL_COMMAS.search(text) is not None:
            text = _DECIMAL_COMMA.sub(".", text)
        if self.is_summary:
            match = _COUNT.search(text)
            if match is not None and (op := _operator(text[: match.start()])):
                self.counts[op] += int(match["count"])
            return match is not None
        match = _ROW.search(text)
        if match is not None:
            self._add_up(float(match["share"]), float(match["sum"]))
        if match is None or not (op := _operator(text[: match.start()])):
            return match is not None
        self.rows.append(_row(op, match["name"]))
        return True

    def _add_up(self, share: float, total: float) -> None:
        if self.sum is not None and abs(total - self.sum - share) > _TOLERANCE:
            self.lacks_rows = True
        self.sum = total

    @property
    def has_all_rows(self) -> bool:
        """True if the percentages of the rows add up to 100."""
        return not self.lacks_rows and (self.sum is None or not self.sum < _ALL)


def row_of(node_type: str, name: str) -> Row | None:
    """Return the row for a node type and name as printed in tables; None for an event that is not a node."""
    op = _operator(node_type)
    return _row(op, " ".join(name.split())) if op else None


def _row(op: str, text: str) -> Row:
    name = _NAME.fullmatch(text)
    assert name is not None
    node = None if name["node"] is None else int(name["node"])
    return Row(op, name["outputs"] if name["outputs"] is not None else name["other"] or "", node)


def _operator(text: str) -> str:
    """Return the operator of a node type, without the text after a slash; empty for an event that is not a node."""
    text = text.strip()
    kernel = text.removeprefix("Delegate/")
    op = (kernel.partition(":")[0] if len(kernel) < len(text) else text).partition("/")[0]
    return "" if op in _EVENTS else op
