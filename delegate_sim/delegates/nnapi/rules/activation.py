"""Activation functions, and conversions between types."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import NamedTuple

from ....foundation.float32 import float32, quotient
from ....graph.graph import NodeView
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from ....refusal import Refused
from ....rules.kinds import QUANTIZATION, TENSOR_TYPE
from ....rules.operands import INPUT, OUTPUT, at_most, exactly
from ....rules.rule import Rules
from ....rules.vocabulary import check, check_for_target, rank, typed, version
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operands import CONVERT_INT8, SCALAR_AS_TENSOR, WIDEN
from ..lowering.operator import (
    NO_ACTIVATION_CODE,
    LoweredNode,
    NnapiOperator,
    add_plain,
    binary_operator,
    int8_operator,
    operator,
    with_scalars,
)
from ..target import (
    DENSE_WEIGHTS,
    FLOAT,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8_INT32,
    NNAPI_1_3,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    QUANT8,
    QUANTIZED_TYPES,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERATOR_VARIANT,
    NnapiTarget,
    below_level,
    from_level,
    is_constant_densify,
    is_runtime_float16_dequantize,
    max_op_version,
    min_level,
    op_version,
    quantized_as,
    type_in,
)

_T = OperandType


_POSITIVE_SCALE = "quantize with a representative data set, so that the scale is above 0"


def _asymmetric_int8(node: NodeView) -> str | None:
    source = node.input(0)
    return f"INT8 with zero point {source.zero_point}" if source.type == "INT8" and source.zero_point else None


def _other_than_runtime_float16(node: NodeView) -> str | None:
    return None if is_runtime_float16_dequantize(node) else "another input"


def _quantized_without_scale(node: NodeView) -> str | None:
    source = node.input(0)
    return f"input scale {source.scale:g}" if source.type in QUANT8 and not source.scale > 0 else None


def _packed_weights(node: NodeView, target: NnapiTarget) -> str | None:
    is_constant = node.input(0).is_constant
    if is_constant and target.level >= NNAPI_1_3:
        return None
    return f"{'a constant' if is_constant else 'no constant'} at feature level {target.level}"


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


_RELU1 = 2


def _add_hard_swish(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower HARD_SWISH. Below NNAPI 1.3, the real delegate ignores a failure of ``TransformHardSwishIntoSupportedOps``."""
    if builder.runtime_feature_level >= NNAPI_1_3:
        add_plain(builder, node)
    else:
        with suppress(Refused):
            _add_products(builder, node)


class _Range(NamedTuple):
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
    factors = ((1 / 3, _RELU1, third.quantization if is_quantized else (0.0, 0)), (0.5, NO_ACTIVATION_CODE, halves))
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
    builder.add_int(NO_ACTIVATION_CODE)
    multiplied = builder.add_result(code, source.shape, *(product.quantization if is_quantized else (0.0, 0)))
    builder.add_operation(node, "MUL")
    builder.inputs += [parts[1], multiplied]
    builder.add_int(NO_ACTIVATION_CODE)
    builder.add_output(node, 0, flags)
    builder.add_operation(node, "ADD")


def _ranges(source: Tensor, zero_point: int) -> tuple[_Range, _Range]:
    whole = _Range(float32(-zero_point * source.scale), float32((255 - zero_point) * source.scale))
    third = _Range(max(float32(whole.lowest / 3), -1.0), min(float32(whole.highest / 3), 1.0))
    products = [float32(third.highest * float32(whole.highest / 2)), float32(third.lowest * float32(whole.lowest / 2))]
    return third, _Range(0.0, max(products))


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


def _clamped(operation: str | None = None) -> NnapiOperator:
    return int8_operator(max_op_version(2), FLOAT_QUANT8_OPERAND, operation=operation)


_SLOPED = op_version(1), min_level("1.2"), type_in(INPUT, FLOAT_QUANT8)

