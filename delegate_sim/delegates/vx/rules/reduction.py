"""Reductions and running sums."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant, refused_if
from ..kinds import DYNAMIC_SHAPE
from .checks import vx_rule

ARGUMENT_WITH_DIMENSIONS = refused_if(
    DYNAMIC_SHAPE,
    "at least one dimension in input and output",
    lambda node: not (node.input(0).rank and node.output(0).rank),
    "an input or output without dimensions",
    "give the input one more dimension, so that the result has one",
)

_ARGUMENT = vx_rule("ArgOpMapper::IsOpSupported", ARGUMENT_WITH_DIMENSIONS)
_REDUCTION = vx_rule("ReduceOpMapper::IsOpSupported", constant(operand(1, "axis")))

RULES = {
    "ARG_MAX": _ARGUMENT,
    "ARG_MIN": _ARGUMENT,
    "MEAN": _REDUCTION,
    "REDUCE_ANY": _REDUCTION,
    "REDUCE_MAX": _REDUCTION,
    "REDUCE_MIN": _REDUCTION,
    "REDUCE_PROD": _REDUCTION,
    "SUM": _REDUCTION,
}
