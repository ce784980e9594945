"""Parameters of NNAPI operations that several families of operators share."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from .builder import PartitionBuilder
from .node import LoweredNode

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


def add_integers(builder: PartitionBuilder, *values: int) -> None:
    """Add INT32 scalars in order."""
    for value in values:
        builder.add_int(value)
