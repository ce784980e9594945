"""The measured time of each delegate kernel, with its multiply-adds and the bytes that cross its boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.multiply_adds import compute_of
from ..results.report.placement import bytes_across
from ..runtime.interpreter import Run
from .measured import Timing, kernel_times


class KernelCost(NamedTuple):
    """One delegate kernel. ``partition`` is its number in the report. ``ms`` is None if the kernel has no row of its own."""

    subgraph: int
    partition: int
    nodes: int
    ms: float | None
    multiply_adds: int
    bytes_in: int
    bytes_out: int


def kernel_costs(run: Run, timing: Timing) -> Iterator[KernelCost]:
    """Yield the cost of each kernel of a run, in execution order."""
    times = dict(kernel_times([timing], run.delegate.name))
    compute = compute_of(run)
    for subgraph in run.subgraphs:
        graph = subgraph.graph
        for number, subset in enumerate(subgraph.subsets):
            if subset.is_delegated:
                ms = times.get(frozenset([NodeKey(graph.index, node) for node in subset.nodes]))
                counts = compute.of(graph.index, subset.nodes), *bytes_across(graph, subset)
                yield KernelCost(graph.index, number, len(subset.nodes), ms, *counts)
