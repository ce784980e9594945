"""Rules of the family ``arithmetic``, against ``model_builder.cc``.

Each case is a node, and what ML Drift says of it, None where it takes the node.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.mldrift.rules import arithmetic
from tests.support.delegates.mldrift_rule_cases import (
    BOOL,
    DEEP,
    DEEPER,
    EIGHT,
    IMAGE,
    INT32,
    MATRIX,
    ONE,
    PER_CHANNEL,
    SCALAR,
    SCALES,
    VECTOR,
    WIDE,
    Case,
    F,
    G,
    assert_verdict,
    ints,
    rank_5,
    too_new,
    typed,
)
from tests.support.graphs import arena, constant
from tests.support.tables import for_each

CASES = [
    *[Case(op, None, [F], [G]) for op in ("ABS", "CEIL", "EXP", "NEG", "ROUND", "RSQRT")],
    Case("ABS", too_new(5, 6), [F], [G], version=6),
    Case("CEIL", "Expected 0 const input tensor(s), but node has 1 const input(s).", [EIGHT], [VECTOR]),
    Case("CEIL", "Expected 1 runtime input tensor(s), but node has 2 runtime input(s).", [F, G], [G]),
    Case("CEIL", "Expected 1 output tensor(s), but node has 2 output(s).", [F], [F, G]),
    Case("CEIL", rank_5("deep"), [DEEP], [DEEP]),
    Case("CEIL", 'Tensor "deeper" has bad input dims size: 6.', [DEEPER], [DEEPER]),
    Case("CEIL", 'Tensor "deep" has bad input dims size: 5.', [DEEP], [DEEP], release="litert-2.1.5"),
    Case("CEIL", typed("INT64", "wide"), [WIDE], [WIDE]),
    Case("CEIL", SCALES, [PER_CHANNEL], [G]),
    Case("CEIL", SCALES, [F], [PER_CHANNEL]),
    Case("LOGICAL_NOT", None, [BOOL], [BOOL]),
    Case("LOGICAL_NOT", typed("FLOAT32", "x"), [F], [G]),
    Case("ADD", None, [F, G], [F], version=6),
    Case("ADD", too_new(6, 7), [F, G], [F], version=7),
    Case("ADD", too_new(2, 3), [F, G], [F], version=3, release="litert-2.1.5"),
    Case("ADD", "ADD requires two input tensors.", [F], [G]),
    Case("ADD_N", "ADD_N only supports 2 inputs.", [F, G, F], [G]),
    Case("MUL", "MUL requires two input tensors.", [F], [G]),
    Case("ADD", None, [F, arena("FLOAT32", 4, 8)], [G]),
    Case("ADD", "Doesn't support broadcasting - input0: [1,4,4,8], input1: [3,8]", [F, arena("FLOAT32", 3, 8)], [G]),
    Case(
        "SUB",
        "Inputs dimensions sizes don't match, broadcasting isn't applicable.",
        [F, arena("FLOAT32", 3, 8)],
        [G],
    ),
    Case("SUB", 'Tensor "s" has bad input dims size: 0.', [F, SCALAR], [G]),
    Case("SUB", "Op can only handle 1 or 2 operand(s).", [F], [G]),
    Case("SUB", None, [F, ONE], [G]),
    Case("SUB", None, [F, IMAGE], [G]),
    Case("SUB", "Can't parse inputs with const tensors.", [F, constant(np.ones(1), "INT16")], [G]),
    Case("SUB", None, [F, constant(np.ones((4, 8)), "INT16")], [G]),
    Case("SUB", "TfLiteFusedActivation.kTfLiteActSignBit", [F, G], [F], {"fused_activation_function": 5}),
    Case("ADD", "Unsupported fused activation: 5", [F, G], [F], {"fused_activation_function": 5}),
    Case("SUB", "Op can only handle 1 or 2 operand(s).", [EIGHT, EIGHT], [VECTOR], release="litert-2.2.0"),
    Case("SUB", None, [EIGHT, constant(np.ones(8), "FLOAT32")], [VECTOR]),
    Case(
        "SUB",
        "subtract: constant inputs have different types: FLOAT32 vs INT32",
        [EIGHT, constant(np.ones(8), "INT32")],
        [VECTOR],
    ),
    Case(
        "SUB",
        "subtract: constant inputs and output must have the same rank, but got 1, 1 and 2",
        [EIGHT, constant(np.ones(8), "FLOAT32")],
        [MATRIX],
    ),
    Case(
        "MAXIMUM",
        "maximum: unsupported constant tensor type: INT64 {\n  type: INT64\n  data: {...}\n  dims: [2]\n}",
        [ints(1, 2, kind="INT64"), ints(1, 2, kind="INT64")],
        [arena("FLOAT32", 2)],
    ),
    Case(
        "MAXIMUM",
        "maximum: constant tensor with rank > 4: {\n  type: FLOAT32\n  data: {...}\n  dims: [1,1,1,1,2]\n}",
        [constant(np.ones((1, 1, 1, 1, 2)), "FLOAT32"), ONE],
        [arena("FLOAT32", 2)],
    ),
    Case("BITWISE_XOR", "Not supported op BITWISE_XOR", [INT32, INT32], [INT32]),
    Case("EQUAL", None, [F, G], [BOOL]),
    Case("LESS", None, [arena("UINT16", 2), arena("UINT16", 2)], [arena("BOOL", 2)]),
    Case("LOGICAL_OR", None, [BOOL, arena("BOOL", 1, 4, 4, 8)], [BOOL]),
    Case("MAXIMUM", too_new(4, 5), [F, G], [F], version=5),
    Case("SELECT_V2", None, [BOOL, F, ONE], [G]),
    Case("SELECT_V2", "Expected 3 inputs and 1 output", [BOOL, F], [G]),
    Case(
        "SELECT_V2",
        "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar.",
        [INT32, F, G],
        [G],
    ),
    Case(
        "SELECT_V2",
        "Cond must be float or bool type, if, else tensors must be either be same the shape as output or constant, scalar.",
        [BOOL, F, EIGHT],
        [G],
    ),
    Case("SELECT_V2", "Unsupported tensor type in NewConstNode: INT8", [BOOL, PER_CHANNEL, G], [G]),
]
LIKE_OTHERS = {
    "ATAN2",
    "COS",
    "DIV",
    "FLOOR",
    "FLOOR_DIV",
    "FLOOR_MOD",
    "GREATER",
    "GREATER_EQUAL",
    "LESS_EQUAL",
    "LOG",
    "LOGICAL_AND",
    "MINIMUM",
    "NOT_EQUAL",
    "POW",
    "RIGHT_SHIFT",
    "SELECT",
    "SIGN",
    "SIN",
    "SQRT",
    "SQUARE",
    "SQUARED_DIFFERENCE",
}
"""Operators whose rules are those of others, or that have tests of their own."""


@for_each(CASES, lambda case: f"{case.op}-{case.said or 'accepted'}"[:60])
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_has_cases():
    assert arithmetic.RULES.keys() - {case.op for case in CASES} == LIKE_OTHERS
