"""Activation functions, elementwise arithmetic, conversions and reductions."""

from __future__ import annotations

from ....graph.graph import NodeView, fused_activation
from ....model import schema
from ....rules.kinds import ACTIVATION, BROADCAST, CONSTANT, QUANTIZATION, RANK, TENSOR_TYPE, by_reshape, in_code
from ....rules.operands import INPUT, OUTPUT, Operand, at_least, at_most, exactly, operand
from ....rules.rule import Check, Rules, op_rule
from ....rules.vocabulary import check, check_for_target, rank, refused_if, typed, version
from ..target import (
    DENSE_WEIGHTS,
    FEATURE_LEVEL_7,
    FLOAT,
    FLOAT_INT32,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8,
    FLOAT_UINT8_INT32,
    NNAPI_1_1,
    NNAPI_1_2,
    NNAPI_1_3,
    NO_ACTIVATION,
    OUTPUT_TYPE,
    QUANT8,
    SCALAR_OUTPUT,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    UNSUPPORTED_OPERATOR_VARIANT,
    UNSUPPORTED_OUTPUT_TYPE,
    NnapiTarget,
    below_level,
    from_level,
    is_runtime_float16_dequantize,
    level_demand,
    max_op_version,
    min_level,
    op_version,
    quantized_as,
    type_and_storage,
    type_in,
    with_accelerator,
)

_CLAMPED = op_rule(max_op_version(2), FLOAT_QUANT8_OPERAND)
_SLOPED = op_rule(op_version(1), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_QUANT8))

_MAX_RANK = 4


