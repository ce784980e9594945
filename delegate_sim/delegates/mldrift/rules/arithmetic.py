"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

import functools

from ....graph.graph import NodeView
from ....rules.kinds import BROADCAST, NEIGHBOUR, OPERATOR
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, refused_if, where
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import (
    COMPATIBILITY,
    KNOWN_ACTIVATION,
    TWO_OPERANDS,
    operand_pairs,
    shapes,
)
from ...gpu_compatibility.questions import runtime_input_count
from ..demands.checks import (
    FUSABLE,
    SINCE_2_3,
    SOURCE,
    Checks,
    before,
    exact_inputs,
    other_input_count,
    since,
    version_up_to,
)
from ..demands.constants import one_constant, two_constants
from ..demands.parsing import parsed_by
from ..demands.reading import READABLE_RESULT, RESULTS, positive_rank, readable, runtime_or_constant
from ..demands.tensors import with_tensors

_PARSER = "ElementwiseOperationParser"


@functools.cache
def unary(version: int = 2) -> OpRule[object]:
    """Return the rule of an operator of one operand."""
    return parsed_by(_PARSER, *version_up_to(version), *arithmetic.UNARY, *RESULTS, *exact_inputs(1, 0, 1), *readable(0))


# Two operands


def _has_two_runtime_operands(node: NodeView) -> bool:
    return (runtime_input_count(node), other_input_count(node), len(node.node.outputs)) == (2, 0, 1)


def _has_two_constants(node: NodeView) -> bool:
    return (runtime_input_count(node), other_input_count(node)) == (0, 2)


def _reads_one_tensor(node: NodeView) -> bool:
    return node.node.input(0) == node.node.input(1)


_NOT_TWICE = refused_if(
    NEIGHBOUR,
    "two different operands",
    _reads_one_tensor,
    "one tensor as both operands",
    "use the operator of one operand that does the same",
).saying("No support of few identical inputs in the same operation.")


def _differ_in_rank(node: NodeView) -> bool:
    return node.input(0).rank != node.input(1).rank


def _not_broadcastable(node: NodeView) -> str | None:
    fits = arithmetic.is_broadcastable(node.input(0).shape, node.input(1).shape)
    return None if fits else shapes(node)


_BROADCASTABLE = check(BROADCAST, "operands whose sizes are equal or 1, from the last dimension on", _not_broadcastable).saying(
    "Inputs dimensions sizes don't match, broadcasting isn't applicable."
)

_BROADCAST: Checks = (
    _BROADCASTABLE,
    positive_rank("operands", lambda node: node.inputs[:2]),
    *READABLE_RESULT,
    positive_rank("output", lambda node: (node.output(0),)),
)


@functools.cache
def _two_runtime_operands(*, may_be_one: bool) -> Checks:
    """Both operands are computed at run time."""
    own = (
        *(() if may_be_one else (_NOT_TWICE,)),
        *readable(0),
        *readable(1),
        *where(_differ_in_rank, "of different ranks", *_BROADCAST),
    )
    return where(_has_two_runtime_operands, "for two runtime inputs", *own)


def _is_one_constant(node: NodeView) -> bool:
    return not _has_two_runtime_operands(node)


def _is_one_constant_newer(node: NodeView) -> bool:
    return not _has_two_runtime_operands(node) and not _has_two_constants(node)


def _constant_operands(name: str) -> Checks:
    """One operand is a constant or, from LiteRT 2.3 on, both are."""
    one = (*exact_inputs(1, 1, 1), one_constant())
    return (
        *before(SINCE_2_3, *where(_is_one_constant, "for another number of runtime inputs", *one)),
        *since(SINCE_2_3, *where(_is_one_constant_newer, "for another number of runtime inputs", *one)),
        *since(SINCE_2_3, *where(_has_two_constants, "for two constants", *two_constants(name))),
    )


