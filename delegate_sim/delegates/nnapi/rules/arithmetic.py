"""Elementwise arithmetic and reductions."""

from __future__ import annotations

import math

from ....foundation.float32 import float32, quotient
from ....graph.graph import NodeView, fused_activation
from ....model import schema
from ....nnapi_runtime.types import OperandType
from ....rules.kinds import ACTIVATION, BROADCAST, CONSTANT, RANK, TENSOR_TYPE, by_reshape, in_code
from ....rules.operands import INPUT, OUTPUT, Operand, at_least, at_most, operand
from ....rules.rule import Check, Rules
from ....rules.vocabulary import check, rank, refused_if, typed
from ..lowering.builder import PartitionBuilder, kernel_error
from ..lowering.operands import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED
from ..lowering.operator import (
    NO_ACTIVATION_CODE,
    LoweredNode,
    activation_code,
    binary_operator,
    first_integer,
    int8_operator,
    operator,
    with_scalars,
)
from ..target import (
    FLOAT,
    FLOAT_INT32,
    FLOAT_OPERAND,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    FLOAT_UINT8,
    OUTPUT_TYPE,
    QUANTIZED_TYPES,
    SCALAR_OUTPUT,
    UNSUPPORTED_INPUT_TYPE,
    UNSUPPORTED_OPERAND_VALUE,
    UNSUPPORTED_OUTPUT_TYPE,
    NnapiTarget,
    below_level,
    from_level,
    level_demand,
    max_op_version,
    min_level,
    op_version,
    type_and_storage,
    type_in,
    with_accelerator,
)

_T = OperandType


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


