"""Lowering of arithmetic, conversions and reductions."""

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


@pytest.mark.parametrize(("op", "operation"), [("RELU_N1_TO_1", "RELU1"), ("ABS", "ABS"), ("LEAKY_RELU", "PRELU")])
def test_one_operation(op, operation):
    sketch = Sketch()
    result = sketch.node(op, [sketch.input()])
    assert operations(sketch.map(result)) == [[operation]]


@pytest.mark.parametrize(("runtime", "expected"), [(NNAPI_1_2, ["MUL", "MUL", "MUL", "ADD"]), (NNAPI_1_3, ["HARD_SWISH"])])
def test_hard_swish_is_lowered_by_the_runtimes_level(runtime, expected):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("HARD_SWISH", [sketch.input()]), level=NNAPI_1_2, runtime=runtime)) == [expected]
