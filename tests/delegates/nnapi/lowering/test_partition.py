"""The NNAPI model of a partition: its pools of memory."""

from __future__ import annotations

from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_nnapi_empty_pool_of_inputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.constant("FLOAT32", (2, 2))])))
    assert (found.code, found.node, found.tensor) == ("nnapi-empty-pool", None, None)
    assert "inputs" in found.message


def test_inputs_that_are_not_mapped_do_not_count():
    sketch = Sketch()
    widened = sketch.node("DEQUANTIZE", [sketch.input(type="FLOAT16")])
    assert failure(sketch.map(sketch.node("RELU", [widened]))).code == "nnapi-empty-pool"


def test_nnapi_empty_pool_of_outputs():
    sketch = Sketch()
    found = failure(sketch.map(sketch.node("RELU", [sketch.input()], (0, 2))))
    assert found.code == "nnapi-empty-pool"
    assert "outputs" in found.message


def test_one_input_with_bytes_is_enough():
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("ADD", [sketch.input((0, 2)), sketch.input((1, 2))]))) == [["ADD"]]
