"""Functions of Compute Library that compute element by element, against the records of the real delegate."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import ACC, BOTH, HALF, IMAGE, codes, int8, lines
from tests.support.graphs import arena

INT32, INT16, INT64, BOOL = (arena(kind, 1, 8, 8, 16) for kind in ("INT32", "INT16", "INT64", "BOOL"))
INT8 = int8(1, 8, 8, 16)
SOFTMAX = int8(1, 8, 8, 16, scale=1 / 256)._replace(zero_point=-128)


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "expected"),
    [
        ("RELU", [IMAGE], [IMAGE], []),
        ("RELU", [HALF], [HALF], []),
        ("RELU", [INT32], [INT32], ["tensor-type"]),
        ("ELU", [INT8], [INT8], ["attribute-value"]),
        ("TANH", [INT8], [INT8], ["quantization"]),
        ("TANH", [INT8], [int8(1, 8, 8, 16, scale=1 / 128)], []),
        ("ABS", [INT32], [INT32], []),
        ("EXP", [INT32], [INT32], ["tensor-type"]),
        ("EXP", [INT64], [INT64], ["tensor-type"]),
        ("ADD", [INT16, INT16], [INT16], []),
        ("ADD", [INT64, INT64], [INT64], ["tensor-type"]),
        ("ADD", [IMAGE, INT8], [IMAGE], ["hybrid"]),
        ("MUL", [INT16, arena("INT16", 1)], [INT16], ["broadcast"]),
        ("MUL", [IMAGE, arena("FLOAT32", 1)], [IMAGE], []),
        ("DIV", [INT8, INT8], [INT8], ["tensor-type"]),
        ("LESS", [HALF, HALF], [BOOL], ["tensor-type"]),
        ("LESS", [IMAGE, IMAGE], [BOOL], []),
        ("LOGICAL_AND", [BOOL, BOOL], [BOOL], []),
        ("CAST", [INT32], [BOOL], []),
        ("CAST", [BOOL], [INT64], ["tensor-type"]),
        ("SOFTMAX", [INT8], [INT8], ["quantization"]),
        ("FLOOR", [HALF], [HALF], ["tensor-type"]),
    ],
)
def test_a_node(op, inputs, outputs, expected):
    assert codes(op, inputs, outputs, ACC) == expected


def test_the_next_backend_takes_what_the_first_refuses():
    assert codes("FLOOR", [HALF], [HALF], BOTH) == []
    refused = lines("FLOOR", [INT32], [INT32], BOTH)
    assert [line.split(":")[0] for line in refused] == ["WARNING", "WARNING", "ERROR"]


def test_half_precision_is_asked_again_with_floats():
    found = lines("LESS", [HALF, HALF], [BOOL], ACC)
    assert "does not support F16 data type" in found[0]
