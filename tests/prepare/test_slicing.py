"""Prepare of slicing, reversing, padding, gathering, scattering and searching operators."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.kernel import PrepareError

REFLECT, SYMMETRIC = 0, 1
"""Values of the schema's MirrorPadMode."""
INT32, INT64 = 2, 4
"""Values of the schema's TensorType."""


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
            ([0], [1], "begin and size do not name every dimension"),
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
        with pytest.raises(ValueError, match="axes"):
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
            (("INT8", 2, 5), 1, "there is not one start index for each dimension"),
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


class TestPad:
    PADDINGS = ((0, 1), (2, 0))

    def test_shape(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS, "INT64")]
        kernels.assert_static(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), (3, 5))

    def test_fill_value(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS), kernels.constant([1], "INT8")]
        kernels.assert_static(kernels.prepare("PADV2", operands, [kernels.arena("INT8")]), (3, 5))

    @pytest.mark.parametrize(
        ("value", "kind", "message"),
        [([1, 2], "INT8", "the fill value is not a single number"), (1, "UINT8", "input and fill value have different types")],
    )
    def test_refuses_other_fill_values(self, kernels, value, kind, message):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(self.PADDINGS), kernels.constant(value, kind)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("PADV2", operands, [kernels.arena("INT8")])

    @pytest.mark.parametrize(
        ("paddings", "message"),
        [
            ([0, 1, 2, 0], "the paddings are not pairs"),
            ([[0, 1]], "there is not one pair of paddings for each dimension"),
            ([[0, -1], [2, 0]], "a padding is negative or too large"),
        ],
    )
    def test_refuses_other_paddings(self, kernels, paddings, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("PAD", [kernels.arena("INT8", 2, 3), kernels.constant(paddings)], [kernels.arena("INT8")])

    def test_refuses_six_dimensions(self, kernels):
        operands = [kernels.arena("INT8", *[1] * 6), kernels.constant([[0, 0]] * 6)]
        with pytest.raises(PrepareError, match="5 dimensions"):
            kernels.prepare("PAD", operands, [kernels.arena("INT8")])

    def test_unknown_paddings_make_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32", 2, 2)]
        kernels.assert_dynamic(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), cause=1)

    def test_scalar_input_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8"), kernels.constant([[0, 0]])]
        kernels.assert_dynamic(kernels.prepare("PAD", operands, [kernels.arena("INT8")]), cause=None)


class TestMirrorPad:
    def pad(self, kernels, paddings, **options):
        return kernels.prepare("MIRROR_PAD", [kernels.arena("INT8", 2, 3), paddings], [kernels.arena("INT8")], **options)

    def test_shape(self, kernels):
        kernels.assert_static(self.pad(kernels, kernels.constant([[1, 1], [0, 2]]), mode=REFLECT), (4, 5))

    @pytest.mark.parametrize(("paddings", "mode"), [([[2, 0], [0, 0]], REFLECT), ([[0, 0], [0, 4]], SYMMETRIC)])
    def test_refuses_more_than_there_is_to_mirror(self, kernels, paddings, mode):
        with pytest.raises(PrepareError, match="wider"):
            self.pad(kernels, kernels.constant(paddings), mode=mode)

    def test_symmetric_mirrors_the_border_too(self, kernels):
        kernels.assert_static(self.pad(kernels, kernels.constant([[2, 0], [0, 3]]), mode=SYMMETRIC), (4, 6))

    @pytest.mark.parametrize("options", [{}, {"mode": 2}])
    def test_refuses_unknown_modes(self, kernels, options):
        with pytest.raises(PrepareError, match="mode"):
            self.pad(kernels, kernels.constant([[0, 0], [0, 0]]), **options)

    def test_unknown_paddings_make_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.pad(kernels, kernels.arena("INT32", 2, 2), mode=REFLECT), cause=1)


