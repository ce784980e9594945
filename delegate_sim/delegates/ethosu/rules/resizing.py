"""Resizing of images."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, RANK, SHAPE
from ....rules.number_sets import exactly
from ....rules.operands import operand
from ....rules.vocabulary import check, operand_count
from .checks import ethosu_rule, int32_values, reads, size, upstream


def _other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (4, 4) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


def _is_single(tensor: Tensor) -> bool:
    return size(tensor, 1) == size(tensor, 2) == 1


def _other_factor(node: NodeView) -> str | None:
    """Return the shapes unless the output is 2, 4 or 8 times as large as the input.

    Quotients are rounded down. On the board's processor, a division by 0 gives 0.
    """
    source, result = node.input(0), node.output(0)
    if _is_single(source) or source.shape == result.shape:
        return None
    less = 1 if node.options.align_corners else 0
    sizes = [(size(source, axis) - less, size(result, axis) - less) for axis in (1, 2)]
    factors = {larger // smaller if smaller else 0 for smaller, larger in sizes}
    if len(factors) == 1 and not factors.isdisjoint((2, 4, 8)):
        return None
    return f"an output of {list(result.shape)} from an input of {list(source.shape)}"


_FACTOR = upstream(
    "ConstraintResize",
    check(RANK, "input and output of rank 4", _other_rank),
    check(
        SHAPE,
        "an output of the input's shape, or 2, 4 or 8 times as high and as wide (with align_corners, subtract 1 from all sizes "
        "first)",
        _other_factor,
        "resize by 2, 4 or 8",
    ),
)
_SIZE = operand(1, "size")


def _other_size(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape == (2,) else f"size of shape {list(shape)}"


def _contradicted_size(node: NodeView) -> str | None:
    values, result = int32_values(node, _SIZE), node.output(0)
    return None if values == [size(result, 1), size(result, 2)] else f"size {values} and output {list(result.shape)}"


_SIZE_CHECKS = upstream(
    "ConstraintResizeSize",
    operand_count(inputs=exactly(2)),
    check(SHAPE, "a size of two elements", _other_size),
    reads(_SIZE),
    check(OPERAND_VALUE, "a size that is the output's height and width", _contradicted_size, "fix the shapes before converting"),
)


def _both(node: NodeView) -> str | None:
    options = node.options
    return "align_corners and half_pixel_centers" if options.align_corners and options.half_pixel_centers else None


_ATTRIBUTES = upstream(
    "ConstraintResizeAttrs",
    check(ATTRIBUTE, "at most one of align_corners and half_pixel_centers", _both, "use one of the two settings"),
)


def _half_pixels(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0)
    if not node.options.half_pixel_centers or _is_single(source):
        return None
    doubles = all(size(source, axis) and size(result, axis) // size(source, axis) == 2 for axis in (1, 2))
    return None if doubles else f"an output of {list(result.shape)} from an input of {list(source.shape)}"


_HALF_PIXELS = upstream(
    "ConstraintResizebiHalfPixelCentersDims",
    check(SHAPE, "an output twice as large as the input if half_pixel_centers is set", _half_pixels, "resize by 2"),
)

RULES = {
    "RESIZE_BILINEAR": ethosu_rule(*_FACTOR, *_SIZE_CHECKS, *_ATTRIBUTES, *_HALF_PIXELS),
    "RESIZE_NEAREST_NEIGHBOR": ethosu_rule(*_FACTOR, *_SIZE_CHECKS, *_ATTRIBUTES),
}
