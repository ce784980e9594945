"""Activation functions, elementwise arithmetic, conversions and reductions."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

from ....foundation.float32 import float32, quotient
from ....graph.graph import NodeView
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from ....refusal import Refused
from ..target import NNAPI_1_3, QUANTIZED_TYPES, is_constant_densify, is_runtime_float16_dequantize
from . import NO_ACTIVATION, Lowering, Lowerings, activation_code, add_plain, first_integer, with_scalars
from .builder import PartitionBuilder, kernel_error
from .node import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED, WIDEN, LoweredNode, OperandTraits, first_is_int8

_T = OperandType
_RELU1 = 2


def _add_leaky_relu(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    source = node.view.input(0).type
    if source == "FLOAT32":
        builder.add_constant(_T.TENSOR_FLOAT32, (1,), 4)
    else:
        is_signed = source == "INT8" and builder.target_feature_level >= NNAPI_1_3
        code = _T.TENSOR_QUANT8_ASYMM_SIGNED if is_signed else _T.TENSOR_QUANT8_ASYMM
        builder.add_constant(code, (1,), 1, node.options.alpha)
    builder.finish(node)


def _response_normalization(node: LoweredNode) -> list[int | float]:
    options = node.options
    return [int(options.radius), *map(float, (options.bias, options.alpha, options.beta))]


_ACTIVATED = with_scalars(lambda node: [activation_code(node)])


def _add_hard_swish(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower HARD_SWISH. Below NNAPI 1.3, the real delegate ignores a failure of ``TransformHardSwishIntoSupportedOps``."""
    if builder.runtime_feature_level >= NNAPI_1_3:
        add_plain(builder, node)
    else:
        with suppress(Refused):
            _add_products(builder, node)


@dataclass(frozen=True, slots=True)
class _Range:
    lowest: float
    highest: float

    @property
    def quantization(self) -> tuple[float, int]:
        """Return the scale and the zero point of an 8-bit type that covers the range (``CalculateQuantizationParams``)."""
        scale = quotient(float32(self.highest) - float32(self.lowest), 255)
        if self.lowest > 0:
            return scale, 0
        if self.highest < 0:
            return scale, 255
        zero_point = -self.lowest / scale if scale else 0.0
        return scale, int(zero_point) if math.isfinite(zero_point) else 0


def _add_products(builder: PartitionBuilder, node: LoweredNode) -> None:
    source = node.view.input(0)
    flags = CONVERT_INT8 if node.converts_int8 else 0
    zero_point = source.zero_point + (128 if node.converts_int8 else 0)
    is_quantized = source.type in QUANTIZED_TYPES
    code = _T.TENSOR_QUANT8_ASYMM if is_quantized else _T.TENSOR_FLOAT32
    third, product = _ranges(source, zero_point) if is_quantized else (_Range(0, 0),) * 2
    halves = (float32(source.scale / 2), zero_point)
    factors = ((1 / 3, _RELU1, third.quantization if is_quantized else (0.0, 0)), (0.5, NO_ACTIVATION, halves))
    parts = []
    for factor, activation, quantization in factors:
        builder.add_flagged_input(node, 0, flags)
        if is_quantized:
            builder.add_vector(1, _T.TENSOR_QUANT8_ASYMM, 1, float32(float32(factor) / 64))
        else:
            builder.add_vector(1, _T.TENSOR_FLOAT32)
        builder.add_int(activation)
        parts.append(builder.add_result(code, source.shape, *quantization))
        builder.add_operation(node, "MUL")
    builder.inputs += parts
    builder.add_int(NO_ACTIVATION)
    multiplied = builder.add_result(code, source.shape, *(product.quantization if is_quantized else (0.0, 0)))
    builder.add_operation(node, "MUL")
    builder.inputs += [parts[1], multiplied]
    builder.add_int(NO_ACTIVATION)
    builder.add_output(node, 0, flags)
    builder.add_operation(node, "ADD")


def _ranges(source: Tensor, zero_point: int) -> tuple[_Range, _Range]:
    whole = _Range(float32(-zero_point * source.scale), float32((255 - zero_point) * source.scale))
    third = _Range(max(float32(whole.lowest / 3), -1.0), min(float32(whole.highest / 3), 1.0))
    products = [float32(third.highest * float32(whole.highest / 2)), float32(third.lowest * float32(whole.lowest / 2))]
    return third, _Range(0.0, max(products))


_INT8 = OperandTraits(converts_int8=first_is_int8)


