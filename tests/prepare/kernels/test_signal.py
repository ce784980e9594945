"""Prepare of Fourier transforms."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError


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
