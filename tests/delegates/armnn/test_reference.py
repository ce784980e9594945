"""The demands of the backend CpuRef, against the records of the real delegate."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import BIAS, IMAGE, RESULT, WEIGHTS, codes, int8, lines
from tests.support.graphs import arena, constant, quantized

INT32 = arena("INT32", 1, 8, 8, 16)
INT64 = arena("INT64", 1, 8, 8, 16)
BOOL = arena("BOOL", 1, 8, 8, 16)
CONVOLUTION = {"stride_h": 1, "stride_w": 1}


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "expected"),
    [
        ("RELU", [IMAGE], [IMAGE], []),
        ("RELU", [INT32], [INT32], ["tensor-type"]),
        ("ADD", [IMAGE, IMAGE], [IMAGE], []),
        ("ADD", [IMAGE, int8(1, 8, 8, 16)], [IMAGE], ["hybrid"]),
        ("ADD", [INT64, INT64], [INT64], ["tensor-type"]),
        ("ADD", [IMAGE, arena("FLOAT32", 16)], [IMAGE], []),
        ("ADD", [arena("FLOAT32", 1, 1, 1, 8, 8, 16), IMAGE], [IMAGE], ["tensor-type"]),
        ("LESS", [IMAGE, IMAGE], [BOOL], []),
        ("LESS", [IMAGE, IMAGE], [IMAGE], ["tensor-type"]),
        ("LOGICAL_NOT", [BOOL], [BOOL], []),
        ("CAST", [BOOL], [IMAGE], ["tensor-type"]),
        ("FLOOR", [IMAGE], [IMAGE], []),
        ("FLOOR", [INT32], [INT32], ["tensor-type"]),
        ("EMBEDDING_LOOKUP", [INT32, IMAGE], [IMAGE], ["unsupported-operator"]),
    ],
)
def test_nodes_without_options(op, inputs, outputs, expected):
    assert codes(op, inputs, outputs) == expected


def test_convolutions():
    assert codes("CONV_2D", [IMAGE, WEIGHTS, BIAS], [RESULT], **CONVOLUTION) == []
    weights = quantized(constant([[[[0] * 16] * 3] * 3] * 4, "INT8"), 0.5)
    assert codes("CONV_2D", [IMAGE, weights, BIAS], [RESULT], **CONVOLUTION) == ["hybrid"]
    assert codes("CONV_2D", [int8(1, 8, 8, 16), weights, constant([0] * 4)], [int8(1, 8, 8, 4)], **CONVOLUTION) == []


def test_every_reason_of_a_backend_is_listed():
    found = lines("RELU", [INT32], [INT64])
    assert len(found) == 2
    assert found[0].startswith("WARNING: ACTIVATION: not supported by armnn: Reference activation: input type not supported.\n")
    assert found[1] == "ERROR: ACTIVATION: not supported by any specified backend"


def test_ranks_of_results():
    assert codes("MEAN", [IMAGE, constant([1, 2])], [arena("FLOAT32", 1, 16)], keep_dims=False) == []
    assert codes("MEAN", [IMAGE, constant([1, 2])], [arena("FLOAT32", 1, 1, 16)], keep_dims=False) == ["rank"]
