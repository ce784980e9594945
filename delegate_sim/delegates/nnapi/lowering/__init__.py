"""Lowering of partitions to NNAPI models, in which each node becomes NNAPI operands and operations.

The modules of families (``model/schema.py``) define a lowering for each operator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Node, Tensor
from ....model.schema import FAMILY_OF
from ....nnapi_runtime.types import OperandType
from ....rules.rule import modules_of_families
from .builder import PartitionBuilder
from .node import PLAIN, LoweredNode, OperandTraits

Step: TypeAlias = Callable[[PartitionBuilder, LoweredNode], None]
"""A function that lowers a node by adding NNAPI operands and operations to the partition's model."""


def add_plain(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower a node to an NNAPI operation that has the node's operands in order, and no parameters."""
    builder.add_inputs(node)
    builder.finish(node)


def with_scalars(scalars: Callable[[LoweredNode], Iterable[bool | int | float]]) -> Step:
    """Return a step for an NNAPI operation with the node's operands in order, and then scalars: BOOL, INT32 or FLOAT32."""

    def add(builder: PartitionBuilder, node: LoweredNode) -> None:
        builder.add_inputs(node)
        builder.add_scalars(*scalars(node))
        builder.finish(node)

    return add


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
    reads_graph: bool = False
    """True if the lowering reads more than the node and its operands. Otherwise, nodes of one form are lowered once."""

    def lower(self, builder: PartitionBuilder, node: Node) -> None:
        """Add what the lowering adds for a node."""
        view = builder.graph.view(node)
        self.add(builder, LoweredNode(view, self.operation, self.traits, builder.target_feature_level))


Lowerings: TypeAlias = Mapping[str, Lowering]

NO_ACTIVATION = 0

_BYTES = 4
"""Bytes of a 32-bit integer."""


def activation_code(node: LoweredNode) -> int:
    """Return NNAPI's number for the fused activation (``ConvertActivation``). An unknown activation is no activation."""
    value = node.options.fused_activation_function
    return int(value) if value in schema.enum_names("ActivationFunctionType") else NO_ACTIVATION


def padding_code(node: LoweredNode) -> int:
    """Return NNAPI's number for the padding scheme, "same" or "valid"."""
    return int(node.options.padding) + 1


def first_integer(view: NodeView, position: int, element: int = 0) -> int:
    """Return one element of a constant operand as a 32-bit integer (``data.i32``). The operand's type is ignored.

    If the element does not exist, return 0. In this case, the real delegate reads past the end of the constant.
    """
    value = view.value(view.input(position))
    if value is None:
        return 0
    data = value[: _BYTES * (element + 1)].tobytes()[_BYTES * element : _BYTES * (element + 1)]
    return int.from_bytes(data, "little", signed=True) if len(data) == _BYTES else 0


def first_number(view: NodeView, tensor: Tensor) -> float:
    """Return the first element of a constant.

    If the tensor has no elements, return 0. In this case, the real delegate reads memory with unknown contents.
    """
    value = view.value(tensor)
    return float(value[0]) if value is not None and len(value) else 0.0


def add_zero_bias(builder: PartitionBuilder, node: LoweredNode, source: int, weights: int, count: int) -> None:
    """Add a bias of zeros. The bias is FLOAT32 for a FLOAT32 input, and otherwise INT32.

    The scale of an INT32 bias is input scale * weight scale.
    """
    first, second = node.view.input(source), node.view.input(weights)
    if first.type == "FLOAT32":
        builder.add_vector(count, OperandType.TENSOR_FLOAT32)
    else:
        builder.add_vector(count, scale=first.scale * second.scale)


MODULES = ("arithmetic", "layers", "shapes")
_OF_FAMILIES = modules_of_families(
    arithmetic="activation arithmetic conversion reduction",
    layers="convolution pooling resizing matrix recurrent",
    shapes="reshaping slicing joining padding gathering filling",
)


def find_lowering(op: str) -> Lowering | None:
    """Return the lowering of an operator, or None if the operator has no lowering.

    The operator's module is imported at the first call.
    """
    module = _OF_FAMILIES.get(FAMILY_OF.get(op, ""))
    return _lowerings(module).get(op) if module in MODULES else None


@functools.cache
def driver_operations() -> Mapping[str, str]:
    """Return the NNAPI operation of each operator. Omit operators that always become several operations."""
    return {op: lowering.operation for module in MODULES for op, lowering in _lowerings(module).items() if lowering.operation}


@functools.cache
def _lowerings(module: str) -> Lowerings:
    lowerings: Lowerings = import_module(f".{module}", __package__).LOWERINGS
    return lowerings
