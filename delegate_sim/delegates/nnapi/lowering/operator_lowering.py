"""The lowering of one operator. The modules in ``operators`` define a lowering for each operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ....graph.graph import NodeView
from .builder import PartitionBuilder
from .node import PLAIN, LoweredNode, OperandTraits

Step: TypeAlias = Callable[[PartitionBuilder, LoweredNode], None]
"""A function that lowers a node by adding NNAPI operands and operations to the partition's model."""


def add_plain(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a node to an NNAPI operation that has the node's operands in order, and no parameters."""
    builder.add_inputs(node)
    builder.finish(node)


@dataclass(frozen=True, slots=True)
class Lowering:
    """The lowering of one operator's nodes to NNAPI operations (``Map`` and ``AddOpsAndTensors``)."""

    operation: str = ""
    """The NNAPI operation of most nodes. Empty if every node becomes several operations."""
    add: Step = add_plain
    traits: OperandTraits = PLAIN
    fold: Callable[[PartitionBuilder, NodeView], bool] | None = None
    """A function that is called for each node of the operator before any node is lowered.

    The function returns whether the node is folded into the nodes that read its result.
    """


Lowerings: TypeAlias = Mapping[str, Lowering]
