"""Lowering of joining, padding and filling."""

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


@pytest.mark.parametrize(("value", "operation"), [(True, "PAD_V2"), (False, "PAD")])
def test_padding_value_makes_pad_v2(value, operation):
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.constant("FLOAT32", ()) if value else -1]
    assert operations(sketch.map(sketch.node("PADV2", inputs, (4, 4)))) == [[operation]]


def test_padding_value_with_several_elements_passes():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.input((2,))]
    assert operations(sketch.map(sketch.node("PADV2", inputs, (4, 4)))) == [["PAD_V2"]]


def test_nnapi_scalar_type_of_a_padding_value():
    sketch = Sketch()
    inputs = [sketch.input(), sketch.constant("INT32", (2, 2)), sketch.constant("INT32", ())]
    assert failure(sketch.map(sketch.node("PADV2", inputs, (4, 4)))).code == "nnapi-scalar-type"


@pytest.mark.parametrize(
    ("dimensions", "value", "fails"),
    [("INT32", "FLOAT32", False), ("INT64", "INT64", False), ("INT32", "FLOAT16", True), ("INT8", "FLOAT32", True)],
)
def test_nnapi_scalar_type_of_fill(dimensions, value, fails):
    sketch = Sketch()
    filled = sketch.node("FILL", [sketch.constant(dimensions, (2,)), sketch.constant(value, ())])
    mapping = sketch.map(sketch.node("ADD", [sketch.input(), filled]))
    assert fails == (mapping.failure is not None and mapping.failure.code == "nnapi-scalar-type")
