"""The dimensions that are joined, and those that cannot be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim import load
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.passes.ranks import _next_order
from delegate_sim.fixing.passes.slices import CutAxis, PaddedAxis, SharedAxis, TiledAxis, around, joined, shared_axes
from delegate_sim.fixing.search import search
from fixtures.builder import ModelBuilder
from tests.support.fixing.targets import target

SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("target_shape", "other", "expected"),
    [
        ((2, 3, 4, 5, 6), (2, 3, 4, 5, 6), [(6, (False,)), (4, (False,)), (5, (False,)), (6, (False,))]),
        ((2, 3, 4, 5, 6), (6,), [(6, (True,)), (4, (True,)), (5, (True,)), (6, (False,))]),
        ((2, 3, 4, 5, 6), (2, 1, 4, 1, 6), None),
        ((2, 3, 1, 5, 6), (2, 1, 1, 1, 6), [(2, (False,)), (3, (True,)), (5, (True,)), (6, (False,))]),
    ],
)
def test_dimensions_along_which_operands_are_stretched_alike_are_joined(target_shape, other, expected):
    found = joined(shared_axes(target_shape, [other]), SharedAxis.joined)
    assert found == expected


def test_very_many_dimensions_are_not_joined():
    assert joined([TiledAxis(1, 1)] * 17, TiledAxis.joined) is None


def test_operands_that_cannot_be_stretched():
    assert shared_axes((2, 3), [(2, 2)]) is None
    assert shared_axes((3,), [(2, 3)]) is None


@given(st.lists(st.integers(1, 4), min_size=1, max_size=7), st.data())
def test_what_lies_around_a_dimension_is_joined(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    found = around(shape, axis)
    assert found is not None
    sizes, place = found
    assert (math.prod(sizes), sizes[place], len(sizes) <= 4) == (math.prod(shape), shape[axis], True)
    assert math.prod(sizes[:place]) == math.prod(shape[:axis])


@given(SIZES, st.data())
def test_joined_slices_take_the_same_elements(shape, data):
    axes = []
    for size in shape:
        start_ = data.draw(st.integers(0, size - 1))
        stride = data.draw(st.integers(1, 2))
        axes.append(CutAxis(size, start_, data.draw(st.integers(1, (size - start_ - 1) // stride + 1)), stride))
    found = joined(axes, CutAxis.joined, CutAxis.joined_with_inner)
    if found is not None:
        assert np.array_equal(_cut(shape, axes), _cut([axis.size for axis in found], found))


def _cut(shape, axes):
    ends = [axis.start + (axis.taken - 1) * axis.stride + 1 for axis in axes]
    places = tuple([slice(axis.start, end, axis.stride) for axis, end in zip(axes, ends, strict=True)])
    return np.arange(math.prod(shape)).reshape(shape)[places].reshape(-1)


@given(SIZES, st.data())
def test_joined_padding_gives_the_same_elements(shape, data):
    axes = [PaddedAxis(size, data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))) for size in shape]
    found = joined(axes, PaddedAxis.joined, PaddedAxis.joined_with_inner)
    if found is not None:
        before, after = [_padded([axis.size for axis in each], each) for each in (axes, found)]
        assert np.array_equal(before, after)


def _padded(shape, axes):
    return np.pad(1 + np.arange(math.prod(shape)).reshape(shape), [axis[1:] for axis in axes]).reshape(-1)


@given(SIZES, st.data())
def test_joined_tiles_give_the_same_elements(shape, data):
    axes = [TiledAxis(size, data.draw(st.integers(1, 2))) for size in shape]
    found = joined(axes, TiledAxis.joined)
    if found is not None:
        before, after = [
            np.tile(np.arange(math.prod(shape)).reshape([axis.size for axis in each]), [axis.multiple for axis in each]).reshape(
                -1
            )
            for each in (axes, found)
        ]
        assert np.array_equal(before, after)


@pytest.mark.parametrize("count", [5, 6])
def test_every_order_is_reached_in_steps_of_at_most_four_groups(count):
    for goal in itertools.permutations(range(count)):
        now, steps = tuple(range(count)), 0
        while now != goal:
            groups = _next_order(now, goal)
            assert len(groups) <= 4
            places = [now.index(group[0]) for group in groups]
            assert [now[place : place + len(group)] for place, group in zip(places, groups, strict=True)] == groups
            now, steps = tuple(itertools.chain(*groups)), steps + 1
        assert steps < count


def windows():
    """The windows of an image, as vision transformers cut them: RESHAPE, TRANSPOSE of six dimensions, RESHAPE."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 8, 8, 3])
    shapes = [(2, 4, 2, 4, 3, 1), (2, 2, 4, 4, 3, 1), (4, 16, 3)]
    cut, turned, joined_ = [graph.tensor(f"t{number}", "FLOAT32", shape) for number, shape in enumerate(shapes)]
    order = graph.tensor("order", "INT32", [6], data=(0, 2, 1, 3, 4, 5))
    sizes = [graph.tensor(f"s{number}", "INT32", [len(shape)], data=shape) for number, shape in enumerate(shapes)]
    made = [graph.tensor(f"y{number}", "FLOAT32", shapes[2]) for number in range(2)]
    before = graph.tensor("before", "FLOAT32", [1, 8, 8, 3])
    graph.node("ABS", [x], [before], 1)
    graph.node("RESHAPE", [before, sizes[0]], [cut], 1, {})
    graph.node("TRANSPOSE", [cut, order], [turned], 1, {})
    graph.node("RESHAPE", [turned, sizes[2]], [joined_], 1, {})
    graph.node("ABS", [joined_], [made[0]], 1)
    graph.outputs(made[0])
    return load(builder.bytes())


