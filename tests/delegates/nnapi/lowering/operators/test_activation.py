"""Lowering of activation functions."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.target import NNAPI_1_2, NNAPI_1_3
from tests.support.delegates.nnapi_sketch import Sketch, operations


@pytest.mark.parametrize(("op", "operation"), [("RELU_N1_TO_1", "RELU1"), ("ABS", "ABS"), ("LEAKY_RELU", "PRELU")])
def test_one_operation(op, operation):
    sketch = Sketch()
    result = sketch.node(op, [sketch.input()])
    assert operations(sketch.map(result)) == [[operation]]


@pytest.mark.parametrize(("runtime", "expected"), [(NNAPI_1_2, ["MUL", "MUL", "MUL", "ADD"]), (NNAPI_1_3, ["HARD_SWISH"])])
def test_hard_swish_is_lowered_by_the_runtimes_level(runtime, expected):
    sketch = Sketch()
    assert operations(sketch.map(sketch.node("HARD_SWISH", [sketch.input()]), level=NNAPI_1_2, runtime=runtime)) == [expected]