class TestGather:
    def gather(self, kernels, source, positions, axis=0, batch_dims=0):
        return kernels.prepare("GATHER", [source, positions], [kernels.arena("BOOL")], axis=axis, batch_dims=batch_dims)

    @pytest.mark.parametrize(
        ("positions", "axis", "batch_dims", "expected"),
        [((4,), 0, 0, (4, 3, 5)), ((), 1, 0, (2, 5)), ((2, 7), -1, 1, (2, 3, 7)), ((2, 3, 7), 2, -1, (2, 3, 7))],
    )
    def test_shape(self, kernels, positions, axis, batch_dims, expected):
        node = self.gather(kernels, kernels.arena("INT8", 2, 3, 5), kernels.arena("INT32", *positions), axis, batch_dims)
        kernels.assert_static(node, expected)
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("axis", "batch_dims", "message"),
        [
            (3, 0, "the axis is out of range"),
            (0, 1, "the number of batch dimensions is out of range"),
            (2, 1, "the batch dimensions differ"),
            (2, 2, "the number of batch dimensions is out of range"),
        ],
    )
    def test_refuses_other_axes(self, kernels, axis, batch_dims, message):
        with pytest.raises(PrepareError, match=message):
            self.gather(kernels, kernels.arena("INT8", 2, 3, 5), kernels.arena("INT32", 4), axis, batch_dims)

    def test_known_operands_give_a_known_result(self, kernels):
        kernels.assert_persistent(self.gather(kernels, kernels.persistent([5, 6, 7]), kernels.constant([2, 0])), [7, 5])

    def test_known_operands_in_batches(self, kernels):
        node = self.gather(kernels, kernels.constant([[1, 2], [3, 4]]), kernels.constant([[1], [0]]), axis=1, batch_dims=1)
        kernels.assert_persistent(node, [[2], [3]])

    @pytest.mark.parametrize("position", [-1, 3])
    def test_refuses_known_positions_outside(self, kernels, position):
        with pytest.raises(PrepareError, match="position"):
            self.gather(kernels, kernels.constant([5, 6, 7]), kernels.constant([position]))

    def test_known_strings_are_dynamic(self, kernels):
        strings = kernels.arena("STRING", 3, allocation=Allocation.CONSTANT)
        kernels.assert_dynamic(self.gather(kernels, strings, kernels.constant([1])), cause=None)

    def test_float16_passes_its_type_on(self, kernels):
        node = self.gather(kernels, kernels.arena("FLOAT16", 3), kernels.arena("INT32", 2))
        assert node.output().type == "FLOAT16"

    @pytest.mark.parametrize(("indices", "expected"), [((4, 2), (4, 5)), ((1,), (3, 5)), ((4, 0), (4, 2, 3, 5))])
    def test_gather_nd(self, kernels, indices, expected):
        operands = [kernels.arena("INT8", 2, 3, 5), kernels.arena("INT16", *indices)]
        kernels.assert_static(kernels.prepare("GATHER_ND", operands, [kernels.arena("BOOL")]), expected)

    @pytest.mark.parametrize(
        ("indices", "message"),
        [((4, 4), "the indices have more numbers than the input has dimensions"), ((), "the indices are a scalar")],
    )
    def test_gather_nd_refuses_other_indices(self, kernels, indices, message):
        operands = [kernels.arena("INT8", 2, 3, 5), kernels.arena("INT32", *indices)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("GATHER_ND", operands, [kernels.arena("INT8")])


class TestScatter:
    def scatter(self, kernels, indices, updates, shape):
        return kernels.prepare("SCATTER_ND", [indices, updates, shape], [kernels.arena("BOOL")])

    def test_shape(self, kernels):
        node = self.scatter(kernels, kernels.arena("INT32", 4, 1), kernels.arena("INT8", 4, 3), kernels.constant([9, 3]))
        kernels.assert_static(node, (9, 3))
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("updates", "shape", "message"),
        [
            ((3, 3), [9, 3], "there is not one update for each index"),
            ((4, 2), [9, 3], "the updates do not fit the shape"),
            ((4,), [9, 3], "the updates have the wrong number of dimensions"),
            ((4, 3), [9], "the updates have the wrong number of dimensions"),
        ],
    )
    def test_refuses_updates_that_do_not_fit(self, kernels, updates, shape, message):
        with pytest.raises(PrepareError, match=message):
            self.scatter(kernels, kernels.arena("INT32", 4, 1), kernels.arena("INT8", *updates), kernels.constant(shape))

    def test_refuses_float16(self, kernels):
        with pytest.raises(PrepareError, match="FLOAT16"):
            self.scatter(kernels, kernels.arena("INT32", 4, 1), kernels.arena("FLOAT16", 4), kernels.constant([9]))

    def test_unknown_shape_makes_the_result_dynamic(self, kernels):
        node = self.scatter(kernels, kernels.arena("INT32", 4, 1), kernels.arena("INT8", 4), kernels.arena("INT32", 1))
        kernels.assert_dynamic(node, cause=2)