def _add_cos(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower cos(x) to sin(pi/2 - x) (``TransformCosIntoSupportedOps``)."""
    source = node.view.input(0)
    size = 4 * source.element_count
    builder.add_constant(_T.TENSOR_FLOAT32, source.shape, size, source.scale, source.zero_point)
    builder.add_flagged_input(node, 0)
    builder.add_int(NO_ACTIVATION_CODE)
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
    for position, tensor in enumerate(node.view.inputs):
        if tensor.rank or node.converts_int8:
            builder.add_input(node, position)
        elif not tensor.is_constant:
            raise kernel_error("nnapi-scalar-operand", node.index, tensor, found="not constant")
        elif tensor.type not in _SCALAR_CONSTANTS:
            raise kernel_error("nnapi-scalar-operand", node.index, tensor, found=f"of type {tensor.type}")
        else:
            code, size = _SCALAR_CONSTANTS[tensor.type]
            scale = tensor.scale
            if tensor.type == "INT8":
                scale = scale or 1.0
                # Before NNAPI 1.3, no type is signed.
                code = code if node.output_flags & SIGNED else _T.TENSOR_QUANT8_ASYMM
            builder.add_constant(code, (1,), size, scale, tensor.zero_point)
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
    builder.add_int(NO_ACTIVATION_CODE)
    difference = builder.add_result(code, output.shape, scale, zero_point)
    builder.add_operation(node, "SUB")
    builder.inputs += [difference, difference]
    builder.add_int(NO_ACTIVATION_CODE)
    builder.add_output(node, 0, SIGNED)
    builder.add_operation(node, "MUL")


def _axis(node: NodeView) -> str | None:
    axis = node.input(1)
    if axis.type == "INT32":
        return None
    if axis.type == "INT64" and axis.is_constant:
        value = node.value(axis)
        if value is not None and len(value) and -(2**31) <= value[0] < 2**31:
            return None
    return f"axis is {type_and_storage(axis)}"


def _index_type(node: NodeView) -> str | None:
    name = schema.tensor_type_name(node.options.output_type)
    return None if name == "INT32" else f"output_type {name}"


_NOT_SCALAR = refused_if(
    SCALAR_OUTPUT, "a result with at least one dimension", lambda node: not OUTPUT.tensor(node).rank, "a scalar result"
)


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
    builder.add_int(NO_ACTIVATION_CODE)
    builder.add_output(node, 0, node.output_flags)
    builder.add_operation(node, "ADD")


_ACTIVATED = with_scalars(lambda node: [activation_code(node)])
_SUM = (
    FLOAT_QUANT8_INT32_OPERAND.when(from_level("1.3")),
    _NO_ACTIVATION_OF_INT32.when(from_level("1.3")),
    FLOAT_QUANT8_OPERAND.when(below_level("1.3")),
    _RANKS.from_release("tf-2.12"),
)
_FLOAT_CHECKS = op_version(1), min_level("1.2"), FLOAT_OPERAND
_FLOAT_FUNCTION = operator(*_FLOAT_CHECKS)
_LOGIC = operator(op_version(1), min_level("1.2"), typed(INPUT, ("BOOL",)))
_COMPARISON = binary_operator(max_op_version(2), min_level("1.2"), type_in(INPUT, (*FLOAT_QUANT8_INT32, "BOOL")))
_EXTREMUM = binary_operator(
    max_op_version(3),
    min_level("1.2"),
    type_in(INPUT, FLOAT_QUANT8_INT32),
    _constant_if_scalar(INPUT),
    _constant_if_scalar(operand(1)),
    add=_add_extremum,
)
_ARG_EXTREMUM = (
    max_op_version(2),
    min_level("1.2"),
    type_in(INPUT, ("FLOAT16", "FLOAT32", "INT32", "UINT8", "INT8")),
    check(
        TENSOR_TYPE, "an INT32 axis, or a constant INT64 axis that fits INT32", _axis, in_code("make the axis an INT32 constant")
    ),
    check(OUTPUT_TYPE, "output_type INT32", _index_type, in_code("set output_type to INT32 in the model")),
)
_REDUCTION_EXTREMUM = int8_operator(
    max_op_version(2),
    min_level("1.2"),
    type_in(INPUT, FLOAT_QUANT8),
    rank(INPUT, at_least(1), hint="reduce only tensors that have dimensions").reported_as(UNSUPPORTED_OUTPUT_TYPE),
    add=_add_reduction,
)
_FOLD = op_version(1), min_level("1.2"), _NOT_SCALAR, typed(INPUT, FLOAT)

RULES: Rules[NnapiTarget] = {
    "ABS": _FLOAT_FUNCTION,
    "ADD": binary_operator(max_op_version(2), *_SUM, add=_ACTIVATED),
    "COS": operator(*_FLOAT_CHECKS, introduced="tf-2.12", operation="", add=_add_cos),
    "DIV": operator(
        op_version(1), min_level("1.1"), typed(INPUT, FLOAT), _RANKS.from_release("tf-2.12"), add=_ACTIVATED, takes_scalars=True
    ),
    "EQUAL": _COMPARISON,
    "EXP": _FLOAT_FUNCTION,
    "FLOOR": operator(op_version(1)),
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
    "MUL": binary_operator(
        max_op_version(3).when(with_accelerator(True)), max_op_version(2).when(with_accelerator(False)), *_SUM, add=_ACTIVATED
    ),
    "NEG": operator(max_op_version(2), min_level("1.2"), type_in(INPUT, FLOAT_INT32)),
    "NOT_EQUAL": _COMPARISON,
    "POW": operator(*_FLOAT_CHECKS, takes_scalars=True),
    "RSQRT": operator(
        op_version(2), min_level("1.2"), FLOAT_OPERAND.when(below_level("7")), FLOAT_QUANT8_OPERAND.when(from_level("7"))
    ),
    "SELECT": operator(
        max_op_version(2),
        min_level("1.2"),
        type_in(operand(1), FLOAT_QUANT8_INT32),
        check(
            BROADCAST,
            "a condition of the same shape as the values",
            _shape_unlike_condition,
            "give the condition the same shape as the values",
        ),
        converts_int8=lambda view: view.input(1).type == "INT8",
        converts_all_inputs=True,
    ),
    "SIN": _FLOAT_FUNCTION,
    "SQRT": _FLOAT_FUNCTION,
    "SQUARED_DIFFERENCE": operator(
        op_version(2),
        min_level("1.1"),
        type_in(INPUT, FLOAT_QUANT8_INT32).when(from_level("1.3")),
        type_in(INPUT, FLOAT_UINT8).when(from_level("1.2")).when(below_level("1.3")),
        type_in(INPUT, FLOAT).when(below_level("1.2")),
        _RANKS,
        operation="",
        add=_add_squared_difference,
    ),
    "SUB": binary_operator(
        max_op_version(3),
        # If the feature level has no subtraction, the delegate reports the type instead.
        level_demand("1.1").reported_as(UNSUPPORTED_INPUT_TYPE),
        typed(INPUT, FLOAT).when(from_level("1.1")).when(below_level("1.2")),
        typed(INPUT, FLOAT_QUANT8).when(from_level("1.2")).when(below_level("1.3")),
        typed(INPUT, FLOAT_QUANT8_INT32).when(from_level("1.3")),
        _NO_ACTIVATION_OF_INT32,
        _RANKS,
        add=_ACTIVATED,
    ),
    "ARG_MAX": int8_operator(*_ARG_EXTREMUM, operation="ARGMAX", add=_add_arg_extremum),
    "ARG_MIN": int8_operator(*_ARG_EXTREMUM, operation="ARGMIN", add=_add_arg_extremum),
    "MEAN": int8_operator(
        max_op_version(2),
        min_level("1.1"),
        typed(INPUT, FLOAT_QUANT8).when(from_level("1.2")),
        typed(INPUT, FLOAT).when(below_level("1.2")),
        _NOT_SCALAR,
        rank(INPUT, at_most(4)).reported_as(UNSUPPORTED_OPERAND_VALUE).from_release("tf-2.12"),
        add=_add_mean,
    ),
    "REDUCE_ANY": operator(op_version(2), min_level("1.2"), _NOT_SCALAR, add=_add_reduction),
    "REDUCE_MAX": _REDUCTION_EXTREMUM,
    "REDUCE_MIN": _REDUCTION_EXTREMUM,
    "REDUCE_PROD": operator(*_FOLD, add=_add_reduction),
    "SUM": operator(*_FOLD, operation="REDUCE_SUM", add=_add_reduction),
}
