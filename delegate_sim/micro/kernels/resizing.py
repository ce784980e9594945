"""Operators that resize images."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ATTRIBUTE, SHAPE
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, rank
from ..checks import FLOAT32_INT8, FLOAT32_INT8_INT16, INT32, TWO_TO_ONE, dimension, fixed, takes
from ..kernel import MicroKernel, in_source

_SIZE = operand(1, "size")


def _both_alignments(node: NodeView) -> str | None:
    both = node.options.half_pixel_centers and node.options.align_corners
    return "half_pixel_centers and align_corners are both true" if both else None


def _size_count(node: NodeView) -> str | None:
    count = dimension(node.input(1), 0)
    return None if count == 2 else f"size with {count} elements"


_RESIZE_CHECKS = (TWO_TO_ONE, rank(INPUT, 4), rank(_SIZE, 1), takes(_SIZE, INT32))

KERNELS = {
    "RESIZE_BILINEAR": MicroKernel(
        in_source(
            "resize_bilinear.cc",
            "ResizeBilinearPrepare",
            *_RESIZE_CHECKS,
            fixed(_SIZE),
            check(ATTRIBUTE, "at most one of half_pixel_centers and align_corners", _both_alignments),
        ),
        in_source("resize_bilinear.cc", "ResizeBilinearEval", takes(OUTPUT, FLOAT32_INT8)),
    ),
    "RESIZE_NEAREST_NEIGHBOR": MicroKernel(
        in_source(
            "resize_nearest_neighbor.cc",
            "ResizeNearestNeighborPrepare",
            *_RESIZE_CHECKS,
            check(SHAPE, "size with 2 elements", _size_count),
            fixed(_SIZE),
        ),
        in_source("resize_nearest_neighbor.cc", "ResizeNearestNeighborEval", takes(OUTPUT, FLOAT32_INT8_INT16)),
    ),
}