class TestSegments:
    def test_segment_sum_of_known_operands(self, kernels):
        operands = [kernels.constant([[1, 2]] * 3), kernels.constant([0, 0, 1])]
        kernels.assert_static(kernels.prepare("SEGMENT_SUM", operands, [kernels.arena("INT32")]), (2, 2))

    @pytest.mark.parametrize(
        ("ids", "message"),
        [
            ([1, 1, 2], "the segment ids do not rise from 0 by steps of 0 or 1"),
            ([0, 2, 3], "the segment ids do not rise from 0 by steps of 0 or 1"),
            ([0, 1, 0], "the segment ids do not rise from 0 by steps of 0 or 1"),
            ([0, 1], "there is not one segment id for each row"),
        ],
    )
    def test_segment_sum_refuses_other_ids(self, kernels, ids, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("SEGMENT_SUM", [kernels.constant([1, 2, 3]), kernels.constant(ids)], [kernels.arena("INT32")])

    def test_segment_sum_of_unknown_data_is_dynamic(self, kernels):
        operands = [kernels.arena("INT32", 3), kernels.constant([0, 0, 1])]
        kernels.assert_dynamic(kernels.prepare("SEGMENT_SUM", operands, [kernels.arena("INT32")]), cause=0)

    def unsorted(self, kernels, ids, count):
        operands = [kernels.arena("FLOAT32", 3, 5), ids, count]
        return kernels.prepare("UNSORTED_SEGMENT_MAX", operands, [kernels.arena("FLOAT32")])

    def test_unsorted_segment(self, kernels):
        kernels.assert_static(self.unsorted(kernels, kernels.constant([1, -1, 0]), kernels.constant([4])), (4, 5))

    @pytest.mark.parametrize(
        ("ids", "count", "message"),
        [
            ([1, 4, 0], 4, "a segment id is out of range"),
            ([0, 0], 4, "the segment ids do not have the leading sizes of the data"),
            ([-1, -1, -1], -1, "the number of segments is negative"),
            ([0, 0, 0], [4, 4], "the number of segments is not a single number"),
        ],
    )
    def test_unsorted_segment_refuses_other_ids(self, kernels, ids, count, message):
        with pytest.raises(PrepareError, match=message):
            self.unsorted(kernels, kernels.constant(ids), kernels.constant(count))

    def test_unsorted_segment_with_unknown_ids_is_dynamic(self, kernels):
        kernels.assert_dynamic(self.unsorted(kernels, kernels.arena("INT32", 3), kernels.constant(4)), cause=1)


class TestSearching:
    def top_k(self, kernels, k, source=None):
        source = source or kernels.arena("INT8", 2, 5)
        return kernels.prepare("TOPK_V2", [source, k], [kernels.arena("INT8"), kernels.arena("INT32")])

    @pytest.mark.parametrize(("k", "expected"), [(3, (2, 3)), (0, (2, 0)), (-1, (2, 0))])
    def test_topk_v2(self, kernels, k, expected):
        kernels.assert_static(self.top_k(kernels, kernels.constant(k, "INT16")), expected, expected)

    def test_topk_v2_refuses_more_than_there_are(self, kernels):
        with pytest.raises(PrepareError, match="larger"):
            self.top_k(kernels, kernels.constant(6))

    def test_topk_v2_of_unknown_k_is_dynamic(self, kernels):
        node = self.top_k(kernels, kernels.arena("INT32"))
        assert node.output(0).is_dynamic
        assert node.output(1).is_dynamic
        assert node.cause == 1

    def test_topk_v2_of_an_input_with_an_open_size_is_dynamic(self, kernels):
        source = kernels.arena("INT8", 1, 5, shape_signature=(-1, 5))
        kernels.assert_dynamic(self.top_k(kernels, kernels.constant(1), source), cause=None)

    def test_where_of_a_known_condition(self, kernels):
        condition = kernels.constant([[0, 2, 0], [-1, 0, 3]], "FLOAT32")
        node = kernels.prepare("WHERE", [condition], [kernels.arena("INT32")])
        kernels.assert_static(node, (3, 2))
        assert node.output().type == "INT64"

    def test_where_of_an_unknown_condition_is_dynamic(self, kernels):
        kernels.assert_dynamic(kernels.prepare("WHERE", [kernels.arena("BOOL", 3)], [kernels.arena("INT64")]), cause=0)

    @pytest.mark.parametrize(("idx_out_type", "kind"), [(INT32, "INT32"), (INT64, "INT64"), (0, "INT32")])
    def test_unique(self, kernels, idx_out_type, kind):
        outputs = [kernels.arena("INT8"), kernels.arena(kind)]
        node = kernels.prepare("UNIQUE", [kernels.arena("INT8", 5)], outputs, idx_out_type=idx_out_type)
        kernels.assert_dynamic(node, cause=None)
        assert node.output(1).shape == (5,)

    @pytest.mark.parametrize(
        ("shape", "options", "message"),
        [
            ((5, 1), {"idx_out_type": INT32}, "the input is not a vector"),
            ((5,), {}, "there are no options"),
            ((5,), {"idx_out_type": INT64}, "tensor 2 is INT32"),
        ],
    )
    def test_unique_refuses_other_operands(self, kernels, shape, options, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("UNIQUE", [kernels.arena("INT8", *shape)], [kernels.arena("INT8"), kernels.arena("INT32")], **options)
