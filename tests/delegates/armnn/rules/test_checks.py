"""The demands that the delegate makes itself, before it asks any backend."""

from __future__ import annotations

import pytest

from tests.support.delegates.armnn_nodes import BIAS, IMAGE, RESULT, WEIGHTS, codes, lines
from tests.support.graphs import arena, constant

DEEP = arena("FLOAT32", 1, 1, 1, 1, 8, 8)
STRING = arena("STRING", 4)


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "options", "expected"),
    [
        ("RELU", [DEEP], [DEEP], {}, ["tensor-type"]),
        ("RELU", [IMAGE], [STRING], {}, ["tensor-type"]),
        ("RELU_N1_TO_1", [IMAGE], [IMAGE], {}, ["unsupported-operator"]),
        ("RESHAPE", [IMAGE, constant([8, 128])], [arena("FLOAT32", 8, 128)], {}, []),
        ("CONV_2D", [IMAGE, WEIGHTS, BIAS], [RESULT], {"stride_h": -1, "stride_w": 1}, ["attribute-value"]),
        ("GATHER", [IMAGE, constant([0])], [IMAGE], {"axis": 4}, ["attribute-value"]),
        ("SLICE", [IMAGE, constant([0, 0, 0]), constant([1, 1, 1, 1])], [IMAGE], {}, ["operand-count"]),
        ("SLICE", [IMAGE, constant([0, 0, 0, 0]), constant([1, 9, 1, 1])], [IMAGE], {}, ["operand-value"]),
    ],
)
def test_a_node(op, inputs, outputs, options, expected):
    assert codes(op, inputs, outputs, **options) == expected


def test_an_exception_names_the_place():
    assert lines("RELU", [DEEP], [DEEP])[-1].startswith("Tensor numDimensions must be less than or equal to")


def test_counts_of_operands_are_told():
    found = lines("RELU", [IMAGE, IMAGE], [IMAGE])
    assert found == ["ERROR: TfLiteArmnnDelegate: Unexpected number of inputs (2 != 1) in node #0"]
