"""Filling and repeating."""

from __future__ import annotations

from .....nnapi_runtime.types import OperandType
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import first_integer, first_number

_T = OperandType


def _add_fill(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower FILL. The value becomes a scalar, and INT64 dimensions become INT32."""
    dimensions, value = node.view.input(0), node.view.input(1)
    if dimensions.type == "INT32":
        builder.add_flagged_input(node, 0)
    elif dimensions.type == "INT64":
        size = 4 * dimensions.element_count
        builder.add_constant(_T.TENSOR_INT32, dimensions.shape, size, dimensions.scale, dimensions.zero_point)
    else:
        raise kernel_error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        builder.add_scalar_tensor(node, value, _T.FLOAT32 if value.type == "FLOAT32" else _T.INT32)
    elif value.type == "FLOAT32":
        builder.add_float(first_number(node.view, value))
    else:
        builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


LOWERINGS: Lowerings = {
    "FILL": Lowering("FILL", _add_fill),
    "TILE": Lowering("TILE", traits=OperandTraits(converts_int8=first_is_int8)),
}
