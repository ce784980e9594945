"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import BROADCAST, NEIGHBOUR, SHAPE
from ....rules.numbers import counted
from ....rules.operands import operand, result
from ....rules.rule import Check
from ....rules.vocabulary import check, refused_if, typed
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY, FLOAT, KNOWN_ACTIVATION, shapes
from .checks import BOOL, UP_TO_1, UP_TO_2, UP_TO_3, gpu_rule, single_reader

# Operators with one or two operands

_ELEMENTWISE = "ElementwiseOperationParser"
_UNARY = gpu_rule(_ELEMENTWISE, *arithmetic.UNARY, version_in=UP_TO_2)
_BINARY = gpu_rule(_ELEMENTWISE, *arithmetic.BINARY, version_in=UP_TO_2)
_BINARY_WITH_ACTIVATION = gpu_rule(_ELEMENTWISE, *arithmetic.BINARY_WITH_ACTIVATION, version_in=UP_TO_2)


def _each_smaller(node: NodeView) -> str | None:
    """Find operands of one rank of which each is the smaller somewhere, as in the outer product of [n, 1] and [1, n]."""
    first, second = node.input(0).shape, node.input(1).shape
    if len(first) != len(second):
        return None
    pairs = list(zip(first, second, strict=True))
    is_each_smaller = any(one < other for one, other in pairs) and any(one > other for one, other in pairs)
    return shapes(node) if is_each_smaller else None


_BROADCAST = arithmetic.PLAIN_BROADCAST.from_release("litert-1.1.0")

# Comparisons


def _consumer_gives_no_float(node: NodeView) -> str | None:
    consumers = node.graph.readers.get(node.node.output(0))
    if not consumers:
        return counted(0, "consumer")
    consumer = node.graph.view(consumers[0])
    is_known = consumer.op in ("CAST", "SELECT", "SELECT_V2") and not consumer.node.is_custom
    if is_known and consumer.output(0).type in FLOAT:
        return None
    return f"consumer {consumer.op}, which gives {consumer.output(0).type}"


_COMPARISON = gpu_rule(
    _ELEMENTWISE,
    single_reader(result(0, "result")),
    check(NEIGHBOUR, "a CAST or SELECT that gives float as the consumer", _consumer_gives_no_float),
    version_in=UP_TO_2,
    cases=(),
    outputs=BOOL,
)

# Selection


def _condition_of_another_shape(node: NodeView) -> str | None:
    condition, shape = node.input(0).shape, node.output(0).shape
    offset = len(shape) - len(condition)
    if not condition or (offset >= 0 and all(size in (1, shape[offset + at]) for at, size in enumerate(condition))):
        return None
    return f"condition {list(condition)}, output {list(shape)}"


def _selected_value(position: int) -> tuple[Check[object], ...]:
    """One of the two values between which SELECT chooses."""
    value = operand(position)

    def is_matrix(node: NodeView, is_constant: bool) -> bool:
        tensor = value.tensor(node)
        return tensor.rank == 2 and tensor.is_constant == is_constant

    constant_matrix = refused_if(
        SHAPE,
        f"{value.name} not constant if it is a matrix",
        lambda node: is_matrix(node, is_constant=True),
        f"{value.name} of rank 2 and constant",
        "give the value another rank with RESHAPE",
    )
    runtime_matrix = refused_if(
        SHAPE,
        f"{value.name} constant if it is a matrix",
        lambda node: is_matrix(node, is_constant=False),
        f"{value.name} of rank 2 and not constant",
        "give the value another rank with RESHAPE",
    )
    return (
        typed(value, ("FLOAT16", "FLOAT32")).before_release("litert-1.1.0"),
        arithmetic.selected_value(position),
        constant_matrix.from_release("litert-1.1.0").before_release("litert-2.1.6"),
        runtime_matrix.from_release("litert-2.1.6"),
    )


_SELECT = gpu_rule(
    "SelectV2OperationParser",
    arithmetic.SELECT_OPERANDS,
    arithmetic.SELECT_CONDITION,
    check(
        BROADCAST,
        "a condition that broadcasts to the output",
        _condition_of_another_shape,
        "give the condition the shape of the output",
    ).from_release("litert-2.1.6"),
    *_selected_value(1),
    *_selected_value(2),
    version_in=UP_TO_1,
    cases=(COMPATIBILITY.symbol, "CheckSelectV2GpuDelegateCompatibility"),
    inputs=BOOL,
)

RULES = {
    "ABS": _UNARY,
    "ADD": gpu_rule(_ELEMENTWISE, arithmetic.ADD_OPERANDS, _BROADCAST, version_in=UP_TO_2),
    "ADD_N": gpu_rule(_ELEMENTWISE, arithmetic.ADD_N, version_in=UP_TO_2),
    "COS": _UNARY,
    "DIV": _BINARY_WITH_ACTIVATION,
    "EQUAL": _COMPARISON,
    "EXP": _UNARY,
    "FLOOR": _UNARY,
    "FLOOR_DIV": _BINARY,
    "FLOOR_MOD": _BINARY,
    "GREATER": _COMPARISON,
    "GREATER_EQUAL": _COMPARISON,
    "LESS": _COMPARISON,
    "LESS_EQUAL": _COMPARISON,
    "LOG": _UNARY,
    "LOGICAL_AND": gpu_rule(_ELEMENTWISE, *arithmetic.BINARY, version_in=UP_TO_2, inputs=BOOL, outputs=BOOL),
    "MAXIMUM": _BINARY,
    "MINIMUM": _BINARY,
    "MUL": gpu_rule(
        _ELEMENTWISE,
        arithmetic.MUL_OPERANDS,
        check(BROADCAST, "one operand that is smaller in no dimension", _each_smaller).before_release("litert-1.1.0"),
        _BROADCAST,
        KNOWN_ACTIVATION,
        version_in=UP_TO_3,
    ),
    "NEG": _UNARY,
    "NOT_EQUAL": _COMPARISON,
    "POW": _BINARY,
    "RSQRT": _UNARY,
    "SELECT": _SELECT,
    "SELECT_V2": _SELECT,
    "SIGN": _UNARY,
    "SIN": _UNARY,
    "SQRT": _UNARY,
    "SQUARE": _UNARY,
    "SQUARED_DIFFERENCE": _BINARY,
    "SUB": _BINARY_WITH_ACTIVATION,
}
