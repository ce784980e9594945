"""The lowering of one operator, as the modules in ``operators`` list it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ....graph.graph import NodeView
from .builder import PartitionBuilder
from .node import PLAIN, LoweredNode, OperandTraits

Step: TypeAlias = Callable[[PartitionBuilder, LoweredNode], None]
"""Adds operands, parameters, results and operations of a node to a model."""


def add_plain(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Add an operation that has the node's operands in order, and no parameters."""
    builder.add_inputs(node)
    builder.finish(node)


@dataclass(frozen=True, slots=True)
class Lowering:
    """Lowers the nodes of one operator to NNAPI operations (``Map`` and ``AddOpsAndTensors``)."""

    operation: str = ""
    """The usual NNAPI operation of a node; empty if a node always needs several operations."""
    add: Step = add_plain
    traits: OperandTraits = PLAIN
    fold: Callable[[PartitionBuilder, NodeView], bool] | None = None
    """A function called before any node is lowered; it returns whether other nodes absorb this node."""


Lowerings: TypeAlias = Mapping[str, Lowering]
