"""Prepare of RESHAPE, SQUEEZE, EXPAND_DIMS, SHAPE, RANK, TRANSPOSE, of joining and splitting, and of filling."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Allocation, Quantization
from delegate_sim.prepare.kernel import PrepareError

INT32, INT64 = 2, 4
"""Values of the schema's TensorType, as options hold them."""


class TestReshape:
    @pytest.mark.parametrize(
        ("source", "requested", "expected"),
        [
            ((2, 6), [3, 4], (3, 4)),
            ((2, 6), [-1, 4], (3, 4)),
            ((), [], ()),
            ((1, 1), [], ()),
            ((0, 3), [3, -1], (3, 0)),
            ((0, 3), [0, -1], (0, 3)),
        ],
    )
    def test_shape_operand(self, kernels, source, requested, expected):
        operands = [kernels.arena("FLOAT32", *source), kernels.constant(requested)]
        kernels.assert_static(kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32")]), expected)

    @pytest.mark.parametrize(
        ("requested", "message"),
        [
            ([5], "the new shape has a different number of elements"),
            ([-1, -1], "the new shape leaves more than one size open"),
            ([-2, -6], "the new shape has a negative size"),
            ([-1, 5], "the new shape has a different number of elements"),
        ],
    )
    def test_refuses_shapes_that_do_not_fit(self, kernels, requested, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("RESHAPE", [kernels.arena("FLOAT32", 2, 6), kernels.constant(requested)], [kernels.arena("FLOAT32")])

    def test_shape_in_the_options(self, kernels):
        node = kernels.prepare("RESHAPE", [kernels.arena("FLOAT32", 2, 6)], [kernels.arena("FLOAT32")], new_shape=(4, -1))
        kernels.assert_static(node, (4, 3))

    def test_zero_in_the_options_stands_for_a_scalar(self, kernels):
        node = kernels.prepare("RESHAPE", [kernels.arena("FLOAT32", 1, 1)], [kernels.arena("FLOAT32", 7)], new_shape=(0,))
        kernels.assert_static(node, ())

    @pytest.mark.parametrize("shape", [[[3, 4]], 12])
    def test_shape_operand_that_is_no_vector_leaves_the_word_to_the_options(self, kernels, shape):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.constant(shape)]
        kernels.assert_static(kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32")], new_shape=(12,)), (12,))

    def test_int64_shape_operand_leaves_the_word_to_the_options(self, kernels):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.constant([3, 4], "INT64")]
        kernels.assert_static(kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32")], new_shape=(12,)), (12,))

    def test_persistent_shape_keeps_the_result_static(self, kernels):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.persistent([6, 2])]
        kernels.assert_static(kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32")]), (6, 2))

    def test_unknown_shape_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32", 3, 4)]), cause=1)

    def test_known_operands_give_a_known_result(self, kernels):
        operands = [kernels.persistent([1, 2, 3, 4]), kernels.constant([2, 2])]
        kernels.assert_persistent(kernels.prepare("RESHAPE", operands, [kernels.arena("INT32")]), [[1, 2], [3, 4]])

    def test_strings_are_left_alone(self, kernels):
        string = kernels.arena("STRING", 2, allocation=Allocation.DYNAMIC)
        kernels.assert_dynamic(kernels.prepare("RESHAPE", [string, kernels.constant([7])], [string]), cause=None)


class TestSqueeze:
    @pytest.mark.parametrize(("axes", "expected"), [((), (2, 3)), ((0,), (2, 1, 3)), ((-2, 2), (1, 2, 3)), ((0, 2), (2, 3))])
    def test_shape(self, kernels, axes, expected):
        node = kernels.prepare("SQUEEZE", [kernels.arena("INT8", 1, 2, 1, 3)], [kernels.arena("INT8")], squeeze_dims=axes)
        kernels.assert_static(node, expected)

    @pytest.mark.parametrize("axes", [(1,), (4,), (-5,)])
    def test_refuses_other_dimensions(self, kernels, axes):
        with pytest.raises(PrepareError, match="a removed dimension does not exist or is not 1"):
            kernels.prepare("SQUEEZE", [kernels.arena("INT8", 1, 2, 1, 3)], [kernels.arena("INT8")], squeeze_dims=axes)

    def test_refuses_nine_dimensions(self, kernels):
        with pytest.raises(PrepareError, match="8 dimensions"):
            kernels.prepare("SQUEEZE", [kernels.arena("INT8", *[1] * 9)], [kernels.arena("INT8")], squeeze_dims=())


class TestExpandDims:
    @pytest.mark.parametrize(("axis", "expected"), [(0, (1, 2, 3)), (2, (2, 3, 1)), (-1, (2, 3, 1)), (-3, (1, 2, 3))])
    def test_shape(self, kernels, axis, expected):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant(axis, "INT64")]
        node = kernels.prepare("EXPAND_DIMS", operands, [kernels.arena("FLOAT32")])
        kernels.assert_static(node, expected)
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("axis", "message"),
        [(3, "the axis is out of range"), (-4, "the axis is out of range"), ([0, 1], "the axis is not a single number")],
    )
    def test_refuses_other_axes(self, kernels, axis, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("EXPAND_DIMS", [kernels.arena("INT8", 2, 3), kernels.constant(axis)], [kernels.arena("INT8")])

    def test_known_operands_do_not_give_a_known_result(self, kernels):
        node = kernels.prepare("EXPAND_DIMS", [kernels.constant([1, 2]), kernels.constant(0)], [kernels.arena("INT32")])
        kernels.assert_static(node, (1, 2))

    def test_unknown_axis_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32")]
        kernels.assert_dynamic(kernels.prepare("EXPAND_DIMS", operands, [kernels.arena("INT8")]), cause=1)

    def test_refuses_another_quantization(self, kernels):
        with pytest.raises(PrepareError, match="scales"):
            kernels.prepare(
                "EXPAND_DIMS", [kernels.arena("INT8", 2, scale=0.5), kernels.constant(0)], [kernels.arena("INT8", scale=0.25)]
            )


class TestShapeAndRank:
    @pytest.mark.parametrize(("out_type", "kind"), [(INT32, "INT32"), (INT64, "INT64")])
    def test_shape_is_known(self, kernels, out_type, kind):
        node = kernels.prepare("SHAPE", [kernels.arena("FLOAT32", 2, 3)], [kernels.arena("FLOAT32", 9)], out_type=out_type)
        kernels.assert_persistent(node, [2, 3])
        assert node.output().type == kind

    @pytest.mark.parametrize("options", [{}, {"out_type": 0}])
    def test_shape_refuses_other_types(self, kernels, options):
        with pytest.raises(PrepareError, match="the type of the result is neither INT32 nor INT64"):
            kernels.prepare("SHAPE", [kernels.arena("FLOAT32", 2, 3)], [kernels.arena("INT32")], **options)

    def test_rank_is_known(self, kernels):
        kernels.assert_persistent(kernels.prepare("RANK", [kernels.arena("FLOAT32", 2, 3)], [kernels.arena("INT64", 9)]), 2)


class TestTranspose:
    @pytest.mark.parametrize("permutation", [[2, 0, 1], [-1, -3, -2]])
    def test_shape(self, kernels, permutation):
        operands = [kernels.arena("INT8", 2, 3, 4), kernels.constant(permutation)]
        kernels.assert_static(kernels.prepare("TRANSPOSE", operands, [kernels.arena("INT8")]), (4, 2, 3))

    @pytest.mark.parametrize(
        ("permutation", "message"),
        [
            ([0, 1], "the permutation does not name every dimension"),
            ([0, 1, 3], "the permutation is out of range"),
            ([[0, 1, 2]], "the permutation does not name every dimension"),
        ],
    )
    def test_refuses_other_permutations(self, kernels, permutation, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("TRANSPOSE", [kernels.arena("INT8", 2, 3, 4), kernels.constant(permutation)], [kernels.arena("INT8")])

    def test_refuses_another_type(self, kernels):
        with pytest.raises(PrepareError, match="types"):
            kernels.prepare("TRANSPOSE", [kernels.arena("FLOAT16", 2), kernels.constant([0])], [kernels.arena("FLOAT32")])

    def test_unknown_permutation_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("TRANSPOSE", operands, [kernels.arena("INT8")]), cause=1)


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
            (("INT8", 3, 4), 3, "the options give a different number of inputs"),
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
            ((3, 4), 1, "the number of outputs is not the size of the dimension"),
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
            ([-1, -1], "more than one size is left open"),
            ([-1, 7], "the sizes are together larger than the dimension"),
            ([1, 2, 3], "there is not one size for each output"),
        ],
    )
    def test_split_v_refuses_other_sizes(self, kernels, sizes, message):
        operands = [kernels.arena("INT8", 2, 6), kernels.constant(sizes), kernels.constant(1)]
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("SPLIT_V", operands, [kernels.arena("INT8")] * 2, num_splits=2)

    def test_split_v_with_unknown_sizes_is_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 6), kernels.arena("INT32", 2), kernels.constant(1)]
        kernels.assert_dynamic(kernels.prepare("SPLIT_V", operands, [kernels.arena("INT8")] * 2, num_splits=2), cause=1)


