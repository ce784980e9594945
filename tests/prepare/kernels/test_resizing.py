"""Prepare of resizing images."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError


def resize(kernels, op, size, **options):
    return kernels.prepare(op, [kernels.arena("INT8", 1, 5, 5, 3), size], [kernels.arena("FLOAT32")], **options)


@pytest.mark.parametrize("op", ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
def test_resize(kernels, op):
    node = resize(kernels, op, kernels.persistent([7, 9]))
    kernels.assert_static(node, (1, 7, 9, 3))
    assert node.output().type == "INT8"
    kernels.assert_dynamic(resize(kernels, op, kernels.arena("INT32", 2)), cause=1)
    negative = "a size is not positive" if op == "RESIZE_BILINEAR" else "has a negative size"
    for size, message in (
        (kernels.constant([7, 9], "INT64"), "tensor 1 is INT64"),
        (kernels.constant([7, 9, 1]), "tensor 1 has the shape"),
        (kernels.constant([-1, 9]), negative),
    ):
        with pytest.raises(PrepareError, match=message):
            resize(kernels, op, size)


def test_resize_to_nothing(kernels):
    kernels.assert_static(resize(kernels, "RESIZE_NEAREST_NEIGHBOR", kernels.constant([0, 9])), (1, 0, 9, 3))
    with pytest.raises(PrepareError, match="positive"):
        resize(kernels, "RESIZE_BILINEAR", kernels.constant([0, 9]))


def test_resize_bilinear_centers_and_corners(kernels):
    both = {"half_pixel_centers": True, "align_corners": True}
    with pytest.raises(PrepareError, match="corners"):
        resize(kernels, "RESIZE_BILINEAR", kernels.constant([7, 9]), **both)
    kernels.assert_dynamic(resize(kernels, "RESIZE_BILINEAR", kernels.arena("INT32", 2), **both), cause=1)
    kernels.assert_static(resize(kernels, "RESIZE_NEAREST_NEIGHBOR", kernels.constant([7, 9]), **both), (1, 7, 9, 3))
