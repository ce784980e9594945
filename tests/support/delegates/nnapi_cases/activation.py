"""Cases of the rules of the family ``activation``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    ACTIVATION,
    COUNT,
    FLOAT,
    FLOAT_RANK_2,
    FLOAT_RANK_3,
    FLOAT_RANK_5,
    FLOAT_SCALAR,
    INPUT_TYPE,
    INT8,
    INT16,
    INT64,
    LEVEL,
    OUTPUT_TYPE,
    RANK,
    RELU,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena

CASES = RuleCases()
accepted, variant = CASES.accepted, CASES.variant

for _op in ("RELU", "RELU_N1_TO_1", "RELU6", "LOGISTIC"):
    accepted(_op, [FLOAT_RANK_5], [FLOAT_RANK_5], version=2)
    variant(_op, VERSION, INPUT_TYPE, inputs=[INT16], version=3)

accepted("TANH", [FLOAT], [FLOAT], version=2)
variant("TANH", VERSION, INPUT_TYPE.below(29), inputs=[INT8], version=3)
variant("TANH", INPUT_TYPE, inputs=[INT16])

accepted("HARD_SWISH", [FLOAT], [FLOAT], version=9)
variant("HARD_SWISH", INPUT_TYPE, inputs=[INT16])

accepted("ELU", [FLOAT], [FLOAT], LEVEL.below(30))
variant("ELU", VERSION, LEVEL.below(30), INPUT_TYPE, inputs=[INT8], version=2)

accepted("LEAKY_RELU", [FLOAT], [FLOAT], LEVEL.below(29))
accepted("PRELU", [FLOAT, FLOAT], [FLOAT], LEVEL.below(29))
for _op in ("LEAKY_RELU", "PRELU"):
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: INT16}, version=2)

accepted("SOFTMAX", [FLOAT_RANK_2], [FLOAT_RANK_2], version=2)
variant("SOFTMAX", inputs=[FLOAT])
variant("SOFTMAX", RANK.below(29), inputs=[FLOAT_RANK_3])
variant("SOFTMAX", RANK.below(29), inputs=[FLOAT_SCALAR])
variant("SOFTMAX", OUTPUT_TYPE, outputs=[INT16])
variant("SOFTMAX", VERSION, INPUT_TYPE, OUTPUT_TYPE, RANK, RANK.below(29),
        inputs=[arena("INT16", 1, 1, 1, 1, 1)], outputs=[INT16], version=3)  # fmt: skip

accepted("LOG_SOFTMAX", [FLOAT_RANK_5], [FLOAT_RANK_5], LEVEL.below(29))
variant("LOG_SOFTMAX", VERSION, LEVEL.below(29), INPUT_TYPE, inputs=[INT8], version=2)

_FOUR_DIMENSIONS = COUNT._replace(code="nnapi-rank").below(29)
accepted("L2_NORMALIZATION", [FLOAT], [FLOAT], version=2)
variant("L2_NORMALIZATION", _FOUR_DIMENSIONS, inputs=[FLOAT_RANK_2])
variant("L2_NORMALIZATION", VERSION, INPUT_TYPE.below(29), _FOUR_DIMENSIONS, ACTIVATION,
        inputs=[arena("INT64", 4)], version=3, fused_activation_function=RELU)  # fmt: skip

accepted("LOCAL_RESPONSE_NORMALIZATION", [INT64], [INT64])
variant("LOCAL_RESPONSE_NORMALIZATION", VERSION, version=2)
