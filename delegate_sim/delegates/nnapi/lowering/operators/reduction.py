"""Reduction along dimensions."""

from __future__ import annotations

from .....graph.graph import NodeView
from .....nnapi_runtime.types import OperandType
from ...node_predicates import QUANTIZED_TYPES
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operand_types import CONVERT_INT8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import NO_ACTIVATION, first_integer

_T = OperandType


def _add_arg_extremum(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower ARG_MAX or ARG_MIN. The axis becomes a scalar."""
    builder.add_input(node, 0)
    axis = node.view.input(1)
    if axis.type == "INT64" or (axis.type == "INT32" and axis.is_constant):
        builder.add_int(first_integer(node.view, 1))
    elif axis.type == "INT32":
        builder.add_scalar_tensor(node, axis, _T.INT32)
    else:
        raise kernel_error("nnapi-scalar-type", node.index, axis)
    builder.finish(node)


def _add_reduction(builder: PartitionBuilder, node: LoweredNode) -> None:
    _add_inputs_with_axes(builder, node)
    builder.add_bool(node.options.keep_dims)
    builder.finish(node)


def _add_mean(builder: PartitionBuilder, node: LoweredNode) -> None:
    _add_inputs_with_axes(builder, node)
    builder.add_int(bool(node.options.keep_dims))
    if not node.outputs or not _changes_quantization(node.view):
        builder.finish(node)
        return
    source = node.view.input(0)
    quantization = (source.scale, source.zero_point, node.converts_int8)
    means = [
        builder.add_intermediate(node, result, result.shape, *quantization, has_pointer=True) for result in node.view.outputs
    ]
    builder.add_operation(node, "MEAN")
    _append_requantize(builder, node, means[-1])


def _add_inputs_with_axes(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Add a node's operands. A scalar axis becomes a vector."""
    for position in range(len(node.inputs)):
        if position == 1 and not node.view.input(1).rank:
            builder.add_vector(1)
        else:
            builder.add_input(node, position)


def _changes_quantization(view: NodeView) -> bool:
    """Return whether a MEAN's result and input differ in scale or zero point (``IsMeanWithDifferentInputOutputQuantization``)."""
    source, result = view.input(0), view.output(0)
    return source.scale != result.scale or source.zero_point != result.zero_point


def _append_requantize(builder: PartitionBuilder, node: LoweredNode, mean: int) -> None:
    """Change the quantization of a mean by adding 0 (``AppendRequantize``)."""
    result = node.view.output(0)
    builder.inputs.append(mean)
    if result.type not in QUANTIZED_TYPES:
        raise kernel_error("nnapi-requantize-type", node.index, result)
    is_unsigned = result.type == "UINT8" or node.output_flags & CONVERT_INT8
    builder.add_vector(1, _T.TENSOR_QUANT8_ASYMM if is_unsigned else _T.TENSOR_QUANT8_ASYMM_SIGNED, 1, 1.0)
    builder.add_int(NO_ACTIVATION)
    builder.add_output(node, 0, node.output_flags)
    builder.add_operation(node, "ADD")


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "ARG_MAX": Lowering("ARGMAX", _add_arg_extremum, _INT8),
    "ARG_MIN": Lowering("ARGMIN", _add_arg_extremum, _INT8),
    "MEAN": Lowering("MEAN", _add_mean, _INT8),
    "REDUCE_ANY": Lowering("REDUCE_ANY", _add_reduction),
    "REDUCE_MAX": Lowering("REDUCE_MAX", _add_reduction, _INT8),
    "REDUCE_MIN": Lowering("REDUCE_MIN", _add_reduction, _INT8),
    "REDUCE_PROD": Lowering("REDUCE_PROD", _add_reduction),
    "SUM": Lowering("REDUCE_SUM", _add_reduction),
}
