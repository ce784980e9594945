"""The execution plan that one delegate leaves for the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..graph.calls import with_kernels
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Node, Tensor


class ChangedPlan(NamedTuple):
    """A subgraph as delegates left it: nodes, execution plan, outputs, and the tensors that they added behind the file's."""

    nodes: tuple[Node, ...]
    plan: tuple[int, ...]
    added_tensors: tuple[Tensor, ...]
    outputs: tuple[int, ...]


def plan_after(graph: Graph, subsets: Sequence[Subset], kernel_name: str, given_tensors: int) -> ChangedPlan:
    """Return the graph's plan with a kernel in place of each delegated partition (``ReplaceNodeSubsetsWithDelegateKernels``).

    ``given_tensors`` is the number of the file's tensors.
    """
    nodes, plan = with_kernels(graph, subsets, kernel_name)
    return ChangedPlan(nodes, plan, graph.tensors[given_tensors:], graph.outputs)
