"""LiteRT's partitioning of a model with a compiler plugin. Each partition is compiled separately.

Source: ``PartitionModel`` and ``PartitionSubgraph`` (``litert/compiler/plugin/compiler_plugin.cc``), ``GroupPartitionsV2`` and
``GroupPartitions`` (``litert/compiler/plugin/algo.cc``).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from ...graph.graph import Graph
from ...graph.partition import Subset
from ...refusal import Refusal
from ...releases.catalogue import Release, parse_release
from ...rules.rule import Reason, Verdict
from ..decision import Decision
from ..options import OptionValues
from .composites import COMPOSITE, NPU_CALL, Composite, Inlining, composite_of, is_cpu_call
from .loader import ISLANDS, plugin_refusal

DEFAULT, WEAKLY_CONNECTED = "default", "weakly_connected"
STRATEGIES = (DEFAULT, WEAKLY_CONNECTED)

NodeGroup = tuple[int, ...]


def _runs(graph: Graph, selected: Collection[int]) -> tuple[NodeGroup, ...]:
    parts = itertools.groupby(graph.execution_plan, selected.__contains__)
    return tuple([tuple(nodes) for is_selected, nodes in parts if is_selected])


def _weakly_connected(graph: Graph, selected: Collection[int]) -> tuple[NodeGroup, ...]:
    """Group the selected nodes. If one selected node reads a result of another, one group contains both nodes.

    The nodes of a group are in running order, but need not be consecutive in the execution plan.
    """
    parents = {index: index for index in graph.execution_plan if index in selected}

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    written = {tensor for index in parents for tensor in graph.nodes[index].outputs if tensor >= 0}
    for tensor in written:
        readers = [node.index for node in graph.readers.get(tensor, ()) if node.index in parents]
        writers = [node.index for node in graph.writers.get(tensor, ()) if node.index in parents]
        for index in (*writers, *readers[1:]) if readers else ():
            parents[root(index)] = root(readers[0])
    groups: dict[int, list[int]] = {}
    for index in parents:
        groups.setdefault(root(index), []).append(index)
    return tuple(map(tuple, groups.values()))


def in_running_order(graph: Graph, groups: tuple[NodeGroup, ...]) -> tuple[tuple[Subset, ...], bool]:
    """Return the groups and the unselected nodes in running order, and whether a running order exists.

    Each group runs as a whole. If groups wait for each other's results, no running order exists. In this case, each group gets
    the position of its last node. The result is cached for plugins that select the same nodes.
    """
    return graph.results.get("running order", (groups,), lambda: _in_running_order(graph, groups))


def _in_running_order(graph: Graph, groups: Sequence[NodeGroup]) -> tuple[tuple[Subset, ...], bool]:
    position = {index: number for number, index in enumerate(graph.execution_plan)}
    steps = [(group, True) for group in groups]
    grouped = {index for group in groups for index in group}
    steps += [((index,), False) for index in graph.execution_plan if index not in grouped]
    steps.sort(key=lambda step: position[step[0][-1]])
    order = _dependency_order(graph, [nodes for nodes, _ in steps])
    is_sorted = order is not None
    subsets: list[tuple[bool, list[int]]] = []
    for nodes, is_taken in [steps[number] for number in order] if order is not None else steps:
        if is_taken or not subsets or subsets[-1][0]:
            subsets.append((is_taken, []))
        subsets[-1][1].extend(nodes)
    return _subsets(graph, subsets), is_sorted


def _dependency_order(graph: Graph, steps: Sequence[NodeGroup]) -> list[int] | None:
    if len(steps) == 1:
        return [0]
    step_of = {index: number for number, nodes in enumerate(steps) for index in nodes}
    before: list[set[int]] = [set() for _ in steps]
    after: list[set[int]] = [set() for _ in steps]
    for writer, reader, _ in graph.links:
        if reader not in step_of:
            continue
        number = step_of[reader]
        source = step_of.get(writer, number)
        if source != number:
            before[number].add(source)
            after[source].add(number)
    if all(source < number for number, sources in enumerate(before) for source in sources):
        return list(range(len(steps)))
    waiting = [len(sources) for sources in before]
    ready = [number for number, count in enumerate(waiting) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        number = heappop(ready)
        order.append(number)
        for follower in after[number]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready, follower)
    return order if len(order) == len(steps) else None


def _subsets(graph: Graph, parts: Sequence[tuple[bool, Sequence[int]]]) -> tuple[Subset, ...]:
    nodes = graph.nodes
    read = [{tensor for index in indices for tensor in nodes[index].inputs if tensor >= 0} for _, indices in parts]
    written = [{tensor for index in indices for tensor in nodes[index].outputs if tensor >= 0} for _, indices in parts]
    results = frozenset(graph.outputs)
    readers = Counter([tensor for tensors in read for tensor in tensors])
    subsets = []
    for (is_taken, indices), own_read, own_written in zip(parts, read, written, strict=True):
        leaving = [tensor for tensor in own_written if tensor in results or readers[tensor] > (tensor in own_read)]
        subsets.append(Subset(is_taken, tuple(indices), tuple(sorted(own_read - own_written)), tuple(sorted(leaving))))
    return tuple(subsets)


_LIMIT_SINCE = parse_release("litert-2.2.0")

STRATEGY_LINE = "Partition strategy: {strategy}"
EMPTY_LINE = "Found empty subgraph, skipping partitioning"
INLINED_LINE = "Inlined {count} composite ops into subgraph<{subgraph}>"
ISLANDS_LINE = "Partitioning yielded {found} NPU islands, which exceeds the maximum allowed ({limit})."
PARTITIONED_LINE = (
    "Partitioned subgraph<{subgraph}>, selected {selected} ops, from a total of {total} ops. resulted in {partitions} partitions."
)
NOT_SORTED_LINE = "Failed to topologically sort subgraph after slicing!"


@dataclass(frozen=True, slots=True)
class PluginAnswer:
    """A plugin's answer for a subgraph: a verdict on each node, the plugin's log lines, and the plugin's failure, if any."""

    verdicts: Mapping[int, Verdict]
    lines: tuple[str, ...] = ()
    failure: Refusal | None = None


