"""Functions of Compute Library, against the records of the real delegate."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import ACC, BIAS, BOTH, HALF, IMAGE, RESULT, WEIGHTS, codes, int8, lines
from tests.support.graphs import arena, constant, quantized

INT32, INT16, INT64, BOOL = (arena(kind, 1, 8, 8, 16) for kind in ("INT32", "INT16", "INT64", "BOOL"))
INT8 = int8(1, 8, 8, 16)
SOFTMAX = int8(1, 8, 8, 16, scale=1 / 256)._replace(zero_point=-128)


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "expected"),
    [
        ("RELU", [IMAGE], [IMAGE], []),
        ("RELU", [HALF], [HALF], []),
        ("RELU", [INT32], [INT32], ["tensor-type"]),
        ("ELU", [INT8], [INT8], ["attribute-value"]),
        ("TANH", [INT8], [INT8], ["quantization"]),
        ("TANH", [INT8], [int8(1, 8, 8, 16, scale=1 / 128)], []),
        ("ABS", [INT32], [INT32], []),
        ("EXP", [INT32], [INT32], ["tensor-type"]),
        ("EXP", [INT64], [INT64], ["tensor-type"]),
        ("ADD", [INT16, INT16], [INT16], []),
        ("ADD", [INT64, INT64], [INT64], ["tensor-type"]),
        ("ADD", [IMAGE, INT8], [IMAGE], ["hybrid"]),
        ("MUL", [INT16, arena("INT16", 1)], [INT16], ["broadcast"]),
        ("MUL", [IMAGE, arena("FLOAT32", 1)], [IMAGE], []),
        ("DIV", [INT8, INT8], [INT8], ["tensor-type"]),
        ("LESS", [HALF, HALF], [BOOL], ["tensor-type"]),
        ("LESS", [IMAGE, IMAGE], [BOOL], []),
        ("LOGICAL_AND", [BOOL, BOOL], [BOOL], []),
        ("CAST", [INT32], [BOOL], []),
        ("CAST", [BOOL], [INT64], ["tensor-type"]),
        ("SOFTMAX", [INT8], [INT8], ["quantization"]),
        ("FLOOR", [HALF], [HALF], ["tensor-type"]),
    ],
)
def test_elementwise_functions(op, inputs, outputs, expected):
    assert codes(op, inputs, outputs, ACC) == expected


def test_the_next_backend_takes_what_the_first_refuses():
    assert codes("FLOOR", [HALF], [HALF], BOTH) == []
    refused = lines("FLOOR", [INT32], [INT32], BOTH)
    assert [line.split(":")[0] for line in refused] == ["WARNING", "WARNING", "ERROR"]


def test_half_precision_is_asked_again_with_floats():
    found = lines("LESS", [HALF, HALF], [BOOL], ACC)
    assert "does not support F16 data type" in found[0]


CONVOLUTION = {"stride_h": 1, "stride_w": 1}
GROUPED = constant([[[[0.0] * 4] * 3] * 3] * 4, "FLOAT32")


@pytest.mark.parametrize(
    ("inputs", "options", "expected"),
    [
        ([IMAGE, WEIGHTS, BIAS], {}, []),
        ([IMAGE, WEIGHTS, arena("FLOAT32", 4)], {}, ["constant-operand"]),
        ([IMAGE, arena("FLOAT32", 4, 3, 3, 16), BIAS], {}, ["constant-operand"]),
        ([IMAGE, quantized(constant([[[[0] * 16] * 3] * 3] * 4, "INT8"), 0.5), BIAS], {}, ["hybrid"]),
        # Winograd's function does not compare the channels.
        ([IMAGE, GROUPED, BIAS], {}, []),
        ([IMAGE, GROUPED, BIAS], {"stride_h": 2, "stride_w": 2}, ["shape"]),
        ([arena("FLOAT32", 1, 8, 8, 8), GROUPED, BIAS], {}, ["shape"]),
    ],
)
def test_convolutions(inputs, options, expected):
    assert codes("CONV_2D", inputs, [RESULT], ACC, **{**CONVOLUTION, **options}) == expected


def test_groups_are_refused_by_both_backends_only_where_both_refuse():
    assert codes("CONV_2D", [IMAGE, GROUPED, BIAS], [RESULT], BOTH, stride_h=2, stride_w=2) == []


def test_matrix_products():
    first, second = arena("FLOAT32", 2, 3, 4), arena("FLOAT32", 2, 4, 5)
    assert codes("BATCH_MATMUL", [first, second], [arena("FLOAT32", 2, 3, 5)], ACC) == []
    assert codes("BATCH_MATMUL", [first, arena("FLOAT32", 1, 4, 5)], [arena("FLOAT32", 2, 3, 5)], ACC) == ["shape"]


@pytest.mark.parametrize(
    ("align_corners", "half_pixel_centers", "expected"),
    [(False, False, []), (True, False, []), (True, True, ["attribute-value"])],
)
def test_resizing(align_corners, half_pixel_centers, expected):
    options = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    inputs, outputs = [IMAGE, constant([16, 16])], [arena("FLOAT32", 1, 16, 16, 16)]
    assert codes("RESIZE_NEAREST_NEIGHBOR", inputs, outputs, ACC, **options) == expected


def test_pooling():
    options = {"filter_width": 2, "filter_height": 2, "stride_w": 2, "stride_h": 2}
    results = arena("FLOAT32", 1, 4, 4, 16)
    assert codes("MAX_POOL_2D", [IMAGE], [results], ACC, **options) == []
    assert codes("L2_POOL_2D", [int8(1, 8, 8, 16)], [int8(1, 4, 4, 16)], ACC, **options) == ["tensor-type"]


def floats(*shape):
    return arena("FLOAT32", *shape)


@pytest.mark.parametrize(
    ("kind", "order", "expected"),
    [
        ("FLOAT32", [0, 3, 1, 2], []),
        ("FLOAT32", [0, 1, 2, 4, 3], []),
        ("FLOAT32", [0, 1, 3, 2, 4], ["rank"]),
        ("INT64", [0, 1, 3, 2], ["tensor-type"]),
        ("INT64", [0, 2, 1, 3], []),
    ],
)
def test_permutations(kind, order, expected):
    shape = (1, 2, 3, 4, 5)[: len(order)]
    inputs = [arena(kind, *shape), constant(order)]
    assert codes("TRANSPOSE", inputs, [arena(kind, *[shape[at] for at in order])], ACC) == expected


@pytest.mark.parametrize(
    ("begin", "end", "masks", "shape", "expected"),
    [
        ([0, 0], [2, 3], {}, (2, 3), []),
        ([0, 0], [0, 3], {}, (0, 3), ["shape"]),
        ([0, 0], [1, 1], {"shrink_axis_mask": 3}, (1,), ["shape"]),
        ([0, 0], [1, 3], {"shrink_axis_mask": 1}, (3,), []),
    ],
)
def test_ranges(begin, end, masks, shape, expected):
    inputs = [floats(4, 6), constant(begin), constant(end), constant([1, 1])]
    assert codes("STRIDED_SLICE", inputs, [floats(*shape)], ACC, **masks) == expected


@pytest.mark.parametrize(
    ("op", "axes", "result", "expected"),
    [
        ("SUM", [1, 2], floats(1, 16), []),
        ("SUM", [0, 1, 2, 3], floats(), []),
        ("SUM", [3], int8(1, 8, 8), []),
        ("REDUCE_MAX", [3], floats(1, 8, 8), []),
    ],
)
def test_reductions(op, axes, result, expected):
    assert codes(op, [IMAGE, constant(axes)], [result], ACC, keep_dims=False) == expected


def test_joined_tensors():
    short = arena("INT16", 1, 8, 8, 16)
    assert codes("CONCATENATION", [IMAGE, IMAGE], [floats(1, 8, 16, 16)], ACC, axis=2) == []
    assert codes("CONCATENATION", [short, short], [arena("INT16", 1, 16, 8, 16)], ACC, axis=1) == ["tensor-type"]
    assert codes("CONCATENATION", [short, short], [arena("INT16", 1, 8, 8, 32)], ACC, axis=3) == []
    deep = floats(2, 1, 8, 8, 16)
    assert codes("CONCATENATION", [deep, deep], [floats(4, 1, 8, 8, 16)], ACC, axis=0) == ["rank"]


def test_gathered_elements():
    assert codes("GATHER", [IMAGE, constant([0, 1])], [floats(1, 2, 8, 16)], ACC, axis=1) == []
    assert codes("GATHER", [IMAGE, constant([0, 1], "INT64")], [floats(1, 2, 8, 16)], ACC, axis=1) == ["tensor-type"]
