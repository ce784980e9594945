"""PAD."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import SHAPE
from ....rules.number_sets import exactly
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, operand_count, typed
from .checks import ethosu_rule, halves, size, upstream, values_of

_PADDINGS = operand(1, "paddings")


def _other_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape in ((3, 2), (4, 2)) else f"paddings of shape {list(shape)}"


def _other_output(node: NodeView) -> str | None:
    """Return the shapes if the output is not the padded input.

    If the paddings are INT64, the delegate reads the two halves of one number as the paddings of one dimension.
    """
    source, result, paddings = node.input(0), node.output(0), node.input(1)
    values = values_of(node, paddings)
    numbers = halves(values) if paddings.type == "INT64" else values
    pairs = [sum(numbers[at : at + 2]) for at in range(0, len(numbers), 2)]
    # bounded: the paddings are a constant in the file
    met = all(size(result, axis) == size(source, axis) + pairs[axis] for axis in range(paddings.shape[0]))
    return None if met else f"input {list(source.shape)}, output {list(result.shape)} and paddings {values}"


_CHECKS = upstream(
    "ConstraintPad",
    operand_count(inputs=exactly(2)),
    constant(_PADDINGS),
    typed(_PADDINGS, ("INT32", "INT64")),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _other_shape, by_reshape("add dimensions with RESHAPE")),
    check(SHAPE, "an output as large as the padded input", _other_output),
)

RULES = {"PAD": ethosu_rule(*_CHECKS)}
