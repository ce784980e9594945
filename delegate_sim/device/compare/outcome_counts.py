"""Log lines and counts of a delegation on the device, and of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...foundation.columns import Declared
from ...runtime.interpreter import Run
from ..parse.log import read_lines
from ..parse.log_contents import PluginLine
from .observed_delegation import Facts


@dataclass(frozen=True, slots=True)
class Tally(Declared):
    """Log lines and counts from the device or from the simulation, over all subgraphs. Unknown counts are None."""

    lines: tuple[str, ...]
    delegated: int | None
    partitions: int | None
    kernels: int | None
    on_cpu: int | None


def simulated_tally(run: Run) -> Tally:
    """Return the lines and counts of the simulation."""
    if run.delegate.is_plugin:
        # Compiled partitions become kernels only on the device, so the simulation has no kernels to count.
        return _plugin_tally(run.log_lines, read_lines(run.log_lines).plugins)
    delegated = sum([len(subgraph.delegated) for subgraph in run.subgraphs])
    return Tally(
        run.log_lines,
        delegated,
        sum([len(subgraph.subsets) for subgraph in run.subgraphs]),
        sum([subset.is_delegated for subgraph in run.subgraphs for subset in subgraph.subsets]),
        _node_count(run) - delegated,
    )


def device_tally(facts: Facts, run: Run) -> Tally:
    """Return the lines and counts in the log. The total number of nodes comes from the simulation."""
    nodes = _node_count(run)
    if facts.plugins:
        return _plugin_tally(facts.lines, facts.plugins)
    if facts.has_ended and (facts.is_restored or facts.application is None or facts.application[0] == "failed"):
        return Tally(facts.lines, 0, 0, 0, 0)
    if facts.is_restored or facts.dynamic is not None:
        return Tally(facts.lines, 0, 0, 0, nodes)
    with_nodes = [subgraph.graph.index for subgraph in run.subgraphs if subgraph.graph.execution_plan]
    on_cpu = None
    if all(index in facts.on_cpu or index in facts.counts for index in with_nodes):
        on_cpu = sum(map(len, facts.on_cpu.values())) + sum(sum(counts.values()) for counts in facts.counts.values())
    kernels = sum(facts.kernels.values()) if facts.kernels else facts.kernels_made
    if kernels is None and facts.application is not None:
        kernels = facts.application[1]
    if facts.replacements is not None:
        delegated = sum([replacement.replaced for replacement in facts.replacements])
        counts = [replacement.partitions for replacement in facts.replacements]
        partitions = None if None in counts else sum([count for count in counts if count is not None])
        # If the log belongs to another model, the log's counts may exceed this model's number of nodes.
        rest = nodes - delegated if delegated <= nodes else None
        return Tally(facts.lines, delegated, partitions, kernels, rest if on_cpu is None else on_cpu)
    if facts.own_counts and on_cpu is None:
        delegated, total, _ = facts.own_counts[-1]
        return Tally(facts.lines, delegated, None, kernels, total - delegated if delegated <= total else None)
    if facts.splits and on_cpu is None:
        split_delegated, left = facts.splits[-1]
        return Tally(facts.lines, split_delegated, None, kernels, left)
    return Tally(facts.lines, None if on_cpu is None else nodes - on_cpu, None, kernels, on_cpu)


def _plugin_tally(lines: tuple[str, ...], plugins: Sequence[PluginLine]) -> Tally:
    selected = sum([plugin.selected for plugin in plugins])
    left = sum([plugin.total for plugin in plugins]) - selected
    return Tally(lines, selected, sum([plugin.partitions for plugin in plugins]), None, left)


def _node_count(run: Run) -> int:
    return sum([len(subgraph.graph.execution_plan) for subgraph in run.subgraphs])
