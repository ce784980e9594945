"""Lowering of padding."""

from __future__ import annotations

import pytest

from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


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
