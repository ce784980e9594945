"""Cases of the rules of the family ``conversion``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    BOOL,
    FLOAT,
    INPUT_TYPE,
    INT8,
    INT16,
    INT32,
    INT64,
    LEVEL,
    OUTPUT_TYPE,
    QUANTIZATION,
    UINT8,
    VERSION,
    Failure,
    RuleCases,
)
from tests.support.graphs import arena, constant, persistent

CASES = RuleCases()
accepted, variant = CASES.accepted, CASES.variant

accepted("CAST", [FLOAT], [INT32], LEVEL.below(29))
variant("CAST", LEVEL.below(29), OUTPUT_TYPE, outputs=[BOOL])
variant("CAST", VERSION, LEVEL.below(29), INPUT_TYPE.below(30), OUTPUT_TYPE.below(30), inputs=[INT8], outputs=[INT8], version=2)
variant("CAST", VERSION, LEVEL.below(29), INPUT_TYPE, OUTPUT_TYPE, inputs=[INT64], outputs=[INT64], version=2)

_SYMMETRIC = INPUT_TYPE._replace(code="nnapi-quantization", first=29, end=30)
accepted("DEQUANTIZE", [UINT8], [FLOAT], version=2)
variant("DEQUANTIZE", version=1)
variant("DEQUANTIZE", VERSION, version=3)
variant("DEQUANTIZE", INPUT_TYPE.below(29), inputs=[INT8])
variant("DEQUANTIZE", VERSION, INPUT_TYPE.below(29), _SYMMETRIC, inputs=[INT8._replace(zero_point=1)], version=3)
variant("DEQUANTIZE", VERSION.below(30), INPUT_TYPE.below(30), inputs=[arena("FLOAT16", 2)], version=5)
variant("DEQUANTIZE", VERSION, INPUT_TYPE, inputs=[constant([1], "FLOAT16")], version=3)
variant("DEQUANTIZE", VERSION.below(30), INPUT_TYPE.below(30), inputs=[persistent([1], "FLOAT16")], version=3)

accepted("QUANTIZE", [FLOAT], [UINT8], LEVEL.below(29), version=2)
variant("QUANTIZE", LEVEL.below(29), inputs=[INT8])
variant("QUANTIZE", LEVEL.below(29), QUANTIZATION, inputs=[INT8._replace(scale=0.0)])
variant("QUANTIZE", LEVEL.below(29), QUANTIZATION, outputs=[UINT8._replace(scale=0.0)])
variant("QUANTIZE", LEVEL.below(29), OUTPUT_TYPE.below(30), outputs=[INT8])
variant(
    "QUANTIZE", VERSION, LEVEL.below(29), QUANTIZATION, OUTPUT_TYPE.below(30), QUANTIZATION,
    inputs=[UINT8._replace(scale=0.0)], outputs=[INT8._replace(scale=0.0)], version=3,
)  # fmt: skip
variant("QUANTIZE", VERSION, LEVEL.below(29), INPUT_TYPE, OUTPUT_TYPE, QUANTIZATION, inputs=[INT16], outputs=[INT16], version=3)

_DENSE_WEIGHTS = Failure("nnapi-dense-weights", "sparse-weights")
accepted("DENSIFY", [constant([1], "INT64")], [FLOAT], _DENSE_WEIGHTS.below(30), version=9)
variant("DENSIFY", _DENSE_WEIGHTS, inputs=[FLOAT])
