"""Prepare functions of image resizing."""

from __future__ import annotations

from collections.abc import Sequence

from ..kernel import KernelNode, kernel
from ..windows import ensure_positive


@kernel("RESIZE_BILINEAR", changed_in=("litert-2.2.0",))
def prepare_resize_bilinear(node: KernelNode) -> None:
    """``kernels/resize_bilinear.cc: Prepare``."""
    size = _resized_to(node)
    if size is None:
        return
    options = node.options
    has_both = options.half_pixel_centers and options.align_corners
    node.ensure(not has_both, "half-pixel centers cannot be combined with aligned corners")
    ensure_positive(node, size, "a size is not positive")
    _resize_image(node, size)


@kernel("RESIZE_NEAREST_NEIGHBOR")
def prepare_resize_nearest_neighbor(node: KernelNode) -> None:
    """``kernels/resize_nearest_neighbor.cc: Prepare``."""
    size = _resized_to(node)
    if size is not None:
        _resize_image(node, size)


def _resized_to(node: KernelNode) -> list[int] | None:
    """Check the common requirements of both resizing operators.

    Return the new height and width, or None if they are not known.
    """
    node.ensure_counts(2, 1)
    source, size, result = node.input(0), node.input(1), node.output()
    node.ensure_rank(source, 4)
    node.ensure_rank(size, 1)
    if node.op != "RESIZE_BILINEAR" or node.since("litert-2.2.0"):
        node.ensure_shape(size, (2,))
    node.ensure_type(size, "INT32")
    result.type = source.type
    if not size.is_constant_or_persistent:
        node.set_dynamic(result, size)
        return None
    return size.integers()[:2]


def _resize_image(node: KernelNode, size: Sequence[int]) -> None:
    batches, _, _, channels = node.input(0).shape
    node.resize(node.output(), (batches, size[0], size[1], channels))
