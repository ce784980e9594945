"""Resizing of images."""

from __future__ import annotations

from ..builder import PartitionBuilder
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import add_integers, first_integer


def _add_bilinear(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower RESIZE_BILINEAR. The new width and height are the result's sizes."""
    options, shape = node.options, (*node.view.output(0).shape, 0, 0, 0)
    builder.add_input(node, 0)
    add_integers(builder, shape[2], shape[1])
    if options.align_corners or options.half_pixel_centers:
        builder.add_bool(False)  # NHWC
        builder.add_bool(options.align_corners)
        builder.add_bool(options.half_pixel_centers)
    builder.finish(node)


def _add_nearest_neighbor(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower RESIZE_NEAREST_NEIGHBOR. The new width and height are in the constant size operand."""
    options = node.options
    builder.add_input(node, 0)
    add_integers(builder, first_integer(node.view, 1, 1), first_integer(node.view, 1))
    builder.add_bool(False)  # NHWC
    if options.align_corners or options.half_pixel_centers:
        builder.add_bool(options.align_corners)
        builder.add_bool(options.half_pixel_centers)
    builder.finish(node)


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "RESIZE_BILINEAR": Lowering("RESIZE_BILINEAR", _add_bilinear, _INT8),
    "RESIZE_NEAREST_NEIGHBOR": Lowering("RESIZE_NEAREST_NEIGHBOR", _add_nearest_neighbor, _INT8),
}
