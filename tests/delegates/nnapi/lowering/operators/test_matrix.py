"""Lowering of matrix products."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_hybrid_weights_are_dequantized_once_for_a_partition():
    sketch = Sketch()
    weights = sketch.constant("INT8", (2, 2), scale=0.5)
    first = sketch.node("FULLY_CONNECTED", [sketch.input(), weights, -1])
    second = sketch.node("FULLY_CONNECTED", [first, weights, -1])
    assert operations(sketch.map(second)) == [["DEQUANTIZE", "FULLY_CONNECTED"], ["FULLY_CONNECTED"]]


def test_kept_dimensions_need_a_reshape():
    sketch = Sketch()
    result = sketch.node(
        "FULLY_CONNECTED",
        [sketch.input((1, 2, 2)), sketch.constant("FLOAT32", (2, 2))],
        (1, 2, 2),
        options={"keep_num_dims": True},
    )
    assert operations(sketch.map(result)) == [["FULLY_CONNECTED", "RESHAPE"]]


def test_nnapi_intermediate_type():
    sketch = Sketch()
    inputs = [sketch.input((1, 2, 2)), sketch.constant("FLOAT32", (2, 2))]
    result = sketch.node("FULLY_CONNECTED", inputs, (1, 2, 2), "INT32", options={"keep_num_dims": True})
    found = failure(sketch.map(result))
    assert (found.code, found.tensor) == ("nnapi-intermediate-type", result)


@pytest.mark.parametrize(("shape", "code"), [((2, 3), None), ((), "nnapi-division-by-zero"), ((2, 0), "nnapi-division-by-zero")])
def test_last_dimension_of_a_result_that_keeps_dimensions(shape, code):
    sketch = Sketch()
    operands = [sketch.input(shape=(2, 4)), sketch.constant("FLOAT32", (3, 4)), sketch.constant("FLOAT32", (3,))]
    found = sketch.map(sketch.node("FULLY_CONNECTED", operands, shape, options={"keep_num_dims": True})).failure
    assert (found and found.code) == code
    assert found is None or found.effect.is_crash
