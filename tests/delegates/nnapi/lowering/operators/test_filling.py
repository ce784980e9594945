"""Lowering of filling."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch


@pytest.mark.parametrize(
    ("dimensions", "value", "fails"),
    [("INT32", "FLOAT32", False), ("INT64", "INT64", False), ("INT32", "FLOAT16", True), ("INT8", "FLOAT32", True)],
)
def test_nnapi_scalar_type_of_fill(dimensions, value, fails):
    sketch = Sketch()
    filled = sketch.node("FILL", [sketch.constant(dimensions, (2,)), sketch.constant(value, ())])
    mapping = sketch.map(sketch.node("ADD", [sketch.input(), filled]))
    assert fails == (mapping.failure is not None and mapping.failure.code == "nnapi-scalar-type")
