"""Convolutions, pooling and resizing."""

from __future__ import annotations

import pytest

from tests.delegates.nnapi.rule_cases import (
    BIAS,
    COMPUTED_PAIR,
    CONSTANT,
    COUNT,
    FILTER,
    FLOAT,
    FLOAT_RANK_2,
    HYBRID,
    INPUT_TYPE,
    INT8,
    INT8_FILTER,
    INT16,
    LEVEL,
    NARROW,
    PAIR,
    PERSISTENT_PAIR,
    RANK,
    RELU,
    SCALES,
    UINT8,
    UINT8_FILTER,
    VALUE,
    VERSION,
    WIDE,
    Failure,
    RuleCases,
    assert_failures,
)
from tests.graphs import arena, constant, persistent, quantized

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

accepted("RESIZE_BILINEAR", [FLOAT, PAIR], [FLOAT], version=3)
variant("RESIZE_BILINEAR", COUNT, inputs=[FLOAT])
variant("RESIZE_BILINEAR", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESIZE_BILINEAR", VALUE.below(29), outputs=[arena("FLOAT32", 1, 4, 3, 2)])
variant("RESIZE_BILINEAR", VALUE.below(30), align_corners=True)
variant("RESIZE_BILINEAR", VALUE.below(30), half_pixel_centers=True)
variant("RESIZE_BILINEAR", INPUT_TYPE.below(29), inputs={0: INT8})
variant(
    "RESIZE_BILINEAR", VERSION, RANK, INPUT_TYPE, CONSTANT, VALUE.below(29), VALUE.below(30), VALUE.below(30),
    INPUT_TYPE.below(29),
    inputs=[arena("INT16", 4), COMPUTED_PAIR], outputs=[arena("FLOAT32", 1, 4, 3, 2)], version=4,
    align_corners=True, half_pixel_centers=True,
)  # fmt: skip
variant(
    "RESIZE_BILINEAR", VERSION, RANK, INPUT_TYPE, COUNT, VALUE.below(29), VALUE.below(30), VALUE.below(30),
    INPUT_TYPE.below(29),
    inputs=[arena("INT16", 4)], outputs=[arena("FLOAT32", 1, 4, 3, 2)], version=4,
    align_corners=True, half_pixel_centers=True,
)  # fmt: skip

accepted("RESIZE_NEAREST_NEIGHBOR", [FLOAT, PAIR], [arena("FLOAT32", 1, 4, 3, 2)], LEVEL.below(29), version=3)
variant("RESIZE_NEAREST_NEIGHBOR", LEVEL.below(29), COUNT, inputs=[FLOAT])
variant("RESIZE_NEAREST_NEIGHBOR", LEVEL.below(29), inputs={0: FLOAT_RANK_2})
variant(
    "RESIZE_NEAREST_NEIGHBOR", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT, VALUE.below(30), VALUE.below(30),
    inputs=[INT16, COMPUTED_PAIR], version=4, align_corners=True, half_pixel_centers=True,
)  # fmt: skip
variant(
    "RESIZE_NEAREST_NEIGHBOR", VERSION, LEVEL.below(29), INPUT_TYPE, COUNT, VALUE.below(30), VALUE.below(30),
    inputs=[INT16], version=4, align_corners=True, half_pixel_centers=True,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES.all, ids=lambda case: case.name)
def test_failures_in_order_at_every_level(case):
    assert_failures(case)
