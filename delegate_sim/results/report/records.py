"""The parts of a report as plain tuples: refusals, nodes on the CPU, partitions, and their splits across devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...foundation.columns import INTEGER, LIST, Column, attributes, positions
from ...graph.graph import Graph
from ...graph.partition import Subset
from ...runtime.interpreter import Run, SubgraphRun
from .multiply_adds import compute_of, node_multiply_adds
from .placement import CPU, bytes_across, on_cpu, placements

if TYPE_CHECKING:
    from ...delegates.traits import StageSplit


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
