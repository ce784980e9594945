"""Rules of arithmetic, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import arithmetic
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    BARE_INT8,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    HYBRID,
    INT8,
    INT16,
    QUANTIZATION,
    RANK,
    RANK_7,
    SCALAR,
    SHAPE,
    TANH,
    TYPE,
    UNSIGNED_ONLY,
    FamilyCases,
    add_float_cases,
    assert_verdict,
    scaled,
)

TABLE = FamilyCases(arithmetic)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("ABS", "CEIL", "COS", "EXP", "FLOOR", "LOG", "NEG", "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE"):
    add_float_cases(TABLE, _op)
    variant(_op, TYPE, inputs=[INT8])

for _op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT])
    variant(_op, None, inputs={1: SCALAR})
    variant(_op, COUNT, inputs=[FLOAT])
    for _position in (0, 1):
        variant(_op, RANK, inputs={_position: RANK_7})
        variant(_op, SHAPE, inputs={_position: EMPTY})
        variant(_op, TYPE, inputs={_position: INT16})
    variant(_op, TYPE, outputs=[INT16])
for _op in ("ADD", "SUB", "MUL"):
    variant(_op, None, inputs=[INT8, INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8, INT8], outputs=[INT8], target=UNSIGNED_ONLY)
    for _position in (0, 1):
        variant(_op, QUANTIZATION, inputs={_position: BARE_INT8})
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, HYBRID, inputs=[FLOAT, FLOAT16])
    variant(_op, QUANTIZATION, inputs=[scaled(256.0), INT8], outputs=[INT8])
for _op in ("ADD", "SUB"):
    variant(_op, QUANTIZATION, inputs=[scaled(128.0), INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8, scaled(0.0004)], outputs=[INT8])
for _op in ("ADD", "SUB", "MUL", "DIV"):
    variant(_op, None, fused_activation_function=1)
    variant(_op, ACTIVATION, fused_activation_function=TANH)
    without_options(_op, None)


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
