"""The acceptance rules, operator by operator, against ``IsNodeSupportedByHexagon`` (``delegates/hexagon/utils.cc``)."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim.delegates.decision import ReleaseOnly
from delegate_sim.delegates.hexagon import RULES
from delegate_sim.model.model import Quantization
from tests.support.delegates.cases import CaseTable, assert_explained
from tests.support.graphs import arena, constant, node_view, persistent, quantized
from tests.support.tables import for_each

NEWEST = ReleaseOnly()

OPERATOR = "hexagon-unsupported-operator"
RANK = "hexagon-rank"
VERSION = "hexagon-operator-version"
COUNT = "hexagon-operand-count"
TYPE = "hexagon-tensor-type"
CONSTANT = "hexagon-constant-operand"
VALUE = "hexagon-attribute-value"
ACTIVATION = "hexagon-activation"
QUANTIZATION = "hexagon-quantization"
SHAPE = "hexagon-shape"

INT8 = quantized(arena("INT8", 1, 4, 4, 2), 0.5)
UINT8 = quantized(arena("UINT8", 1, 4, 4, 2), 0.5, zero_point=128)
ONE_CHANNEL = quantized(arena("INT8", 1, 4, 4, 1), 0.5)
RANK_5 = quantized(arena("INT8", 1, 1, 4, 4, 2), 0.5)
FLOAT = arena("FLOAT32", 1, 4, 4, 2)
WEIGHTS = quantized(arena("INT8", 2, 3, 3, 2), 0.5)
ROWS = quantized(arena("INT8", 2, 4), 0.5)
BIAS = constant([0, 0])
AXIS = constant([1])
PADDING = constant([[0, 0], [1, 1], [1, 1], [0, 0]])
INDICES = constant([0, 0, 0, 0])
VARIABLE = arena("INT32", 4)

RELU, TANH, SIGN_BIT = 1, 4, 5
SAME, VALID = 0, 1

TABLE = CaseTable(NEWEST)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

# Operators by their operands

_OPERANDS = {
    **dict.fromkeys(("ADD", "MUL", "SUB", "MINIMUM", "MAXIMUM"), ([INT8, UINT8], 1, 2)),
    "SQUARED_DIFFERENCE": ([INT8, INT8], 2, 2),
    **dict.fromkeys(("LOGISTIC", "RELU6", "TANH", "SOFTMAX", "QUANTIZE", "L2_NORMALIZATION"), ([INT8], 1, 2)),
    **dict.fromkeys(("HARD_SWISH", "NEG"), ([INT8], 1, 1)),
    **dict.fromkeys(("RELU", "RSQRT"), ([INT8], 2, 2)),
    **dict.fromkeys(("MEAN", "ARG_MAX", "ARG_MIN", "TRANSPOSE"), ([INT8, AXIS], 1, 2)),
    **dict.fromkeys(("PAD", "MIRROR_PAD"), ([INT8, PADDING], 1, 2)),
    "RESHAPE": ([INT8, INDICES], 1, 1),
    **dict.fromkeys(("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"), ([INT8], 1, 2)),
    **dict.fromkeys(("CONCATENATION", "PACK"), ([INT8, UINT8], 1, 2)),
    "SPLIT": ([AXIS, INT8], 1, 2),
    "SLICE": ([INT8, INDICES, INDICES], 1, 2),
    "STRIDED_SLICE": ([INT8, INDICES, INDICES, INDICES], 1, 2),
    "CONV_2D": ([INT8, WEIGHTS, BIAS], 1, 3),
    "DEPTHWISE_CONV_2D": ([INT8, WEIGHTS, BIAS], 1, 3),
    "TRANSPOSE_CONV": ([INDICES, WEIGHTS, INT8], 1, 3),
    "FULLY_CONNECTED": ([INT8, ROWS, BIAS], 1, 4),
    **dict.fromkeys(("MAX_POOL_2D", "AVERAGE_POOL_2D"), ([INT8], 1, 2)),
    "RESIZE_NEAREST_NEIGHBOR": ([INT8, constant([8, 8])], 1, 3),
    "RESIZE_BILINEAR": ([INT8, constant([8, 8])], 1, 3),
}
_OPTIONS = {
    "CONV_2D": {"stride_h": 3, "stride_w": 3},
    "DEPTHWISE_CONV_2D": {"stride_h": 1, "stride_w": 1, "depth_multiplier": 1},
    "TRANSPOSE_CONV": {"stride_h": 3, "stride_w": 3},
    "MAX_POOL_2D": {"filter_height": 12, "filter_width": 12},
}
_ANY_COUNT = ("RESHAPE", "CONCATENATION", "PACK")

for _op, (_inputs, _first, _last) in _OPERANDS.items():
    accepted(_op, _inputs, [INT8], version=_last, **_OPTIONS.get(_op, {}))
    variant(_op, None, version=_first)
    variant(_op, VERSION, version=_last + 1)
    variant(_op, RANK, inputs={0: RANK_5})
    variant(_op, RANK, outputs=[RANK_5])
    if _first > 1:
        variant(_op, VERSION, version=_first - 1)
    for _position in range(len(_inputs) if _op != "RESHAPE" else 1):
        variant(_op, TYPE, inputs={_position: constant([0.0], "FLOAT32")})
    if _op not in _ANY_COUNT:
        variant(_op, COUNT, inputs=[*_inputs, BIAS, BIAS])

# Fused activations

for _op in ("ADD", "MUL", "SUB", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
    for _activation, _code in ((0, None), (RELU, None), (2, None), (3, None), (TANH, ACTIVATION), (SIGN_BIT, ACTIVATION)):
        variant(_op, _code, fused_activation_function=_activation)
for _op in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_NORMALIZATION"):
    variant(_op, ACTIVATION, fused_activation_function=RELU)

# Constant operands

for _op, _position in (
    ("MEAN", 1),
    ("PAD", 1),
    ("MIRROR_PAD", 1),
    ("SPLIT", 0),
    ("SLICE", 1),
    ("SLICE", 2),
    ("STRIDED_SLICE", 1),
    ("STRIDED_SLICE", 2),
    ("STRIDED_SLICE", 3),
    ("RESIZE_NEAREST_NEIGHBOR", 1),
    ("RESIZE_BILINEAR", 1),
):
    variant(_op, CONSTANT, inputs={_position: VARIABLE})
    variant(_op, CONSTANT, inputs={_position: persistent([1, 1])})
variant("ARG_MAX", None, inputs={1: VARIABLE})
variant("TRANSPOSE", None, inputs={1: VARIABLE})

# Single operators

variant("SQUARED_DIFFERENCE", TYPE, inputs={0: UINT8})
variant("RSQRT", TYPE, inputs=[UINT8])
variant("RELU", None, inputs=[UINT8])
variant("SLICE", None, inputs={1: constant([0, 0, 0, 0], "INT64")})
variant("STRIDED_SLICE", TYPE, inputs={1: constant([0, 0, 0, 0], "INT64")})
variant("STRIDED_SLICE", VALUE, ellipsis_mask=1)
variant("STRIDED_SLICE", VALUE, new_axis_mask=1)
variant("STRIDED_SLICE", None, shrink_axis_mask=1)
variant("MIRROR_PAD", None, mode=1)
variant("MIRROR_PAD", VALUE, mode=2)
without_options("MIRROR_PAD", VALUE)
variant("RESHAPE", None, inputs=[INT8])
variant("RESHAPE", COUNT, inputs=[INT8, INDICES, INDICES])
variant("CONCATENATION", COUNT, inputs=[])
variant("PACK", COUNT, inputs=[])

variant("CONV_2D", None, inputs={2: None})
variant("CONV_2D", None, inputs={2: VARIABLE})
variant("CONV_2D", COUNT, inputs=[INT8, WEIGHTS])
variant("CONV_2D", VALUE, stride_h=4)
variant("CONV_2D", VALUE, stride_w=4)
variant("CONV_2D", VALUE, dilation_w_factor=2)
variant("CONV_2D", None, inputs={1: quantized(WEIGHTS, 0.5, 0.25)})

variant("DEPTHWISE_CONV_2D", VALUE, stride_h=4, stride_w=4)
variant("DEPTHWISE_CONV_2D", None, dilation_h_factor=2)
variant("DEPTHWISE_CONV_2D", VALUE, dilation_h_factor=2, stride_h=2)
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=2)
variant("DEPTHWISE_CONV_2D", None, depth_multiplier=2, inputs={0: ONE_CHANNEL})
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=2, inputs={0: ONE_CHANNEL}, dilation_h_factor=2)
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={1: quantized(arena("INT8", 1, 1, 3, 2), 0.5)})

variant("TRANSPOSE_CONV", None, inputs=[INDICES, WEIGHTS, INT8, BIAS])
variant("TRANSPOSE_CONV", TYPE, inputs=[INDICES, WEIGHTS, INT8, arena("INT64", 2)])
variant("TRANSPOSE_CONV", VALUE, stride_h=4)
without_options("TRANSPOSE_CONV", VALUE)

variant("FULLY_CONNECTED", None, inputs={2: None})
variant("FULLY_CONNECTED", COUNT, inputs=[INT8, ROWS])
variant("FULLY_CONNECTED", CONSTANT, inputs={2: arena("INT32", 2)})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: quantized(ROWS, 0.5, 0.25)})
variant(
    "FULLY_CONNECTED",
    QUANTIZATION,
    inputs={1: ROWS._replace(quantization=Quantization("blockwise", np.zeros(0), np.zeros(0), 0))},
)
variant("FULLY_CONNECTED", VALUE, keep_num_dims=True)
variant("FULLY_CONNECTED", VALUE, weights_format=1)

variant("MAX_POOL_2D", VALUE, filter_width=13)
variant("MAX_POOL_2D", VALUE, filter_height=13)
variant("MAX_POOL_2D", None, filter_height=13, padding=VALID)
variant("AVERAGE_POOL_2D", None, filter_height=13)
variant("RESIZE_BILINEAR", SHAPE, inputs={1: constant([8])})


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    verdict = RULES.validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


@pytest.mark.parametrize("op", ["SUM", "PADV2", "CAST", "DEQUANTIZE", "RELU_N1_TO_1", "WHILE"])
def test_operator_that_the_delegate_does_not_have(op):
    (reason,) = RULES.validate(node_view(op, [INT8], [INT8]), NEWEST).reasons
    assert (reason.code, reason.found) == (OPERATOR, op)


def test_custom_operator_named_like_a_builtin_one():
    (reason,) = RULES.validate(node_view("NEG", [INT8], [INT8], custom=True), NEWEST).reasons
    assert (reason.code, reason.found) == (OPERATOR, "custom operator NEG")


def test_reason_says_what_was_found_and_needed():
    (reason,) = RULES.validate(node_view("NEG", [FLOAT], [INT8]), NEWEST).reasons
    assert (reason.kind, reason.message) == ("tensor-type", "input 0 is FLOAT32; needs input 0 of type UINT8 or INT8")


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete(RULES)


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES)
