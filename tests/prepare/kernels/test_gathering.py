"""Prepare of gathering, scattering, lookups and searches."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.model.model import Allocation
from delegate_sim.prepare.tensors import KernelTensor, PrepareError, known_array
from tests.support import graphs
from tests.support.graphs import MODEL


def test_a_result_computed_from_what_is_known(kernels):
    table = kernels.persistent([[1, 2], [3, 4], [5, 6]])
    node = kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=0, batch_dims=0)
    kernels.assert_persistent(node, [[5, 6], [1, 2]])


def test_a_negative_size_is_refused_whatever_the_other_sizes(kernels):
    table = kernels.constant(np.zeros(2, np.int32))._replace(shape=(1 << 30, 4, -1))
    with pytest.raises(PrepareError, match="negative size"):
        kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=1, batch_dims=0)


def test_a_result_without_elements_takes_no_time_whatever_its_other_sizes(kernels):
    table = kernels.constant(np.zeros((1 << 30, 4, 0), np.int32))
    node = kernels.prepare("GATHER", [table, kernels.constant([2, 0])], [kernels.arena("INT32")], axis=1, batch_dims=0)
    result = node.output()
    assert (result.shape, result.computed.tolist()) == ((1 << 30, 2, 0), [])


@pytest.mark.parametrize(("kind", "expected"), [("INT32", [1, 2]), ("INT16", [1, 0, 2, 0]), ("STRING", None)])
def test_a_constant_whose_type_a_node_before_has_changed_is_read_as_the_new_type(kind, expected):
    """A node that writes to a constant sets its type; the memory stays the file's."""
    tensor = KernelTensor(MODEL, graphs.constant(np.array([1, 2], np.int32).view(np.float32), "FLOAT32"))
    tensor.type = kind
    found = tensor.known_value()
    assert (None if found is None else found.tolist()) == expected
    if kind == "INT32":
        assert known_array(tensor).tolist() == expected


UNKNOWN, SPARSE, DENSE = range(3)
"""Values of the schema's LSHProjectionType."""


def embedding_lookup(kernels, table, lookup=None, result="FLOAT32"):
    return kernels.prepare("EMBEDDING_LOOKUP", [lookup or kernels.arena("INT32", 7), table], [kernels.arena(result)])


def test_embedding_lookup(kernels):
    kernels.assert_static(embedding_lookup(kernels, kernels.arena("FLOAT32", 10, 3, 4)), (7, 3, 4))
    with pytest.raises(PrepareError, match="dimensions"):
        embedding_lookup(kernels, kernels.arena("FLOAT32", 10))
    with pytest.raises(PrepareError, match="INT64"):
        embedding_lookup(kernels, kernels.arena("FLOAT32", 10, 3), kernels.arena("INT64", 7))


def test_embedding_lookup_scales(kernels):
    table = kernels.arena("INT8", 2, 3)
    embedding_lookup(kernels, kernels.quantized(table, 0.5, 0.25))
    embedding_lookup(kernels, kernels.quantized(table, 0.5, zero_point=1), result="INT8")
    with pytest.raises(PrepareError, match="zero point"):
        embedding_lookup(kernels, kernels.quantized(table, 0.5, zero_point=1))
    with pytest.raises(PrepareError, match="along the rows"):
        embedding_lookup(kernels, kernels.quantized(table, 0.5, 0.25, 1.0, dimension=1))
    with pytest.raises(PrepareError, match="INT8"):
        embedding_lookup(kernels, kernels.quantized(table, 0.5, 0.25), result="INT8")


def test_embedding_lookup_sparse_is_always_dynamic(kernels):
    inputs = [
        kernels.constant([0, 1]),
        kernels.constant([[0, 0], [1, 0]]),
        kernels.constant([2, 1]),
        kernels.constant([1, 1], "FLOAT32"),
        kernels.arena("FLOAT32", 10, 3),
    ]
    kernels.assert_dynamic(kernels.prepare("EMBEDDING_LOOKUP_SPARSE", inputs, [kernels.arena("FLOAT32")]), cause=None)
    with pytest.raises(PrepareError, match="number"):
        kernels.prepare("EMBEDDING_LOOKUP_SPARSE", [kernels.constant([0]), *inputs[1:]], [kernels.arena("FLOAT32")])


def hashtable_lookup(kernels, values, result=None):
    inputs = [kernels.arena("INT32", 7), kernels.arena("INT32", 10), values]
    return kernels.prepare("HASHTABLE_LOOKUP", inputs, [result or kernels.arena(values.type), kernels.arena("UINT8")])


def test_hashtable_lookup(kernels):
    kernels.assert_static(hashtable_lookup(kernels, kernels.arena("FLOAT32", 10, 3)), (7, 3), (7,))
    with pytest.raises(PrepareError, match="number"):
        hashtable_lookup(kernels, kernels.arena("FLOAT32", 9, 3))
    with pytest.raises(PrepareError, match="types"):
        hashtable_lookup(kernels, kernels.arena("FLOAT32", 10, 3), kernels.arena("INT32"))