def _constant_if_scalar(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return f"{which.name} is a scalar and not constant" if not tensor.rank and not tensor.is_constant else None

    hint = "give the operand the shape [1], or make it a constant"
    return check(CONSTANT, f"a constant {which.name} if it is a scalar", find, hint).reported_as(UNSUPPORTED_INPUT_TYPE)


def _shape_unlike_condition(node: NodeView) -> str | None:
    condition, value = node.input(0).shape, node.input(1).shape
    return None if condition == value else f"condition {list(condition)}, value {list(value)}"


def _large_rank(node: NodeView) -> str | None:
    highest = max(node.input(0).rank, node.input(1).rank)
    return None if highest <= _MAX_RANK else f"inputs of rank up to {highest}"


def _fused_with_int32(node: NodeView) -> str | None:
    function = fused_activation(node)
    return f"fused {function}" if node.input(0).type == "INT32" and function != "NONE" else None


_RANKS = check(RANK, f"inputs 0 and 1 of rank at most {_MAX_RANK}", _large_rank, by_reshape("fold dimensions with RESHAPE"))
_NO_ACTIVATION_OF_INT32 = check(ACTIVATION, "no fused activation if the operands are INT32", _fused_with_int32)

_SUM = (
    FLOAT_QUANT8_INT32_OPERAND.when(from_level(NNAPI_1_3)),
    _NO_ACTIVATION_OF_INT32.when(from_level(NNAPI_1_3)),
    FLOAT_QUANT8_OPERAND.when(below_level(NNAPI_1_3)),
    _RANKS.from_release("tf-2.12"),
)
_FLOAT_FUNCTION = op_rule(op_version(1), min_level(NNAPI_1_2), FLOAT_OPERAND)
_LOGIC = op_rule(op_version(1), min_level(NNAPI_1_2), typed(INPUT, ("BOOL",)))
_COMPARISON = op_rule(max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, (*FLOAT_QUANT8_INT32, "BOOL")))
_EXTREMUM = op_rule(
    max_op_version(3),
    min_level(NNAPI_1_2),
    type_in(INPUT, FLOAT_QUANT8_INT32),
    _constant_if_scalar(INPUT),
    _constant_if_scalar(operand(1)),
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


_LOWEST, _HIGHEST = -(2**31), 2**31 - 1


def _axis(node: NodeView) -> str | None:
    axis = node.input(1)
    if axis.type == "INT32":
        return None
    if axis.type == "INT64" and axis.is_constant:
        value = node.value(axis)
        if value is not None and len(value) and _LOWEST <= value[0] <= _HIGHEST:
            return None
    return f"axis is {type_and_storage(axis)}"


def _index_type(node: NodeView) -> str | None:
    name = schema.tensor_type_name(node.options.output_type)
    return None if name == "INT32" else f"output_type {name}"


_NOT_SCALAR = refused_if(
    SCALAR_OUTPUT, "a result with at least one dimension", lambda node: not OUTPUT.tensor(node).rank, "a scalar result"
)
_ARG_EXTREMUM = op_rule(
    max_op_version(2),
    min_level(NNAPI_1_2),
    type_in(INPUT, ("FLOAT16", "FLOAT32", "INT32", "UINT8", "INT8")),
    check(
        TENSOR_TYPE, "an INT32 axis, or a constant INT64 axis that fits INT32", _axis, in_code("make the axis an INT32 constant")
    ),
    check(OUTPUT_TYPE, "output_type INT32", _index_type, in_code("set output_type to INT32 in the model")),
)
_REDUCTION_EXTREMUM = op_rule(
    max_op_version(2),
    min_level(NNAPI_1_2),
    type_in(INPUT, FLOAT_QUANT8),
    rank(INPUT, at_least(1), hint="reduce only tensors that have dimensions").reported_as(UNSUPPORTED_OUTPUT_TYPE),
)
_FOLD = op_rule(op_version(1), min_level(NNAPI_1_2), _NOT_SCALAR, typed(INPUT, FLOAT))

RULES: Rules[NnapiTarget] = {
    "ELU": op_rule(op_version(1), min_level(NNAPI_1_3), typed(INPUT, FLOAT)),
    "HARD_SWISH": op_rule(FLOAT_QUANT8_OPERAND),
    "L2_NORMALIZATION": op_rule(
        max_op_version(2),
        FLOAT_OPERAND.when(below_level(NNAPI_1_2)),
        rank(INPUT, 4, hint="reshape to four dimensions, or use NNAPI 1.2")
        .reported_as(UNSUPPORTED_OPERATOR_VARIANT)
        .when(below_level(NNAPI_1_2)),
        NO_ACTIVATION,
    ),
    "LEAKY_RELU": _SLOPED,
    "LOCAL_RESPONSE_NORMALIZATION": op_rule(op_version(1)),
    "LOGISTIC": _CLAMPED,
    "LOG_SOFTMAX": op_rule(op_version(1), min_level(NNAPI_1_2), typed(INPUT, FLOAT)),
    "PRELU": _SLOPED,
    "RELU": _CLAMPED,
    "RELU6": _CLAMPED,
    "RELU_N1_TO_1": _CLAMPED,
    "SOFTMAX": op_rule(
        op_version(2),
        FLOAT_QUANT8_OPERAND,
        type_in(OUTPUT, FLOAT_QUANT8),
        rank(INPUT, at_most(4)),
        rank(INPUT, exactly(2, 4), hint="reshape to two or four dimensions, or use NNAPI 1.2").when(below_level(NNAPI_1_2)),
    ),
    "TANH": op_rule(
        max_op_version(2),
        typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
        typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)),
    ),
    "ABS": _FLOAT_FUNCTION,
    "ADD": op_rule(max_op_version(2), *_SUM),
    "COS": _FLOAT_FUNCTION.from_release("tf-2.12"),
    "DIV": op_rule(op_version(1), min_level(NNAPI_1_1), typed(INPUT, FLOAT), _RANKS.from_release("tf-2.12")),
    "EQUAL": _COMPARISON,
    "EXP": _FLOAT_FUNCTION,
    "FLOOR": op_rule(op_version(1)),
    "GREATER": _COMPARISON,
    "GREATER_EQUAL": _COMPARISON,
    "LESS": _COMPARISON,
    "LESS_EQUAL": _COMPARISON,
    "LOG": _FLOAT_FUNCTION,
    "LOGICAL_AND": _LOGIC,
    "LOGICAL_NOT": _LOGIC,
    "LOGICAL_OR": _LOGIC,
    "MAXIMUM": _EXTREMUM,
    "MINIMUM": _EXTREMUM,
    "MUL": op_rule(max_op_version(3).when(with_accelerator(True)), max_op_version(2).when(with_accelerator(False)), *_SUM),
    "NEG": op_rule(max_op_version(2), min_level(NNAPI_1_2), type_in(INPUT, FLOAT_INT32)),
    "NOT_EQUAL": _COMPARISON,
    "POW": _FLOAT_FUNCTION,
    "RSQRT": op_rule(
        op_version(2),
        min_level(NNAPI_1_2),
        FLOAT_OPERAND.when(below_level(FEATURE_LEVEL_7)),
        FLOAT_QUANT8_OPERAND.when(from_level(FEATURE_LEVEL_7)),
    ),
    "SELECT": op_rule(
        max_op_version(2),
        min_level(NNAPI_1_2),
        type_in(operand(1), FLOAT_QUANT8_INT32),
        check(
            BROADCAST,
            "a condition of the same shape as the values",
            _shape_unlike_condition,
            "give the condition the same shape as the values",
        ),
    ),
    "SIN": _FLOAT_FUNCTION,
    "SQRT": _FLOAT_FUNCTION,
    "SQUARED_DIFFERENCE": op_rule(
        op_version(2),
        min_level(NNAPI_1_1),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
        type_in(INPUT, FLOAT_UINT8).when(from_level(NNAPI_1_2)).when(below_level(NNAPI_1_3)),
        type_in(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
        _RANKS,
    ),
    "SUB": op_rule(
        max_op_version(3),
        # If the feature level has no subtraction, the delegate reports the type instead.
        level_demand(NNAPI_1_1).reported_as(UNSUPPORTED_INPUT_TYPE),
        typed(INPUT, FLOAT).when(from_level(NNAPI_1_1)).when(below_level(NNAPI_1_2)),
        typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)).when(below_level(NNAPI_1_3)),
        typed(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
        _NO_ACTIVATION_OF_INT32,
        _RANKS,
    ),
    "CAST": op_rule(
        op_version(1),
        min_level(NNAPI_1_2),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
        type_in(OUTPUT, FLOAT_QUANT8_INT32).when(from_level(NNAPI_1_3)),
        type_in(INPUT, FLOAT_UINT8_INT32).when(below_level(NNAPI_1_3)),
        type_in(OUTPUT, FLOAT_UINT8_INT32).when(below_level(NNAPI_1_3)),
    ),
    "DENSIFY": op_rule(check_for_target(DENSE_WEIGHTS, "a constant input and feature level 30", _packed_weights)),
    "DEQUANTIZE": op_rule(
        version(exactly(1, 2)),
        type_in(INPUT, ("UINT8",)).when(below_level(NNAPI_1_2)),
        type_in(INPUT, QUANT8).when(from_level(NNAPI_1_2)),
        check(QUANTIZATION, "INT8 with zero point 0", _asymmetric_int8, "quantize symmetrically, or use NNAPI 1.3")
        .reported_as(UNSUPPORTED_INPUT_TYPE)
        .when(from_level(NNAPI_1_2))
        .when(below_level(NNAPI_1_3)),
        accepted_early=check(TENSOR_TYPE, "FLOAT16 that is not constant", _other_than_runtime_float16).when(
            from_level(NNAPI_1_3)
        ),
    ),
    "QUANTIZE": op_rule(
        max_op_version(2),
        min_level(NNAPI_1_2),
        typed(INPUT, FLOAT_QUANT8),
        check(QUANTIZATION, "a scale above 0", _quantized_without_scale, _POSITIVE_SCALE),
        typed(OUTPUT, ("UINT8",), kind=OUTPUT_TYPE).when(below_level(NNAPI_1_3)),
        type_in(OUTPUT, QUANT8).when(from_level(NNAPI_1_3)),
        quantized_as(OUTPUT, "a scale above 0", lambda tensor: tensor.scale > 0, _POSITIVE_SCALE),
    ),
    "ARG_MAX": _ARG_EXTREMUM,
    "ARG_MIN": _ARG_EXTREMUM,
    "MEAN": op_rule(
        max_op_version(2),
        min_level(NNAPI_1_1),
        typed(INPUT, FLOAT_QUANT8).when(from_level(NNAPI_1_2)),
        typed(INPUT, FLOAT).when(below_level(NNAPI_1_2)),
        _NOT_SCALAR,
        rank(INPUT, at_most(4)).reported_as(UNSUPPORTED_OPERAND_VALUE).from_release("tf-2.12"),
    ),
    "REDUCE_ANY": op_rule(op_version(2), min_level(NNAPI_1_2), _NOT_SCALAR),
    "REDUCE_MAX": _REDUCTION_EXTREMUM,
    "REDUCE_MIN": _REDUCTION_EXTREMUM,
    "REDUCE_PROD": _FOLD,
    "SUM": _FOLD,
}
