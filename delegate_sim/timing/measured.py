"""The times of an op profile, matched with the nodes and delegate kernels of a simulation, as plain data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..device.parse.profiles.operator_tables import RowTime
from ..device.parse.profiles.run_times import RunTimes
from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.display import TimeRow, TimeTotals

KERNEL, NODE, UNMATCHED = "kernel", "node", "unmatched"
"""The kinds of measured parts."""


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """The time of one row of a profile in one inference, and the nodes that ran in this time.

    If the row is in a summary, the part has all nodes of an operator, or all kernels of a delegate. If the row matches nothing,
    ``nodes`` is empty and ``why`` gives the reason.
    """

    kind: str
    op: str
    """The operator, or the name of the delegate."""
    name: str
    """The name of the row in the profile."""
    ms: float
    count: int
    """The number of nodes or kernels."""
    nodes: tuple[NodeKey, ...]
    kernels: tuple[tuple[NodeKey, ...], ...] = ()
    """The nodes of each kernel."""
    row: RowTime | None = None
    """The numbers of the row. None if the part has several nodes or kernels."""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain data."""
        entry: dict[str, Any] = {
            "kind": self.kind,
            "op": self.op,
            "name": self.name,
            "ms": _rounded(self.ms),
            "count": self.count,
        }
        entry["nodes"] = [key._asdict() for key in self.nodes]
        if self.row is not None:
            entry |= {"first_ms": self.row.first_ms, "memory_kb": self.row.memory_kb, "times_called": self.row.calls}
        return entry | ({"why": self.why} if self.why else {})


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
class Timing:
    """The parts of the time of one profiled run."""

    path: str
    delegates: tuple[str, ...]
    """The delegates with kernels in the profile."""
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
        """The part of an inference's time that is in no row of the profile, for example for copying data.

        None if it is not known.
        """
        inference = self.times.inference_ms
        return None if inference is None or not self.parts else max(inference - self.total_ms, 0.0)

    @property
    def groups(self) -> tuple[TimeGroup, ...]:
        """The kernels by delegate, then the CPU nodes by operator, then the unmatched rows.

        In each kind, the largest time comes first.
        """
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

    def to_dict(self) -> dict[str, Any]:
        """Return the timing as plain data."""
        return {
            "profile": self.path,
            "delegates": list(self.delegates),
            "total_ms": _rounded(self.total_ms),
            "outside_ms": None if self.outside_ms is None else _rounded(self.outside_ms),
            "init_ms": self.times.init_ms,
            "first_inference_ms": self.times.first_ms,
            "warmup_ms": self.times.warmup_ms,
            "inference_ms": self.times.inference_ms,
            "groups": [
                {"kind": group.kind, "op": group.op, "count": group.count, "ms": _rounded(group.ms)} for group in self.groups
            ],
            "parts": [part.to_dict() for part in self.parts],
            "nested": [part.to_dict() for part in self.nested],
            "inside_kernels": [
                {"name": inner.name, "ms": _rounded(inner.ms), "node": None if inner.node is None else inner.node._asdict()}
                for inner in self.inner
            ],
            "notes": list(self.notes),
        }


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
    """Return the CPU time of nodes. It comes from the first timing that has a time for any of the nodes.

    A row with several nodes is used only if all its nodes are in ``nodes``, because the time of the row cannot be divided.
    """
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
