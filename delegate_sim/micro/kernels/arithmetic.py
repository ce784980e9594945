"""Elementwise arithmetic and reductions."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView
from ...rules.kinds import BROADCAST, OPERAND_VALUE, QUANTIZATION, SHAPE, Kind
from ...rules.operands import INPUT, OUTPUT, at_least, at_most, operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, rank, same_type, typed, where
from ..checks import (
    ACTIVATION_RANGE,
    FLOAT32,
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    FLOAT32_INT8_INT16_INT32,
    INT8,
    INT8_INT16,
    INT16,
    INT32,
    ONE_TO_ONE,
    SAME_SHAPES,
    SAME_TYPES,
    THREE_TO_ONE,
    TWO_TO_ONE,
    affine,
    axis_in_range,
    broadcast_shape,
    first_values,
    not_quantized,
    one_element,
    quantized,
    same_parameters,
    scale,
    symmetric,
    where_typed,
    with_cmsis_nn,
    zero_point,
)
from ..target import NO_PREPARE, TENSOR_TYPE, MicroKernel, in_source

_FIRST, _SECOND, _THIRD = operand(0), operand(1), operand(2)
_ONE_INPUT_TYPE = same_type(_FIRST, _SECOND, kind=TENSOR_TYPE)
_ELEMENTWISE_ALL = (ONE_TO_ONE, SAME_TYPES)
_POINTER = 8
"""The size of a pointer in bytes. The Python package of the runtime exists only for 64-bit systems."""
_ZERO_POINTS = range(-128, 128)


def _unary(symbol: str, *types: str) -> MicroKernel:
    return MicroKernel(
        in_source("elementwise.cc: GenericPrepare", *_ELEMENTWISE_ALL),
        in_source(f"elementwise.cc: {symbol}", typed(INPUT, types)),
    )


def _is_scaled(node: NodeView) -> bool:
    return node.input(0).type == "INT8" or (node.input(0).type == "INT16" and affine(node.input(0)) is not None)


_IS_SCALED = "with a quantized input"
_SCALED = where(_is_scaled, _IS_SCALED, *quantized(INPUT, OUTPUT), *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT)))


def _rescaled(eval_symbol: str, types: tuple[str, ...], *checks: Check[object]) -> MicroKernel:
    return MicroKernel(
        in_source("elementwise.cc: PrepareAbsRsqrt", *_ELEMENTWISE_ALL, *_SCALED),
        in_source(f"elementwise.cc: {eval_symbol}", typed(INPUT, types), *checks),
    )


def _rounding(file: str, prepare: str, evaluate: str) -> MicroKernel:
    checks = (ONE_TO_ONE, typed(INPUT, FLOAT32), SAME_TYPES, SAME_SHAPES)
    return MicroKernel(in_source(f"{file}: {prepare}", *checks), in_source(f"{file}: {evaluate}"))


def _comparison(symbol: str, *types: str) -> MicroKernel:
    return MicroKernel(
        in_source("comparisons.cc: ComparisonsPrepare"), in_source(f"comparisons.cc: {symbol}", typed(INPUT, types))
    )


_EQUALITY_TYPES = ("BOOL", "FLOAT32", "INT32", "INT64", "INT8")
_ORDER_TYPES = ("FLOAT32", "INT32", "INT64", "INT8")


def _zero_divisor(node: NodeView) -> str | None:
    values = first_values(node, node.input(1))
    if values is None or node.input(1).type not in ("FLOAT32", "INT32") or 0 not in values:
        return None
    return "input 1 with a zero" if node.input(1).is_constant else "input 1 that is 0 until the application sets it"


_NO_ZERO_DIVISOR = check(
    OPERAND_VALUE, "an input 1 without zeros", _zero_divisor, "avoid divisors of 0, for example with MAXIMUM before the division"
)


def _below_zero_point(node: NodeView) -> str | None:
    values, point = first_values(node, node.input(0)), zero_point(node.input(0))
    return None if values is None or min(values, default=point) >= point else f"input 0 with {min(values)} and zero point {point}"


_NOT_NEGATIVE = check(
    OPERAND_VALUE,
    "an input 0 without negative numbers",
    _below_zero_point,
    "remove negative numbers before the node, for example with RELU",
)

_FLOOR_CHECKS = (TWO_TO_ONE, _ONE_INPUT_TYPE, SAME_TYPES)


def _alike_inputs(kind: Kind, same: Callable[[NodeView, int], bool], needed: str, property_name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        for position in range(1, len(node.node.inputs)):
            if not same(node, position):
                return f"input {position} differs from input 0 in {property_name}"
        return None

    return check(kind, needed, find)


def _same_add_n_parameters(node: NodeView, position: int) -> bool:
    first, other = node.input(0), node.input(position)
    return first.type != "INT8" or (scale(first), zero_point(first)) == (scale(other), zero_point(other))


def _add_n_types(node: NodeView) -> str | None:
    first = node.input(0).type
    types = [tensor.type for tensor in node.inputs if tensor.type != first]
    return f"inputs of types {first} and {types[0]}" if types else None


_ADD_N_CHECKS = (
    operand_count(at_least(2), 1),
    SAME_TYPES,
    _alike_inputs(SHAPE, lambda node, at: node.input(0).shape == node.input(at).shape, "inputs of the same shape", "shape"),
    check(TENSOR_TYPE, "inputs of the same type", _add_n_types),
    _alike_inputs(QUANTIZATION, _same_add_n_parameters, "INT8 inputs with the same scale and zero point", "scale or zero point"),
    typed(OUTPUT, FLOAT32_INT8),
)


def _zero_point_range(node: NodeView) -> str | None:
    for tensor, name in ((node.input(0), "input 0"), (node.input(1), "input 1"), (node.output(0), "output")):
        if zero_point(tensor) not in _ZERO_POINTS:
            return f"{name} with zero point {zero_point(tensor)}"
    return None


def _select_broadcast(node: NodeView) -> str | None:
    shapes = [tensor.shape for tensor in node.inputs[:3]]
    result = node.output(0)
    if shapes[0] == shapes[1] == shapes[2] or all(tensor.element_count == 1 for tensor in (*node.inputs[:3], result)):
        return None
    if broadcast_shape(*shapes) == result.shape:
        return None
    return f"inputs of shapes {', '.join([str(list(shape)) for shape in shapes])} and output of shape {list(result.shape)}"


def _extreme(symbol: str) -> MicroKernel:
    """Return the kernel of MAXIMUM or MINIMUM.

    The function ``symbol`` of CMSIS-NN aborts if an operand has more than 4 dimensions (``RuntimeShape::ExtendedShape``).
    """
    return MicroKernel(
        NO_PREPARE,
        in_source(
            "maximum_minimum.cc: Eval",
            *with_cmsis_nn(
                "maximum_minimum.cc", rank(_FIRST, at_most(4)), rank(_SECOND, at_most(4)), rank(OUTPUT, at_most(4)), symbol=symbol
            ),
            typed(OUTPUT, (*FLOAT32_INT8_INT16_INT32, "INT64")),
        ),
    )


_AXIS = operand(1, "axis")


def _iteration(node: NodeView) -> tuple[int, ...]:
    return 4 * node.input(0).rank, 4 * node.input(1).element_count


def _accumulation(node: NodeView) -> tuple[int, ...]:
    sums = (4 * node.output(0).element_count,) if node.input(0).type in INT8_INT16 else ()
    return sums + _iteration(node)


def _reduction(prepare: str, evaluate: str, *checks: Check[object], before: tuple[Check[object], ...] = ()) -> MicroKernel:
    return MicroKernel(
        in_source(f"reduce_common.cc: {prepare}", *before, TWO_TO_ONE, typed(_AXIS, INT32)),
        in_source(f"reduce_common.cc: {evaluate}", *checks),
        scratch=_accumulation if prepare == "PrepareMeanOrSumHelper" else _iteration,
    )


_REDUCED_AXIS = axis_in_range(_AXIS, skips_empty=True)
_FLOAT_AXIS = where_typed(INPUT, FLOAT32, _REDUCED_AXIS)
_MIN_MAX = (SAME_TYPES, typed(INPUT, FLOAT32_INT8), *where_typed(INPUT, INT8, *same_parameters(INPUT, OUTPUT)), _REDUCED_AXIS)


def _arg(symbol: str) -> MicroKernel:
    return MicroKernel(
        NO_PREPARE, in_source(f"arg_min_max.cc: {symbol}", typed(_AXIS, INT32), typed(OUTPUT, INT32), typed(INPUT, FLOAT32_INT8))
    )


KERNELS = {
    "ABS": _rescaled("AbsEval", FLOAT32_INT8_INT16),
    "ADD": MicroKernel(
        in_source(
            "add_common.cc: AddPrepare",
            *with_cmsis_nn(
                "add.cc",
                SAME_TYPES,
                typed(INPUT, FLOAT32_INT8_INT16_INT32),
                _ONE_INPUT_TYPE,
                *where_typed(INPUT, INT16, *symmetric(_FIRST, _SECOND, OUTPUT)),
                symbol="PrepareAdd",
            ),
            *where_typed(OUTPUT, INT8_INT16, *quantized(OUTPUT), ACTIVATION_RANGE),
            *where_typed(OUTPUT, INT32, *not_quantized(_FIRST, _SECOND)),
        ),
        in_source("add.cc: AddEval", typed(OUTPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "ADD_N": MicroKernel(
        in_source("add_n.cc: CalculateOpData", *_ADD_N_CHECKS),
        in_source("add_n.cc: Eval"),
        scratch=lambda node: (_POINTER * len(node.node.inputs),),
    ),
    "CEIL": _rounding("ceil.cc", "CeilPrepare", "CeilEval"),
    "COS": _unary("CosEval", "FLOAT32"),
    "DIV": MicroKernel(
        in_source(
            "div.cc: DivPrepare",
            _ONE_INPUT_TYPE,
            SAME_TYPES,
            *where_typed(OUTPUT, INT8, ACTIVATION_RANGE),
            *where_typed(OUTPUT, INT32, *not_quantized(_FIRST, _SECOND)),
        ),
        in_source("div.cc: DivEval", typed(OUTPUT, ("FLOAT32", "INT32", "INT8")), *where_typed(OUTPUT, INT32, _NO_ZERO_DIVISOR)),
    ),
    "EQUAL": _comparison("EqualEval", *_EQUALITY_TYPES),
    "EXP": _rounding("exp.cc", "ExpPrepare", "ExpEval"),
    "FLOOR": MicroKernel(NO_PREPARE, in_source("floor.cc: FloorEval", typed(INPUT, FLOAT32))),
    "FLOOR_DIV": MicroKernel(
        in_source("floor_div.cc: CalculateOpData", *_FLOOR_CHECKS),
        in_source("floor_div.cc: EvalFloorDiv", typed(INPUT, FLOAT32), _NO_ZERO_DIVISOR),
    ),
    "FLOOR_MOD": MicroKernel(
        in_source("floor_mod.cc: CalculateOpData", *_FLOOR_CHECKS), in_source("floor_mod.cc: FloorModEval", typed(INPUT, FLOAT32))
    ),
    "GREATER": _comparison("GreaterEval", *_ORDER_TYPES, "INT16"),
    "GREATER_EQUAL": _comparison("GreaterEqualEval", *_ORDER_TYPES),
    "LESS": _comparison("LessEval", *_ORDER_TYPES),
    "LESS_EQUAL": _comparison("LessEqualEval", *_ORDER_TYPES),
    "LOG": _unary("LogEval", "FLOAT32"),
    "LOGICAL_AND": MicroKernel(NO_PREPARE, in_source("logical.cc: LogicalAndEval")),
    "LOGICAL_NOT": _unary("LogicalNotEval", "BOOL"),
    "LOGICAL_OR": MicroKernel(NO_PREPARE, in_source("logical.cc: LogicalOrEval")),
    "MAXIMUM": _extreme("EvalMaximum"),
    "MINIMUM": _extreme("EvalMinimum"),
    "MUL": MicroKernel(
        in_source(
            "mul_common.cc: CalculateOpDataMul",
            TWO_TO_ONE,
            _ONE_INPUT_TYPE,
            *where_typed(OUTPUT, INT8_INT16, ACTIVATION_RANGE, *where_typed(INPUT, INT16, *symmetric(_FIRST, _SECOND, OUTPUT))),
        ),
        in_source("mul.cc: MulEval", typed(INPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "NEG": MicroKernel(NO_PREPARE, in_source("neg.cc: NegEval", typed(INPUT, FLOAT32))),
    "NOT_EQUAL": _comparison("NotEqualEval", *_EQUALITY_TYPES),
    "ROUND": _rounding("round.cc", "RoundPrepare", "RoundEval"),
    "RSQRT": _rescaled("RsqrtEval", FLOAT32_INT8_INT16, *where(_is_scaled, _IS_SCALED, _NOT_NEGATIVE)),
    "SELECT_V2": MicroKernel(
        in_source(
            "select.cc: SelectPrepare",
            THREE_TO_ONE,
            typed(operand(0, "condition"), ("BOOL",)),
            same_type(_SECOND, _THIRD, kind=TENSOR_TYPE),
            check(BROADCAST, "an output with the broadcast shape of the inputs", _select_broadcast),
        ),
        in_source("select.cc: SelectEval", typed(_SECOND, FLOAT32_INT8_INT16)),
    ),
    "SIN": _unary("SinEval", "FLOAT32"),
    "SQRT": _unary("SqrtEval", "FLOAT32"),
    "SQUARE": _unary("SquareEval", "FLOAT32"),
    "SQUARED_DIFFERENCE": MicroKernel(
        in_source(
            "squared_difference.cc: SquaredDifferencePrepare",
            TWO_TO_ONE,
            _ONE_INPUT_TYPE,
            *where_typed(INPUT, INT8, check(QUANTIZATION, "zero points from -128 to 127", _zero_point_range)),
            *where_typed(INPUT, INT16, *symmetric(_FIRST, _SECOND, OUTPUT)),
        ),
        in_source("squared_difference.cc: SquaredDifferenceEval", typed(OUTPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "SUB": MicroKernel(
        in_source(
            "sub_common.cc: SubPrepare",
            *where_typed(OUTPUT, INT8_INT16, ACTIVATION_RANGE),
            *where_typed(OUTPUT, INT32, *not_quantized(_FIRST, _SECOND, OUTPUT)),
        ),
        in_source("sub.cc: SubEval", typed(OUTPUT, FLOAT32_INT8_INT16_INT32)),
    ),
    "ARG_MAX": _arg("ArgMaxEval"),
    "ARG_MIN": _arg("ArgMinEval"),
    "CUMSUM": MicroKernel(
        in_source(
            "cumsum.cc: CalculateOpData",
            TWO_TO_ONE,
            typed(INPUT, FLOAT32_INT8),
            typed(_AXIS, INT32),
            one_element(_AXIS),
            rank(INPUT, at_least(1)),
            SAME_TYPES,
            SAME_SHAPES,
        ),
        in_source("cumsum.cc: CumSumEval", axis_in_range(_AXIS)),
    ),
    "MEAN": _reduction("PrepareMeanOrSumHelper", "EvalMeanHelper", typed(INPUT, FLOAT32_INT8_INT16), *_FLOAT_AXIS),
    "REDUCE_ALL": _reduction("PrepareAllHelper", "EvalAllHelper", SAME_TYPES, _REDUCED_AXIS, before=(typed(INPUT, ("BOOL",)),)),
    "REDUCE_MAX": _reduction("PrepareMinMaxHelper", "EvalMinMaxHelper", *_MIN_MAX),
    "REDUCE_MIN": _reduction("PrepareMinMaxHelper", "EvalMinMaxHelper", *_MIN_MAX),
    "SUM": _reduction("PrepareMeanOrSumHelper", "EvalSumHelper", SAME_TYPES, typed(INPUT, FLOAT32_INT8_INT16), *_FLOAT_AXIS),
}
