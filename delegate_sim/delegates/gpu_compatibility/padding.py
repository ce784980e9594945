"""Padding."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, SHAPE
from ...rules.number_sets import at_least
from ...rules.operands import operand
from ...rules.vocabulary import check, operand_count, rank
from .checks import case, operands_available, runtime_operands

_PADDINGS = operand(1, "paddings")
_PADDING_SHAPES = ((3, 2), (4, 2))
_REFLECT, _SYMMETRIC = 0, 1


def _paddings_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape in _PADDING_SHAPES else f"paddings of shape {list(shape)}"


def _say_paddings_shape(node: NodeView) -> str:
    shape = "x".join(map(str, node.input(1).shape))
    return f"Invalid paddings tensor shape: expected 4x2 or 3x2, got {shape}"


def _say_paddings_rank(node: NodeView) -> str:
    return f"Invalid paddings tensor dimension: expected 2 dim, got {node.input(1).rank} dim"


def _mirror_mode(node: NodeView) -> str | None:
    if node.options.table is None:
        return "an unknown mode"
    if node.options.mode == _REFLECT:
        return None
    return "mode SYMMETRIC" if node.options.mode == _SYMMETRIC else "an unknown mode"


def _say_mirror_mode(node: NodeView) -> str:
    is_symmetric = node.options.table is not None and node.options.mode == _SYMMETRIC
    return f"Only Reflective padding is supported for Mirror Pad operation. But node has {2 if is_symmetric else 0}"


PAD = case(
    runtime_operands(1, 1),
    operands_available(operand_count(at_least(2)), 1),
    rank(_PADDINGS, 2).saying(_say_paddings_rank),
    check(SHAPE, "paddings of shape [3, 2] or [4, 2]", _paddings_shape, "pad only tensors of rank 3 or 4").saying(
        _say_paddings_shape
    ),
)
MIRROR_PAD = case(check(ATTRIBUTE, "mode REFLECT", _mirror_mode).saying(_say_mirror_mode), *PAD)
