"""Lowering of changes of type and encoding."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, operations


@pytest.mark.parametrize(("type", "expected"), [("FLOAT32", ["QUANTIZE"]), ("UINT8", ["DEQUANTIZE", "QUANTIZE"])])
def test_requantization_goes_through_float(type, expected):
    sketch = Sketch()
    result = sketch.node("QUANTIZE", [sketch.input(type=type, scale=0.5)], type="INT8", scale=0.25)
    assert operations(sketch.map(result)) == [expected]


def test_float16_weights_vanish():
    sketch = Sketch()
    weights = sketch.constant("FLOAT16", (2, 2))
    widened = sketch.node("DEQUANTIZE", [weights])
    result = sketch.node("ADD", [sketch.input(), weights])
    assert operations(sketch.map(result, widened)) == [[], ["ADD"]]
