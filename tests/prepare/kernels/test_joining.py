"""Prepare of PACK, UNPACK, CONCATENATION, SPLIT and SPLIT_V."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Quantization
from delegate_sim.prepare.tensors import PrepareError


class TestPackAndUnpack:
    @pytest.mark.parametrize(("axis", "expected"), [(0, (2, 3, 4)), (2, (3, 4, 2)), (-1, (3, 4, 2))])
    def test_pack(self, kernels, axis, expected):
        operands = [kernels.arena("INT8", 3, 4)] * 2
        kernels.assert_static(kernels.prepare("PACK", operands, [kernels.arena("INT8")], values_count=2, axis=axis), expected)

    def test_pack_does_not_pass_on_what_is_known(self, kernels):
        node = kernels.prepare("PACK", [kernels.persistent(1)] * 2, [kernels.arena("INT32")], values_count=2, axis=0)
        kernels.assert_static(node, (2,))

    @pytest.mark.parametrize(
        ("second", "count", "message"),
        [
            (("INT8", 4, 3), 2, "the inputs have different shapes"),
            (("UINT8", 3, 4), 2, "the inputs have different types"),
            (("INT8", 3, 4), 3, "the number of inputs in the options is wrong"),
        ],
    )
    def test_pack_refuses_operands_that_differ(self, kernels, second, count, message):
        operands = [kernels.arena("INT8", 3, 4), kernels.arena(*second)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("PACK", operands, [kernels.arena("INT8")], values_count=count, axis=0)

    def test_pack_refuses_float16(self, kernels):
        with pytest.raises(PrepareError, match="FLOAT16"):
            kernels.prepare("PACK", [kernels.arena("FLOAT16", 3)], [kernels.arena("FLOAT16")], values_count=1, axis=0)

    def test_unpack(self, kernels):
        node = kernels.prepare("UNPACK", [kernels.arena("INT8", 3, 2)], [kernels.arena("INT8")] * 2, num=2, axis=-1)
        kernels.assert_static(node, (3,), (3,))

    @pytest.mark.parametrize(
        ("shape", "axis", "message"),
        [
            ((3, 4), 1, "the number of outputs differs from the size of the dimension"),
            ((3, 2), 2, "the axis is out of range"),
            ((0, 2), 1, "the input is empty"),
        ],
    )
    def test_unpack_refuses_other_sizes(self, kernels, shape, axis, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("UNPACK", [kernels.arena("INT8", *shape)], [kernels.arena("INT8")] * 2, num=2, axis=axis)


class TestConcatenation:
    def concatenate(self, kernels, operands, result, axis=0, activation=0):
        return kernels.prepare("CONCATENATION", operands, [result], axis=axis, fused_activation_function=activation)

    def test_shape(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT8", 2, 4)]
        kernels.assert_static(self.concatenate(kernels, operands, kernels.arena("INT8"), axis=-1), (2, 7))

    def test_known_operands_give_a_known_result(self, kernels):
        operands = [kernels.persistent([1, 2]), kernels.constant([3])]
        kernels.assert_persistent(self.concatenate(kernels, operands, kernels.arena("INT32")), [1, 2, 3])

    def test_known_scalars_give_a_vector(self, kernels):
        operands = [kernels.persistent(1), kernels.constant(2)]
        kernels.assert_persistent(self.concatenate(kernels, operands, kernels.arena("INT32")), [1, 2])

    def test_refuses_unknown_scalars(self, kernels):
        with pytest.raises(PrepareError, match="scalars"):
            self.concatenate(kernels, [kernels.arena("INT32"), kernels.constant(2)], kernels.arena("INT32"))

    @pytest.mark.parametrize(
        ("second", "message"),
        [
            (("INT8", 3, 3), "the inputs have different shapes"),
            (("INT8", 2), "the inputs have different ranks"),
            (("UINT8", 2, 3), "the inputs have different types"),
        ],
    )
    def test_refuses_operands_that_differ(self, kernels, second, message):
        with pytest.raises(PrepareError, match=message):
            self.concatenate(kernels, [kernels.arena("INT8", 2, 3), kernels.arena(*second)], kernels.arena("INT8"), axis=1)

    def test_refuses_a_fused_activation(self, kernels):
        with pytest.raises(PrepareError, match="activation"):
            self.concatenate(kernels, [kernels.arena("INT8", 2)], kernels.arena("INT8"), activation=1)

    @pytest.mark.parametrize(("kind", "refused"), [("INT8", True), ("UINT8", False)])
    def test_int8_is_not_rescaled(self, kernels, kind, refused):
        operands, result = [kernels.arena(kind, 2, scale=0.5)], kernels.arena(kind, scale=0.25)
        if refused:
            with pytest.raises(PrepareError, match="scales"):
                self.concatenate(kernels, operands, result)
        else:
            kernels.assert_static(self.concatenate(kernels, operands, result), (2,))

    def test_refuses_a_zero_point_of_int16(self, kernels):
        with pytest.raises(PrepareError, match="INT16"):
            self.concatenate(kernels, [kernels.arena("INT16", 2, zero_point=1)], kernels.arena("INT16"))

    def test_refuses_an_output_of_another_type(self, kernels):
        with pytest.raises(PrepareError, match="types"):
            self.concatenate(kernels, [kernels.arena("FLOAT16", 2)], kernels.arena("FLOAT32"))

    def test_a_result_without_elements_takes_no_time_whatever_its_other_sizes(self, kernels):
        empty = kernels.constant(np.zeros((1 << 30, 2, 0), np.int32))
        node = self.concatenate(kernels, [empty, empty], kernels.arena("INT32"), axis=1)
        result = node.output()
        assert (result.shape, result.computed.tolist()) == ((1 << 30, 4, 0), [])


class TestSplit:
    def test_split(self, kernels):
        operands = [kernels.constant(-1), kernels.arena("INT8", 2, 6)]
        node = kernels.prepare("SPLIT", operands, [kernels.arena("FLOAT32")] * 3, num_splits=3)
        kernels.assert_static(node, (2, 2), (2, 2), (2, 2))
        assert node.output(2).type == "INT8"

    @pytest.mark.parametrize(
        ("axis", "count", "message"),
        [(1, 4, "the input cannot be split evenly"), (2, 2, "the axis is out of range"), (1, 0, "there are no outputs")],
    )
    def test_split_refuses_other_axes_and_counts(self, kernels, axis, count, message):
        operands = [kernels.constant(axis), kernels.arena("INT8", 2, 6)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("SPLIT", operands, [kernels.arena("INT8")] * count, num_splits=count)

    def test_unknown_axis_makes_all_results_dynamic(self, kernels):
        operands = [kernels.arena("INT32"), kernels.arena("INT8", 2, 6)]
        node = kernels.prepare("SPLIT", operands, [kernels.arena("INT8")] * 2, num_splits=2)
        kernels.assert_dynamic(node, cause=0)
        assert node.output(1).is_dynamic

    @pytest.mark.parametrize("sizes", [[1, 5], [-1, 5], [1, -1]])
    def test_split_v(self, kernels, sizes):
        operands = [kernels.arena("INT8", 2, 6), kernels.constant(sizes, "INT64"), kernels.constant(1)]
        kernels.assert_static(kernels.prepare("SPLIT_V", operands, [kernels.arena("INT8")] * 2, num_splits=2), (2, 1), (2, 5))

    @pytest.mark.parametrize(
        ("sizes", "message"),
        [
            ([1, 4], "the sizes do not add up to the dimension"),
            ([-1, -1], "more than one size is -1"),
            ([-1, 7], "the sum of the sizes is larger than the dimension"),
            ([1, 2, 3], "the sizes do not have one element for each output"),
        ],
    )
    def test_split_v_refuses_other_sizes(self, kernels, sizes, message):
        operands = [kernels.arena("INT8", 2, 6), kernels.constant(sizes), kernels.constant(1)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("SPLIT_V", operands, [kernels.arena("INT8")] * 2, num_splits=2)

    def test_split_v_with_unknown_sizes_is_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 6), kernels.arena("INT32", 2), kernels.constant(1)]
        kernels.assert_dynamic(kernels.prepare("SPLIT_V", operands, [kernels.arena("INT8")] * 2, num_splits=2), cause=1)


def test_rescaled_uint8_is_not_computed(kernels):
    quantized = Quantization("affine", np.array([0.5], np.float32), np.array([0]), 0)
    operand = kernels.constant([1, 2], "UINT8", quantization=quantized, scale=0.5)
    options = {"axis": 0, "fused_activation_function": 0}
    same = kernels.prepare("CONCATENATION", [operand], [kernels.arena("UINT8", scale=0.5)], **options)
    kernels.assert_persistent(same, [1, 2])
    other = kernels.prepare("CONCATENATION", [operand], [kernels.arena("UINT8", scale=0.25)], **options)
    assert other.output().computed is None
