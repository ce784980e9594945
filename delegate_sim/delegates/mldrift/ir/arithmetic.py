"""Elementwise arithmetic, comparisons, logic and selection."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import BROADCAST, CONSTANT, SHAPE
from ....rules.numbers import at_most
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check
from ...gpu_compatibility.arithmetic import is_broadcastable
from ...gpu_compatibility.checks import Found, asked, joined, shapes
from .checks import (
    FIRST,
    FLOATS,
    HALF,
    INTEGERS,
    MOVED,
    RESULT,
    SECOND,
    THIRD,
    Part,
    all_given,
    computed,
    counts,
    one_shape,
    ranked_parts,
    rule,
    typed_parts,
    versions,
    versions_between,
)

ARITHMETIC = (*FLOATS, "INT4", *INTEGERS)
_LOGICAL = (*ARITHMETIC, "BOOL")
_FILE = "elementwise"


def one_operand(
    version: int = 2, types: tuple[str, ...] = ARITHMETIC, symbol: str = "IsUnaryArithmeticOpSupported"
) -> OpRule[object]:
    """Return the rule of an operator of one operand."""
    return rule(
        _FILE,
        symbol,
        versions_between(version),
        *counts(1),
        *all_given(),
        *typed_parts(types, FIRST, RESULT),
        one_shape("Input and output dimension mismatch: {}, {}", FIRST, RESULT),
        *computed(FIRST),
    )


# Two operands


def _not_broadcastable(node: NodeView) -> Found | None:
    one, other = node.input(0).shape, node.input(1).shape
    said = f"input0 and input1 dimension mismatch: {joined(one)}, {joined(other)}"
    return None if is_broadcastable(one, other) else Found(shapes(node), said)


def _unlike_result(node: NodeView) -> Found | None:
    one, other, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    if is_broadcastable(one, result) or is_broadcastable(other, result):
        return None
    said = f"Input and output dimension mismatch: {joined(one)}, {joined(other)}, {joined(result)}"
    return Found(f"{shapes(node)}, output {list(result)}", said)


def _two_constants(node: NodeView) -> Found | None:
    one, other = node.input(0), node.input(1)
    said = f"Invalid 2 constant inputs: {one.index} & {other.index}"
    return Found("two constants", said) if one.is_constant and other.is_constant else None


def _two_operands(
    version: int = 2, types: tuple[str, ...] = ARITHMETIC, symbol: str = "IsBinaryArithmeticOpSupported"
) -> OpRule[object]:
    """Any activation that a file can name may be fused."""
    return rule(
        _FILE,
        symbol,
        versions_between(version),
        *counts(2),
        *all_given(),
        *typed_parts(types, FIRST, SECOND, RESULT),
        asked(BROADCAST, "operands whose sizes are equal or 1, from the last dimension on", _not_broadcastable),
        asked(BROADCAST, "an output that one of the operands can be repeated to", _unlike_result),
        asked(CONSTANT, "at most one constant", _two_constants),
    )


_LOGIC = _two_operands(types=_LOGICAL, symbol="IsBinaryLogicalOpSupported")


# Selection and limits

_ONE_TEXT = "The 'if' and 'else' tensors must have the same shape as the output, be a scalar, or have a single element."


def _unlike_selected(node: NodeView) -> str | None:
    result = node.output(0).shape
    for position in (1, 2):
        found = node.input(position).shape
        if found and found != result and (len(found) > 1 or found[0] > 1):
            return f"input {position} {list(found)}, output {list(result)}"
    return None


_SELECT = rule(
    "select",
    "IsSelectSupported",
    versions(at_most(1), "Unsupported version: {}, max supported version is 1"),
    *counts(3),
    *all_given(),
    *typed_parts(("BOOL", *HALF), FIRST),
    *typed_parts(MOVED, SECOND, THIRD, RESULT),
    *ranked_parts(0, 4, FIRST, SECOND, THIRD, RESULT),
    check(SHAPE, "values of the output's shape, or of one element", _unlike_selected).saying(_ONE_TEXT),
)


def _not_limit(part: Part, name: str) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        found, source = part.of(node).shape, node.input(0).shape
        if found == source:
            return None
        start = f"If {name} sh != input sh, {name} should have exactly one "
        if len(found) != 1:
            return Found(f"{name} of shape {list(found)}", f"{start}dimension.")
        return None if found[0] == 1 else Found(f"{name} of shape {list(found)}", f"{start}value.")

    return asked(SHAPE, f"{part.words} of the input's shape, or of shape [1]", find)


_CLAMPED = (*FLOATS, *INTEGERS)
_CLAMP = rule(
    "clamp",
    "IsClampSupported",
    versions_between(1),
    *counts(3),
    *all_given(),
    *typed_parts(_CLAMPED, FIRST, SECOND, THIRD, RESULT),
    *computed(FIRST),
    one_shape("Input and output shapes must be equal.", FIRST, RESULT),
    _not_limit(SECOND, "max"),
    _not_limit(THIRD, "min"),
)

RULES = {
    "ABS": one_operand(5),
    "ADD": _two_operands(6),
    "ATAN2": _two_operands(),
    "BITWISE_XOR": _LOGIC,
    "CEIL": one_operand(),
    "COS": one_operand(),
    "DIV": _two_operands(),
    "EQUAL": _LOGIC,
    "EXP": one_operand(),
    "FLOOR": one_operand(),
    "FLOOR_DIV": _two_operands(3),
    "FLOOR_MOD": _two_operands(),
    "GREATER": _LOGIC,
    "GREATER_EQUAL": _LOGIC,
    "LESS": _LOGIC,
    "LESS_EQUAL": _LOGIC,
    "LOG": one_operand(),
    "LOGICAL_AND": _LOGIC,
    "LOGICAL_NOT": one_operand(types=_LOGICAL, symbol="IsUnaryLogicalOpSupported"),
    "LOGICAL_OR": _LOGIC,
    "MAXIMUM": _two_operands(4),
    "MINIMUM": _two_operands(4),
    "MUL": _two_operands(8),
    "NEG": one_operand(),
    "NOT_EQUAL": _LOGIC,
    "POW": _two_operands(),
    "RIGHT_SHIFT": _two_operands(1),
    "ROUND": one_operand(),
    "RSQRT": one_operand(),
    "SELECT": _SELECT,
    "SELECT_V2": _SELECT,
    "SIGN": one_operand(),
    "SIN": one_operand(),
    "SQRT": one_operand(),
    "SQUARE": one_operand(),
    "SQUARED_DIFFERENCE": _two_operands(),
    "STABLEHLO_CBRT": one_operand(1),
    "STABLEHLO_CLAMP": _CLAMP,
    "STABLEHLO_REMAINDER": _two_operands(1),
    "STABLEHLO_SHIFT_LEFT": _two_operands(1),
    "SUB": _two_operands(3),
}
