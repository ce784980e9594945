"""Prepare of slices."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import PrepareError


class TestSlice:
    def slice(self, kernels, begin, size, source=None, result=None):
        source = source or kernels.arena("INT8", 4, 5)
        return kernels.prepare("SLICE", [source, begin, size], [result or kernels.arena("INT8")])

    @pytest.mark.parametrize(
        ("begin", "size", "expected"), [([1, 2], [2, 3], (2, 3)), ([1, 2], [-1, -1], (3, 3)), ([4, 0], [0, 5], (0, 5))]
    )
    def test_shape(self, kernels, begin, size, expected):
        node = self.slice(kernels, kernels.constant(begin), kernels.persistent(size))
        kernels.assert_static(node, expected)

    @pytest.mark.parametrize(
        ("begin", "size", "message"),
        [
            ([1, 2], [4, 1], "the slice reaches past the input"),
            ([-1, 0], [1, 1], "the slice begins outside the input"),
            ([5, 0], [-1, 1], "the slice begins outside the input"),
            ([0, 0], [-2, 1], "a size is negative"),
            ([0], [1], "begin and size do not have one number for each dimension"),
        ],
    )
    def test_refuses_what_lies_outside(self, kernels, begin, size, message):
        with pytest.raises(PrepareError, match=message):
            self.slice(kernels, kernels.constant(begin), kernels.constant(size))

    def test_unknown_size_makes_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.slice(kernels, kernels.constant([0, 0]), kernels.arena("INT32", 2)), cause=2)

    def test_complete_shape_in_the_file_is_kept(self, kernels):
        result = kernels.arena("INT8", 1, 1)
        node = self.slice(kernels, kernels.arena("INT32", 2), kernels.constant([1, 1]), result=result)
        kernels.assert_static(node, (1, 1))

    def test_complete_shape_in_the_file_must_be_that_of_the_slice(self, kernels):
        with pytest.raises(PrepareError, match="shape"):
            self.slice(kernels, kernels.constant([0, 0]), kernels.constant([2, 2]), result=kernels.arena("INT8", 2, 3))

    def test_incomplete_shape_in_the_file_is_replaced(self, kernels):
        result = kernels.arena("INT8", 1, 1, shape_signature=(-1, 1))
        kernels.assert_static(self.slice(kernels, kernels.constant([0, 0]), kernels.constant([2, 2]), result=result), (2, 2))

    def test_input_with_an_open_size_makes_the_result_dynamic(self, kernels):
        source = kernels.arena("INT8", 1, 5, shape_signature=(-1, 5))
        node = self.slice(kernels, kernels.constant([0, 0]), kernels.constant([1, 1]), source=source)
        kernels.assert_dynamic(node, cause=None)

    def test_refuses_an_output_of_another_type(self, kernels):
        with pytest.raises(PrepareError, match="types"):
            self.slice(kernels, kernels.constant([0, 0]), kernels.constant([1, 1]), source=kernels.arena("FLOAT16", 4, 5))


def strided_slice(kernels, source, begin, end, strides=None, **masks):
    indices = [begin, end, strides if strides is not None else [1] * len(begin)]
    operands = [index if hasattr(index, "shape") else kernels.constant(index) for index in indices]
    options = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0, "offset": False}
    return kernels.prepare("STRIDED_SLICE", [source, *operands], [kernels.arena(source.type)], **{**options, **masks})


class TestStridedSlice:
    @pytest.mark.parametrize("elements", [[], [7, 8]])
    def test_refuses_axes_that_are_not_those_of_a_known_input(self, kernels, elements):
        """The mask adds more axes than there are indices, and none is left for the input's own."""
        with pytest.raises(ValueError, match="does not have an axis"):
            strided_slice(kernels, kernels.constant(np.array(elements, np.int32)), [0], [1], new_axis_mask=3)

    @pytest.mark.parametrize(
        ("index", "indices", "masks"),
        [
            (np.s_[1:3, 0:5], ([1, 0], [3, 5], [1, 1]), {}),
            (np.s_[-3:-1, ::2], ([-3, 0], [-1, 5], [1, 2]), {"begin_mask": 2, "end_mask": 2}),
            (np.s_[::-1, 4:0:-2], ([0, 4], [0, 0], [-1, -2]), {"begin_mask": 1, "end_mask": 1}),
            (np.s_[3:1, 0:5], ([3, 0], [1, 5], [1, 1]), {}),
            (np.s_[-9:99], ([-9], [99], [1]), {}),
            (np.s_[2], ([2], [3], [1]), {"shrink_axis_mask": 1}),
            (np.s_[..., 2], ([0, 2], [0, 3], [1, 1]), {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
            (np.s_[0:2, ..., np.newaxis], ([0, 0, 0], [2, 0, 0], [1, 1, 1]), {"ellipsis_mask": 2, "new_axis_mask": 4}),
            (np.s_[np.newaxis, 1:2], ([0, 1], [0, 2], [1, 1]), {"new_axis_mask": 1}),
        ],
    )
    def test_cuts_as_numpy_does(self, kernels, index, indices, masks):
        elements = np.arange(20, dtype=np.int32).reshape(4, 5)
        expected = elements[index]
        kernels.assert_persistent(strided_slice(kernels, kernels.constant(elements), *indices, **masks), expected)
        kernels.assert_static(strided_slice(kernels, kernels.arena("INT8", 4, 5), *indices, **masks), expected.shape)

    def test_offset_counts_from_begin(self, kernels):
        begin = kernels.arena("INT32", 2)
        node = strided_slice(kernels, kernels.arena("INT8", 4, 5), begin, [2, 3], [1, 1], offset=True)
        kernels.assert_static(node, (2, 3))

    def test_known_operands_with_an_offset(self, kernels):
        node = strided_slice(kernels, kernels.constant([10, 11, 12, 13]), [1], [2], offset=True)
        kernels.assert_persistent(node, [11, 12])

    def test_index_behind_the_end_gives_an_unknown_element(self, kernels):
        node = strided_slice(kernels, kernels.constant([1, 2]), [2], [3], shrink_axis_mask=1)
        assert node.output().allocation is Allocation.PERSISTENT
        assert node.output().shape == ()
        assert node.output().computed is None

    @pytest.mark.parametrize("position", [0, 1, 2])
    def test_unknown_index_makes_the_result_dynamic(self, kernels, position):
        indices = [[1, 0], [3, 5], [1, 1]]
        indices[position] = kernels.arena("INT32", 2)
        kernels.assert_dynamic(strided_slice(kernels, kernels.arena("INT8", 4, 5), *indices), cause=position + 1)

    def test_known_strings_are_dynamic(self, kernels):
        source = kernels.arena("STRING", 4, allocation=Allocation.CONSTANT)
        kernels.assert_dynamic(strided_slice(kernels, source, [1], [2]), cause=None)

    @pytest.mark.parametrize(
        ("begin", "end", "strides", "message"),
        [
            ([0], [1], [0], "a stride is 0"),
            ([0], [1, 2], [1], "begin and end have different lengths"),
            ([[0]], [1], [1], "begin, end and strides are not vectors"),
            ([0] * 32, [1] * 32, [1] * 32, "there are more than 31 indices"),
        ],
    )
    def test_refuses_other_indices(self, kernels, begin, end, strides, message):
        with pytest.raises(PrepareError, match=message):
            strided_slice(kernels, kernels.arena("INT8", 4), begin, end, strides)

    def test_refuses_int64_indices(self, kernels):
        with pytest.raises(PrepareError, match="INT64"):
            strided_slice(kernels, kernels.arena("INT8", 4), kernels.constant([0], "INT64"), [1])


class TestUpdateAndReverse:
    def test_dynamic_update_slice(self, kernels):
        operands = [kernels.arena("INT8", 4, 5), kernels.arena("INT8", 2, 5), kernels.arena("INT32", 2)]
        node = kernels.prepare("DYNAMIC_UPDATE_SLICE", operands, [kernels.arena("FLOAT32")])
        kernels.assert_static(node, (4, 5))
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("update", "start", "message"),
        [
            (("INT8", 5, 5), 2, "the update is larger than the input"),
            (("INT8", 5), 2, "update and input have different numbers of dimensions"),
            (("UINT8", 2, 5), 2, "input and update have different types"),
            (("INT8", 2, 5), 1, "the start indices do not have one element for each dimension"),
        ],
    )
    def test_dynamic_update_slice_refuses_other_operands(self, kernels, update, start, message):
        operands = [kernels.arena("INT8", 4, 5), kernels.arena(*update), kernels.arena("INT32", start)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("DYNAMIC_UPDATE_SLICE", operands, [kernels.arena("INT8")])

    def test_reverse_v2(self, kernels):
        operands = [kernels.arena("FLOAT16", 4, 5), kernels.arena("INT32", 1)]
        kernels.assert_static(kernels.prepare("REVERSE_V2", operands, [kernels.arena("FLOAT16")]), (4, 5))

    @pytest.mark.parametrize(
        ("kind", "axes", "message"), [("INT8", 3, "there are more axes than dimensions"), ("UINT32", 1, "tensor 0 is UINT32")]
    )
    def test_reverse_v2_refuses_other_operands(self, kernels, kind, axes, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("REVERSE_V2", [kernels.arena(kind, 4, 5), kernels.arena("INT32", axes)], [kernels.arena(kind)])

    def test_reverse_sequence(self, kernels):
        operands = [kernels.arena("UINT8", 4, 5), kernels.arena("INT64", 4)]
        kernels.assert_static(kernels.prepare("REVERSE_SEQUENCE", operands, [kernels.arena("UINT8")]), (4, 5))

    def test_reverse_sequence_refuses_int8(self, kernels):
        with pytest.raises(PrepareError, match="INT8"):
            kernels.prepare("REVERSE_SEQUENCE", [kernels.arena("INT8", 4), kernels.arena("INT32", 4)], [kernels.arena("INT8")])
