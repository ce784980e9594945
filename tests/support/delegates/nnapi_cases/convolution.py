"""Cases of the rules of the family ``convolution``."""

from __future__ import annotations

from tests.support.delegates.nnapi_rule_cases import (
    BIAS,
    CONSTANT,
    FILTER,
    FLOAT,
    HYBRID,
    INPUT_TYPE,
    INT8,
    INT8_FILTER,
    LEVEL,
    NARROW,
    SCALES,
    UINT8,
    UINT8_FILTER,
    VALUE,
    VERSION,
    WIDE,
    Failure,
    RuleCases,
)
from tests.support.graphs import arena, constant, persistent, quantized

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

_MISSING_BIAS = Failure("nnapi-missing-bias", "kMissingRequiredOperand")
_PER_CHANNEL = Failure("nnapi-per-channel", "kUnsupportedQuantizationType").below(29)
_INT8_CHANNELS = quantized(arena("INT8", 2, 1, 1, 1), 0.5, 0.25)

accepted("CONV_2D", [FLOAT, FILTER, BIAS], [FLOAT], version=5)
variant("CONV_2D", inputs={2: None})
variant("CONV_2D", _MISSING_BIAS, inputs=[FLOAT, FILTER])
variant("CONV_2D", _MISSING_BIAS, inputs=[FLOAT, FILTER, BIAS, BIAS])
variant("CONV_2D", HYBRID.below(29), inputs={1: INT8_FILTER})
variant("CONV_2D", INPUT_TYPE.below(29), inputs=[INT8, INT8_FILTER, BIAS])
variant("CONV_2D", _PER_CHANNEL, inputs={1: quantized(FILTER, 0.5, 0.25)})
variant("CONV_2D", inputs={1: quantized(FILTER, 0.5)})
variant("CONV_2D", inputs=[UINT8, UINT8_FILTER, BIAS], outputs=[WIDE])
variant("CONV_2D", SCALES.below(29), inputs=[UINT8, UINT8_FILTER, BIAS], outputs=[NARROW])
variant("CONV_2D", VALUE.below(29), dilation_w_factor=2)
variant("CONV_2D", VALUE.below(29), dilation_h_factor=2, dilation_w_factor=2)
without_options("CONV_2D", VALUE.below(29))
variant("CONV_2D", VALUE.below(29), inputs={1: arena("FLOAT32", 2, 1, 1, 1)})
variant(
    "CONV_2D", VERSION, HYBRID.below(29), _PER_CHANNEL, _MISSING_BIAS, VALUE.below(29), VALUE.below(29),
    inputs=[FLOAT, _INT8_CHANNELS], version=6, dilation_h_factor=2,
)  # fmt: skip
variant(
    "CONV_2D", VERSION, INPUT_TYPE.below(29), _PER_CHANNEL, _MISSING_BIAS, VALUE.below(29),
    inputs=[INT8, _INT8_CHANNELS], version=6,
)  # fmt: skip
variant(
    "CONV_2D", VERSION, _PER_CHANNEL, SCALES.below(29), _MISSING_BIAS, VALUE.below(29), VALUE.below(29),
    inputs=[UINT8, _INT8_CHANNELS], outputs=[UINT8._replace(scale=0.0)], version=6, dilation_h_factor=2,
)  # fmt: skip

accepted("DEPTHWISE_CONV_2D", [FLOAT, FILTER, BIAS], [FLOAT], version=3)
variant("DEPTHWISE_CONV_2D", inputs=[FLOAT, _INT8_CHANNELS])
variant("DEPTHWISE_CONV_2D", inputs=[UINT8, UINT8_FILTER, BIAS], outputs=[WIDE])
variant("DEPTHWISE_CONV_2D", VALUE.below(29), dilation_h_factor=2)
variant("DEPTHWISE_CONV_2D", VALUE.below(29), dilation_w_factor=2)
without_options("DEPTHWISE_CONV_2D", VALUE.below(29))
variant("DEPTHWISE_CONV_2D", VERSION, INPUT_TYPE.below(29), VALUE.below(29), inputs={0: INT8}, version=4, dilation_w_factor=2)
variant(
    "DEPTHWISE_CONV_2D", VERSION, SCALES.below(29), VALUE.below(29),
    inputs=[UINT8, UINT8_FILTER, BIAS], outputs=[NARROW], version=4, dilation_w_factor=2,
)  # fmt: skip

accepted(
    "TRANSPOSE_CONV", [constant([1, 8, 8, 2]), constant([[[[1, 1]]]], "FLOAT32"), FLOAT], [FLOAT], LEVEL.below(29), version=4
)
variant("TRANSPOSE_CONV", LEVEL.below(29), CONSTANT, inputs={0: arena("INT32", 4)})
variant("TRANSPOSE_CONV", LEVEL.below(29), CONSTANT, inputs={1: FILTER})
variant("TRANSPOSE_CONV", VERSION, LEVEL.below(29), CONSTANT, inputs={0: persistent([1, 8, 8, 2]), 1: FILTER}, version=5)
