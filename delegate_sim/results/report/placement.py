"""The final place of each node, the reasons for the place, and the tensors that cross boundaries."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...delegates.base import largest_partitions
from ...foundation.columns import INTEGER, LIST, Column, attributes, positions
from ...foundation.printable import shortened
from ...graph.calls import DELEGATE
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...model.model import Node
from ...model.precompiled import has_dispatches, is_dispatch
from ...refusal import Refusal, Stage
from ...rules.kinds import DYNAMIC_TENSORS, NOT_LOADED_KINDS, NOT_PREPARED_KINDS, PARTITION_LIMIT
from ...rules.rule import Reason
from ...runtime.interpreter import Run, SubgraphRun
from .multiply_adds import compute_of, node_multiply_adds

if TYPE_CHECKING:
    from ...delegates.traits import StageSplit


COMPILED = "npu"
"""The place of nodes that were compiled ahead of time."""
CPU = "cpu"
"""The place of nodes that no delegate takes."""
_NOT_ASKED = "not-delegated"


def placements(runs: Sequence[Run]) -> list[list[tuple[Node, str]]]:
    """Return the final place of each node in each subgraph: ``cpu``, a delegate's name, or ``npu``.

    The place ``npu`` means that the node was compiled ahead of time.
    """
    rows = []
    final = [run.final_subgraphs for run in runs]
    inlined = _places_in_bodies(runs)
    is_compiled = has_dispatches(runs[0].subgraphs[0].graph.model) if runs[0].subgraphs else False
    for first in runs[0].subgraphs:
        places: dict[int, str] = {}
        for run, subgraphs in zip(runs, final, strict=True):
            for index in subgraphs[first.graph.index].delegated:
                places.setdefault(index, run.delegate.name)
        places |= _inlined_places(runs, first.graph.index, places)
        places = {**inlined.get(first.graph.index, {}), **places}
        nodes = first.graph.nodes
        plan = first.graph.execution_plan
        rest = {index: COMPILED for index in plan if is_dispatch(nodes[index])} if is_compiled else {}
        rows.append([(nodes[index], places.get(index) or rest.get(index, CPU)) for index in plan])
    return rows


def _places_in_bodies(runs: Sequence[Run]) -> dict[int, dict[int, str]]:
    """Return the places of nodes in inlined subgraphs that a later delegate took.

    The outer key is the subgraph index, and the inner key is the node index.
    """
    by_subgraph: dict[int, dict[int, str]] = {}
    for number, subgraph in enumerate(runs[0].subgraphs):
        places = {} if subgraph.decision is None else subgraph.decision.places
        for run in runs[1:] if places else ():
            for index in run.subgraphs[number].delegated & places.keys():
                body, node = places[index]
                by_subgraph.setdefault(body, {}).setdefault(node, run.delegate.name)
    return by_subgraph


def _inlined_places(runs: Sequence[Run], subgraph: int, known_places: Mapping[int, str]) -> dict[int, str]:
    """Return the place of each inlined call, keyed by node index.

    A call is left out if the nodes of the called subgraph have more than one place.
    """
    parts: dict[int, set[str]] = {}
    for run in runs:
        decision = run.subgraphs[subgraph].decision
        for part, origin in decision.origins.items() if decision is not None else ():
            parts.setdefault(origin, set()).add(known_places.get(part, CPU))
    return {origin: next(iter(places)) for origin, places in parts.items() if origin not in known_places and len(places) == 1}


def node_reasons(run: SubgraphRun, index: int, refusal: Refusal | None = None) -> tuple[Reason, ...]:
    """Return the reasons why a node is not delegated. If the run has advice for a reason, the advice replaces the hint."""
    return _with_advice(run, index, bare_reasons(run, index, refusal))


def _with_advice(run: SubgraphRun, index: int, reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    if not run.advice:
        return reasons
    return tuple([reason._replace(hint="; ".join(hints_of(run, index, reason))) for reason in reasons])


def hints_of(run: SubgraphRun, index: int, reason: Reason) -> Sequence[str]:
    """Return the advice of the run for a node's reason. If there is none, return the reason's own hint."""
    return [advice.text for advice in run.advice.get((index, reason.code), ()) if advice.text] or [reason.hint]


def bare_reasons(run: SubgraphRun, index: int, refusal: Refusal | None = None) -> tuple[Reason, ...]:
    """Return the reasons why a node is not delegated, with the hints of the rules."""
    return _reasons_without_advice(run, index, None if refusal is None else _undone_reason(refusal))


def _reasons_without_advice(run: SubgraphRun, index: int, undone: Reason | None) -> tuple[Reason, ...]:
    decision = run.decision
    if decision is None:
        return () if undone is None else (undone,)
    verdict = decision.verdicts.get(index)
    if verdict is None or not verdict.is_supported:
        return verdict.reasons if verdict else ()
    if index in decision.set_aside:
        return (decision.set_aside[index],)
    return () if undone is None or index in run.delegated else (undone,)


def dropped_partitions(run: SubgraphRun) -> tuple[Subset, ...]:
    """Return the partitions that are not delegated because of the limit on partitions. The largest partition comes first."""
    if run.decision is None:
        return ()
    set_aside = run.decision.set_aside
    dropped = [
        subset
        for subset in run.decision.candidates
        if (reason := set_aside.get(subset.nodes[0])) is not None and reason.code == PARTITION_LIMIT.name
    ]
    return largest_partitions(dropped, len(dropped))


def bytes_across(graph: Graph, subset: Subset) -> tuple[int, int]:
    """Return the sizes in bytes of the tensors that enter and leave a partition at run time (see ``crossing``)."""
    return _bytes(graph, subset.inputs), _bytes(graph, subset.outputs)


def _bytes(graph: Graph, tensors: tuple[int, ...]) -> int:
    sizes: dict[int, int] = graph.results.get("byte sizes", (), dict)
    for index in tensors:
        if index not in sizes:
            sizes[index] = sum([graph.tensors[own].byte_size for own in crossing(graph, (index,))])
    return sum(map(sizes.__getitem__, tensors))


def crossing(graph: Graph, tensors: tuple[int, ...]) -> list[int]:
    """Return the tensors in ``tensors`` that cross a boundary at run time.

    Constants, and tensors that a delegate added, do not cross a boundary.
    """
    return [index for index in tensors if index < len(graph.tensors) and not graph.tensors[index].is_constant]


def node_tensors(graph: Graph, node: Node) -> tuple[list[str | None], list[str | None]]:
    """Return the names of a node's inputs and outputs. The name of an omitted operand is None."""
    names = [[graph.tensors[index].name if index >= 0 else None for index in indices] for indices in (node.inputs, node.outputs)]
    return names[0], names[1]