_THREE_PAIRS = operand_pairs(((2, 0), (1, 1), (0, 2)), f"{TWO_OPERANDS}; or 2 constant inputs and 1 output")
PAIRS: Checks = (*before(SINCE_2_3, *arithmetic.BINARY), *since(SINCE_2_3, _THREE_PAIRS))


def binary(
    name: str,
    *first: Check[object],
    version: Checks | None = None,
    may_be_one: bool = False,
    last: Checks = (),
) -> OpRule[object]:
    """Return the rule of an operator of two operands, which ML Drift names so where both are constant."""
    counts = first or PAIRS
    own = (*_two_runtime_operands(may_be_one=may_be_one), *_constant_operands(name), *last)
    return parsed_by(_PARSER, *(version or version_up_to(2)), *counts, *RESULTS, *own)


_FUSED = FUSABLE.from_source(SOURCE.with_symbol("PreCheckMaybeFuseActivationForElementwiseNode"))
_ACTIVATED: Checks = (*PAIRS, KNOWN_ACTIVATION)

_XOR = check(OPERATOR, "an operator that the GPU compatibility list has", lambda node: f"{node.op}, which is not on it")


# Selection

_SELECT = parsed_by(
    "SelectV2OperationParser",
    *version_up_to(1),
    arithmetic.SELECT_OPERANDS,
    arithmetic.SELECT_CONDITION,
    arithmetic.selected_value(1),
    arithmetic.selected_value(2),
    *runtime_or_constant(0),
    *runtime_or_constant(1),
    *runtime_or_constant(2),
    *RESULTS,
)

RULES = with_tensors(
    {
        "ABS": unary(5),
        "ADD": binary(
            "add",
            arithmetic.ADD_OPERANDS,
            arithmetic.ENHANCED_BROADCAST,
            version=version_up_to(6, older=2),
            may_be_one=True,
            last=(_FUSED,),
        ),
        "ADD_N": binary("add", arithmetic.ADD_N, version=version_up_to(6, older=2), may_be_one=True),
        "ATAN2": binary("atan2"),
        "BITWISE_XOR": parsed_by(
            _PARSER, *version_up_to(2), _XOR.saying("Not supported op BITWISE_XOR").from_source(COMPATIBILITY)
        ),
        "CEIL": unary(),
        "COS": unary(),
        "DIV": binary("div", *_ACTIVATED, last=(_FUSED,)),
        "EQUAL": binary("equal"),
        "EXP": unary(),
        "FLOOR": unary(),
        "FLOOR_DIV": binary("floor_div", version=version_up_to(3)),
        "FLOOR_MOD": binary("floor_mod"),
        "GREATER": binary("greater"),
        "GREATER_EQUAL": binary("greater_equal"),
        "LESS": binary("less"),
        "LESS_EQUAL": binary("less_equal"),
        "LOG": unary(),
        "LOGICAL_AND": binary("logical_and"),
        "LOGICAL_NOT": unary(),
        "LOGICAL_OR": binary("logical_or"),
        "MAXIMUM": binary("maximum", version=version_up_to(4)),
        "MINIMUM": binary("minimum", version=version_up_to(4)),
        "MUL": binary(
            "mul",
            arithmetic.MUL_OPERANDS,
            arithmetic.ENHANCED_BROADCAST,
            KNOWN_ACTIVATION,
            version=version_up_to(8, older=4),
            may_be_one=True,
            last=(_FUSED,),
        ),
        "NEG": unary(),
        "NOT_EQUAL": binary("not_equal"),
        "POW": binary("pow"),
        "RIGHT_SHIFT": binary("shift_right"),
        "ROUND": unary(),
        "RSQRT": unary(),
        "SELECT": _SELECT,
        "SELECT_V2": _SELECT,
        "SIGN": unary(),
        "SIN": unary(),
        "SQRT": unary(),
        "SQUARE": unary(),
        "SQUARED_DIFFERENCE": binary("squared_diff"),
        "SUB": binary("subtract", *_ACTIVATED, last=(_FUSED,)),
    }
)
