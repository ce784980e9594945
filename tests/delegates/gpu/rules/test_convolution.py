"""Rules of the family ``convolution``, against ``gpu_compatibility.cc`` and the parsers' own ``IsSupported``.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

import pytest

from delegate_sim.delegates.gpu.rules import convolution
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    BIAS,
    COUNT,
    FLOAT,
    FLOATS,
    RANK,
    RANK_3,
    RELU,
    SHAPE,
    SHAPE_OF_4,
    SIGN_BIT,
    VALUE,
    VERSION,
    WEIGHTS,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant

TABLE = FamilyCases(convolution)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

_CONVOLUTION = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}

accepted("CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT], version=6, **_CONVOLUTION)
accepted(
    "DEPTHWISE_CONV_2D",
    [FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32"), BIAS],
    [FLOAT],
    version=6,
    depth_multiplier=1,
    **_CONVOLUTION,
)
accepted("TRANSPOSE_CONV", [SHAPE_OF_4, WEIGHTS, FLOAT], [FLOAT], version=3, stride_h=1, stride_w=1)
for _op, _highest in (("CONV_2D", 6), ("DEPTHWISE_CONV_2D", 6), ("TRANSPOSE_CONV", 3)):
    variant(_op, VERSION, version=_highest + 1)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT, FLOAT])
    variant(_op, COUNT, inputs=[FLOATS, WEIGHTS])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])
    variant(_op, VALUE, stride_h=0)
    variant(_op, VALUE, stride_w=-1)
    without_options(_op, VALUE)
for _op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    variant(_op, VALUE, dilation_w_factor=0)
    variant(_op, None, fused_activation_function=RELU)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)
variant("CONV_2D", None, inputs={1: arena("FLOAT32", 2, 3, 3, 2)})
variant("DEPTHWISE_CONV_2D", RANK, inputs={0: RANK_3})
variant("DEPTHWISE_CONV_2D", RANK, inputs={1: constant([[[0.0, 0.0]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", RANK, outputs=[RANK_3])
variant("DEPTHWISE_CONV_2D", SHAPE, outputs=[arena("FLOAT32", 2, 4, 4, 2)])
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={1: constant([[[[0.0] * 4]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=2)
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: constant([0.0] * 4, "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: None})
variant("DEPTHWISE_CONV_2D", None, inputs=[FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32")])


@pytest.mark.parametrize("case", TABLE.cases, ids=lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