def test_hashtable_lookup_leaves_strings_alone(kernels):
    strings = kernels.arena("STRING", 1, allocation=Allocation.DYNAMIC)
    node = hashtable_lookup(kernels, kernels.arena("STRING", 10), strings)
    assert node.output(0).shape == (1,)
    assert node.output(1).shape == (7,)
    with pytest.raises(PrepareError, match="vector"):
        hashtable_lookup(kernels, kernels.arena("STRING", 10, 3), strings)


@pytest.mark.parametrize(("kind", "expected"), [(SPARSE, (3,)), (DENSE, (12,))])
def test_lsh_projection(kernels, kind, expected):
    inputs = [kernels.arena("FLOAT32", 3, 4), kernels.arena("INT32", 5, 2), kernels.arena("FLOAT32", 5)]
    kernels.assert_static(kernels.prepare("LSH_PROJECTION", inputs, [kernels.arena("INT32")], type=kind), expected)


def test_lsh_projection_refuses(kernels):
    functions, source = kernels.arena("FLOAT32", 3, 4), kernels.arena("INT32", 5, 2)
    for inputs, kind, message in (
        ([functions, source], UNKNOWN, "the type of the projection is unknown"),
        ([kernels.arena("FLOAT32", 3, 33), source], DENSE, "a hash has more than 32 bits"),
        ([functions, kernels.arena("INT32", 0, 2)], DENSE, "the input is empty"),
        (
            [functions, source, kernels.arena("FLOAT32", 4)],
            DENSE,
            "the weights do not have one element for each item of the input",
        ),
    ):
        with pytest.raises(PrepareError, match=message):
            kernels.prepare("LSH_PROJECTION", inputs, [kernels.arena("INT32")], type=kind)


def test_skip_gram_takes_strings_only(kernels):
    kernels.prepare("SKIP_GRAM", [kernels.arena("STRING", 1)], [kernels.arena("STRING")])
    with pytest.raises(PrepareError, match="INT32"):
        kernels.prepare("SKIP_GRAM", [kernels.arena("STRING", 1)], [kernels.arena("INT32")])


def sparse_to_dense(kernels, indices, shape, values, default=None):
    inputs = [kernels.arena("INT32", *indices), shape, kernels.arena("FLOAT32", *values)]
    return kernels.prepare("SPARSE_TO_DENSE", [*inputs, default or kernels.arena("FLOAT32")], [kernels.arena("INT8")])


@pytest.mark.parametrize(
    ("indices", "shape", "values"), [((), [9], ()), ((4,), [9], (4,)), ((4, 2), [9, 8], ()), ((4, 2), [9, 8], (4,))]
)
def test_sparse_to_dense(kernels, indices, shape, values):
    node = sparse_to_dense(kernels, indices, kernels.constant(shape, "INT64"), values)
    kernels.assert_static(node, tuple(shape))
    assert node.output().type == "FLOAT32"


def test_sparse_to_dense_unknown_shape(kernels):
    kernels.assert_dynamic(sparse_to_dense(kernels, (4, 2), kernels.arena("INT32", 2), (4,)), cause=1)


@pytest.mark.parametrize(
    ("indices", "shape", "values", "message"),
    [
        ((4, 3), [9, 8], (4,), "indices and output shape have different numbers of dimensions"),
        ((4, 2), [9, 8], (3,), "the number of values differs from the number of indices"),
        ((4,), [9, 8], (4,), "indices and output shape have different numbers of dimensions"),
        ((1, 4, 2), [9, 8], (), "the indices have more than 2 dimensions"),
    ],
)
def test_sparse_to_dense_refuses_shapes(kernels, indices, shape, values, message):
    with pytest.raises(PrepareError, match=message):
        sparse_to_dense(kernels, indices, kernels.constant(shape), values)


def test_sparse_to_dense_refuses_other_defaults(kernels):
    for default in (kernels.arena("INT32"), kernels.arena("FLOAT32", 2)):
        with pytest.raises(PrepareError, match="default"):
            sparse_to_dense(kernels, (4,), kernels.constant([9]), (4,), default)


INT32, INT64 = 2, 4
"""Values of the schema's TensorType."""


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
        [((4, 4), "each index has more numbers than the input has dimensions"), ((), "the operand with the indices is a scalar")],
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
            ((3, 3), [9, 3], "the number of updates differs from the number of indices"),
            ((4, 2), [9, 3], "the updates do not match the shape"),
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
            ([1, 1, 2], "the segment ids do not start at 0 and rise in steps of 0 or 1"),
            ([0, 2, 3], "the segment ids do not start at 0 and rise in steps of 0 or 1"),
            ([0, 1, 0], "the segment ids do not start at 0 and rise in steps of 0 or 1"),
            ([0, 1], "the number of segment ids differs from the number of rows"),
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
            ([0, 0], 4, "the shape of the data does not begin with the shape of the segment ids"),
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
