"""Lowering of reductions."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_mean_with_another_scale_is_requantized():
    sketch = Sketch()
    axes = sketch.constant("INT32", ())
    result = sketch.node("MEAN", [sketch.input(type="INT8", scale=0.5), axes], (2,), "INT8", scale=0.25)
    assert operations(sketch.map(result)) == [["MEAN", "ADD"]]


def test_nnapi_scalar_value():
    sketch = Sketch()
    axis = sketch.input((2,), "INT32")
    found = failure(sketch.map(sketch.node("ARG_MAX", [sketch.input(), axis], (2,), "INT32")))
    assert (found.code, found.tensor) == ("nnapi-scalar-value", axis)


@pytest.mark.parametrize(("type", "fails"), [("INT32", False), ("INT64", False), ("INT8", True)])
def test_nnapi_scalar_type_of_an_axis(type, fails):
    sketch = Sketch()
    mapping = sketch.map(sketch.node("ARG_MIN", [sketch.input(), sketch.constant(type, (1,))], (2,), "INT32"))
    assert fails == (mapping.failure is not None and mapping.failure.code == "nnapi-scalar-type")


def test_nnapi_requantize_type():
    sketch = Sketch()
    result = sketch.node("MEAN", [sketch.input(), sketch.constant("INT32", (1,))], (2,), scale=0.5)
    assert failure(sketch.map(result)).code == "nnapi-requantize-type"