def on_cpu(run: Run) -> Iterator[tuple[SubgraphRun, int, tuple[Reason, ...]]]:
    """Yield each node that is not delegated, with its reasons, in execution order.

    In a chain, the plan also contains the kernels of earlier delegates. These kernels are skipped.
    """
    undone = None if run.refusal is None else _undone_reason(run.refusal)
    for subgraph in run.final_subgraphs:
        for index in left_nodes(subgraph):
            reasons = _reasons_without_advice(subgraph, index, undone)
            yield subgraph, index, _with_advice(subgraph, index, reasons) if subgraph.advice else reasons


def undelegated_operators(run: Run) -> Counter[str]:
    """Count the nodes of each operator that are not delegated."""
    return Counter([subgraph.graph.nodes[index].op for subgraph, index, _ in on_cpu(run)])


def left_nodes(run: SubgraphRun) -> list[int]:
    """Return the nodes of a subgraph that no delegate has taken so far, in execution order."""
    nodes, delegated = run.graph.nodes, run.delegated
    return [index for index in run.graph.execution_plan if index not in delegated and nodes[index].builtin_code != DELEGATE]


def code_of(reasons: Sequence[Reason]) -> str:
    """Return the code of the first reason."""
    return reasons[0].code if reasons else _NOT_ASKED


@functools.lru_cache(maxsize=16)
def _undone_reason(refusal: Refusal) -> Reason:
    message = shortened(refusal.message)
    if refusal.stage.is_of_plugin:
        action, needed = "compiles nothing", "a plugin that does not fail"
        if refusal.stage is Stage.READING:
            action, needed = "cannot load the model, so it applies no compiler plugins", "a model that LiteRT can load"
        return Reason(refusal.code, "runtime", f"LiteRT {action}: {message}", message, needed, refusal.hint)
    if refusal.code == DYNAMIC_TENSORS.name:
        needed, action = "a graph without dynamic-sized tensors", "does not apply the delegate"
    elif refusal.code in [kind.name for kind in NOT_LOADED_KINDS]:
        needed, action = "operators and tensors that the release can load", "does not load the model"
    elif refusal.stage is Stage.PLANNING:
        needed, action = "a model whose memory can be planned", "cannot use the model"
    elif refusal.stage is Stage.LOADING:
        needed, action = "a model that LiteRT can load", "does not apply the delegate"
    elif refusal.code in [kind.name for kind in NOT_PREPARED_KINDS]:
        needed, action = "CPU kernels that can be prepared", "does not apply the delegate"
    elif refusal.below is not None and refusal.is_of_node:
        below = refusal.below
        needed, action = f"{below.operation or below.call} with {below.operand}: {below.needed}", "undid all delegation"
    elif refusal.stage is Stage.RUNNING:
        needed, action = "nodes that all CPU kernels compute", "stops in Invoke"
    else:
        needed, action = "delegate kernels and CPU kernels that can all be prepared", "undid all delegation"
    return Reason(refusal.code, "runtime", f"the runtime {action}: {message}", message, needed, refusal.hint)