def _add_cos(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower cos(x) to sin(pi/2 - x) (``TransformCosIntoSupportedOps``)."""
    source = node.view.input(0)
    size = 4 * source.element_count
    builder.add_constant(_T.TENSOR_FLOAT32, source.shape, size, source.scale, source.zero_point)
    builder.add_flagged_input(node, 0)
    builder.add_int(NO_ACTIVATION)
    difference = builder.add_result(_T.TENSOR_FLOAT32, node.view.output(0).shape)
    builder.add_operation(node, "SUB")
    builder.inputs.append(difference)
    builder.add_output(node, 0)
    builder.add_operation(node, "SIN")


_SCALAR_CONSTANTS = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 4),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 1),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1),
    "INT32": (_T.TENSOR_INT32, 4),
}
"""The NNAPI type and the element size in bytes of the vector that replaces a scalar, by tensor type."""


def _add_extremum(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position, operand in enumerate(node.view.inputs):
        if operand.rank or node.converts_int8:
            builder.add_input(node, position)
        elif not operand.is_constant:
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found="not constant")
        elif operand.type not in _SCALAR_CONSTANTS:
            raise kernel_error("nnapi-scalar-operand", node.index, operand, found=f"of type {operand.type}")
        else:
            code, size = _SCALAR_CONSTANTS[operand.type]
            scale = operand.scale
            if operand.type == "INT8":
                scale = scale or 1.0
                # Before NNAPI 1.3, no type is signed.
                code = code if node.output_flags & SIGNED else _T.TENSOR_QUANT8_ASYMM
            builder.add_constant(code, (1,), size, scale, operand.zero_point)
    builder.finish(node)


_DIFFERENCES = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 0, 0),
    "INT32": (_T.TENSOR_INT32, 0, 0),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 128, 255),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 0, 127),
}
"""For each tensor type: the NNAPI type and zero point of the difference, and the highest quantized value (0 if unquantized)."""


def _add_squared_difference(builder: PartitionBuilder, node: LoweredNode) -> None:
    source, output = node.view.input(0), node.view.output(0)
    if source.type not in _DIFFERENCES:
        raise kernel_error("nnapi-intermediate-type", node.index, source, op=node.view.op)
    code, zero_point, highest = _DIFFERENCES[source.type]
    # The absolute difference is at most the square root of the largest result.
    largest = float32(float32(highest - output.zero_point) * float32(output.scale)) if highest else 0.0
    scale = quotient(2 * float32(math.sqrt(largest)), 254) if largest >= 0 else math.nan
    for position in range(len(node.inputs[:2])):
        builder.add_flagged_input(node, position, SCALAR_AS_TENSOR | SIGNED)
    builder.add_int(NO_ACTIVATION)
    difference = builder.add_result(code, output.shape, scale, zero_point)
    builder.add_operation(node, "SUB")
    builder.inputs += [difference, difference]
    builder.add_int(NO_ACTIVATION)
    builder.add_output(node, 0, SIGNED)
    builder.add_operation(node, "MUL")


_BINARY = OperandTraits(takes_scalars=True, converts_int8=first_is_int8, converts_all_inputs=True)
_SCALARS = OperandTraits(takes_scalars=True)
_SELECTION = OperandTraits(converts_int8=lambda view: view.input(1).type == "INT8", converts_all_inputs=True)


def _fold_densify(builder: PartitionBuilder, view: NodeView) -> bool:
    """Fold a DENSIFY if it has constant weights, and return whether it was folded.

    The nodes that read the result of a folded DENSIFY unpack the weights.
    """
    if not is_constant_densify(view):
        return False
    if not view.node.outputs:
        raise kernel_error("nnapi-absent-operand", view.node.index)
    builder.densified[view.node.output(0)] = view.node
    return True


def _add_densify(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Raise Refused, because NNAPI has no operation for a DENSIFY that is not folded."""
    raise kernel_error("nnapi-unmapped-operator", node.index, op=node.view.op)


def _fold_dequantize(builder: PartitionBuilder, view: NodeView) -> bool:
    """Fold a DEQUANTIZE if it has float16 weights, and return whether it was folded.

    Constant weights become float32 operands. Sparse weights from a DENSIFY are converted by the nodes that read the weights.
    """
    node = view.node
    if view.is_constant_float16_dequantize:
        with suppress(Refused):
            builder.tensor_operand(node.index, node.input(0), SCALAR_AS_TENSOR | WIDEN)
        return True
    if not is_runtime_float16_dequantize(view):
        return False
    if not node.outputs:
        raise kernel_error("nnapi-absent-operand", node.index)
    builder.widened[node.output(0)] = node
    return True


def _add_quantize(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    if node.view.input(0).type in QUANTIZED_TYPES:
        builder.add_dequantize(node, 0, "FLOAT32")
    builder.finish(node)


def _add_arg_extremum(builder: PartitionBuilder, node: LoweredNode) -> None:
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
    source, first = node.view.input(0), node.view.output(0)
    if not node.outputs or (source.scale, source.zero_point) == (first.scale, first.zero_point):
        builder.finish(node)
        return
    quantization = (source.scale, source.zero_point, node.converts_int8)
    means = [
        builder.add_intermediate(node, result, result.shape, *quantization, has_pointer=True) for result in node.view.outputs
    ]
    builder.add_operation(node, "MEAN")
    _append_requantize(builder, node, means[-1])


def _add_inputs_with_axes(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position in range(len(node.inputs)):
        if position == 1 and not node.view.input(1).rank:
            builder.add_vector(1)
        else:
            builder.add_input(node, position)


def _append_requantize(builder: PartitionBuilder, node: LoweredNode, mean: int) -> None:
    result = node.view.output(0)
    builder.inputs.append(mean)
    if result.type not in QUANTIZED_TYPES:
        raise kernel_error("nnapi-requantize-type", node.index, result)
    is_unsigned = result.type == "UINT8" or node.output_flags & CONVERT_INT8
    builder.add_vector(1, _T.TENSOR_QUANT8_ASYMM if is_unsigned else _T.TENSOR_QUANT8_ASYMM_SIGNED, 1, 1.0)
    builder.add_int(NO_ACTIVATION)
    builder.add_output(node, 0, node.output_flags)
    builder.add_operation(node, "ADD")


LOWERINGS: Lowerings = {
    "ELU": Lowering("ELU", with_scalars(lambda _: [1.0])),
    "HARD_SWISH": Lowering("HARD_SWISH", _add_hard_swish, _INT8),
    "L2_NORMALIZATION": Lowering("L2_NORMALIZATION", traits=_INT8),
    "LEAKY_RELU": Lowering("PRELU", _add_leaky_relu, _BINARY),
    "LOCAL_RESPONSE_NORMALIZATION": Lowering("LOCAL_RESPONSE_NORMALIZATION", with_scalars(_response_normalization)),
    "LOGISTIC": Lowering("LOGISTIC", traits=_INT8),
    "LOG_SOFTMAX": Lowering("LOG_SOFTMAX", with_scalars(lambda _: [1.0, -1])),  # beta and axis
    "PRELU": Lowering("PRELU", traits=_BINARY),
    "RELU": Lowering("RELU", traits=_INT8),
    "RELU6": Lowering("RELU6", traits=_INT8),
    "RELU_N1_TO_1": Lowering("RELU1", traits=_INT8),
    "SOFTMAX": Lowering("SOFTMAX", with_scalars(lambda node: [float(node.options.beta)]), _INT8),
    "TANH": Lowering("TANH", traits=_INT8),
    "ABS": Lowering("ABS"),
    "ADD": Lowering("ADD", _ACTIVATED, _BINARY),
    "COS": Lowering(add=_add_cos),
    "DIV": Lowering("DIV", _ACTIVATED, _SCALARS),
    "EQUAL": Lowering("EQUAL", traits=_BINARY),
    "EXP": Lowering("EXP"),
    "FLOOR": Lowering("FLOOR"),
    "GREATER": Lowering("GREATER", traits=_BINARY),
    "GREATER_EQUAL": Lowering("GREATER_EQUAL", traits=_BINARY),
    "LESS": Lowering("LESS", traits=_BINARY),
    "LESS_EQUAL": Lowering("LESS_EQUAL", traits=_BINARY),
    "LOG": Lowering("LOG"),
    "LOGICAL_AND": Lowering("LOGICAL_AND"),
    "LOGICAL_NOT": Lowering("LOGICAL_NOT"),
    "LOGICAL_OR": Lowering("LOGICAL_OR"),
    "MAXIMUM": Lowering("MAXIMUM", _add_extremum, _BINARY),
    "MINIMUM": Lowering("MINIMUM", _add_extremum, _BINARY),
    "MUL": Lowering("MUL", _ACTIVATED, _BINARY),
    "NEG": Lowering("NEG"),
    "NOT_EQUAL": Lowering("NOT_EQUAL", traits=_BINARY),
    "POW": Lowering("POW", traits=_SCALARS),
    "RSQRT": Lowering("RSQRT"),
    "SELECT": Lowering("SELECT", traits=_SELECTION),
    "SIN": Lowering("SIN"),
    "SQRT": Lowering("SQRT"),
    "SQUARED_DIFFERENCE": Lowering(add=_add_squared_difference),
    "SUB": Lowering("SUB", _ACTIVATED, _BINARY),
    "CAST": Lowering("CAST"),
    "DENSIFY": Lowering(add=_add_densify, fold=_fold_densify),
    "DEQUANTIZE": Lowering("DEQUANTIZE", fold=_fold_dequantize),
    "QUANTIZE": Lowering("QUANTIZE", _add_quantize),
    "ARG_MAX": Lowering("ARGMAX", _add_arg_extremum, _INT8),
    "ARG_MIN": Lowering("ARGMIN", _add_arg_extremum, _INT8),
    "MEAN": Lowering("MEAN", _add_mean, _INT8),
    "REDUCE_ANY": Lowering("REDUCE_ANY", _add_reduction),
    "REDUCE_MAX": Lowering("REDUCE_MAX", _add_reduction, _INT8),
    "REDUCE_MIN": Lowering("REDUCE_MIN", _add_reduction, _INT8),
    "REDUCE_PROD": Lowering("REDUCE_PROD", _add_reduction),
    "SUM": Lowering("REDUCE_SUM", _add_reduction),
}
