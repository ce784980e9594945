"""Cases of the rules of the family ``matrix``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    BIAS,
    FLOAT,
    FLOAT_RANK_2,
    FLOAT_RANK_3,
    HYBRID,
    INPUT_TYPE,
    INT8,
    INT8_FILTER,
    INT16,
    LEVEL,
    LEVEL_6,
    NARROW,
    OUTPUT_TYPE,
    RANK,
    SCALES,
    UINT8,
    UINT8_FILTER,
    VERSION,
    WIDE,
    RuleCases,
)
from tests.support.graphs import arena

CASES = RuleCases()
accepted, variant = CASES.accepted, CASES.variant

accepted("FULLY_CONNECTED", [FLOAT_RANK_2, arena("FLOAT32", 3, 2), None], [arena("FLOAT32", 4, 3)], version=5)
variant("FULLY_CONNECTED", LEVEL.below(30), keep_num_dims=True)
variant("FULLY_CONNECTED", HYBRID.below(29), inputs={1: INT8_FILTER})
variant("FULLY_CONNECTED", OUTPUT_TYPE, outputs=[INT16])
variant("FULLY_CONNECTED", inputs=[UINT8, UINT8_FILTER], outputs=[WIDE])
variant("FULLY_CONNECTED", VERSION, OUTPUT_TYPE, HYBRID.below(29), LEVEL.below(30),
        inputs={1: INT8_FILTER}, outputs=[INT16], version=9, keep_num_dims=True)  # fmt: skip
variant("FULLY_CONNECTED", VERSION, OUTPUT_TYPE, INPUT_TYPE.below(29), LEVEL.below(30),
        inputs={0: INT8}, outputs=[INT16], version=6, keep_num_dims=True)  # fmt: skip
variant("FULLY_CONNECTED", VERSION, SCALES.below(29), LEVEL.below(30),
        inputs=[UINT8, UINT8_FILTER], outputs=[NARROW], version=6, keep_num_dims=True)  # fmt: skip

_BROADCAST = INPUT_TYPE._replace(code="nnapi-broadcast")
accepted("BATCH_MATMUL", [FLOAT_RANK_2, FLOAT_RANK_2], [FLOAT_RANK_2], LEVEL.below(LEVEL_6), version=2)
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), inputs=[FLOAT, FLOAT])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), HYBRID, inputs={1: arena("INT8", 4, 2)})
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), RANK, inputs=[BIAS, BIAS])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), _BROADCAST, inputs=[FLOAT, FLOAT_RANK_3])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), _BROADCAST, inputs=[FLOAT, arena("FLOAT32", 2, 4, 4, 2)])
variant(
    "BATCH_MATMUL", VERSION, LEVEL.below(LEVEL_6), INPUT_TYPE, HYBRID, RANK, _BROADCAST,
    inputs=[arena("UINT8", 1, 1, 4, 4, 2), FLOAT], version=3,
)  # fmt: skip
