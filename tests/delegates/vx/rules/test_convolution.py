"""Rules of convolutions, against the mappers in ``op_map.cc``."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.vx.rules import convolution
from tests.support.delegates.vx_cases import (
    ATTRIBUTE,
    COMPUTED_PAIR,
    CONSTANT,
    DYNAMIC,
    FLOAT,
    FLOAT_BATCH,
    FLOAT_RANK_3,
    FLOAT_SCALAR,
    HYBRID,
    INT8,
    PAIR,
    RELU_N1_TO_1,
    SHAPE,
    TYPE,
    VxTable,
    assert_verdict,
    name_of,
)
from tests.support.graphs import arena, constant, quantized

TABLE = VxTable(convolution.RULES)
accepted, variant, without_options, needs_constant = TABLE.accepted, TABLE.variant, TABLE.without_options, TABLE.needs_constant

WEIGHTS = arena("FLOAT32", 8, 3, 3, 2)
INT8_WEIGHTS = quantized(arena("INT8", 8, 3, 3, 2), 0.5)
GROUPED_WEIGHTS = arena("FLOAT32", 8, 3, 3, 1)

accepted("CONV_2D", [FLOAT, WEIGHTS, None], [FLOAT])
variant("CONV_2D", inputs={0: FLOAT_BATCH})
variant("CONV_2D", inputs={1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_RANK_3})
variant("CONV_2D", SHAPE, inputs={0: FLOAT_SCALAR})
variant("CONV_2D", inputs={0: arena("FLOAT32", 4), 1: arena("FLOAT32", 4)})
variant("CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})
variant("CONV_2D", HYBRID, inputs={0: INT8})
variant("CONV_2D", inputs={0: INT8, 1: INT8_WEIGHTS}, outputs=[INT8])
variant("CONV_2D", TYPE, inputs={2: arena("INT64", 8)})
variant("CONV_2D", fused_activation_function=RELU_N1_TO_1, dilation_h_factor=2, dilation_w_factor=2)

accepted("DEPTHWISE_CONV_2D", [FLOAT, WEIGHTS], [FLOAT])
variant("DEPTHWISE_CONV_2D", inputs={0: FLOAT_BATCH, 1: GROUPED_WEIGHTS})
variant("DEPTHWISE_CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS})

accepted("TRANSPOSE_CONV", [PAIR, WEIGHTS, FLOAT], [FLOAT])
variant("TRANSPOSE_CONV", inputs={0: COMPUTED_PAIR, 1: INT8_WEIGHTS})
variant("TRANSPOSE_CONV", DYNAMIC, outputs=[FLOAT_SCALAR])

FILTER = constant([[[[[0.0]]]]], "FLOAT32")

accepted("CONV_3D", [FLOAT, FILTER], [FLOAT])
for _side in ("d", "h", "w"):
    variant("CONV_3D", ATTRIBUTE, **{f"dilation_{_side}_factor": 2})
variant("CONV_3D", HYBRID, inputs={0: INT8})
variant("CONV_3D", CONSTANT, inputs={1: WEIGHTS})
variant("CONV_3D", HYBRID, inputs={1: INT8_WEIGHTS})
without_options("CONV_3D", None)


@pytest.mark.parametrize("case", TABLE.cases, ids=name_of)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