RULES: Rules[NnapiTarget] = {
    "ELU": operator(op_version(1), min_level("1.3"), typed(INPUT, FLOAT), add=with_scalars(lambda _: [1.0])),
    "HARD_SWISH": int8_operator(FLOAT_QUANT8_OPERAND, add=_add_hard_swish),
    "L2_NORMALIZATION": int8_operator(
        max_op_version(2),
        FLOAT_OPERAND.when(below_level("1.2")),
        rank(INPUT, 4, hint="reshape to four dimensions, or use NNAPI 1.2")
        .reported_as(UNSUPPORTED_OPERATOR_VARIANT)
        .when(below_level("1.2")),
        NO_ACTIVATION,
    ),
    "LEAKY_RELU": binary_operator(*_SLOPED, operation="PRELU", add=_add_leaky_relu),
    "LOCAL_RESPONSE_NORMALIZATION": operator(op_version(1), add=with_scalars(_response_normalization)),
    "LOGISTIC": _clamped(),
    "LOG_SOFTMAX": operator(
        op_version(1),
        min_level("1.2"),
        typed(INPUT, FLOAT),
        add=with_scalars(lambda _: [1.0, -1]),  # beta and axis
    ),
    "PRELU": binary_operator(*_SLOPED),
    "RELU": _clamped(),
    "RELU6": _clamped(),
    "RELU_N1_TO_1": _clamped("RELU1"),
    "SOFTMAX": int8_operator(
        op_version(2),
        FLOAT_QUANT8_OPERAND,
        type_in(OUTPUT, FLOAT_QUANT8),
        rank(INPUT, at_most(4)),
        rank(INPUT, exactly(2, 4), hint="reshape to two or four dimensions, or use NNAPI 1.2").when(below_level("1.2")),
        add=with_scalars(lambda node: [float(node.options.beta)]),
    ),
    "TANH": int8_operator(
        max_op_version(2), typed(INPUT, FLOAT).when(below_level("1.2")), typed(INPUT, FLOAT_QUANT8).when(from_level("1.2"))
    ),
    "CAST": operator(
        op_version(1),
        min_level("1.2"),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level("1.3")),
        type_in(OUTPUT, FLOAT_QUANT8_INT32).when(from_level("1.3")),
        type_in(INPUT, FLOAT_UINT8_INT32).when(below_level("1.3")),
        type_in(OUTPUT, FLOAT_UINT8_INT32).when(below_level("1.3")),
    ),
    "DENSIFY": operator(
        check_for_target(DENSE_WEIGHTS, "a constant input and feature level 30", _packed_weights),
        operation="",
        add=_add_densify,
        fold=_fold_densify,
    ),
    "DEQUANTIZE": operator(
        version(exactly(1, 2)),
        type_in(INPUT, ("UINT8",)).when(below_level("1.2")),
        type_in(INPUT, QUANT8).when(from_level("1.2")),
        check(QUANTIZATION, "INT8 with zero point 0", _asymmetric_int8, "quantize symmetrically, or use NNAPI 1.3")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .when(from_level("1.2"))
        .when(below_level("1.3")),
        accepted_early=check(TENSOR_TYPE, "FLOAT16 that is not constant", _other_than_runtime_float16).when(from_level("1.3")),
        fold=_fold_dequantize,
    ),
    "QUANTIZE": operator(
        max_op_version(2),
        min_level("1.2"),
        typed(INPUT, FLOAT_QUANT8),
        check(QUANTIZATION, "a scale above 0", _quantized_without_scale, _POSITIVE_SCALE),
        typed(OUTPUT, ("UINT8",), kind=OUTPUT_TYPE).when(below_level("1.3")),
        type_in(OUTPUT, QUANT8).when(from_level("1.3")),
        quantized_as(OUTPUT, "a scale above 0", lambda tensor: tensor.scale > 0, _POSITIVE_SCALE),
        add=_add_quantize,
    ),
}