@pytest.mark.parametrize("name", ["nnapi", "gpu"])
def test_windows_are_taken_whole(name):
    plan = search(windows(), [target(name)])
    assert [step.name for step in plan.steps] == ["transpose-of-lower-rank", "pairs-that-cancel"]
    assert (plan.after[0].on_cpu, plan.after[0].measures.delegate_kernels) == (frozenset(), 1)
    assert max(tensor.rank for index in _used(plan.rewritten.model) for tensor in [_tensor(plan, index)]) <= 4


def _used(model):
    return {index for node in model.subgraphs[0].nodes for index in (*node.inputs, *node.outputs) if index >= 0}


def _tensor(plan, index):
    return plan.rewritten.model.subgraphs[0].tensors[index]


def test_a_shape_that_values_decide_is_not_known():
    """The file gives a shape, but RESHAPE takes it from an input."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, shape = graph.input("x", "FLOAT32", [4]), graph.input("shape", "INT32", [2])
    y, z = graph.tensor("y", "FLOAT32", [1, 4]), graph.tensor("z", "FLOAT32", [1, 4, 1])
    graph.node("RESHAPE", [x, shape], [y], 1, {})
    graph.node("EXPAND_DIMS", [y, graph.tensor("axis", "INT32", [], data=[2])], [z], 1, {})
    graph.outputs(z)
    assert apply_pass(start(load(builder.bytes())), PASSES["expand-dims-as-reshape"]) is None


@pytest.mark.parametrize(
    ("shape", "of_four"),
    [
        ((1, 32, 32, 3, 2), [1, 1024, 3, 2]),
        ((2, 32, 32, 3, 2), [64, 32, 3, 2]),
        ((1, 1, 1, 1, 2, 3), [1, 1, 2, 3]),
        ((1, 640, 640, 3, 2), [1, 640, 1920, 2]),
        ((1, 60000, 60000, 30000, 30000), [60000, 60000, 30000, 30000]),
    ],
)
def test_a_batch_of_1_stays_if_other_dimensions_can_be_joined(shape, of_four):
    axes = joined([SharedAxis(size, (False,)) for size in shape], SharedAxis.joined)
    assert [axis.size for axis in axes] == of_four
