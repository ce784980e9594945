"""Reductions along axes (``VisitReduceNode``, ``delegates/xnnpack/xnnpack_delegate.cc``)."""

from __future__ import annotations

from ....graph import NodeView
from ....rules import for_each
from .checks import (
    FLOAT_OR_8_BITS,
    INPUT,
    MAX_RANK,
    OUTPUT,
    RANK,
    SHAPE,
    check,
    constant,
    integers,
    operand,
    operands,
    typed,
)

_AXES = operand(1, "axes")


def _axes_of_many_dimensions(node: NodeView) -> str | None:
    rank = node.input(1).rank
    return f"axes of rank {rank}" if rank > 1 else None


def _nothing_reduced(node: NodeView) -> str | None:
    """No axes, or axis 0 of a scalar."""
    axes = node.value(node.input(1))
    if axes is None or not len(axes):
        return "no axes"
    return "axis 0 of a scalar" if len(axes) == 1 and axes[0] == 0 and not node.input(0).shape else None


def _too_many_axes(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return f"{count} axes" if count > MAX_RANK else None


RULES = for_each(
    ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"),
    operands(2),
    *typed(INPUT, FLOAT_OR_8_BITS),
    integers(_AXES, "INT32"),
    check(RANK, "axes of rank at most 1", _axes_of_many_dimensions),
    constant(_AXES),
    check(SHAPE, "axes of dimensions that there are", _nothing_reduced),
    check(SHAPE, f"at most {MAX_RANK} axes", _too_many_axes),
    *typed(OUTPUT, FLOAT_OR_8_BITS),
)
