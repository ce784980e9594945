"""The times of an op profile, matched with the nodes and delegate kernels of a simulation, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..device.parse.log import read_runs_file
from ..device.parse.log_contents import DeviceLog, LogError, TimesOnlyError, has_times
from ..device.parse.profiles.operator_tables import RowTime, RunTimes
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, Column, Declared, attributes, entry, within
from ..foundation.printable import printable
from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.display import TimeRow, TimeTotals
from ..results.report.placement import RunPartition, partitions
from ..runtime.interpreter import Run

KERNEL, NODE, UNMATCHED = "kernel", "node", "unmatched"

_MS = Column("ms", NUMBER, unit="ms", digits=6)
_ROW = (
    *(Column("first_ms", NUMBER, unit="ms"), Column("memory_kb", NUMBER, unit="KiB")),
    Column("times_called", INTEGER, source="calls"),
)


@dataclass(frozen=True, slots=True)
class MeasuredPart(Declared):
    """The time of one row of a profile in one inference, and its nodes: none if nothing matches, for the reason ``why``."""

    columns = (*attributes("kind", "op", "name"), _MS, Column("count", INTEGER), Column("nodes", LIST))

    kind: str
    op: str
    """The operator, or the name of the delegate."""
    name: str
    ms: float
    count: int
    nodes: tuple[NodeKey, ...]
    kernels: tuple[tuple[NodeKey, ...], ...] = ()
    row: RowTime | None = None
    """The numbers of the row. None if the part has several nodes or kernels."""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data, with the numbers of the row if it is of a single node or kernel."""
        row = {} if self.row is None else entry(_ROW, self.row)
        return {**super(MeasuredPart, self).to_dict(), **row, **({"why": self.why} if self.why else {})}


@dataclass(frozen=True, slots=True)
class InnerOperator:
    """An operator inside a delegate kernel. ``node`` is None if the profile does not show the operator's node."""

    name: str
    ms: float
    node: NodeKey | None


@dataclass(frozen=True, slots=True)
class TimeGroup:
    """The time of all kernels of a delegate, all CPU nodes of an operator, or all unmatched rows."""

    kind: str
    op: str
    count: int
    ms: float

    @property
    def words(self) -> str:
        """The group in words. The name of the operator may be unescaped."""
        return {KERNEL: f"{self.op} kernels", NODE: f"{self.op} on the CPU", UNMATCHED: "not matched"}[self.kind]


@dataclass(frozen=True, slots=True)
class Timing(Declared):
    """The parts of the time of one profiled run."""

    columns = (
        *(Column("profile", source="path"), Column("delegates", LIST)),
        *[Column(key, NUMBER, unit="ms", digits=6) for key in ("total_ms", "outside_ms")],
        *within("times", [Column("init_ms", NUMBER), Column("first_inference_ms", NUMBER, source="first_ms")]),
        *within("times", attributes("warmup_ms", "inference_ms", type=NUMBER)),
        Column("groups", LIST, parts=(*attributes("kind", "op"), Column("count", INTEGER), _MS)),
        *attributes("parts", "nested", type=LIST),
        Column("inside_kernels", LIST, source="inner", parts=(Column("name"), _MS, Column("node", OBJECT))),
        Column("notes", LIST),
    )

    path: str
    delegates: tuple[str, ...]
    parts: tuple[MeasuredPart, ...]
    """The parts that run one after another in one inference."""
    nested: tuple[MeasuredPart, ...]
    """The nodes of other subgraphs. Their time is included in the time of the calling node."""
    inner: tuple[InnerOperator, ...]
    times: RunTimes
    notes: tuple[str, ...] = ()

    @property
    def total_ms(self) -> float:
        """The time of all parts, in milliseconds."""
        return sum([part.ms for part in self.parts])

    def ms_of(self, kind: str) -> float:
        """Return the time of all parts of a kind, in milliseconds."""
        return sum([part.ms for part in self.parts if part.kind == kind])

    @property
    def kernel_count(self) -> int:
        """The number of delegate kernels."""
        return sum([part.count for part in self.parts if part.kind == KERNEL])

    @property
    def outside_ms(self) -> float | None:
        """The part of an inference's time that is in no row, for example for copying data. None if it is not known."""
        inference = self.times.inference_ms
        return None if inference is None or not self.parts else max(inference - self.total_ms, 0.0)

    @property
    def groups(self) -> tuple[TimeGroup, ...]:
        """The kernels by delegate, then the CPU nodes by operator, then the unmatched rows, longest first."""
        sums: dict[tuple[str, str], list[float]] = {}
        for part in self.parts:
            entry = sums.setdefault((part.kind, "" if part.kind == UNMATCHED else part.op), [0, 0.0])
            entry[0] += part.count
            entry[1] += part.ms
        groups = [TimeGroup(kind, op, int(count), ms) for (kind, op), (count, ms) in sums.items()]
        order = (KERNEL, NODE, UNMATCHED)
        return tuple(sorted(groups, key=lambda group: (order.index(group.kind), -group.ms, group.op)))

    @property
    def totals(self) -> TimeTotals:
        """The total time, and the time of each kind of part."""
        return TimeTotals(self.path, _rounded(self.total_ms), *[_rounded(self.ms_of(kind)) for kind in (KERNEL, NODE, UNMATCHED)])

    def rows(self) -> Iterator[TimeRow]:
        """Yield the groups, for tables."""
        for group in self.groups:
            share = round(group.ms / self.total_ms, 6) if self.total_ms else None
            yield TimeRow(self.path, group.words, group.count, _rounded(group.ms), share)


