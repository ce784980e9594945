"""Constant folding refuses results that are too large, before memory is allocated for them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from delegate_sim.prepare.constants import evaluate

HUGE = 1 << 30
MANY = np.zeros((1 << 20, 1), np.int8)
WIDE = np.zeros((HUGE, 0), np.int8)
"""No elements, but a dimension that a result may have."""


@pytest.mark.parametrize(
    ("op", "operands", "options"),
    [
        ("ADD", [MANY, MANY.T], {}),
        ("DIV", [MANY, MANY.T + 1], {}),
        ("SELECT", [MANY, MANY.T, MANY], {}),
        ("BROADCAST_TO", [np.zeros(1), np.array([HUGE, HUGE])], {}),
        ("CONCATENATION", [MANY] * 1000, {"axis": 0}),
        ("PACK", [MANY] * 1000, {"axis": 0}),
        ("FILL", [np.array([HUGE, HUGE]), np.zeros(())], {}),
        ("GATHER", [MANY, np.zeros((1 << 20, 2), np.int32)], {"axis": 0, "batch_dims": 0}),
        ("RANGE", [np.int32(-(2**31)), np.int32(2**31 - 1), np.int32(1)], {}),
        ("REDUCE_PROD", [WIDE, np.array([1])], {"keep_dims": False}),
        ("TILE", [np.zeros((1, 1)), np.array([HUGE, 0])], {}),
        ("UNPACK", [np.zeros((0, 2))], {"num": HUGE, "axis": 0}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_results_that_are_too_large(op, operands, options):
    arrays = [np.asarray(operand) for operand in operands]
    assert evaluate(op, SimpleNamespace(**options), arrays, ["INT32"]) is None


def test_results_that_are_not():
    assert evaluate("TILE", SimpleNamespace(), [np.ones((1, 2)), np.array([2, 1])], ["INT32"])[0].tolist() == [[1, 1], [1, 1]]
    assert evaluate("RANGE", SimpleNamespace(), [np.array(0), np.array(3), np.array(1)], ["INT32"])[0].tolist() == [0, 1, 2]
