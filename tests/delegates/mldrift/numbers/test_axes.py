"""Operators along one axis that ML Drift computes wrongly."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.delegates.mldrift_numbers import ints, model_of, one, risks_of


def alone(op, shape, *constants, result=None, **options):
    tensors = {"x": shape, **{f"c{number}": constant for number, constant in enumerate(constants)}}
    operands = " ".join(tensors)
    return model_of({**tensors, "y": result or shape}, [(op, operands, "y", options)])


SUMS = [
    ((1, 2, 3, 4), 3, {}, None),
    ((2, 3, 4), 1, {}, None),
    ((1, 2, 3, 4), 3, {"exclusive": True}, "cumsum-exclusive-reverse"),
    ((1, 2, 3, 4), 3, {"reverse": True}, "cumsum-exclusive-reverse"),
    ((1, 2, 3, 1), 3, {"reverse": True}, None),
    ((5,), 0, {}, "cumsum-axis"),
    ((5, 2), 0, {}, "cumsum-axis"),
    ((2, 3, 4), 0, {}, "cumsum-axis"),
    ((2, 3, 4), -1, {}, "cumsum-axis"),
    ((1, 2, 3, 4), 0, {}, "cumsum-batch1"),
    ((1, 2, 3, 4), 0, {"exclusive": True}, None),
    ((2, 2, 3, 4), 0, {}, None),
]


@pytest.mark.parametrize(("shape", "axis", "options", "code"), SUMS)
def test_a_cumulative_sum(shape, axis, options, code):
    model = alone("CUMSUM", shape, one(axis), **{"exclusive": False, **options})
    assert risks_of(model) == ([] if code is None else [(0, code, "wrong")])


@pytest.mark.parametrize(("shape", "is_wrong"), [((5,), True), ((1,), False), ((2, 5), False)])
def test_a_softmax(shape, is_wrong):
    assert risks_of(alone("SOFTMAX", shape, beta=1.0)) == ([(0, "softmax-rank1", "wrong")] if is_wrong else [])


@pytest.mark.parametrize(
    ("shape", "axis", "is_wrong"),
    [((2, 6), 1, True), ((2, 8), 1, False), ((2, 3), 1, False), ((2, 6, 5), 1, False), ((6,), 0, False)],
)
def test_reversed_channels(shape, axis, is_wrong):
    assert risks_of(alone("REVERSE_V2", shape, ints(axis))) == ([(0, "reverse-channels", "wrong")] if is_wrong else [])


@pytest.mark.parametrize(("shape", "axis", "is_possible"), [((2, 6), 1, True), ((2, 8), 1, False), ((2, 6), 0, False)])
def test_the_largest_element(shape, axis, is_possible):
    left = tuple(size for position, size in enumerate(shape) if position != axis)
    model = alone("ARG_MAX", shape, one(axis), result=("INT32", left), output_type=2)
    assert risks_of(model) == ([(0, "argmax-negative", "may be wrong")] if is_possible else [])


@pytest.mark.parametrize(("shape", "certainty"), [((2, 6), "wrong"), ((6,), "may be wrong"), ((2, 8), None)])
def test_the_largest_elements(shape, certainty):
    result = (*shape[:-1], 2)
    tensors = {"x": shape, "k": one(2), "y": result, "z": ("INT32", result)}
    model = model_of(tensors, [("TOPK_V2", "x k", "y z", {})])
    assert risks_of(model) == ([(0, "topk-channels", certainty)] if certainty else [])


@pytest.mark.parametrize(("batches", "is_wrong"), [(1, False), (2, True)])
@pytest.mark.parametrize(("op", "result"), [("SPACE_TO_DEPTH", (2, 2, 16)), ("DEPTH_TO_SPACE", (8, 8, 1))])
def test_blocks(op, result, batches, is_wrong):
    model = alone(op, (batches, 4, 4, 4), result=(batches, *result), block_size=2)
    assert risks_of(model) == ([(0, "depth-space-batch", "wrong")] if is_wrong else [])


@pytest.mark.parametrize(("shape", "depth", "is_wrong"), [((1, 3, 2), 4, True), ((1, 1, 2), 4, False), ((3, 2), 4, False)])
def test_indices_to_ones(shape, depth, is_wrong):
    tensors = {"x": ("INT32", shape), "d": one(depth), "a": np.array(1, np.float32), "b": np.array(0, np.float32)}
    model = model_of({**tensors, "y": (*shape, depth)}, [("ONE_HOT", "x d a b", "y", {"axis": -1})])
    assert risks_of(model) == ([(0, "one-hot-rank3", "wrong")] if is_wrong else [])


@pytest.mark.parametrize(
    ("shape", "update", "is_possible"), [((4, 3), (2, 3), True), ((4, 3), (4, 2), False), ((4, 3, 2, 2), (2, 3, 2, 2), False)]
)
def test_an_updated_part(shape, update, is_possible):
    tensors = {"x": shape, "u": update, "s": ("INT32", (len(shape),)), "y": shape}
    model = model_of(tensors, [("DYNAMIC_UPDATE_SLICE", "x u s", "y", {})])
    assert risks_of(model) == ([(0, "dus-first-axis", "may be wrong")] if is_possible else [])


@pytest.mark.parametrize(("kind", "is_wrong"), [("INT32", False), ("INT16", True)])
def test_bits_of_another_type(kind, is_wrong):
    result = (2, 4) if kind == "INT32" else (2, 4, 2)
    model = alone("BITCAST", (2, 4), result=(kind, result))
    assert risks_of(model) == ([(0, "bitcast-size", "wrong")] if is_wrong else [])