@dataclass(frozen=True, slots=True)
class CpuTime:
    """The measured CPU time of some nodes. ``unknown`` is the number of nodes without a time of their own."""

    ms: float
    unknown: int

    @property
    def is_known(self) -> bool:
        """True if every node has a time."""
        return not self.unknown


def cpu_time(timings: Sequence[Timing], nodes: Collection[NodeKey]) -> CpuTime:
    """Return the CPU time of nodes in the first timing that has some. The time of a row with further nodes is not divided."""
    wanted = set(nodes)
    for timing in timings:
        parts = [part for part in (*timing.parts, *timing.nested) if part.kind == NODE and wanted.issuperset(part.nodes)]
        known = {key for part in parts for key in part.nodes}
        if known:
            return CpuTime(sum([part.ms for part in parts]), len(wanted - known))
    return CpuTime(0.0, len(wanted))


def node_times(timings: Sequence[Timing]) -> Mapping[NodeKey, float]:
    """Return the CPU time of each node that has a row of its own, in milliseconds."""
    times: dict[NodeKey, float] = {}
    for timing in timings:
        for part in (*timing.parts, *timing.nested):
            if part.kind == NODE and len(part.nodes) == 1:
                times.setdefault(part.nodes[0], part.ms)
    return times


def kernel_times(timings: Sequence[Timing], delegate: str) -> Iterator[tuple[frozenset[NodeKey], float]]:
    """Yield the nodes and the time in milliseconds of each kernel of a delegate that has a row of its own."""
    for timing in timings:
        for part in timing.parts:
            if part.kind == KERNEL and part.op == delegate and len(part.kernels) == 1:
                yield frozenset(part.kernels[0]), part.ms


def _rounded(ms: float) -> float:
    return round(ms, 6)


def kernel_costs(run: Run, timing: Timing) -> Iterator[tuple[RunPartition, float | None]]:
    """Yield each kernel of a run with its time, in execution order. The time is None if the kernel has no row of its own."""
    times = dict(kernel_times([timing], run.delegate.name))
    for kernel in partitions([run]):
        if kernel.is_delegated:
            yield kernel, times.get(frozenset([NodeKey(kernel.subgraph, node) for node in kernel.nodes]))


_SHARE = 0.01
_ROUNDING_MS = 0.001


def total_notes(log: DeviceLog, subgraph: int, ms: float) -> Iterator[str]:
    """Yield notes on missing rows, and on a total that differs from ``ms``, the sum of a subgraph's rows."""
    order, summary = log.run_orders.get(subgraph), log.summaries.get(subgraph)
    rows = 0 if order is None else len(order.rows)
    if order is not None and order.lacks_rows:
        yield "the table lacks rows: its cumulative percentages do not add up"
    elif order is not None and order.is_timed and not order.is_complete:
        yield "the table is cut short"
    if summary is not None and summary.lacks_rows:
        yield "the summary lacks rows: its percentages do not add up to 100"
    expected = log.times.profiled_ms
    if expected is not None and abs(expected - ms) > max(_SHARE * expected, _ROUNDING_MS * max(rows, 1)):
        yield f"the rows add up to {ms:,.3f} ms, but the profile's own total is {expected:,.3f} ms"
    if log.lost_events:
        yield "the profiler dropped events because its buffer was full (--max_profiling_buffer_entries), so times are missing"


_GROUPS_SHOWN = 5


def milliseconds(ms: float) -> str:
    """Return a time as text."""
    return f"{ms:,.3f} ms" if abs(ms) < 10 else f"{ms:,.1f} ms"  # three digits are enough


def share_of_time(ms: float, total_ms: float) -> str:
    """Return a share of a total as a percentage. Return a dash if the total is 0."""
    return f"{100 * ms / total_ms:.1f} %" if total_ms else "-"


def timing_sentence(timing: Timing) -> str:
    """Return a sentence about the parts of a profile's time. Names may be unescaped."""
    if not timing.parts:
        inference = timing.times.inference_ms
        return f"{timing.path} has no times of nodes" + (
            "" if inference is None else f"; an inference takes {milliseconds(inference)}"
        )
    groups = sorted(timing.groups, key=lambda group: -group.ms)
    shown = [f"{group.words} {milliseconds(group.ms)}{_share(group.ms, timing)}" for group in groups[:_GROUPS_SHOWN]]
    if rest := groups[_GROUPS_SHOWN:]:
        ms = sum([group.ms for group in rest])
        shown.append(f"{len(rest):,} more {milliseconds(ms)}{_share(ms, timing)}")
    return f"measured in {timing.path}: {milliseconds(timing.total_ms)}; {', '.join(shown)}"


def _share(ms: float, timing: Timing) -> str:
    return f" ({share_of_time(ms, timing.total_ms)})" if timing.total_ms else ""


@dataclass(frozen=True, slots=True)
class OpProfile:
    """The log of the profiled run. ``notes`` describes what is missing in the file."""

    path: str
    log: DeviceLog
    notes: tuple[str, ...] = ()


def read_op_profile(path: str) -> OpProfile:
    """Read the last profile in a file of any format that ``reconcile`` reads. Raises LogError if a file has no times."""
    try:
        runs = read_runs_file(path)
    except TimesOnlyError as error:
        return OpProfile(path, DeviceLog(times=error.times), ("the file has only the times of the whole run, not of nodes",))
    profiled = [log for log in runs if has_times(log)]
    if not profiled:
        raise LogError(
            printable(f"{path}: has no table with the times of nodes; run benchmark_model with --enable_op_profiling=true")
        )
    count = len(profiled)
    return OpProfile(
        path, profiled[-1], (f"the file has the profiles of {count} runs; the last one is used",) if count > 1 else ()
    )
