"""Cases of the rules of the family ``pooling``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    FLOAT,
    INPUT_TYPE,
    INT8,
    INT16,
    RELU,
    UINT8,
    VALUE,
    VERSION,
    Failure,
    RuleCases,
)

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

_WINDOW = Failure("nnapi-filter-area", "kUnsupportedOperandSize").with_accelerator(False)
accepted("AVERAGE_POOL_2D", [FLOAT], [FLOAT], version=2, filter_width=17, filter_height=16)
variant("AVERAGE_POOL_2D", inputs=[INT8], filter_width=16)
variant("AVERAGE_POOL_2D", _WINDOW, inputs=[INT8])
variant("AVERAGE_POOL_2D", VERSION, _WINDOW, inputs=[UINT8], version=3)
variant("AVERAGE_POOL_2D", VERSION, INPUT_TYPE, inputs=[INT16], version=3)

accepted("MAX_POOL_2D", [FLOAT], [FLOAT], version=2)
variant("MAX_POOL_2D", VERSION, INPUT_TYPE, inputs=[INT16], version=3)

accepted("L2_POOL_2D", [FLOAT], [FLOAT])
variant("L2_POOL_2D", VERSION, INPUT_TYPE, VALUE._replace(code="nnapi-activation").below(29),
        inputs=[INT8], version=2, fused_activation_function=RELU)  # fmt: skip
