"""Resizing of images."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE
from ...rules.vocabulary import check
from .checks import case, runtime_operands


def _centers_and_corners(node: NodeView) -> str | None:
    both = node.options.align_corners and node.options.half_pixel_centers
    return "align_corners and half_pixel_centers" if both else None


RESIZE_BILINEAR = case(
    runtime_operands(1, 1),
    check(ATTRIBUTE, "at most one of align_corners and half_pixel_centers", _centers_and_corners).saying(
        "If half_pixel_centers is True, align_corners must be False."
    ),
)
RESIZE_NEAREST_NEIGHBOR = (runtime_operands(1, 1),)
