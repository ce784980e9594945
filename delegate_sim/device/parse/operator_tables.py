"""Parse the operator tables of benchmark_model's ``--enable_op_profiling=true``, as text or CSV.

Sources of the formats: ``profiling/profile_summarizer.cc``, ``profile_summary_formatter.cc``, ``BenchmarkLoggingListener``
(``tools/benchmark/benchmark_model.cc``), ``util/stats_calculator.cc`` of TensorFlow's xla, and
``litert/python/tools/benchmark_litert_model.py``. LiteRT 2's profiler (``litert/runtime/profiler_summarizer.cc``) prints the
same columns with other meanings: all names are ``[Builtin]`` or ``[Delegate]``, ``times called`` counts calls in all inferences,
and an average is of one call, also in the summary.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ...foundation.columns import Declared
from .tables import FORMS, rows_of


@dataclass(frozen=True, slots=True)
class RunTimes(Declared):
    """The times of a run in milliseconds, and the number of measured inferences. An unknown value is None."""

    init_ms: float | None = None
    first_ms: float | None = None
    warmup_ms: float | None = None
    """The average time of an inference in the warm-up."""
    inference_ms: float | None = None
    """The average time of a measured inference."""
    profiled_ms: float | None = None
    """The average time of all profiled rows in one inference, as the profiler adds them up."""
    runs: int | None = None

    @property
    def is_empty(self) -> bool:
        """True if no time is known."""
        return self == NO_TIMES


NO_TIMES = RunTimes()

LONGEST_MS = 1e9
"""Largest plausible time, more than eleven days. Longer times are ignored."""
_TIMES = [(row["field"], float(row["factor"]), row["needle"], re.compile(row["pattern"])) for row in rows_of("times")]


def times_in(text: str, known: RunTimes = NO_TIMES) -> dict[str, Any]:
    """Return the fields of ``RunTimes`` that a line gives. ``known`` has the times in the lines before it."""
    if "count=" in text and FORMS["round"].match(text) is not None and (values := FORMS["average"].findall(text)):
        # The average comes after the last time, and is missing if there is only one.
        return {"warmup_ms" if known.warmup_ms is None else "inference_ms": float(values[-1]) / 1000}
    times: dict[str, Any] = {}
    for name, factor, needle, form in _TIMES:
        if needle in text and (match := form.search(text)) is not None:
            times[name] = int(match[1]) if name == "runs" else float(match[1]) / factor
    return times


def times_of_result(content: Mapping[str, Any]) -> RunTimes:
    """Return the times in a result file: ``--result_json`` of litert-benchmark, or ``--result_file_path`` of benchmark_model."""
    latency, misc, metrics = (content.get(name) for name in ("latency", "misc_metrics", "latency_metrics"))
    if isinstance(latency, dict):
        names, times, misc = ("init_ms", "warmup_first_ms", "warmup_avg_ms", "avg_ms"), latency, latency
    elif isinstance(metrics, dict):
        names, times = ("init_ms", "first_inference_ms", "average_warm_up_ms", "avg_ms"), metrics
    else:
        return NO_TIMES
    count = _plain_number(misc.get("num_runs")) if isinstance(misc, dict) else None
    init, first, warmup, inference = [_plain_number(times.get(name)) for name in names]
    return RunTimes(init, first, warmup, inference, runs=None if count is None else int(count))


def _plain_number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= LONGEST_MS else None


@dataclass(frozen=True, slots=True)
class RowTime:
    """The measured time and memory of one row, as printed by the profiler. A missing value is None."""

    first_ms: float | None
    call_ms: float
    """The average time of one call."""
    share: float | None
    memory_kb: float
    calls: int
    """The number of calls in one inference, rounded down. 0 if the node does not run in every inference."""

    @property
    def ms(self) -> float:
        """The time in one inference."""
        return min(self.call_ms * max(self.calls, 1), LONGEST_MS)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: the operator, the list of outputs as text, and the node index, or None if it is missing."""

    op: str
    outputs: str
    node: int | None
    time: RowTime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RunOrder:
    """The rows of one subgraph in execution order. ``is_complete`` is true if the log has the end of the table."""

    rows: tuple[Row, ...]
    is_complete: bool
    lacks_rows: bool = False
    """True if the percentages show that rows are missing."""

    @property
    def is_timed(self) -> bool:
        """True if the rows have times."""
        return any(row.time is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class Summary:
    """Number of nodes per operator in one subgraph. ``is_complete`` is true if the log has the end of the table."""

    counts: Mapping[str, int]
    is_complete: bool
    times: Mapping[str, float] = field(default_factory=dict, compare=False)
    """The time of each operator in one inference, in milliseconds."""
    lacks_rows: bool = field(default=False, compare=False)
    """True if the percentages of the rows do not add up to 100."""
    inner_ms: float | None = None
    """The time of the operators inside kernels of the CPU library, which ``counts`` leaves out. None if there are none."""


_TOLERANCE = 0.1
"""Largest rounding error of a sum of percentages with three printed decimals."""
_ALL = 99.0
_LEAST_MS = 0.01

RUN_ORDER, SLOWEST, SUMMARY = "Run Order", "Top by Computation Time", "Summary by node type"

_INNER = "Delegate/"
_LITERT_NODE, _LITERT_INNER = "Builtin", "Delegate"
"""The names in tables of LiteRT's profiler: one for all nodes and kernels, one for all operators inside kernels."""
_EVENTS = ("AllocateTensors", "ModifyGraphWithDelegate", "Invoke", "PrepareOpsAndTensors", "ModifyGraphWithDelegateImpl")
_LITERT_EVENT = "LiteRT::"


@dataclass(frozen=True, slots=True)
class _OperatorGroup:
    op: str
    count: int
    calls: int
    ms: float
    share: float
    is_inner: bool


def _are_averages_of_calls(groups: Sequence[_OperatorGroup]) -> bool:
    """Return whether times are averages of one call, as in LiteRT: percentages are then proportional to time and calls."""
    known = [group for group in groups if group.ms >= _LEAST_MS and group.share and group.count]
    if len(known) < 2 or any(group.calls <= group.count for group in known):
        return False
    whole = [group.ms / group.share for group in known]
    by_call = [group.ms * group.calls / group.share for group in known]
    return max(by_call) / min(by_call) < max(whole) / min(whole)


def _in_one_inference(row: Row, inferences: int) -> Row:
    return row if row.time is None else replace(row, time=replace(row.time, calls=row.time.calls // max(inferences, 1)))


class OperatorTable:
    """A table that is still being read."""

    def __init__(self, subgraph: int, title: str, *, is_inference: bool, is_internal: bool) -> None:
        self.subgraph = subgraph
        self.title = title
        self.is_inference = is_inference
        self.is_internal = is_internal
        self.rows: list[Row] = []
        self.inner_rows: list[Row] = []
        self.groups: list[_OperatorGroup] = []
        self.sum: float | None = None
        self.lacks_rows = False

    def read(self, line: str) -> bool:
        """Parse a line. Return whether the line is a row."""
        text = " ".join(line.split())
        if FORMS["decimal-commas"].search(text) is not None:
            text = FORMS["decimal-comma"].sub(".", text)
        elif FORMS["decimal-commas-of-csv"].search(text) is not None:
            text = FORMS["decimal-comma-of-csv"].sub(".", text)
        if self.title == SUMMARY:
            return self._read_summary(text)
        match = FORMS["row"].search(text)
        if match is None:
            return False
        self._add_up(match)
        if op := _operator(text[: match.start()]):
            first, ms, share, memory = (_number(match[name]) for name in ("first", "ms", "share", "memory"))
            calls = 1 if match["calls"] is None else int(match["calls"])
            time = None if ms is None or not 0 <= ms <= LONGEST_MS else RowTime(first, ms, share, memory or 0.0, calls)
            row = _row(op, match["name"], time)
            if row.outputs == _LITERT_INNER and text.startswith(_INNER):
                inner = text[: match.start()].strip()
                self.inner_rows.append(replace(row, op=inner.removeprefix(_INNER), outputs=inner))
            elif row.outputs.startswith(_INNER) and not self.is_internal:
                self.inner_rows.append(row)
            else:
                self.rows.append(row)
        return True

    def end(self) -> None:
        """Convert rows of LiteRT's profiler into rows of benchmark_model: with the calls in one inference, and without names."""
        rows = [row for row in self.rows if row.time is not None]
        if not rows or any(row.outputs != _LITERT_NODE for row in self.rows):
            return
        ((inferences, _),) = Counter([row.time.calls for row in rows if row.time is not None]).most_common(1)
        self.rows = [_in_one_inference(replace(row, outputs=""), inferences) for row in self.rows]
        self.inner_rows = [_in_one_inference(row, inferences) for row in self.inner_rows]

    def summary(self, *, is_complete: bool) -> Summary:
        """Return the content of the summary by node type, with the times of the nodes in one inference."""
        is_of_calls = _are_averages_of_calls(self.groups)
        counts: dict[str, int] = defaultdict(int)
        times: dict[str, float] = defaultdict(float)
        inner = [group.ms for group in self.groups if is_inner_type(group.op)]
        for group in self.groups:
            if is_inner_type(group.op) or (is_of_calls and group.is_inner):
                continue
            counts[group.op] += group.count
            times[group.op] += group.ms * (group.count if is_of_calls else 1)
        inner_ms = sum(inner) if inner else None
        known, known_times = MappingProxyType(dict(counts)), MappingProxyType(dict(times))
        return Summary(known, is_complete, known_times, not self.has_all_rows, inner_ms)

    def _read_summary(self, text: str) -> bool:
        if (match := FORMS["row-of-summary"].search(text)) is None:
            return False
        self._add_up(match)
        if op := _operator(text[: match.start()]):
            ms, share = _number(match["ms"]), _number(match["share"]) or 0.0
            count, calls = int(match["count"]), int(match["calls"] or match["count"])
            known = ms if ms is not None and 0 <= ms <= LONGEST_MS else 0.0
            self.groups.append(_OperatorGroup(op, count, calls, known, share, text.startswith(_INNER)))
        return True

    def _add_up(self, row: re.Match[str]) -> None:
        """If a row's cumulative percentage is not the previous one plus the row's percentage, rows are missing."""
        share, total = _number(row["share"]), _number(row["sum"])
        if self.sum is not None and share is not None and total is not None:
            self.lacks_rows |= abs(total - self.sum - share) > _TOLERANCE
        self.sum = total

    @property
    def has_all_rows(self) -> bool:
        """True if the percentages of the rows add up to 100."""
        return not self.lacks_rows and (self.sum is None or not self.sum < _ALL)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def row_of(node_type: str, name: str, time: RowTime | None) -> Row | None:
    """Return the row for a node type and a name in a table, or None for an event that is not a node."""
    op = _operator(node_type)
    return _row(op, " ".join(name.split()), time) if op else None


def _row(op: str, text: str, time: RowTime | None) -> Row:
    name = FORMS["name-of-row"].fullmatch(text)
    assert name is not None
    node = None if name["node"] is None else int(name["node"])
    return Row(op, name["outputs"] if name["outputs"] is not None else name["other"] or "", node, time)


def is_inner_type(op: str) -> bool:
    """Return whether the operator in a row is inside a kernel of the CPU library."""
    return FORMS["inner-type"].search(op) is not None


def _operator(text: str) -> str:
    """Return the operator of a node type, without the text after a slash. Return "" for an event that is not a node."""
    text = text.strip()
    kernel = text.removeprefix(_INNER)
    op = (kernel.partition(":")[0] if len(kernel) < len(text) else text).partition("/")[0]
    return "" if op in _EVENTS or op.startswith(_LITERT_EVENT) else op


def table_title(line: str) -> str:
    """Return the title of a table if a line has the names of the table's columns, otherwise ""."""
    columns = line.casefold()
    if not columns.startswith("[node type]"):
        return ""
    return SUMMARY if "[count]" in columns else RUN_ORDER