class TestBroadcast:
    def test_broadcast_to(self, kernels):
        operands = [kernels.arena("INT8", 3, 1), kernels.constant([2, 3, 4], "INT64")]
        kernels.assert_static(kernels.prepare("BROADCAST_TO", operands, [kernels.arena("INT8")]), (2, 3, 4))

    @pytest.mark.parametrize(
        ("shape", "message"),
        [
            ([3], "the shape has fewer dimensions than the input"),
            ([2, 1], "the input cannot be broadcast to the shape"),
            ([[3, 1]], "the shape is not a vector"),
        ],
    )
    def test_broadcast_to_refuses_other_shapes(self, kernels, shape, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("BROADCAST_TO", [kernels.arena("INT8", 3, 1), kernels.constant(shape)], [kernels.arena("INT8")])

    def test_broadcast_to_an_unknown_shape_is_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 3, 1), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("BROADCAST_TO", operands, [kernels.arena("INT8")]), cause=1)

    def test_broadcast_args_of_known_shapes_is_known(self, kernels):
        operands = [kernels.persistent([2, 1, 1]), kernels.constant([3, 1])]
        kernels.assert_persistent(kernels.prepare("BROADCAST_ARGS", operands, [kernels.arena("INT32")]), [2, 3, 1])

    def test_broadcast_args_of_an_unknown_shape(self, kernels):
        operands = [kernels.arena("INT32", 3), kernels.constant([3, 1])]
        kernels.assert_static(kernels.prepare("BROADCAST_ARGS", operands, [kernels.arena("INT32")]), (3,))


