"""Bounds on the time that a fix can save, in milliseconds of one inference. Each bound has a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..foundation.columns import INTEGER, NUMBER, OBJECT, Column, Declared
from ..graph.graph import Graph
from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.multiply_adds import multiply_adds
from .measured import NODE, CpuTime, Timing, cpu_time, kernel_times

KernelNodes = Sequence[Collection[NodeKey]]


@dataclass(frozen=True, slots=True)
class Rates:
    """The smallest and the largest measured time of one multiply-add of an operator on a delegate, in nanoseconds."""

    op: str
    low: float
    high: float
    kernels: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated saving. It comes from the CPU time of nodes, and the delegate's rates for the operators of these nodes."""

    low_ms: float
    high_ms: float
    nodes: int
    without_rate: tuple[str, ...]
    """Operators of moved nodes without a measured rate. The estimate leaves these operators out."""


@dataclass(frozen=True, slots=True)
class TimeBounds(Declared):
    """Bounds on the time that one fix can save.

    There is no lower bound, because only a measurement can show that the change does not cost time.
    """

    columns = (
        Column("at_most_ms", NUMBER, source=lambda own: own.at_most_ms if own.is_whole else None, digits=6),
        Column("moved_nodes", INTEGER, source="nodes"),
        Column("moved_ms", NUMBER, source="moved.ms", digits=6),
        Column("moved_nodes_without_time", INTEGER, source="moved.unknown"),
        *(Column("merged_kernels", INTEGER, source="gone_kernels"), Column("merged_ms", NUMBER, source="gone_ms", digits=6)),
        *(Column("whole_ms", NUMBER, digits=6), Column("at_least_ms", NUMBER, source=lambda _: None)),
        Column("remaining_ms", NUMBER, source=lambda own: own.rest_ms if own.is_whole else None, digits=6),
        *(Column("estimate", OBJECT), Column("no_estimate")),
    )

    moved: CpuTime
    """The CPU time of the nodes that move to the delegate."""
    nodes: int
    gone_kernels: int
    """The number of kernels that disappear because they are merged into other kernels."""
    gone_ms: float | None
    """The time of all merged kernels without the fastest kernel of each group.

    Each group becomes one kernel. None if a kernel was not measured.
    """
    total_ms: float
    inference_ms: float | None
    """The measured time of an inference of the whole model. None if the profile does not have this time."""
    kernels: int
    stays_on_cpu: bool
    """Whether any nodes of the profile stay on the CPU after the fix."""
    estimate: Estimate | None
    no_estimate: str

    @property
    def parts_ms(self) -> float:
        """The time of the removed parts: the moved nodes and the merged kernels."""
        return self.moved.ms + (self.gone_ms or 0.0)

    @property
    def whole_ms(self) -> float:
        """The time of the whole model. No fix saves more than this time.

        This is the smaller of two times: the measured inference, and the sum of all parts. Parts that were measured one by one
        can take longer than the inference.
        """
        return self.total_ms if self.inference_ms is None else min(self.inference_ms, self.total_ms)

    @property
    def at_most_ms(self) -> float:
        """The largest possible saving of the measured parts."""
        return min(self.parts_ms, self.whole_ms)

    @property
    def is_limited(self) -> bool:
        """True if the removed parts take longer than the whole model. The bound is then the time of the whole model."""
        return self.parts_ms > self.whole_ms

    @property
    def is_whole(self) -> bool:
        """True if every part that the fix can save was measured."""
        return self.moved.is_known and (not self.gone_kernels or self.gone_ms is not None)

    @property
    def rest_ms(self) -> float:
        """The remaining time of the whole model if the moved nodes took no time on the delegate."""
        return self.whole_ms - self.at_most_ms


