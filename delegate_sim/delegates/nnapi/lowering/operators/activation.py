"""Activation functions, normalization and softmax."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

from .....foundation.float32 import float32, quotient
from .....model.model import Tensor
from .....nnapi_runtime.types import OperandType
from .....refusal import Refused
from ...target import NNAPI_1_3, QUANTIZED_TYPES
from ..builder import PartitionBuilder
from ..node import CONVERT_INT8, LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import NO_ACTIVATION, Lowering, Lowerings, add_plain

_T = OperandType
_RELU1 = 2


def _add_elu(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_float(1.0)
    builder.finish(node)


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


def _add_response_normalization(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    builder.add_inputs(node)
    builder.add_int(options.radius)
    builder.add_float(options.bias)
    builder.add_float(options.alpha)
    builder.add_float(options.beta)
    builder.finish(node)


def _add_log_softmax(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_float(1.0)  # beta
    builder.add_int(-1)  # axis
    builder.finish(node)


def _add_softmax(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_float(node.options.beta)
    builder.finish(node)


def _add_hard_swish(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower HARD_SWISH.

    Below NNAPI 1.3, the real delegate ignores a failure of ``TransformHardSwishIntoSupportedOps``.
    """
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
_SLOPE = OperandTraits(takes_scalars=True, converts_int8=first_is_int8, converts_all_inputs=True)

LOWERINGS: Lowerings = {
    "ELU": Lowering("ELU", _add_elu),
    "HARD_SWISH": Lowering("HARD_SWISH", _add_hard_swish, _INT8),
    "L2_NORMALIZATION": Lowering("L2_NORMALIZATION", traits=_INT8),
    "LEAKY_RELU": Lowering("PRELU", _add_leaky_relu, _SLOPE),
    "LOCAL_RESPONSE_NORMALIZATION": Lowering("LOCAL_RESPONSE_NORMALIZATION", _add_response_normalization),
    "LOGISTIC": Lowering("LOGISTIC", traits=_INT8),
    "LOG_SOFTMAX": Lowering("LOG_SOFTMAX", _add_log_softmax),
    "PRELU": Lowering("PRELU", traits=_SLOPE),
    "RELU": Lowering("RELU", traits=_INT8),
    "RELU6": Lowering("RELU6", traits=_INT8),
    "RELU_N1_TO_1": Lowering("RELU1", traits=_INT8),
    "SOFTMAX": Lowering("SOFTMAX", _add_softmax, _INT8),
    "TANH": Lowering("TANH", traits=_INT8),
}
