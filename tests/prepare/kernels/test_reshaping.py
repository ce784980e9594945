"""Prepare of reshaping and padding."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import PrepareError
from delegate_sim.releases.catalogue import parse_release
from fixtures.builder import ModelBuilder


def rearrange(kernels, op, source, block, kind="INT8"):
    return kernels.prepare(op, [kernels.arena(kind, *source)], [kernels.arena(kind)], block_size=block)


def test_space_and_depth(kernels):
    kernels.assert_static(rearrange(kernels, "DEPTH_TO_SPACE", (1, 2, 3, 8), 2), (1, 4, 6, 2))
    kernels.assert_static(rearrange(kernels, "SPACE_TO_DEPTH", (1, 4, 6, 2), 2), (1, 2, 3, 8))


@pytest.mark.parametrize(("op", "source"), [("DEPTH_TO_SPACE", (1, 2, 3, 6)), ("SPACE_TO_DEPTH", (1, 4, 5, 2))])
def test_space_and_depth_must_divide(kernels, op, source):
    with pytest.raises(PrepareError, match="divide"):
        rearrange(kernels, op, source, 2)


@pytest.mark.parametrize("op", ["DEPTH_TO_SPACE", "SPACE_TO_DEPTH"])
def test_space_and_depth_refuses(kernels, op):
    with pytest.raises(PrepareError, match="FLOAT16"):
        rearrange(kernels, op, (1, 4, 4, 4), 2, "FLOAT16")
    with pytest.raises(PrepareError, match="positive"):
        rearrange(kernels, op, (1, 4, 4, 4), 0)
    with pytest.raises(PrepareError, match="dimensions"):
        rearrange(kernels, op, (4, 4, 4), 2)


def batches(kernels, op, source, blocks, margins, kind="FLOAT32"):
    return kernels.prepare(op, [kernels.arena(kind, *source), blocks, margins], [kernels.arena(kind)])


def test_space_to_batch(kernels):
    op = "SPACE_TO_BATCH_ND"
    node = batches(kernels, op, (1, 4, 5, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [1, 0]]))
    kernels.assert_static(node, (6, 2, 2, 3))
    node = batches(kernels, op, (1, 4, 3), kernels.constant([2]), kernels.persistent([[1, 1]]))
    kernels.assert_static(node, (2, 3, 3))
    with pytest.raises(PrepareError, match="divide"):
        batches(kernels, op, (1, 4, 5, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [0, 0]]))


def test_batch_to_space(kernels):
    op = "BATCH_TO_SPACE_ND"
    node = batches(kernels, op, (6, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [1, 0]]))
    kernels.assert_static(node, (1, 4, 5, 3))
    with pytest.raises(PrepareError, match="divide"):
        batches(kernels, op, (5, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [0, 0]]))
    with pytest.raises(PrepareError, match="negative"):
        batches(kernels, op, (6, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [-1, 0]]))


@pytest.mark.parametrize("op", ["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"])
def test_batches_unknown_block_or_margins(kernels, op):
    blocks, margins = kernels.constant([2, 2]), kernels.constant([[0, 0], [0, 0]])
    source = (4, 4, 4, 1)
    kernels.assert_dynamic(batches(kernels, op, source, kernels.arena("INT32", 2), margins), cause=1)
    kernels.assert_dynamic(batches(kernels, op, source, kernels.arena("INT32", 2), None), cause=1)
    kernels.assert_dynamic(batches(kernels, op, source, blocks, kernels.arena("INT32", 2, 2)), cause=2)
    with pytest.raises(PrepareError, match="missing"):
        batches(kernels, op, source, blocks, None)


@pytest.mark.parametrize("op", ["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"])
def test_batches_refuses(kernels, op):
    blocks, margins = kernels.constant([2, 2]), kernels.constant([[0, 0], [0, 0]])
    with pytest.raises(PrepareError, match="3 or 4 dimensions"):
        batches(kernels, op, (4, 4), blocks, margins)
    with pytest.raises(PrepareError, match="shape"):
        batches(kernels, op, (4, 4, 1), blocks, margins)
    with pytest.raises(PrepareError, match="a block size is 0"):
        batches(kernels, op, (4, 4, 4, 1), kernels.constant([2, 0]), margins)
    source, result = kernels.arena("INT8", 4, 4, 4, 1, scale=0.5), kernels.arena("INT8", scale=0.25)
    with pytest.raises(PrepareError, match="scales"):
        kernels.prepare(op, [source, blocks, margins], [result])


def test_block_shape_is_read_as_int32_whatever_its_type(kernels):
    margins = kernels.constant([[0, 0], [0, 0]])
    with pytest.raises(PrepareError, match="a block size is 0"):
        batches(kernels, "SPACE_TO_BATCH_ND", (1, 4, 4, 1), kernels.constant([2, 2], "INT64"), margins)


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

    def test_negative_sizes_of_the_input(self, kernels):
        """Sparse constants may have them; ai-edge-litert 2.3.0 counts their elements, older releases multiply the sizes."""
        operands = [kernels.arena("FLOAT32", -2, -2, allocation=Allocation.CONSTANT), kernels.constant([4])]
        with pytest.raises(PrepareError, match="the input has a negative size"):
            kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32")])

    @pytest.mark.parametrize(
        ("requested", "message"),
        [
            ([5], "the new shape has a different number of elements than the input"),
            ([-1, -1], "the new shape has more than one size of -1"),
            ([-2, -6], "the new shape has a negative size"),
            ([-1, 5], "the new shape has a different number of elements than the input"),
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

    @pytest.mark.parametrize("release", ["tf-2.18", "litert-1.0"])
    def test_unknown_shape_made_the_result_dynamic(self, kernels, release):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.arena("INT32", 2)]
        node = kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32", 3, 4)], release=parse_release(release))
        kernels.assert_dynamic(node, cause=1)

    @pytest.mark.parametrize("release", ["tf-2.19", "litert-1.1", "litert-2.3"])
    def test_unknown_shape_leaves_the_result_open(self, kernels, release):
        operands = [kernels.arena("FLOAT32", 2, 6), kernels.arena("INT32", 2)]
        node = kernels.prepare("RESHAPE", operands, [kernels.arena("FLOAT32", 3, 4)], release=parse_release(release))
        kernels.assert_static(node, (3, 4))
        assert (node.has_dynamic_result, node.cause) == (True, 1)

    @pytest.mark.parametrize(
        ("release", "has_text", "named"),
        [("tf-2.18", False, 2), ("litert-2.3", False, -1), ("litert-2.3", True, 3)],
    )
    def test_the_runtime_names_no_tensor_left_open(self, release, has_text, named):
        """As ai-edge-litert 1.0.1 to 2.3.0 and TensorFlow 2.18.1 to 2.21.0 print it."""
        builder = ModelBuilder()
        graph = builder.subgraph("main")
        source, shape = graph.input("x", "FLOAT32", [12]), graph.input("shape", "INT32", [2])
        result = graph.tensor("y", "FLOAT32", [3, 4])
        graph.node("RESHAPE", [source, shape], [result])
        graph.outputs(result, *([graph.tensor("text", "STRING", [1])] if has_text else []))
        run = analyze(builder.bytes(), "hexagon", runtime=release, defaults="api").to_dict()["runs"][0]
        assert f"(tensor#{named} is a dynamic-sized tensor)" in run["log_lines"][0]
        refusal = run["refusal"]
        assert (refusal["tensor"], refusal["node"], refusal["cause"]) == (2, 0, 1)

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
        with pytest.raises(PrepareError, match="a dimension to remove does not exist or is not 1"):
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
        with pytest.raises(PrepareError, match="the type of the output is not INT32 or INT64"):
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
            ([0, 1], "the permutation does not have one number for each dimension"),
            ([0, 1, 3], "an axis of the permutation is out of range"),
            ([[0, 1, 2]], "the permutation does not have one number for each dimension"),
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


def test_strings_may_have_negative_sizes(kernels):
    """As ai-edge-litert 2.3.0 has it: what a string takes up is not known from its shape."""
    string = kernels.arena("STRING", -2, 4, allocation=Allocation.CONSTANT)
    node = kernels.prepare("EXPAND_DIMS", [string, kernels.constant([0])], [kernels.arena("STRING")])
    assert node.output().shape == (1, -2, 4)
    number = kernels.arena("FLOAT32", -2, 4, allocation=Allocation.CONSTANT)
    with pytest.raises(PrepareError, match="has a negative size"):
        kernels.prepare("EXPAND_DIMS", [number, kernels.constant([0])], [kernels.arena("FLOAT32")])


REFLECT, SYMMETRIC = 0, 1
"""Values of the schema's MirrorPadMode."""


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
            ([[0, 1]], "the paddings do not have one pair for each dimension"),
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
        with pytest.raises(PrepareError, match="too wide"):
            self.pad(kernels, kernels.constant(paddings), mode=mode)

    def test_symmetric_mirrors_the_border_too(self, kernels):
        kernels.assert_static(self.pad(kernels, kernels.constant([[2, 0], [0, 3]]), mode=SYMMETRIC), (4, 6))

    @pytest.mark.parametrize("options", [{}, {"mode": 2}])
    def test_refuses_unknown_modes(self, kernels, options):
        with pytest.raises(PrepareError, match="mode"):
            self.pad(kernels, kernels.constant([[0, 0], [0, 0]]), **options)

    def test_unknown_paddings_make_the_result_dynamic(self, kernels):
        kernels.assert_dynamic(self.pad(kernels, kernels.arena("INT32", 2, 2), mode=REFLECT), cause=1)
