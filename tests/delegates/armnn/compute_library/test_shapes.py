"""Functions of Compute Library that move, join, pad and reduce, against the records of the real delegate."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import ACC, IMAGE, codes, int8
from tests.support.graphs import arena, constant


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
