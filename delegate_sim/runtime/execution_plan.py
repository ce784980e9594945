"""The execution plan after a delegate was applied, as the next delegate gets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..graph.calls import with_kernels
from ..graph.graph import Graph
from ..graph.partition import Subset
from ..model.model import Node, Tensor


class ChangedPlan(NamedTuple):
    """A subgraph after delegates were applied.

    The indices of added tensors follow the indices of the tensors in the model file.
    """

    nodes: tuple[Node, ...]
    plan: tuple[int, ...]
    added_tensors: tuple[Tensor, ...]
    outputs: tuple[int, ...]


def plan_after(graph: Graph, subsets: Sequence[Subset], kernel_name: str, given_tensors: int) -> ChangedPlan:
    """Replace each delegated partition with a kernel (``ReplaceNodeSubsetsWithDelegateKernels``).

    ``given_tensors`` is the number of tensors in the model file.
    """
    nodes, plan = with_kernels(graph, subsets, kernel_name)
    return ChangedPlan(nodes, plan, graph.tensors[given_tensors:], graph.outputs)
