"""The measured time of each delegate kernel, with its multiply-adds and the bytes that cross its boundary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..hypothetical.hypothetical_changes import NodeKey
from ..results.report.records import partitions
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
    for kernel in partitions([run]):
        if kernel.is_delegated:
            ms = times.get(frozenset([NodeKey(kernel.subgraph, node) for node in kernel.nodes]))
            counts = kernel.multiply_adds, kernel.bytes_in, kernel.bytes_out
            yield KernelCost(kernel.subgraph, kernel.number, len(kernel.nodes), ms, *counts)
