"""Padding (``VisitPadNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, SHAPE
from ....rules.number_sets import between
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check
from .checks import INPUT, MAX_RANK, elements_of, integers, operands, shaped, stored, xnnpack_rule
from .types import FLOAT_OR_8_BITS_LAYERS, of_types
from .upstream import in_method

_PADDINGS = operand(1, "paddings")


def _not_a_pair_for_each_dimension(node: NodeView) -> str | None:
    shape, rank = node.input(1).shape, node.input(0).rank
    return None if shape == (rank, 2) else f"paddings of shape {list(shape)} for an input of rank {rank}"


def _negative_padding(node: NodeView) -> str | None:
    return next((f"padding {padding}" for padding in elements_of(node, 1) if padding < 0), None)


def _negative_padding_in_first_rows(node: NodeView) -> str | None:
    """Return the first negative padding of the first two dimensions as text. Old releases do not check further dimensions."""
    paddings = elements_of(node, 1)[: 2 * node.input(1).rank]
    return next((f"padding {padding}" for padding in paddings if padding < 0), None)


RULES = {
    "PAD": xnnpack_rule(
        "VisitPadNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(INPUT, between(1, MAX_RANK)),
        integers(_PADDINGS, "INT32"),
        *in_method(
            "CheckPaddingsTensorShape", check(SHAPE, "a pair of paddings for each dimension", _not_a_pair_for_each_dimension)
        ),
        stored(_PADDINGS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, between(1, MAX_RANK)),
        check(
            OPERAND_VALUE, "paddings of at least 0 for the first two dimensions", _negative_padding_in_first_rows
        ).before_release("litert-1.4.0"),
        check(OPERAND_VALUE, "paddings of at least 0", _negative_padding).from_release("litert-1.4.0"),
    ),
}
