"""Type conversion, quantization, and sparse weights."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import QUANTIZATION, TENSOR_TYPE
from ....rules.number_sets import exactly
from ....rules.operands import INPUT, OUTPUT
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, check_for_target, typed, version
from ..kinds import DENSE_WEIGHTS, OUTPUT_TYPE, UNSUPPORTED_INPUT_TYPE
from ..node_predicates import is_runtime_float16_dequantize
from ..target import NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level, from_level
from .checks import (
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_UINT8_INT32,
    QUANT8,
    max_op_version,
    min_level,
    op_version,
    quantized_as,
    type_in,
)

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


RULES: Rules[NnapiTarget] = {
    "CAST": OpRule(
        (
            op_version(1),
            min_level(NNAPI_1_2),
            type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
            type_in(OUTPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
            type_in(INPUT, FLOAT_UINT8_INT32).when(below_level(NNAPI_1_3)),
            type_in(OUTPUT, FLOAT_UINT8_INT32).when(below_level(NNAPI_1_3)),
        )
    ),
    "DENSIFY": OpRule((check_for_target(DENSE_WEIGHTS, "a constant input and feature level 30", _packed_weights),)),
    "DEQUANTIZE": OpRule(
        (
            version(exactly(1, 2)),
            type_in(INPUT, ("UINT8",)).when(below_level(NNAPI_1_2)),
            type_in(INPUT, QUANT8).when(from_level(NNAPI_1_2)),
            check(QUANTIZATION, "INT8 with zero point 0", _asymmetric_int8, "quantize symmetrically, or use NNAPI 1.3")
            .reported_as(UNSUPPORTED_INPUT_TYPE)
            .when(from_level(NNAPI_1_2))
            .when(below_level(NNAPI_1_3)),
        ),
        accepted_early=check(TENSOR_TYPE, "FLOAT16 that is not constant", _other_than_runtime_float16).when(
            from_level(NNAPI_1_3)
        ),
    ),
    "QUANTIZE": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_2),
            typed(INPUT, FLOAT_QUANT8),
            check(QUANTIZATION, "a scale above 0", _quantized_without_scale, _POSITIVE_SCALE),
            typed(OUTPUT, ("UINT8",), kind=OUTPUT_TYPE).when(below_level(NNAPI_1_3)),
            type_in(OUTPUT, QUANT8).when(from_level(NNAPI_1_3)),
            quantized_as(OUTPUT, "a scale above 0", lambda tensor: tensor.scale > 0, _POSITIVE_SCALE),
        )
    ),
}
