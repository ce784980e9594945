"""Arithmetic, comparisons, logic and casts (``NNAPIDelegateKernel::Validate``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import Check, OpRule, for_each
from ..target import FEATURE_LEVEL_7, NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, Target
from .checks import (
    FLOAT,
    FLOAT_INT32,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    INPUT_TYPE,
    OPERAND_VALUE,
    QUANT8,
    QUANTIZATION_PARAMETERS,
    at_most_rank,
    constant_int32,
    float_operand,
    float_quant8_int32_operand,
    float_quant8_operand,
    max_version,
    min_level,
    no_activation,
    output_typed,
    quantized_as,
    typed,
    version_in,
)

_SUM = (
    float_quant8_int32_operand().from_level(NNAPI_1_3),
    no_activation(only_int32=True).from_level(NNAPI_1_3),
    float_quant8_operand().below_level(NNAPI_1_3),
    at_most_rank(4, 0, 1),
)

_COMPARISONS = ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL")


def _constant_if_scalar(position: int) -> Check:
    def find(node: NodeView, _: Target) -> str | None:
        operand = node.input(position)
        return f"input {position} is a scalar and not constant" if not operand.rank and not operand.is_constant else None

    return Check("nnapi-constant-operand", INPUT_TYPE, f"input {position} constant if it is a scalar", find)


def _same_shape_as_condition(node: NodeView, _: Target) -> str | None:
    condition, value = node.input(0).shape, node.input(1).shape
    return None if condition == value else f"condition {list(condition)}, value {list(value)}"


def _non_symmetric_int8(node: NodeView, _: Target) -> str | None:
    source = node.input(0)
    return f"INT8 with zero point {source.zero_point}" if source.type == "INT8" and source.zero_point else None


def _runtime_float16(node: NodeView, _: Target) -> str | None:
    source = node.input(0)
    return None if source.type == "FLOAT16" and not source.is_constant else "another input"


def _quantized_without_scale(node: NodeView, _: Target) -> str | None:
    source = node.input(0)
    return f"input scale {source.scale:g}" if source.type in QUANT8 and not source.scale > 0 else None


RULES = {
    "ADD": OpRule((max_version(2), *_SUM)),
    "MUL": OpRule((max_version(3).with_accelerator(True), max_version(2).with_accelerator(False), *_SUM)),
    "SUB": OpRule(
        (
            max_version(3),
            Check(
                "nnapi-feature-level", INPUT_TYPE, "feature level 28", lambda _, target: f"feature level {target.level}"
            ).below_level(NNAPI_1_1),
            typed(0, FLOAT).from_level(NNAPI_1_1).below_level(NNAPI_1_2),
            typed(0, FLOAT_QUANT8).from_level(NNAPI_1_2).below_level(NNAPI_1_3),
            typed(0, FLOAT_QUANT8_INT32).from_level(NNAPI_1_3),
            no_activation(only_int32=True),
            at_most_rank(4, 0, 1),
        )
    ),
    "DIV": OpRule((max_version(1), min_level(NNAPI_1_1), float_operand(), at_most_rank(4, 0, 1))),
    "SQUARED_DIFFERENCE": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_1),
            typed(0, FLOAT_QUANT8_INT32).from_level(NNAPI_1_3),
            typed(0, ("FLOAT32", "UINT8")).from_level(NNAPI_1_2).below_level(NNAPI_1_3),
            float_operand().below_level(NNAPI_1_2),
            at_most_rank(4, 0, 1),
        )
    ),
    **for_each(
        ("MAXIMUM", "MINIMUM"),
        max_version(3),
        min_level(NNAPI_1_2),
        typed(0, FLOAT_QUANT8_INT32),
        _constant_if_scalar(0),
        _constant_if_scalar(1),
    ),
    **for_each(("ABS", "EXP", "LOG", "POW", "COS", "SIN", "SQRT"), max_version(1), min_level(NNAPI_1_2), float_operand()),
    "RSQRT": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_2),
            float_operand().below_level(FEATURE_LEVEL_7),
            float_quant8_operand().from_level(FEATURE_LEVEL_7),
        )
    ),
    "NEG": OpRule((max_version(2), min_level(NNAPI_1_2), typed(0, FLOAT_INT32))),
    "FLOOR": OpRule((max_version(1),)),
    **for_each(("LOGICAL_OR", "LOGICAL_AND", "LOGICAL_NOT"), max_version(1), min_level(NNAPI_1_2), typed(0, ("BOOL",))),
    **for_each(_COMPARISONS, max_version(2), min_level(NNAPI_1_2), typed(0, (*FLOAT_QUANT8_INT32, "BOOL"))),
    "SELECT": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_2),
            typed(1, FLOAT_QUANT8_INT32),
            Check("nnapi-broadcast", OPERAND_VALUE, "a condition of the same shape as the values", _same_shape_as_condition),
        )
    ),
    "CAST": OpRule(
        (
            max_version(1),
            min_level(NNAPI_1_2),
            typed(0, FLOAT_QUANT8_INT32).from_level(NNAPI_1_3),
            output_typed(0, FLOAT_QUANT8_INT32).from_level(NNAPI_1_3),
            typed(0, ("FLOAT32", "INT32", "UINT8")).below_level(NNAPI_1_3),
            output_typed(0, ("FLOAT32", "INT32", "UINT8")).below_level(NNAPI_1_3),
        )
    ),
    "DEQUANTIZE": OpRule(
        (
            version_in((1, 2)),
            typed(0, ("UINT8",)).below_level(NNAPI_1_2),
            typed(0, QUANT8).from_level(NNAPI_1_2),
            Check("nnapi-quantization", INPUT_TYPE, "INT8 with zero point 0", _non_symmetric_int8)
            .from_level(NNAPI_1_2)
            .below_level(NNAPI_1_3),
        ),
        accepted_early=Check("nnapi-input-type", INPUT_TYPE, "FLOAT16 that is not constant", _runtime_float16).from_level(
            NNAPI_1_3
        ),
    ),
    "QUANTIZE": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_2),
            typed(0, FLOAT_QUANT8),
            Check("nnapi-quantization", QUANTIZATION_PARAMETERS, "a scale above 0", _quantized_without_scale),
            output_typed(0, ("UINT8",)).below_level(NNAPI_1_3),
            output_typed(0, QUANT8).from_level(NNAPI_1_3),
            quantized_as(lambda node: node.output(0), "output", "a scale above 0", lambda tensor: tensor.scale > 0),
        )
    ),
    "TOPK_V2": OpRule((max_version(2), min_level(NNAPI_1_2), typed(0, FLOAT_QUANT8_INT32), constant_int32(1, "k"))),
}