Ask = Callable[[Graph, Mapping[int, tuple[int, int]]], PluginAnswer]
"""A function that asks a plugin about a subgraph. The second argument maps each inlined tensor to its place in the model file."""


@dataclass(frozen=True, slots=True)
class Partitioned:
    """The result of partitioning one subgraph: the decision, LiteRT's log lines, and the failure, if any."""

    decision: Decision
    lines: tuple[str, ...]
    failure: Refusal | None = None


def partition_subgraph(graph: Graph, ask: Ask, options: OptionValues, release: Release, cpu_call: Reason) -> Partitioned:
    """Ask a plugin to select nodes. Inline unselected composites, ask the plugin again, and group the selected nodes."""
    strategy, limit = options["partition_strategy"], options["max_partitions"]
    lines: list[str] = []
    answer = ask(graph, {})
    lines += answer.lines
    if answer.failure is not None:
        return Partitioned(Decision(graph, answer.verdicts), tuple(lines), answer.failure)
    composites = _composites(graph, release)
    work = Inlining(graph)
    to_inline = [
        (index, composite.body)
        for index, composite in composites.items()
        if composite.name != NPU_CALL and not is_cpu_call(composite, release) and not answer.verdicts[index].is_supported
    ]
    if to_inline:
        for index, body in to_inline:
            work.inline(index, body)
        lines += [*work.lines, INLINED_LINE.format(count=len(to_inline), subgraph=graph.index)]
        graph = work.graph
        answer = ask(graph, work.tensor_places)
        lines += answer.lines
        if answer.failure is not None:
            return Partitioned(Decision(graph, answer.verdicts), tuple(lines), answer.failure)
        composites = _composites(graph, release)
    cpu_calls = [index for index, composite in composites.items() if is_cpu_call(composite, release)]
    verdicts = {**answer.verdicts, **dict.fromkeys(cpu_calls, Verdict(False, (cpu_call,)))} if cpu_calls else answer.verdicts
    selected = {index for index in graph.execution_plan if verdicts[index].is_supported}
    lines.append(STRATEGY_LINE.format(strategy=STRATEGIES.index(strategy)))
    if not graph.execution_plan and strategy == DEFAULT:
        lines.append(EMPTY_LINE)
    groups = (_weakly_connected if strategy == WEAKLY_CONNECTED else _runs)(graph, selected)
    npu_calls = [index for index, composite in composites.items() if composite.name == NPU_CALL and index not in selected]
    total = len(graph.execution_plan)
    verdicts = _inline_late(work, {index: composites[index] for index in cpu_calls}, verdicts)
    decision = _decided(work.graph, verdicts, groups, npu_calls, work)
    if limit and len(groups) > limit and release.is_at_least(_LIMIT_SINCE):
        failure = plugin_refusal(ISLANDS, graph, ISLANDS_LINE.format(found=len(groups), limit=limit))
        undone = replace(decision, nodes=(), subsets=None, preview=())
        return Partitioned(undone, (*lines, failure.message), failure)
    # LiteRT logs this line after each partition of a graph that cannot be sorted. The order of partitions is unpredictable.
    lines += [NOT_SORTED_LINE] if decision.warnings else []
    lines.append(PARTITIONED_LINE.format(subgraph=graph.index, selected=len(selected), total=total, partitions=len(groups)))
    return Partitioned(decision, tuple(lines))


def _composites(graph: Graph, release: Release) -> dict[int, Composite]:
    nodes = [index for index in graph.execution_plan if graph.nodes[index].op == COMPOSITE]
    composites = [(index, composite_of(graph.model, graph.nodes[index], release)) for index in nodes]
    return {index: composite for index, composite in composites if composite is not None}


def _inline_late(work: Inlining, cpu_calls: Mapping[int, Composite], verdicts: Mapping[int, Verdict]) -> Mapping[int, Verdict]:
    result = dict(verdicts)
    for index, composite in cpu_calls.items():
        first = work.node_count
        if work.inline(index, composite.body):
            reasons = result.pop(index)
            # bounded: nodes of bodies, which the reader counted
            result |= dict.fromkeys(range(first, work.node_count), reasons)
    return result


def _decided(
    graph: Graph, verdicts: Mapping[int, Verdict], groups: Sequence[NodeGroup], npu_calls: Sequence[int], work: Inlining
) -> Decision:
    subsets: tuple[Subset, ...] = ()
    warnings: tuple[str, ...] = ()
    if groups or npu_calls:
        subsets, is_sorted = in_running_order(graph, (*groups, *[(index,) for index in npu_calls]))
        if not is_sorted:
            warnings = (
                f"subgraph {graph.index}: some partitions depend on each other in a cycle, so the subgraph cannot run. This can "
                "happen with the partition strategy weakly_connected",
            )
    return Decision(
        graph,
        verdicts,
        tuple([index for subset in subsets if subset.is_delegated for index in subset.nodes]),
        subsets,
        subsets=subsets if subsets else None,
        origins=work.origins,
        places=work.places,
        warnings=warnings,
        groups=tuple([tuple([work.places.get(index, (graph.index, index)) for index in group]) for group in groups]),
    )
