"""Rules of the family ``activation``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import activation
from tests.support.delegates.gpu_table import COUNT, FLOAT, FLOATS, VALUE, VERSION, FamilyCases, assert_verdict
from tests.support.graphs import constant

TABLE = FamilyCases(activation)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

for _op in ("ELU", "GELU", "LOGISTIC", "TANH"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])

for _op in ("RELU", "RELU6", "RELU_0_TO_1", "RELU_N1_TO_1", "LEAKY_RELU"):
    accepted(_op, [FLOAT], [FLOAT], version=2)
    variant(_op, VERSION, version=3)
    variant(_op, None, inputs=[FLOATS])

accepted("HARD_SWISH", [FLOAT], [FLOAT], version=9)
variant("HARD_SWISH", COUNT, inputs=[FLOATS])
accepted("PRELU", [FLOAT, constant([[[0.1, 0.2]]], "FLOAT32")], [FLOAT])
variant("PRELU", VERSION, version=2)

accepted("SOFTMAX", [FLOAT], [FLOAT], version=2, beta=1.0)
variant("SOFTMAX", VERSION, version=3)
variant("SOFTMAX", VALUE, beta=2.0)
without_options("SOFTMAX", VALUE)


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