class TestTile:
    def test_shape(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.constant([2, 0])]
        kernels.assert_static(kernels.prepare("TILE", operands, [kernels.arena("INT8")]), (4, 0))

    def test_known_operands_give_a_known_result(self, kernels):
        operands = [kernels.constant([1, 2]), kernels.constant([2], "INT64")]
        kernels.assert_persistent(kernels.prepare("TILE", operands, [kernels.arena("INT32")]), [1, 2, 1, 2])

    def test_known_strings_are_dynamic(self, kernels):
        string = kernels.arena("STRING", 2, allocation=Allocation.CONSTANT)
        node = kernels.prepare("TILE", [string, kernels.constant([2])], [kernels.arena("STRING")])
        kernels.assert_dynamic(node, cause=None)
        assert node.output().shape == (4,)

    @pytest.mark.parametrize(
        ("multiples", "message"),
        [
            ([2], "there is not one multiple for each dimension"),
            ([2, -1], "a multiple is negative"),
            ([2**30, 1], "a size of the result overflows"),
        ],
    )
    def test_refuses_other_multiples(self, kernels, multiples, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("TILE", [kernels.arena("INT8", 2, 3), kernels.constant(multiples)], [kernels.arena("INT8")])

    def test_unknown_multiples_make_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT8", 2, 3), kernels.arena("INT32", 2)]
        kernels.assert_dynamic(kernels.prepare("TILE", operands, [kernels.arena("INT8")]), cause=1)

    def test_large_results_are_not_computed(self, kernels):
        node = kernels.prepare("TILE", [kernels.constant([1]), kernels.constant([2**30])], [kernels.arena("INT32")])
        assert node.output().allocation is Allocation.PERSISTENT
        with pytest.raises(PrepareError, match="not known"):
            node.output().value()


class TestFill:
    def test_shape(self, kernels):
        node = kernels.prepare("FILL", [kernels.persistent([2, 3]), kernels.constant(1, "INT8")], [kernels.arena("FLOAT32")])
        kernels.assert_static(node, (2, 3))
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("shape", "value", "message"),
        [([-1], 0, "has a negative size"), (3, 0, "the shape is not a vector"), ([3], [0], "the value is not a scalar")],
    )
    def test_refuses_other_operands(self, kernels, shape, value, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("FILL", [kernels.constant(shape), kernels.constant(value, "INT8")], [kernels.arena("INT8")])

    def test_unknown_shape_makes_the_result_dynamic(self, kernels):
        operands = [kernels.arena("INT32", 2), kernels.constant(1, "INT8")]
        kernels.assert_dynamic(kernels.prepare("FILL", operands, [kernels.arena("INT8")]), cause=0)


class TestRange:
    @pytest.mark.parametrize(
        ("kind", "operands", "expected"),
        [
            ("INT32", (0, 5, 2), [0, 2, 4]),
            ("INT64", (3, 0, -1), [3, 2, 1]),
            ("INT32", (2, 2, 1), []),
            ("FLOAT32", (0, 1, 0.25), [0, 0.25, 0.5, 0.75]),
        ],
    )
    def test_known_operands_give_a_known_result(self, kernels, kind, operands, expected):
        node = kernels.prepare("RANGE", [kernels.constant(operand, kind) for operand in operands], [kernels.arena("BOOL")])
        kernels.assert_persistent(node, expected)
        assert node.output().type == kind

    @pytest.mark.parametrize(
        ("operands", "message"),
        [
            ((0, 5, 0), "the step is 0"),
            ((0, 5, -1), "the step leads away from the limit"),
            ((5, 0, 1), "the step leads away from the limit"),
        ],
    )
    def test_refuses_steps_that_do_not_arrive(self, kernels, operands, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("RANGE", [kernels.constant(operand) for operand in operands], [kernels.arena("INT32")])

    def test_unknown_operand_makes_the_result_dynamic(self, kernels):
        operands = [kernels.constant(0), kernels.arena("INT32"), kernels.constant(1)]
        kernels.assert_dynamic(kernels.prepare("RANGE", operands, [kernels.arena("INT32")]), cause=1)


class TestOneHot:
    def operands(self, kernels, depth, kind="FLOAT32"):
        return [kernels.arena("INT64", 2, 3), depth, kernels.constant(1, kind), kernels.constant(0, kind)]

    @pytest.mark.parametrize(("axis", "expected"), [(-1, (2, 3, 5)), (0, (5, 2, 3)), (1, (2, 5, 3))])
    def test_shape(self, kernels, axis, expected):
        operands = self.operands(kernels, kernels.constant(5), "INT8")
        node = kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT32")], axis=axis)
        kernels.assert_static(node, expected)
        assert node.output().type == "INT8"

    @pytest.mark.parametrize(
        ("depth", "axis", "message"),
        [
            (-1, 0, "the depth is negative"),
            ([1, 2], 0, "the depth is not a single number"),
            (5, 3, "the axis is out of range"),
            (5, -2, "the axis is out of range"),
        ],
    )
    def test_refuses_other_depths_and_axes(self, kernels, depth, axis, message):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("ONE_HOT", self.operands(kernels, kernels.constant(depth)), [kernels.arena("FLOAT32")], axis=axis)

    def test_refuses_float16(self, kernels):
        operands = self.operands(kernels, kernels.constant(5), "FLOAT16")
        with pytest.raises(PrepareError, match="FLOAT16"):
            kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT16")], axis=-1)

    def test_unknown_depth_makes_the_result_dynamic(self, kernels):
        operands = self.operands(kernels, kernels.arena("INT32"))
        kernels.assert_dynamic(kernels.prepare("ONE_HOT", operands, [kernels.arena("FLOAT32")], axis=-1), cause=1)


def test_rescaled_uint8_is_not_computed(kernels):
    quantized = Quantization("affine", np.array([0.5], np.float32), np.array([0]), 0)
    operand = kernels.constant([1, 2], "UINT8", quantization=quantized, scale=0.5)
    options = {"axis": 0, "fused_activation_function": 0}
    same = kernels.prepare("CONCATENATION", [operand], [kernels.arena("UINT8", scale=0.5)], **options)
    kernels.assert_persistent(same, [1, 2])
    other = kernels.prepare("CONCATENATION", [operand], [kernels.arena("UINT8", scale=0.25)], **options)
    assert other.output().computed is None
