"""The measured times of a view of the page: a strip of bars in running order, and the times of nodes and partitions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..foundation.printable import printable, shortened
from ..hypothetical.hypothetical_changes import NodeKey
from ..runtime.interpreter import SubgraphRun
from ..timing.measured import KERNEL, MeasuredPart, Timing, cpu_time, kernel_times, node_times

_LONGEST_NAME = 200
_MOST_BARS = 500
"""Largest number of bars. If there are more parts, the shortest parts share one bar at the end."""


def strip_entry(timings: Sequence[Timing]) -> dict[str, Any] | None:
    """Return the bars of the first profile, or None if there is no profile with parts."""
    if not timings or not timings[0].parts:
        return None
    timing = timings[0]
    shown = set(sorted(range(len(timing.parts)), key=lambda number: -timing.parts[number].ms)[:_MOST_BARS])
    rest = [part for number, part in enumerate(timing.parts) if number not in shown]
    bars = [_bar(part) for number, part in enumerate(timing.parts) if number in shown]
    if rest:
        bars.append({"label": f"{len(rest):,} more", "kind": "rest", "ms": sum([part.ms for part in rest]), "node": None})
    return {"profile": _name(os.path.basename(timing.path)), "total": timing.total_ms, "bars": bars}


def _bar(part: MeasuredPart) -> dict[str, Any]:
    count = f" x {part.count:,}" if part.count > 1 else ""
    label = f"{part.op}{' kernel' if part.kind == KERNEL else ''}{count}"
    first = min(part.nodes, default=None)
    return {"label": _name(label), "kind": part.kind, "ms": part.ms, "node": None if first is None else list(first)}


def subgraph_times(run: SubgraphRun, delegate: str, timings: Sequence[Timing]) -> dict[str, Any]:
    """Return the known times: the times of nodes by position, and the times of partitions by number."""
    if not timings:
        return {}
    index = run.graph.index
    nodes = node_times(timings)
    kernels = dict(kernel_times(timings, delegate))
    partitions: dict[str, float] = {}
    for number, subset in enumerate(run.subsets):
        keys = [NodeKey(index, node) for node in subset.nodes]
        own = [nodes[key] for key in keys if key in nodes]
        ms = kernels.get(frozenset(keys)) if subset.is_delegated else sum(own) if len(own) == len(keys) else None
        if ms is not None:
            partitions[str(number)] = ms
    positions = {NodeKey(index, node): position for position, node in enumerate(run.graph.execution_plan)}
    return {"ms": {str(positions[key]): ms for key, ms in nodes.items() if key in positions}, "partition_ms": partitions}


def cause_times(nodes: Sequence[NodeKey], timings: Sequence[Timing]) -> dict[str, Any]:
    """Return the measured CPU time of a cause's nodes. The result is empty if no node has a measured time."""
    time = cpu_time(timings, nodes)
    return {"ms": time.ms, "without_time": time.unknown} if time.unknown < len(nodes) else {}


def _name(text: str) -> str:
    return shortened(printable(text[: _LONGEST_NAME + 1]), _LONGEST_NAME)
