"""Rules of the family ``recurrent``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import recurrent
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    COUNT,
    FLOAT,
    MATRIX,
    RELU,
    SHAPE,
    TANH,
    VALUE,
    VERSION,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(recurrent)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

_GATE = constant([[0.0]], "FLOAT32")
_FULL = [FLOAT, *[_GATE] * 17, MATRIX, MATRIX]
_BASIC = {
    "inputs": [MATRIX, MATRIX, _GATE, _GATE, MATRIX],
    "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 8)],
    "kernel_type": 1,
}

accepted("LSTM", _FULL, [MATRIX], version=4, fused_activation_function=TANH)
variant("LSTM", VERSION, version=5)
variant("LSTM", None, inputs=[*_FULL, *[_GATE] * 4])
variant("LSTM", COUNT, inputs=_FULL[:18])
variant("LSTM", COUNT, outputs=[MATRIX, MATRIX])
variant("LSTM", ACTIVATION, fused_activation_function=RELU)
variant("LSTM", None, **_BASIC)
variant("LSTM", COUNT, **{**_BASIC, "inputs": [MATRIX, MATRIX, _GATE, _GATE]})
variant("LSTM", SHAPE, **{**_BASIC, "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 6)]})
variant("LSTM", ACTIVATION, **_BASIC, fused_activation_function=RELU)
variant("LSTM", VALUE, **_BASIC, cell_clip=1.0)
variant("LSTM", VALUE, **_BASIC, proj_clip=1.0)


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
