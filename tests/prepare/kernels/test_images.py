"""Prepare of pooling, resizing, detection and Fourier transforms."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.tensors import PrepareError

SAME, VALID = 0, 1
"""Values of the schema's Padding."""


def pool(kernels, op="MAX_POOL_2D", kind="FLOAT32", source=(1, 5, 5, 3), **options):
    given = {"padding": VALID, "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2, **options}
    return kernels.prepare(op, [kernels.arena(kind, *source)], [kernels.arena(kind)], **given)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (1, 2, 2, 3)),
        ({"padding": SAME}, (1, 3, 3, 3)),
        ({"filter_height": 8}, (1, 0, 2, 3)),
        ({"filter_width": 8}, (1, 2, 0, 3)),
        ({"filter_height": 0}, (1, 0, 2, 3)),
        ({"filter_width": 0}, (1, 0, 0, 3)),
    ],
)
def test_pool_shape(kernels, options, expected):
    kernels.assert_static(pool(kernels, **options), expected)


def test_pool_refuses(kernels):
    with pytest.raises(PrepareError, match="dimensions"):
        pool(kernels, source=(5, 5, 3))
    with pytest.raises(PrepareError, match="stride"):
        pool(kernels, stride_w=0)
    with pytest.raises(PrepareError, match="types"):
        kernels.prepare("MAX_POOL_2D", [kernels.arena("INT8", 1, 5, 5, 3)], [kernels.arena("UINT8")])


def test_only_l2_pool_refuses_quantized_inputs(kernels):
    pool(kernels, "AVERAGE_POOL_2D", "INT8")
    pool(kernels, "L2_POOL_2D", "INT16")
    with pytest.raises(PrepareError, match="L2"):
        pool(kernels, "L2_POOL_2D", "INT8")


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


class TestNonMaxSuppression:
    def suppress(self, kernels, limit, *, is_soft=False, scores=None, boxes=None, outputs=None):
        thresholds = [kernels.constant(0.5, "FLOAT32")] * (3 if is_soft else 2)
        results = [kernels.arena("INT8", 1)] * (outputs or (3 if is_soft else 2))
        inputs = [boxes or kernels.arena("FLOAT32", 6, 4), scores or kernels.arena("FLOAT32", 6), limit, *thresholds]
        return kernels.prepare("NON_MAX_SUPPRESSION_V5", inputs, results)

    def test_shapes(self, kernels):
        node = self.suppress(kernels, kernels.constant(9))
        kernels.assert_static(node, (9,), ())
        assert [node.output(position).type for position in range(2)] == ["INT32", "INT32"]

    def test_soft_suppression_also_returns_scores(self, kernels):
        node = self.suppress(kernels, kernels.persistent(9), is_soft=True)
        kernels.assert_static(node, (9,), (9,), ())
        assert [node.output(position).type for position in range(3)] == ["INT32", "FLOAT32", "INT32"]

    def test_unknown_limit_makes_all_but_the_count_dynamic(self, kernels):
        node = self.suppress(kernels, kernels.arena("INT32"), is_soft=True)
        kernels.assert_dynamic(node, cause=2)
        assert [node.output(position).is_dynamic for position in range(3)] == [True, True, False]
        assert node.output(2).shape == ()

    def test_refuses_other_operands(self, kernels):
        limit = kernels.constant(9)
        with pytest.raises(PrepareError, match="boxes"):
            self.suppress(kernels, limit, boxes=kernels.arena("FLOAT32", 6, 5))
        with pytest.raises(PrepareError, match="score"):
            self.suppress(kernels, limit, scores=kernels.arena("FLOAT32", 5))
        with pytest.raises(PrepareError, match="INT64"):
            self.suppress(kernels, kernels.constant(9, "INT64"))
        with pytest.raises(PrepareError, match="scalar"):
            self.suppress(kernels, kernels.constant([9]))
        with pytest.raises(PrepareError, match="-1"):
            self.suppress(kernels, kernels.constant(-1))
        with pytest.raises(PrepareError, match="outputs"):
            self.suppress(kernels, limit, is_soft=True, outputs=2)


@pytest.mark.parametrize("op", ["REAL", "IMAG", "COMPLEX_ABS"])
def test_parts_of_complex_numbers(kernels, op):
    kernels.assert_static(kernels.prepare(op, [kernels.arena("COMPLEX64", 3)], [kernels.arena("FLOAT32")]), (3,))
    kernels.assert_static(kernels.prepare(op, [kernels.arena("COMPLEX128", 3)], [kernels.arena("FLOAT64")]), (3,))
    for source, result, message in (
        ("COMPLEX64", "FLOAT64", "tensor 1 is FLOAT64"),
        ("FLOAT32", "FLOAT32", "tensor 0 is FLOAT32"),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare(op, [kernels.arena(source, 3)], [kernels.arena(result)])


class TestRfft2d:
    def rfft2d(self, kernels, length, source=None):
        return kernels.prepare("RFFT2D", [source or kernels.arena("FLOAT32", 3, 5, 7), length], [kernels.arena("FLOAT32")])

    @pytest.mark.parametrize("known", ["constant", "persistent"])
    def test_shape(self, kernels, known):
        node = self.rfft2d(kernels, getattr(kernels, known)([4, 8]))
        kernels.assert_static(node, (3, 4, 5))
        assert node.output().type == "COMPLEX64"

    def test_unknown_length_makes_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.rfft2d(kernels, kernels.arena("INT32", 2)), cause=1)

    @pytest.mark.parametrize("length", [[4, 6], [0, 4], [-4, 4], [4, -2]])
    def test_refuses_lengths_that_are_no_powers_of_two(self, kernels, length):
        with pytest.raises(PrepareError, match="power of two"):
            self.rfft2d(kernels, kernels.constant(length))

    def test_refuses_other_operands(self, kernels):
        with pytest.raises(PrepareError, match="tensor 1 is INT64"):
            self.rfft2d(kernels, kernels.constant([4, 4], "INT64"))
        with pytest.raises(PrepareError, match="the lengths are not a vector of two elements"):
            self.rfft2d(kernels, kernels.constant([4, 4, 4]))
        with pytest.raises(PrepareError, match="tensor 0 is INT32"):
            self.rfft2d(kernels, kernels.constant([4, 4]), source=kernels.arena("INT32", 4, 4))
        with pytest.raises(PrepareError, match="the input has 1 dimension, fewer than 2"):
            self.rfft2d(kernels, kernels.constant([4, 4]), source=kernels.arena("FLOAT32", 4))
