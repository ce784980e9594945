"""Operands for tensors of the model."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


@pytest.mark.parametrize("type", ["INT64", "INT4", "BFLOAT16", "FLOAT64", "STRING", "UINT32"])
def test_nnapi_tensor_type(type):
    sketch = Sketch()
    source = sketch.input(type=type)
    found = failure(sketch.map(sketch.node("RELU", [source])))
    assert (found.code, found.node, found.tensor) == ("nnapi-tensor-type", 0, source)
    assert type in found.message


@pytest.mark.parametrize("type", ["FLOAT16", "INT32", "BOOL", "INT16"])
def test_other_tensor_types_pass(type):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("RELU", [sketch.input(type=type)], type=type))) == [["RELU"]]


def test_nnapi_tensor_type_of_a_result():
    sketch = Sketch()
    result = sketch.node("RELU", [sketch.input()], type="INT64")
    assert failure(sketch.map(result)).tensor == result


def test_a_tensor_that_failed_unnoticed_counts_as_mapped():
    sketch = Sketch()
    indices = sketch.input((2,), "INT64")
    gathered = sketch.node("GATHER", [sketch.input(), indices])
    assert operations(sketch.map(sketch.node("RELU", [indices]), gathered)) == [["GATHER"], ["RELU"]]
