"""Rules of activations, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import activation
from tests.support.delegates.xnnpack_rule_cases import (
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    INT8,
    INT16,
    NO_8_BITS,
    PER_CHANNEL,
    QUANTIZATION,
    RANK,
    RANK_7,
    SHAPE,
    TYPE,
    UINT8,
    FamilyCases,
    add_float_cases,
    assert_verdict,
    scaled,
    weights,
)

TABLE = FamilyCases(activation)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("GELU", "HARD_SWISH", "RELU", "RELU6", "RELU_N1_TO_1"):
    add_float_cases(TABLE, _op)
    variant(_op, TYPE, inputs=[INT8])
for _op in ("ELU", "LOGISTIC", "TANH"):
    add_float_cases(TABLE, _op)
    variant(_op, None, inputs=[INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8], outputs=[INT8], target=NO_8_BITS)
    variant(_op, TYPE if _op == "ELU" else None, inputs=[UINT8], outputs=[UINT8])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, QUANTIZATION, inputs=[PER_CHANNEL])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])

accepted("LEAKY_RELU", [FLOAT], [FLOAT], alpha=0.25)
variant("LEAKY_RELU", None, inputs=[INT8], outputs=[INT8])
variant("LEAKY_RELU", COUNT, inputs=[FLOAT, FLOAT])
variant("LEAKY_RELU", RANK, inputs=[RANK_7])
variant("LEAKY_RELU", SHAPE, inputs=[EMPTY])
variant("LEAKY_RELU", TYPE, inputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, inputs=[BARE_INT8])
variant("LEAKY_RELU", TYPE, outputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, outputs=[BARE_INT8])
variant("LEAKY_RELU", ATTRIBUTE, alpha=0.0)
variant("LEAKY_RELU", ATTRIBUTE, alpha=float("inf"))
variant("LEAKY_RELU", QUANTIZATION, inputs=[scaled(128.0)], outputs=[INT8])
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=0.001)
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=-128.0)

accepted("PRELU", [FLOAT, weights(2)], [FLOAT])
variant("PRELU", COUNT, inputs=[FLOAT])
variant("PRELU", RANK, inputs={0: RANK_7})
variant("PRELU", SHAPE, inputs={0: EMPTY})
variant("PRELU", RANK, inputs={1: RANK_7})
variant("PRELU", SHAPE, inputs={1: EMPTY})
variant("PRELU", TYPE, inputs={0: INT8})
variant("PRELU", TYPE, inputs={1: INT8})
variant("PRELU", TYPE, outputs=[INT8])
variant("PRELU", CONSTANT, inputs={1: FLOAT})

accepted("SOFTMAX", [FLOAT], [FLOAT], beta=1.0)
variant("SOFTMAX", ATTRIBUTE, beta=2.0)
variant("SOFTMAX", COUNT, inputs=[FLOAT, FLOAT])
variant("SOFTMAX", TYPE, inputs=[INT8])
variant("SOFTMAX", TYPE, outputs=[INT8])
without_options("SOFTMAX", ATTRIBUTE)


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
