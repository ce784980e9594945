"""Parameters that operators of several families give their NNAPI operations."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from .builder import PartitionBuilder
from .node import LoweredNode

NO_ACTIVATION = 0

_BYTES = 4
"""Size of an integer of 32 bits."""


def activation_code(node: LoweredNode) -> int:
    """Return NNAPI's number of the fused activation; an unknown activation counts as none (``ConvertActivation``)."""
    value = node.options.fused_activation_function
    return int(value) if value in schema.enum_names("ActivationFunctionType") else NO_ACTIVATION


def padding_code(node: LoweredNode) -> int:
    """Return the padding, same or valid, as NNAPI numbers it."""
    return int(node.options.padding) + 1


def first_integer(view: NodeView, position: int, element: int = 0) -> int:
    """Return an element of a constant operand, read as an integer of 32 bits whatever its type (``data.i32``).

    Returns 0 if the element does not exist; the original reads past the end of the constant.
    """
    value = view.value(view.input(position))
    if value is None:
        return 0
    data = value[: _BYTES * (element + 1)].tobytes()[_BYTES * element : _BYTES * (element + 1)]
    return int.from_bytes(data, "little", signed=True) if len(data) == _BYTES else 0


def first_number(view: NodeView, tensor: Tensor) -> float:
    """Return the first element of a constant; 0 where it has none; the original reads whatever memory lies there."""
    value = view.value(tensor)
    return float(value[0]) if value is not None and len(value) else 0.0


def add_zero_bias(builder: PartitionBuilder, node: LoweredNode, source: int, weights: int, count: int) -> None:
    """Add a bias of zeros: FLOAT32 for FLOAT32 input, otherwise INT32 with the product of the input and weight scales."""
    first, second = node.view.input(source), node.view.input(weights)
    if first.type == "FLOAT32":
        builder.add_vector(count, OperandType.TENSOR_FLOAT32)
    else:
        builder.add_vector(count, scale=first.scale * second.scale)


def add_integers(builder: PartitionBuilder, *values: int) -> None:
    """Add INT32 scalars in order."""
    for value in values:
        builder.add_int(value)
