"""Lowering of joining and splitting."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.target import FEATURE_LEVEL_5, FEATURE_LEVEL_6
from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


@pytest.mark.parametrize(("level", "expected"), [(FEATURE_LEVEL_5, ["CONCATENATION", "RESHAPE"]), (FEATURE_LEVEL_6, ["PACK"])])
def test_pack_is_lowered_below_level_6(level, expected):
    sketch = Sketch()
    source = sketch.input()
    result = sketch.node("PACK", [source, source], (2, 2, 2), options={"axis": 0, "values_count": 2})
    assert operations(sketch.map(result, level=level)) == [expected]


def test_unpack_is_lowered():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input((2, 3))], (3,), options={"axis": -2, "num": 2}, results=2)
    assert operations(sketch.map(*results)) == [["RESHAPE", "SPLIT"]]


def test_split_v_is_lowered_to_one_slice_a_part():
    sketch = Sketch()
    inputs = [sketch.input((6, 2)), sketch.constant("INT32", (3,), [1, -1, 3]), sketch.constant("INT32", (), -2)]
    results = sketch.node("SPLIT_V", inputs, (2, 2), options={"num_splits": 3}, results=3)
    assert operations(sketch.map(*results)) == [["SLICE"] * 3]


@pytest.mark.parametrize("axis", [-1, -9])
def test_nnapi_axis_of_pack(axis):
    sketch = Sketch()
    result = sketch.node("PACK", [sketch.input()], (2, 2, 1), options={"axis": axis, "values_count": 1})
    assert failure(sketch.map(result, level=FEATURE_LEVEL_5)).code == "nnapi-axis"


def test_nnapi_axis_of_unpack():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input()], (2,), options={"axis": 1, "num": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-axis"


def test_nnapi_split_count():
    sketch = Sketch()
    results = sketch.node("UNPACK", [sketch.input((3, 2))], (2,), options={"axis": 0, "num": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-split-count"


def test_nnapi_split_size():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2,), [3, -1]), sketch.constant("INT32", (), 0)]
    results = sketch.node("SPLIT_V", inputs, options={"num_splits": 2}, results=2)
    assert failure(sketch.map(*results)).code == "nnapi-split-size"
