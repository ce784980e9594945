"""Joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT
from ....rules.number_sets import exactly
from ....rules.operands import INPUT
from ....rules.vocabulary import activation, check, rank, refused_if
from .checks import builder, coreml_rule


def _axis(node: NodeView) -> str | None:
    axis, dimensions = node.options.axis, node.input(0).rank
    return None if axis in (dimensions - 1, -1) else f"axis {axis} of {dimensions} dimensions"


RULES = {
    "CONCATENATION": coreml_rule(
        activation(("NONE",)),
        refused_if(
            OPERAND_COUNT,
            "at least 2 inputs",
            lambda node: len(node.node.inputs) < 2,
            "1 input",
            "remove the operator, which does nothing with one input",
        ),
        rank(INPUT, exactly(3, 4)),
        check(ATTRIBUTE, "the last axis", _axis, "concatenate channels"),
        source=(builder("concatenation_op_builder.cc", "IsConcatenationOpSupported"),),
    ),
}
