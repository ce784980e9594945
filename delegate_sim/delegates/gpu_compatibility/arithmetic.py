"""Elementwise arithmetic and selection."""

from __future__ import annotations

from collections.abc import Callable

from ...graph.graph import NodeView
from ...rules.kinds import BROADCAST
from ...rules.operands import operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, typed
from .checks import COMPATIBILITY, KNOWN_ACTIVATION, case, joined, one_or_two_operands, operands, shapes

UNARY = (operands(1, 0, 1),)
BINARY = (one_or_two_operands(),)
BINARY_WITH_ACTIVATION = (*BINARY, KNOWN_ACTIVATION)
ADD_OPERANDS, ADD_N, MUL_OPERANDS = case(
    operand_count(2).saying("ADD requires two input tensors."),
    operand_count(2).saying("ADD_N only supports 2 inputs."),
    operand_count(2).saying("MUL requires two input tensors."),
)


def is_broadcastable(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Return whether two shapes broadcast (``CheckIsBroadcastable``).

    The shapes are aligned at the last dimension. In each dimension, the sizes must be equal, or one size must be 1.
    """
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(one == other or 1 in (one, other) for one, other in pairs)


def _fits_older_delegate(shorter: tuple[int, ...], longer: tuple[int, ...]) -> bool:
    return len(longer) == 4 and (
        (len(shorter) == 3 and longer[0] == 1)
        or (shorter == (1, 1) and longer[0] == 1)
        or (len(shorter) == 2 and shorter == (longer[0], longer[3]))
    )


def _broadcast(needed: str, fits: Callable[[tuple[int, ...], tuple[int, ...]], bool]) -> Check[object]:
    def find(node: NodeView) -> str | None:
        shorter, longer = sorted((node.input(0).shape, node.input(1).shape), key=len)
        if len(shorter) <= 1 or len(shorter) == len(longer):
            return None
        return None if fits(shorter, longer) else shapes(node)

    def say(node: NodeView) -> str:
        first, second = joined(node.input(0).shape), joined(node.input(1).shape)
        return f"Doesn't support broadcasting - input0: {first}, input1: {second}"

    demand = check(BROADCAST, needed, find).saying(say)
    return demand.from_source(COMPATIBILITY.with_symbol("CheckAddMulBroadcastCompatibility"))


PLAIN_BROADCAST = _broadcast(
    "operands of the same rank, an operand of rank 0 or 1, or shapes such as [h, w, c] with [1, h, w, c], [1, 1] with "
    "[1, h, w, c], or [b, c] with [b, h, w, c]",
    _fits_older_delegate,
)
"""The broadcast check of the older GPU delegate, which lacks the flag ``kEnhancedBroadcast``."""
ENHANCED_BROADCAST = _broadcast(
    "shapes that broadcast: aligned at the last dimension, with equal sizes or a size of 1", is_broadcastable
)
"""The broadcast check of ML Drift, which sets the flag ``kEnhancedBroadcast``."""

# Selection

_SELECT_SAYS = "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar."
SELECT_OPERANDS = operand_count(3, 1).saying("Expected 3 inputs and 1 output")
SELECT_CONDITION = typed(operand(0, "condition"), ("BOOL", "FLOAT16", "FLOAT32")).saying(_SELECT_SAYS)


def _value_of_another_shape(node: NodeView, position: int) -> str | None:
    value, shape = node.input(position).shape, node.output(0).shape
    if not value or value == shape or (len(value) == 1 and value[0] <= 1):
        return None
    return f"input {position} {list(value)}, output {list(shape)}"


def selected_value(position: int) -> Check[object]:
    """Require that the SELECT operand at ``position`` is a scalar or has the output's shape."""
    return check(
        BROADCAST,
        f"an input {position} that is a scalar or has the shape of the output",
        lambda node: _value_of_another_shape(node, position),
        "give both values the shape of the output",
    ).saying(_SELECT_SAYS)
