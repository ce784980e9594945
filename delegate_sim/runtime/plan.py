"""The execution plan that a delegate leaves to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Node, Tensor

DELEGATE = 51
"""The builtin code of a delegate's kernel in the graph."""


class ChangedPlan(NamedTuple):
    """What delegates made of a subgraph: nodes, execution plan, outputs, and the tensors that they added behind the file's."""

    nodes: tuple[Node, ...]
    plan: tuple[int, ...]
    added_tensors: tuple[Tensor, ...]
    outputs: tuple[int, ...]


def plan_after(graph: Graph, subsets: Sequence[Subset], kernel_name: str, given_tensors: int) -> ChangedPlan:
    """Return the graph's plan with a kernel in place of each delegated partition (``ReplaceNodeSubsetsWithDelegateKernels``).

    ``given_tensors`` is the number of the file's tensors.
    """
    nodes = list(graph.nodes)
    plan: list[int] = []
    for subset in subsets:
        if subset.is_delegated:
            plan.append(len(nodes))
            nodes.append(Node(len(nodes), kernel_name, DELEGATE, None, 1, subset.inputs, subset.outputs, (), None, None))
        else:
            plan += subset.nodes
    return ChangedPlan(tuple(nodes), tuple(plan), graph.tensors[given_tensors:], graph.outputs)
