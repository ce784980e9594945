"""Lowering of operators in general."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.nnapi.rules import RULES, driver_operations, find_operator
from delegate_sim.model.schema import FAMILY_OF
from tests.support.delegates.nnapi_sketch import Sketch, failure, operations


def test_every_operator_has_a_rule_and_a_lowering():
    assert {op for op in FAMILY_OF if find_operator(op)} == set(RULES.rules)


def test_operators_that_always_become_several_operations_have_no_driver_operation():
    several = {"COS", "DENSIFY", "SPLIT_V", "SQUARED_DIFFERENCE", "UNPACK"}
    assert set(driver_operations()) == set(RULES.rules) - several


@pytest.mark.parametrize(
    ("op", "position", "count"),
    [
        ("BATCH_TO_SPACE_ND", 2, 3),
        ("EXPAND_DIMS", 1, 2),
        ("RESIZE_BILINEAR", 1, 2),
        ("SPLIT", 0, 2),
        ("SUM", 1, 2),
        ("TOPK_V2", 1, 2),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", 20, 24),
    ],
)
def test_operands_that_become_numbers_or_are_not_looked_at_may_have_any_type(op, position, count):
    sketch = Sketch()
    inputs = [sketch.input() for _ in range(count)]
    inputs[position] = sketch.constant("INT64", ())
    assert operations(sketch.map(sketch.node(op, inputs))) == [[driver_operations()[op]]]


@pytest.mark.parametrize(
    ("op", "position", "count"),
    [("SVDF", 3, 5), ("UNIDIRECTIONAL_SEQUENCE_LSTM", 20, 24), ("BIDIRECTIONAL_SEQUENCE_LSTM", 9, 48)],
)
def test_optional_operands(op, position, count):
    sketch = Sketch()
    inputs = [sketch.input() for _ in range(count)]
    inputs[position] = -1
    assert operations(sketch.map(sketch.node(op, inputs))) == [[op]]


def test_nnapi_unmapped_operator():
    sketch = Sketch()
    assert failure(sketch.map(sketch.node("GELU", [sketch.input()]))).code == "nnapi-unmapped-operator"
