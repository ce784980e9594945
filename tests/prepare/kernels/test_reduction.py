"""Prepare of reductions and running sums."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Quantization
from delegate_sim.prepare.tensors import PrepareError


@pytest.mark.parametrize(
    ("source", "axis", "message"),
    [
        (("FLOAT16", 3), ("INT32",), "tensor 0 is FLOAT16"),
        (("FLOAT32", 3), ("INT64",), "tensor 1 is INT64"),
        (("FLOAT32", 3), ("INT32", 2), "the axis is not a single number"),
        (("FLOAT32",), ("INT32",), "the input is a scalar"),
    ],
)
def test_cumsum_refuses(kernels, source, axis, message):
    kernels.prepare("CUMSUM", [kernels.arena("INT64", 3), kernels.arena("INT32", 1)], [kernels.arena("INT64")])
    with pytest.raises(PrepareError, match=message):
        kernels.prepare("CUMSUM", [kernels.arena(*source), kernels.arena(*axis)], [kernels.arena("FLOAT32")])


INT32, INT64 = 2, 4
"""Values of the schema's TensorType."""
QUANTIZED = Quantization("affine", np.array([0.5], np.float32), np.array([0]), 0)


@pytest.mark.parametrize("op", ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL"])
@pytest.mark.parametrize(
    ("axes", "keep_dims", "expected"),
    [
        ([1], False, (2, 4)),
        ([1], True, (2, 1, 4)),
        (-1, False, (2, 3)),
        ([0, -3, 2], False, (3,)),
        ([0, 1, 2], False, ()),
        ([], False, (2, 3, 4)),
    ],
)
def test_shape(kernels, op, axes, keep_dims, expected):
    operands = [kernels.arena("BOOL", 2, 3, 4), kernels.constant(axes)]
    kernels.assert_static(kernels.prepare(op, operands, [kernels.arena("BOOL")], keep_dims=keep_dims), expected)


@pytest.mark.parametrize("axis", [3, -4])
def test_refuses_other_axes(kernels, axis):
    with pytest.raises(PrepareError, match="axis"):
        kernels.prepare("MEAN", [kernels.arena("INT8", 2, 3, 4), kernels.constant(axis)], [kernels.arena("INT8")])


def test_scalar_is_reduced_over_any_axis(kernels):
    node = kernels.prepare("SUM", [kernels.arena("INT8"), kernels.constant([7])], [kernels.arena("INT8", 1)], keep_dims=True)
    kernels.assert_static(node, ())


def test_unknown_axis_makes_the_result_dynamic(kernels):
    node = kernels.prepare("REDUCE_PROD", [kernels.arena("INT32", 2), kernels.arena("INT32", 1)], [kernels.arena("INT32")])
    kernels.assert_dynamic(node, cause=1)


@pytest.mark.parametrize(
    ("kind", "axis_kind", "message"), [("FLOAT16", "INT32", "tensor 0 is FLOAT16"), ("INT8", "INT64", "tensor 1 is INT64")]
)
def test_refuses_other_types(kernels, kind, axis_kind, message):
    with pytest.raises(PrepareError, match=message):
        kernels.prepare("MEAN", [kernels.arena(kind, 2), kernels.constant([0], axis_kind)], [kernels.arena(kind)])


def test_refuses_a_zero_point_of_int16(kernels):
    operands = [kernels.arena("INT16", 2), kernels.constant([0])]
    with pytest.raises(PrepareError, match="INT16"):
        kernels.prepare("SUM", operands, [kernels.arena("INT16", zero_point=1)])


@pytest.mark.parametrize("op", ["REDUCE_ANY", "REDUCE_ALL"])
def test_any_and_all_want_bool(kernels, op):
    with pytest.raises(PrepareError, match="INT8"):
        kernels.prepare(op, [kernels.arena("INT8", 2), kernels.constant([0])], [kernels.arena("INT8")])


class TestProduct:
    def product(self, kernels, source, axes, result=None, **options):
        return kernels.prepare("REDUCE_PROD", [source, kernels.constant(axes)], [result or kernels.arena("INT32")], **options)

    def test_known_operands_give_a_known_result(self, kernels):
        kernels.assert_persistent(self.product(kernels, kernels.persistent([2, 3, 4]), [0]), 24)

    def test_dimensions_can_be_kept(self, kernels):
        node = self.product(kernels, kernels.constant([[2, 3], [4, 5]]), [1], keep_dims=True)
        kernels.assert_persistent(node, [[6], [20]])

    def test_only_small_results_are_computed(self, kernels):
        kernels.assert_persistent(self.product(kernels, kernels.constant([[2]] * 8), [1]), [2] * 8)
        kernels.assert_static(self.product(kernels, kernels.constant([[2]] * 9), [1]), (9,))

    def test_sums_are_not_computed(self, kernels):
        node = kernels.prepare("SUM", [kernels.constant([2, 3]), kernels.constant([0])], [kernels.arena("INT32")])
        kernels.assert_static(node, ())

    def test_products_of_quantized_numbers_are_for_int8_and_int16(self, kernels):
        source = kernels.arena("INT8", 2, quantization=QUANTIZED)
        kernels.assert_static(self.product(kernels, source, [0], kernels.arena("INT8")), ())
        with pytest.raises(PrepareError, match="UINT8"):
            self.product(kernels, source._replace(type="UINT8"), [0], kernels.arena("UINT8"))

    def test_refuses_quantization_in_blocks(self, kernels):
        source = kernels.arena("INT8", 2, quantization=QUANTIZED._replace(kind="blockwise"))
        with pytest.raises(PrepareError, match="affine"):
            self.product(kernels, source, [0], kernels.arena("INT8"))


class TestArgMax:
    def arg_max(self, kernels, source, axis, output_type=INT32):
        return kernels.prepare("ARG_MAX", [source, axis], [kernels.arena("FLOAT32")], output_type=output_type)

    @pytest.mark.parametrize(("axis", "expected"), [(0, (3, 4)), (-1, (2, 3)), ([1], (2, 4))])
    def test_shape(self, kernels, axis, expected):
        node = self.arg_max(kernels, kernels.arena("INT8", 2, 3, 4), kernels.constant(axis, "INT64"))
        kernels.assert_static(node, expected)
        assert node.output().type == "INT32"

    def test_options_tell_the_type(self, kernels):
        node = self.arg_max(kernels, kernels.arena("INT8", 2), kernels.constant(0), output_type=INT64)
        assert node.output().type == "INT64"

    @pytest.mark.parametrize(
        ("shape", "axis", "message"),
        [
            ((2, 3), 2, "the axis is out of range"),
            ((2, 0), 1, "the dimension to search is empty"),
            ((), 0, "the input is a scalar"),
            ((2, 3), [0, 1], "the axis is not a single number"),
        ],
    )
    def test_refuses_other_axes(self, kernels, shape, axis, message):
        with pytest.raises(PrepareError, match=message):
            self.arg_max(kernels, kernels.arena("INT8", *shape), kernels.constant(axis))

    @pytest.mark.parametrize(
        ("kind", "output_type", "message"),
        [
            ("FLOAT16", INT32, "tensor 0 is FLOAT16"),
            ("INT64", INT32, "tensor 0 is INT64"),
            ("INT8", 0, "the type of the output is not INT32 or INT64"),
        ],
    )
    def test_refuses_other_types(self, kernels, kind, output_type, message):
        with pytest.raises(PrepareError, match=message):
            self.arg_max(kernels, kernels.arena(kind, 2), kernels.constant(0), output_type)

    def test_unknown_axis_makes_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.arg_max(kernels, kernels.arena("INT8", 2, 3), kernels.arena("INT32")), cause=1)
