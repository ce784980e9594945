"""Padding."""

from __future__ import annotations

from contextlib import suppress

from .....model.model import Tensor
from .....nnapi_runtime.types import OperandType
from .....refusal import Refused
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import first_number

_T = OperandType


def _add_pad(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower PAD or PADV2. The padding value becomes a scalar.

    The real delegate checks the type of the value, but ignores a failure to add the scalar.
    """
    if len(node.inputs) != 3:
        builder.add_inputs(node)
    else:
        builder.add_input(node, 0)
        builder.add_input(node, 1)
        if node.operand(2) >= 0:
            _add_value(builder, node)
    builder.add_outputs(node)
    builder.add_operation(node, "PAD_V2" if len(node.inputs) != 2 and node.operand(2) >= 0 else "PAD")


def _add_value(builder: PartitionBuilder, node: LoweredNode) -> None:
    value = node.view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if value.is_constant:
        _add_constant_value(builder, node, value)
    else:
        codes = {"FLOAT16": _T.TENSOR_FLOAT16, "FLOAT32": _T.FLOAT32}
        with suppress(Refused):
            builder.add_scalar_tensor(node, value, codes.get(value.type, _T.INT32))


def _add_constant_value(builder: PartitionBuilder, node: LoweredNode, value: Tensor) -> None:
    number = first_number(node.view, value)
    if value.type in ("FLOAT16", "FLOAT32"):
        builder.add_float(number)
    else:
        builder.add_int(int(number) + (128 if value.type == "INT8" and node.converts_int8 else 0))


def _add_mirror_pad(builder: PartitionBuilder, node: LoweredNode) -> None:
    mode = node.options.mode
    builder.add_inputs(node)
    builder.add_int(mode if mode in (0, 1) else -1)
    builder.finish(node)


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "MIRROR_PAD": Lowering("MIRROR_PAD", _add_mirror_pad),
    "PAD": Lowering("PAD", _add_pad, _INT8),
    "PADV2": Lowering("PAD", _add_pad, _INT8),
}