def bounds(
    timings: Sequence[Timing],
    delegate: str,
    graphs: Sequence[Graph],
    moved: Collection[NodeKey],
    before: KernelNodes,
    after: KernelNodes,
) -> TimeBounds:
    """Return bounds on the saving of a change that moves the nodes in ``moved`` off the CPU.

    ``before`` and ``after`` are the delegate's kernels before and after the change, as nodes of the unchanged model. A profile
    of a run with the delegate is preferred, because the change saves CPU time of such a run.
    """
    ordered = sorted(timings, key=lambda timing: delegate not in timing.delegates)
    has_kernels = bool(ordered) and delegate in ordered[0].delegates
    merged = [group for group in _merged(before, after) if len(group) > 1]
    gone = sum([len(group) - 1 for group in merged])
    estimate, reason = _estimate(ordered, delegate, graphs, moved)
    return TimeBounds(
        moved=cpu_time(ordered, moved),
        nodes=len(moved),
        gone_kernels=gone,
        gone_ms=_longest(dict(kernel_times(ordered[:1], delegate)), merged) if has_kernels else None,
        total_ms=ordered[0].total_ms if ordered else 0.0,
        inference_ms=ordered[0].times.inference_ms if ordered else None,
        kernels=ordered[0].kernel_count if has_kernels else 0,
        stays_on_cpu=bool(ordered)
        and any(part.kind == NODE and not set(moved).issuperset(part.nodes) for part in ordered[0].parts),
        estimate=estimate,
        no_estimate=reason,
    )


def _merged(before: KernelNodes, after: KernelNodes) -> list[list[frozenset[NodeKey]]]:
    """Return for each kernel after the change the kernels before it that became part of it."""
    groups = [frozenset(kernel) for kernel in before]
    return [[kernel for kernel in groups if kernel and kernel <= set(new)] for new in after]


def _longest(times: Mapping[frozenset[NodeKey], float], merged: Sequence[Sequence[frozenset[NodeKey]]]) -> float | None:
    """Return the time of all merged kernels without the fastest kernel of each group. Return None if a kernel has no time."""
    total = 0.0
    for group in merged:
        if any(kernel not in times for kernel in group):
            return None
        total += sum(sorted([times[kernel] for kernel in group])[1:])
    return total


def _estimate(
    timings: Sequence[Timing], delegate: str, graphs: Sequence[Graph], moved: Collection[NodeKey]
) -> tuple[Estimate | None, str]:
    on_delegate = [timing for timing in timings if delegate in timing.delegates]
    on_cpu = [timing for timing in timings if delegate not in timing.delegates]
    if not on_delegate or not on_cpu:
        needed = "with the delegate" if on_cpu else "without the delegate"
        return None, f"an estimate needs a second profile of the same device, {needed}"
    rates = {rate.op: rate for rate in delegate_rates(on_delegate, delegate, graphs)}
    counts = {key: multiply_adds(graphs[key.subgraph].view(graphs[key.subgraph].nodes[key.node])) for key in moved}
    ops = {key: graphs[key.subgraph].nodes[key.node].op for key in moved}
    rated = [key for key in moved if ops[key] in rates and counts[key]]
    cpu = cpu_time([*on_delegate, *on_cpu], rated)
    missing = tuple(sorted({ops[key] for key in moved} - {ops[key] for key in rated}))
    if not rated or not cpu.is_known:
        if not missing:
            return None, "the CPU time of these nodes is not known"
        return None, f"the delegate's time per multiply-add is not known for {', '.join(missing)}"
    fast, slow = (sum([counts[key] * getattr(rates[ops[key]], end) for key in rated]) / 1e6 for end in ("low", "high"))
    return Estimate(round(cpu.ms - slow, 6), round(cpu.ms - fast, 6), len(rated), missing), ""


def delegate_rates(timings: Sequence[Timing], delegate: str, graphs: Sequence[Graph]) -> Iterator[Rates]:
    """Yield the rate of each operator, from kernels and inner operators with multiply-adds of only this operator."""
    samples: dict[str, list[float]] = {}
    measured = list(kernel_times(timings, delegate))
    measured += [(frozenset([inner.node]), inner.ms) for timing in timings for inner in timing.inner if inner.node is not None]
    for nodes, ms in measured:
        sums: dict[str, int] = {}
        for key in nodes:
            graph = graphs[key.subgraph]
            if count := multiply_adds(graph.view(graph.nodes[key.node])):
                op = graph.nodes[key.node].op
                sums[op] = sums.get(op, 0) + count
        if len(sums) == 1:
            ((op, count),) = sums.items()
            samples.setdefault(op, []).append(ms * 1e6 / count)
    for op, values in samples.items():
        yield Rates(op, min(values), max(values), len(values))
