"""Lowering of arithmetic."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.target import NNAPI_1_2, NNAPI_1_3
from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_squared_difference_and_cosine_are_lowered():
    sketch = Sketch()
    source = sketch.input()
    difference = sketch.node("SQUARED_DIFFERENCE", [source, source])
    assert operations(sketch.map(sketch.node("COS", [difference]))) == [["SUB", "MUL"], ["SUB", "SIN"]]


@pytest.mark.parametrize("op", ["MAXIMUM", "MINIMUM"])
def test_nnapi_scalar_operand(op):
    sketch = Sketch()
    scalar = sketch.constant("FLOAT16", ())
    found = failure(sketch.map(sketch.node(op, [sketch.input(), scalar])))
    assert (found.code, found.tensor) == ("nnapi-scalar-operand", scalar)


def test_nnapi_scalar_operand_that_is_not_constant():
    sketch = Sketch()
    assert failure(sketch.map(sketch.node("MAXIMUM", [sketch.input(), sketch.input(())]))).code == "nnapi-scalar-operand"


@pytest.mark.parametrize(("level", "fails"), [(NNAPI_1_2, False), (NNAPI_1_3, True)])
def test_scalars_beside_converted_int8_are_tensors(level, fails):
    sketch = Sketch()
    result = sketch.node("MAXIMUM", [sketch.input(type="INT8"), sketch.constant("FLOAT16", ())], type="INT8")
    assert (sketch.map(result, level=level).failure is not None) == fails