class NodeRefusal(NamedTuple):
    """One reason why a node does not run on the delegate."""

    delegate: str
    subgraph: int
    node: int
    op: str
    code: str
    """The code of the reason (see ``delegate-sim explain``)."""
    message: str
    found: str
    """The value in the model that the delegate refuses."""
    needed: str
    """The value that the delegate accepts."""
    hint: str
    """The suggested change of the model."""


class NodeOnCpu(NamedTuple):
    """One node that runs on the CPU."""

    delegate: str
    """The delegate that does not take the node. In a chain, this is the last delegate."""
    subgraph: int
    node: int
    op: str
    multiply_adds: int
    codes: tuple[str, ...]
    """The codes of the reasons. Empty if the delegate did not check the node."""


class RunPartition(NamedTuple):
    """Nodes that run together in one of the runtime's partitions."""

    delegate: str
    subgraph: int
    number: int
    """The index of the partition in its subgraph, in execution order."""
    is_delegated: bool
    """Whether the partition is a delegate kernel."""
    nodes: tuple[int, ...]
    bytes_in: int
    """The size in bytes of the tensors that enter the partition at run time. Constants are left out."""
    bytes_out: int
    multiply_adds: int


def refusals(runs: Sequence[Run]) -> Iterator[NodeRefusal]:
    """Yield the reasons why nodes do not run on the delegate, in execution order."""
    for run in runs:
        for subgraph, index, reasons in on_cpu(run):
            op = subgraph.graph.nodes[index].op
            for reason in reasons:
                yield NodeRefusal(
                    run.delegate.name, subgraph.graph.index, index, op,
                    reason.code, reason.message, reason.found, reason.needed, reason.hint,
                )  # fmt: skip


def cpu_nodes(runs: Sequence[Run], is_chain: bool) -> Iterator[NodeOnCpu]:
    """Yield the nodes on the CPU in execution order. In a chain, these are the nodes that no delegate runs."""
    left = [{node.index for node, place in places if place == CPU} for places in placements(runs)] if is_chain else []
    for run in runs[-1:] if is_chain else runs:
        compute = compute_of(run)
        for subgraph, index, reasons in on_cpu(run):
            number = subgraph.graph.index
            if not is_chain or index in left[number]:
                codes = tuple([reason.code for reason in reasons])
                op = subgraph.graph.nodes[index].op
                yield NodeOnCpu(run.delegate.name, number, index, op, compute.by_node[number].get(index, 0), codes)


def partitions(runs: Sequence[Run]) -> Iterator[RunPartition]:
    """Yield the partitions of every run in execution order. Subgraphs without delegated nodes are left out."""
    for run in runs:
        for subgraph in run.subgraphs:
            yield from [placed.partition for placed in placed_partitions(run, subgraph)]


class PlacedPartition(NamedTuple):
    """A partition with its graph."""

    partition: RunPartition
    graph: Graph
    subset: Subset

    @property
    def kind(self) -> str:
        """``delegate`` or ``cpu``."""
        return "delegate" if self.subset.is_delegated else CPU


def placed_partitions(run: Run, subgraph: SubgraphRun) -> Iterator[PlacedPartition]:
    """Yield the partitions of a subgraph in execution order. Without delegated nodes, there are no partitions."""
    graph = subgraph.graph
    multiply_adds = node_multiply_adds(graph)
    for number, subset in enumerate(subgraph.subsets):
        sizes = *bytes_across(graph, subset), sum([multiply_adds.get(node, 0) for node in subset.nodes])
        partition = RunPartition(run.delegate.name, graph.index, number, subset.is_delegated, tuple(subset.nodes), *sizes)
        yield PlacedPartition(partition, graph, subset)


def splits_of(run: Run, subgraph: SubgraphRun) -> list[tuple[int, StageSplit]]:
    """Return a pair for each partition of a subgraph: the partition number, and the split. Unknown splits are left out."""
    if subgraph.decision is None or not subgraph.subsets:
        return []
    numbers = {subset.nodes: number for number, subset in enumerate(subgraph.subsets)}
    splits = run.delegate.behind.split(subgraph.decision, subgraph.subsets, run.options, run.release)
    return [(numbers[split.nodes], split) for split in splits if split.nodes in numbers]


_STEP = (
    Column("device"),
    Column("operations", LIST, parts=positions("node", "operation")),
    *attributes("bytes_in", "bytes_out", type=INTEGER),
)
SPLIT = (
    Column("partition", INTEGER, source=lambda pair: pair[0]),
    *(Column("error", source=lambda pair: pair[1].error), Column("steps", LIST, source=lambda pair: pair[1].steps, parts=_STEP)),
)
"""The columns of a pair that ``splits_of`` returns."""
