"""The acceptance rules, operator by operator, against what ``NNAPIDelegateKernel::Validate`` does in ``nnapi_delegate.cc``.

Each case is a node and the failures that ``Validate`` records for it, in its order, with the levels at which it does. Every
case is tried at every level, with and without a named accelerator.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from delegate_sim.delegates.nnapi.rules import EXPLANATIONS, RULES, validate
from delegate_sim.delegates.nnapi.target import FEATURE_LEVELS, Target
from delegate_sim.graph.graph import NodeView
from delegate_sim.model import schema
from delegate_sim.model.model import Tensor
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules.rule import Check, rules_in
from tests.graphs import arena, constant, node_view, persistent, quantized

LEVEL_6, LEVEL_7 = 1000006, 1000007
TARGETS = [Target(level, accelerator) for level in FEATURE_LEVELS for accelerator in (True, False)]


class Failure(NamedTuple):
    """One expected failure, for targets from one level on and below another."""

    code: str
    kind: str
    first: int = 0
    end: int = LEVEL_7 + 2
    accelerators: tuple[bool, ...] = (True, False)

    def since(self, level: int) -> Failure:
        return self._replace(first=level)

    def below(self, level: int) -> Failure:
        return self._replace(end=level)

    def with_accelerator(self, named: bool) -> Failure:
        return self._replace(accelerators=(named,))

    def counts_at(self, target: Target) -> bool:
        return self.first <= target.level < self.end and target.accelerator in self.accelerators


VERSION = Failure("nnapi-operator-version", "kUnsupportedOperatorVersion")
LEVEL = Failure("nnapi-feature-level", "kUnsupportedAndroidVersion")
INPUT_TYPE = Failure("nnapi-input-type", "kUnsupportedInputType")
OUTPUT_TYPE = Failure("nnapi-output-type", "kUnsupportedOutputType")
RANK = Failure("nnapi-rank", "kUnsupportedOperandRank")
RANK_VALUE = Failure("nnapi-rank", "kUnsupportedOperandValue")
ACTIVATION = Failure("nnapi-activation", "kNoActivationExpected")
CONSTANT = Failure("nnapi-constant-operand", "kInputTensorShouldHaveConstantShape")
CONSTANT_TYPE = Failure("nnapi-constant-operand", "kUnsupportedInputType")
VALUE = Failure("nnapi-operand-value", "kUnsupportedOperandValue")
VALUE_TYPE = Failure("nnapi-operand-value", "kUnsupportedInputType")
COUNT = Failure("nnapi-operand-count", "kUnsupportedOperatorVariant")
HYBRID = Failure("nnapi-hybrid", "kUnsupportedHybridOperator")
SCALES = Failure("nnapi-restricted-scales", "kNotRestrictedScaleCompliant")
QUANTIZATION = Failure("nnapi-quantization", "kUnsupportedQuantizationParameters")
SCALAR_OUTPUT = Failure("nnapi-scalar-output", "kUnsupportedOutputType")
ZERO_SIZE = Failure("nnapi-zero-size", "kUnsupportedOperandValue")


class Case(NamedTuple):
    """A node and the failures expected of it."""

    op: str
    failures: tuple[Failure, ...]
    node: NodeView
    arguments: Mapping[str, Any]


_CASES: list[Case] = []
_ACCEPTED: dict[str, Case] = {}


def accepted(op: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor], *failures: Failure, version=1, **options):
    """Add the node that other cases of this operator are variants of. What refuses it depends on the level alone."""
    arguments = {"inputs": inputs, "outputs": outputs, "version": version, "options": options}
    _ACCEPTED[op] = Case(op, failures, node_view(op, **arguments), arguments)
    _CASES.append(_ACCEPTED[op])


def variant(op: str, *failures: Failure, inputs=None, outputs=None, version=None, **options):
    """Add a variant of the accepted node; operands are given as a new list, or by position."""
    arguments = dict(_ACCEPTED[op].arguments)
    arguments["inputs"] = _replaced(arguments["inputs"], inputs)
    arguments["outputs"] = _replaced(arguments["outputs"], outputs)
    arguments["version"] = version or arguments["version"]
    arguments["options"] = {**arguments["options"], **options}
    _CASES.append(Case(op, failures, node_view(op, **arguments), arguments))


def without_options(op: str, *failures: Failure):
    """Add the accepted node without an options table, whose fields the runtime leaves at 0."""
    arguments = {**_ACCEPTED[op].arguments, "options": None}
    _CASES.append(Case(op, failures, node_view(op, **arguments), arguments))


def _replaced(tensors: Sequence[Tensor | None], changes: Any) -> Sequence[Tensor | None]:
    if isinstance(changes, Mapping):
        return [changes.get(position, tensor) for position, tensor in enumerate(tensors)]
    return tensors if changes is None else changes


FLOAT = arena("FLOAT32", 1, 4, 4, 2)
FLOAT_RANK_2 = arena("FLOAT32", 4, 2)
FLOAT_RANK_3 = arena("FLOAT32", 4, 4, 2)
FLOAT_RANK_5 = arena("FLOAT32", 1, 1, 4, 4, 2)
FLOAT_SCALAR = arena("FLOAT32")
INT8 = quantized(arena("INT8", 1, 4, 4, 2), 0.5)
UINT8 = quantized(arena("UINT8", 1, 4, 4, 2), 0.5, zero_point=128)
INT16 = arena("INT16", 1, 4, 4, 2)
INT32 = arena("INT32", 1, 4, 4, 2)
INT64 = arena("INT64", 1, 4, 4, 2)
BOOL = arena("BOOL", 1, 4, 4, 2)

AXIS = constant(1)
AXIS_INT64 = constant(1, "INT64")
COMPUTED_AXIS = arena("INT32")
PERSISTENT_AXIS = persistent(1)
PAIR = constant([1, 2])
COMPUTED_PAIR = arena("INT32", 2)
PERSISTENT_PAIR = persistent([1, 2])

RELU = 1


# Arithmetic

for _op in ("ADD", "MUL"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], version=2)
    variant(_op, inputs={0: FLOAT_SCALAR})
    variant(_op, fused_activation_function=RELU)
    variant(_op, INPUT_TYPE.below(30), inputs=[INT32, INT32])
    variant(_op, INPUT_TYPE.below(30), ACTIVATION.since(30), inputs=[INT32, INT32], fused_activation_function=RELU)
    variant(_op, INPUT_TYPE, inputs=[INT16, FLOAT], fused_activation_function=RELU)
    variant(_op, inputs=[FLOAT, INT64])
    variant(_op, RANK, inputs={0: FLOAT_RANK_5})
    variant(_op, RANK, inputs={1: FLOAT_RANK_5})
    variant(_op, RANK, inputs={0: FLOAT_RANK_5, 1: FLOAT_RANK_5})
    variant(
        _op, VERSION, INPUT_TYPE.below(30), ACTIVATION.since(30), RANK,
        inputs=[INT32, FLOAT_RANK_5], version=4, fused_activation_function=RELU,
    )  # fmt: skip
    variant(_op, VERSION, INPUT_TYPE, RANK, inputs=[INT64, FLOAT_RANK_5], version=4)
variant("MUL", VERSION.with_accelerator(False), version=3)

# SUB names a level that is too low by the type of the operand.
accepted("SUB", [FLOAT, FLOAT], [FLOAT], Failure("nnapi-feature-level", "kUnsupportedInputType").below(28), version=3)
_SUB_LEVEL = _ACCEPTED["SUB"].failures[0]
variant("SUB", _SUB_LEVEL, fused_activation_function=RELU)
variant("SUB", _SUB_LEVEL, INPUT_TYPE.since(28).below(30), ACTIVATION, inputs={0: INT32}, fused_activation_function=RELU)
variant("SUB", _SUB_LEVEL, RANK, inputs={1: FLOAT_RANK_5})
variant("SUB", VERSION, _SUB_LEVEL, INPUT_TYPE.since(28).below(29), inputs={0: UINT8}, version=4)
variant("SUB", VERSION, _SUB_LEVEL, INPUT_TYPE.since(28), RANK, inputs=[INT64, FLOAT_RANK_5], version=4)
variant("SUB", _SUB_LEVEL, INPUT_TYPE.since(28).below(30), ACTIVATION, RANK,
        inputs=[INT32, FLOAT_RANK_5], fused_activation_function=RELU)  # fmt: skip

accepted("DIV", [FLOAT, FLOAT], [FLOAT], LEVEL.below(28))
variant("DIV", LEVEL.below(28), fused_activation_function=RELU)
variant("DIV", VERSION, LEVEL.below(28), INPUT_TYPE, RANK, inputs=[UINT8, FLOAT_RANK_5], version=2)

accepted("SQUARED_DIFFERENCE", [FLOAT, FLOAT], [FLOAT], LEVEL.below(28), version=2)
variant("SQUARED_DIFFERENCE", LEVEL.below(28), RANK, inputs={0: FLOAT_RANK_5})
variant("SQUARED_DIFFERENCE", VERSION, LEVEL.below(28), INPUT_TYPE.below(30), RANK, inputs=[INT8, FLOAT_RANK_5], version=3)
variant("SQUARED_DIFFERENCE", VERSION, LEVEL.below(28), INPUT_TYPE, RANK, inputs=[INT64, FLOAT_RANK_5], version=3)

for _op in ("MAXIMUM", "MINIMUM"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT], LEVEL.below(29), version=3)
    variant(_op, LEVEL.below(29), inputs=[constant(1.0, "FLOAT32"), constant(1.0, "FLOAT32")])
    variant(_op, LEVEL.below(29), CONSTANT_TYPE, inputs={0: FLOAT_SCALAR})
    variant(_op, LEVEL.below(29), CONSTANT_TYPE, inputs={1: persistent(1.0, "FLOAT32")})
    variant(
        _op, VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, CONSTANT_TYPE,
        inputs=[arena("INT64"), FLOAT_SCALAR], version=4,
    )  # fmt: skip

for _op in ("ABS", "EXP", "LOG", "COS", "SIN", "SQRT"):
    accepted(_op, [FLOAT_RANK_5], [FLOAT_RANK_5], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs=[INT8], version=2)

accepted("POW", [FLOAT, FLOAT_RANK_5], [FLOAT], LEVEL.below(29))
variant("POW", VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: INT32}, version=2)

accepted("RSQRT", [FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("RSQRT", VERSION, LEVEL.below(29), INPUT_TYPE.below(LEVEL_7), inputs=[INT8], version=3)
variant("RSQRT", LEVEL.below(29), INPUT_TYPE, inputs=[INT32])

accepted("NEG", [FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("NEG", VERSION, LEVEL.below(29), INPUT_TYPE, inputs=[INT8], version=3)

accepted("FLOOR", [INT64], [INT64])
variant("FLOOR", VERSION, version=2)

for _op in ("LOGICAL_OR", "LOGICAL_AND", "LOGICAL_NOT"):
    accepted(_op, [BOOL, BOOL], [BOOL], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: UINT8}, version=2)

for _op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
    accepted(_op, [FLOAT_RANK_5, FLOAT], [BOOL], LEVEL.below(29), version=2)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, inputs={0: INT64}, version=3)

accepted("SELECT", [BOOL, FLOAT, FLOAT], [FLOAT], LEVEL.below(29), version=2)
variant("SELECT", LEVEL.below(29), VALUE._replace(code="nnapi-broadcast"), inputs={0: arena("BOOL", 4)})
variant("SELECT", LEVEL.below(29), inputs={2: INT64})
variant(
    "SELECT", VERSION, LEVEL.below(29), INPUT_TYPE, VALUE._replace(code="nnapi-broadcast"),
    inputs={1: arena("INT64", 1)}, version=3,
)  # fmt: skip

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

accepted("TOPK_V2", [FLOAT, AXIS], [FLOAT, INT32], LEVEL.below(29), version=2)
variant("TOPK_V2", LEVEL.below(29), CONSTANT_TYPE, inputs={1: COMPUTED_AXIS})
variant("TOPK_V2", LEVEL.below(29), CONSTANT_TYPE, inputs={1: PERSISTENT_AXIS})
variant("TOPK_V2", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[INT64, AXIS_INT64], version=3)

# Activations and normalisations

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

# Convolutions, pooling, resizing, matrix products

_MISSING_BIAS = Failure("nnapi-missing-bias", "kMissingRequiredOperand")
_PER_CHANNEL = Failure("nnapi-per-channel", "kUnsupportedQuantizationType").below(29)
_FILTER = arena("FLOAT32", 2, 1, 1, 2)
_INT8_FILTER = quantized(arena("INT8", 2, 1, 1, 2), 0.5)
_UINT8_FILTER = quantized(arena("UINT8", 2, 1, 1, 2), 0.5)
_INT8_CHANNELS = quantized(arena("INT8", 2, 1, 1, 1), 0.5, 0.25)
_BIAS = arena("FLOAT32", 2)
_WIDE, _NARROW = UINT8._replace(scale=0.26), UINT8._replace(scale=0.25)

accepted("CONV_2D", [FLOAT, _FILTER, _BIAS], [FLOAT], version=5)
variant("CONV_2D", inputs={2: None})
variant("CONV_2D", _MISSING_BIAS, inputs=[FLOAT, _FILTER])
variant("CONV_2D", _MISSING_BIAS, inputs=[FLOAT, _FILTER, _BIAS, _BIAS])
variant("CONV_2D", HYBRID.below(29), inputs={1: _INT8_FILTER})
variant("CONV_2D", INPUT_TYPE.below(29), inputs=[INT8, _INT8_FILTER, _BIAS])
variant("CONV_2D", _PER_CHANNEL, inputs={1: quantized(_FILTER, 0.5, 0.25)})
variant("CONV_2D", inputs={1: quantized(_FILTER, 0.5)})
variant("CONV_2D", inputs=[UINT8, _UINT8_FILTER, _BIAS], outputs=[_WIDE])
variant("CONV_2D", SCALES.below(29), inputs=[UINT8, _UINT8_FILTER, _BIAS], outputs=[_NARROW])
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

accepted("DEPTHWISE_CONV_2D", [FLOAT, _FILTER, _BIAS], [FLOAT], version=3)
variant("DEPTHWISE_CONV_2D", inputs=[FLOAT, _INT8_CHANNELS])
variant("DEPTHWISE_CONV_2D", inputs=[UINT8, _UINT8_FILTER, _BIAS], outputs=[_WIDE])
variant("DEPTHWISE_CONV_2D", VALUE.below(29), dilation_h_factor=2)
variant("DEPTHWISE_CONV_2D", VALUE.below(29), dilation_w_factor=2)
without_options("DEPTHWISE_CONV_2D", VALUE.below(29))
variant("DEPTHWISE_CONV_2D", VERSION, INPUT_TYPE.below(29), VALUE.below(29), inputs={0: INT8}, version=4, dilation_w_factor=2)
variant(
    "DEPTHWISE_CONV_2D", VERSION, SCALES.below(29), VALUE.below(29),
    inputs=[UINT8, _UINT8_FILTER, _BIAS], outputs=[_NARROW], version=4, dilation_w_factor=2,
)  # fmt: skip

accepted(
    "TRANSPOSE_CONV", [constant([1, 8, 8, 2]), constant([[[[1, 1]]]], "FLOAT32"), FLOAT], [FLOAT], LEVEL.below(29), version=4
)
variant("TRANSPOSE_CONV", LEVEL.below(29), CONSTANT, inputs={0: arena("INT32", 4)})
variant("TRANSPOSE_CONV", LEVEL.below(29), CONSTANT, inputs={1: _FILTER})
variant("TRANSPOSE_CONV", VERSION, LEVEL.below(29), CONSTANT, inputs={0: persistent([1, 8, 8, 2]), 1: _FILTER}, version=5)

accepted("FULLY_CONNECTED", [FLOAT_RANK_2, arena("FLOAT32", 3, 2), None], [arena("FLOAT32", 4, 3)], version=5)
variant("FULLY_CONNECTED", LEVEL.below(30), keep_num_dims=True)
variant("FULLY_CONNECTED", HYBRID.below(29), inputs={1: _INT8_FILTER})
variant("FULLY_CONNECTED", OUTPUT_TYPE, outputs=[INT16])
variant("FULLY_CONNECTED", inputs=[UINT8, _UINT8_FILTER], outputs=[_WIDE])
variant("FULLY_CONNECTED", VERSION, OUTPUT_TYPE, HYBRID.below(29), LEVEL.below(30),
        inputs={1: _INT8_FILTER}, outputs=[INT16], version=9, keep_num_dims=True)  # fmt: skip
variant("FULLY_CONNECTED", VERSION, OUTPUT_TYPE, INPUT_TYPE.below(29), LEVEL.below(30),
        inputs={0: INT8}, outputs=[INT16], version=6, keep_num_dims=True)  # fmt: skip
variant("FULLY_CONNECTED", VERSION, SCALES.below(29), LEVEL.below(30),
        inputs=[UINT8, _UINT8_FILTER], outputs=[_NARROW], version=6, keep_num_dims=True)  # fmt: skip

_BROADCAST = INPUT_TYPE._replace(code="nnapi-broadcast")
accepted("BATCH_MATMUL", [FLOAT_RANK_2, FLOAT_RANK_2], [FLOAT_RANK_2], LEVEL.below(LEVEL_6), version=2)
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), inputs=[FLOAT, FLOAT])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), HYBRID, inputs={1: arena("INT8", 4, 2)})
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), RANK, inputs=[_BIAS, _BIAS])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), _BROADCAST, inputs=[FLOAT, FLOAT_RANK_3])
variant("BATCH_MATMUL", LEVEL.below(LEVEL_6), _BROADCAST, inputs=[FLOAT, arena("FLOAT32", 2, 4, 4, 2)])
variant(
    "BATCH_MATMUL", VERSION, LEVEL.below(LEVEL_6), INPUT_TYPE, HYBRID, RANK, _BROADCAST,
    inputs=[arena("UINT8", 1, 1, 4, 4, 2), FLOAT], version=3,
)  # fmt: skip

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

# Operators that move elements

accepted("RESHAPE", [FLOAT, PAIR], [FLOAT])
variant("RESHAPE", CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("RESHAPE", INPUT_TYPE.below(LEVEL_6), inputs={0: INT32})
variant("RESHAPE", inputs=[FLOAT], new_shape=(4,))
variant("RESHAPE", RANK, inputs=[FLOAT])
variant("RESHAPE", RANK, inputs=[FLOAT], new_shape=(0,))
variant("RESHAPE", inputs=[FLOAT], new_shape=(0, 0))
variant(
    "RESHAPE", VERSION, INPUT_TYPE, RANK, RANK, CONSTANT,
    inputs=[arena("INT64", 1, 1, 1, 1, 1), COMPUTED_PAIR], outputs=[FLOAT_RANK_5], version=2,
)  # fmt: skip
variant("RESHAPE", VERSION, RANK, RANK, RANK, inputs=[FLOAT_RANK_5], outputs=[FLOAT_RANK_5], version=2)

accepted("SQUEEZE", [INT64], [INT64], LEVEL.below(28), squeeze_dims=(1,))
variant("SQUEEZE", LEVEL.below(28), VALUE.since(28).below(29), squeeze_dims=())
variant("SQUEEZE", VERSION, LEVEL.below(28), VALUE.since(28).below(29), squeeze_dims=(), version=2)

accepted("EXPAND_DIMS", [FLOAT, AXIS], [FLOAT_RANK_5], LEVEL.below(29))
variant("EXPAND_DIMS", LEVEL.below(29), CONSTANT_TYPE, inputs={1: PERSISTENT_AXIS})
variant("EXPAND_DIMS", VERSION, LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[INT16, AXIS_INT64], version=2)

accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], version=2)
variant("CONCATENATION", inputs=[UINT8, UINT8, UINT8])
variant("CONCATENATION", VALUE.below(29), inputs=[UINT8, UINT8, _WIDE])
variant("CONCATENATION", VALUE.below(29), inputs=[UINT8, UINT8._replace(zero_point=0), _WIDE])
variant("CONCATENATION", inputs=[INT8, INT8._replace(scale=0.25)])
variant("CONCATENATION", VERSION, ACTIVATION, RANK, VALUE.below(29),
        inputs=[UINT8._replace(shape=(1,) * 5), _WIDE], version=3, fused_activation_function=RELU)  # fmt: skip
variant("CONCATENATION", VERSION, ACTIVATION, RANK, INPUT_TYPE,
        inputs=[arena("INT32", 1, 1, 1, 1, 1)], version=3, fused_activation_function=RELU)  # fmt: skip

accepted("SPLIT", [AXIS, FLOAT], [FLOAT, FLOAT], LEVEL.below(29), version=3)
variant("SPLIT", LEVEL.below(29), CONSTANT_TYPE, inputs={0: COMPUTED_AXIS})
variant("SPLIT", VERSION, LEVEL.below(29), INPUT_TYPE.below(30), CONSTANT_TYPE, inputs=[AXIS_INT64, INT8], version=4)
variant("SPLIT", LEVEL.below(29), INPUT_TYPE, CONSTANT_TYPE, inputs=[AXIS_INT64, INT64])

accepted("SPLIT_V", [FLOAT, constant([1, 3]), AXIS], [FLOAT, FLOAT], LEVEL.below(30), version=2)
variant("SPLIT_V", LEVEL.below(30), inputs={1: constant([-1, 3])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([0, 4])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([4, -1])})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, inputs={1: constant([2, -1]), 2: constant(-1)})
variant("SPLIT_V", LEVEL.below(30), VALUE_TYPE, VALUE_TYPE, inputs={1: constant([0, 4, -1])})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([[0, 4]])})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([0, 4], "INT64")})
variant("SPLIT_V", LEVEL.below(30), CONSTANT_TYPE, inputs={1: constant([0, 4]), 2: PERSISTENT_AXIS})
variant("SPLIT_V", VERSION, LEVEL.below(30), INPUT_TYPE, CONSTANT_TYPE, CONSTANT_TYPE,
        inputs=[INT64, PERSISTENT_PAIR, AXIS_INT64], version=3)  # fmt: skip

accepted("PACK", [FLOAT, FLOAT], [FLOAT_RANK_5], LEVEL.below(30), version=2, axis=3)
variant("PACK", LEVEL.below(30), VALUE.below(LEVEL_6), axis=-1)
variant("PACK", LEVEL.below(30), VALUE.below(LEVEL_6), axis=4)
variant("PACK", VERSION, LEVEL.below(30), INPUT_TYPE.below(LEVEL_6), VALUE.below(LEVEL_6), inputs=[UINT8], version=3, axis=4)
variant("PACK", LEVEL.below(30), INPUT_TYPE, inputs=[INT16])

accepted("UNPACK", [FLOAT], [FLOAT_RANK_3], LEVEL.below(30), version=2, axis=2)
variant("UNPACK", LEVEL.below(30), VALUE, axis=-1)
variant("UNPACK", LEVEL.below(30), VALUE, axis=3)
variant("UNPACK", LEVEL.below(30), RANK_VALUE, inputs=[FLOAT_RANK_5])
variant("UNPACK", VERSION, LEVEL.below(30), INPUT_TYPE, VALUE, VALUE, inputs=[arena("INT32", 2)], version=3, axis=0)
variant("UNPACK", VERSION, LEVEL.below(30), RANK_VALUE, VALUE, inputs=[FLOAT_RANK_5], version=3, axis=4)

for _op in ("PAD", "PADV2"):
    accepted(_op, [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(28), version=2)
    variant(_op, LEVEL.below(28), INPUT_TYPE.below(29), inputs={0: INT8})
    variant(_op, LEVEL.below(28), COUNT.below(29), inputs=[INT8, PAIR, AXIS])
    variant(_op, LEVEL.below(28), COUNT, INPUT_TYPE.below(29), inputs=[INT8])
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT.below(29),
            inputs=[arena("INT16", 0), PAIR, AXIS], version=3)  # fmt: skip
    variant(_op, VERSION, INPUT_TYPE, LEVEL.below(28), ZERO_SIZE, COUNT, INPUT_TYPE.below(29),
            inputs=[arena("INT16", 0)], version=3)  # fmt: skip

REFLECT, UNKNOWN_MODE = 0, 2
accepted("MIRROR_PAD", [FLOAT, COMPUTED_PAIR], [FLOAT], LEVEL.below(LEVEL_7), version=2, mode=REFLECT)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), mode=1)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE, mode=UNKNOWN_MODE)
without_options("MIRROR_PAD", LEVEL.below(LEVEL_7), VALUE)
variant("MIRROR_PAD", LEVEL.below(LEVEL_7), COUNT, inputs=[FLOAT, PAIR, AXIS])
variant("MIRROR_PAD", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, VALUE, ZERO_SIZE, COUNT,
        inputs=[arena("INT16", 0)], version=3, mode=UNKNOWN_MODE)  # fmt: skip

accepted("REVERSE_V2", [FLOAT, AXIS], [FLOAT], LEVEL.below(LEVEL_7), version=3)
variant("REVERSE_V2", LEVEL.below(LEVEL_7), inputs={1: COMPUTED_AXIS})
variant("REVERSE_V2", VERSION, LEVEL.below(LEVEL_7), INPUT_TYPE, COUNT, inputs=[BOOL], version=4)

accepted("SPACE_TO_BATCH_ND", [INT64, PAIR, PAIR], [INT64], LEVEL.below(28), version=2)
variant("SPACE_TO_BATCH_ND", VERSION, LEVEL.below(28), version=3)

_NO_CROPS = constant([[0, 0], [0, 0]])
accepted("BATCH_TO_SPACE_ND", [INT64, PAIR, _NO_CROPS], [INT64], LEVEL.below(28), version=2)
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), inputs={2: persistent([[0, 0], [0, 0]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0], [0, 1]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0]])})
variant("BATCH_TO_SPACE_ND", LEVEL.below(28), VALUE, inputs={2: constant([[0, 0]] * 3)})
variant("BATCH_TO_SPACE_ND", VERSION, LEVEL.below(28), VALUE, inputs={2: arena("INT32", 2, 2)}, version=3)

accepted("SPACE_TO_DEPTH", [FLOAT], [FLOAT], version=2)
variant("SPACE_TO_DEPTH", VERSION, INPUT_TYPE, inputs=[INT32], version=3)

accepted("DEPTH_TO_SPACE", [FLOAT], [FLOAT], version=9)
variant("DEPTH_TO_SPACE", INPUT_TYPE, inputs=[INT32])

accepted("STRIDED_SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR, PAIR], [FLOAT], LEVEL.below(28), version=2)
variant("STRIDED_SLICE", VERSION, INPUT_TYPE, LEVEL.below(28), inputs={0: INT32}, version=3)

accepted("SLICE", [FLOAT_RANK_5, COMPUTED_PAIR, PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("SLICE", LEVEL.below(29), INPUT_TYPE, inputs={2: AXIS_INT64})
variant("SLICE", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, INPUT_TYPE, inputs=[BOOL, AXIS_INT64, AXIS_INT64], version=3)

accepted("TRANSPOSE", [INT64, PAIR], [INT64], LEVEL.below(28), version=2)
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: COMPUTED_PAIR})
variant("TRANSPOSE", LEVEL.below(28), CONSTANT, inputs={1: PERSISTENT_PAIR})
variant("TRANSPOSE", VERSION, LEVEL.below(28), CONSTANT, inputs=[FLOAT], version=3)

accepted("TILE", [FLOAT_RANK_5, COMPUTED_PAIR], [FLOAT], LEVEL.below(29))
variant("TILE", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, inputs=[BOOL, constant([1, 2], "INT64")], version=2)

accepted("FILL", [PAIR, FLOAT_SCALAR], [FLOAT], LEVEL.below(30))
variant("FILL", LEVEL.below(30), inputs=[constant([(1 << 31) - 1], "INT64"), constant(-(1 << 31), "INT64")])
variant("FILL", LEVEL.below(30), VALUE, inputs={0: constant([1, 1 << 31], "INT64")})
variant("FILL", LEVEL.below(30), VALUE, inputs={0: constant([])})
variant("FILL", LEVEL.below(30), VALUE_TYPE, inputs={1: constant(-(1 << 31) - 1, "INT64")})
variant("FILL", LEVEL.below(30), inputs={1: arena("INT64")})
variant("FILL", LEVEL.below(30), CONSTANT_TYPE, inputs={0: PERSISTENT_PAIR})
variant("FILL", VERSION, LEVEL.below(30), CONSTANT_TYPE, INPUT_TYPE, INPUT_TYPE, inputs=[_BIAS, BOOL], version=2)
variant("FILL", VERSION, LEVEL.below(30), VALUE, VALUE_TYPE,
        inputs=[constant([1 << 31], "INT64"), constant(1 << 31, "INT64")], version=2)  # fmt: skip
variant("FILL", VERSION, LEVEL.below(30), INPUT_TYPE, VALUE, INPUT_TYPE, inputs=[constant([], "FLOAT32"), BOOL], version=2)
variant("FILL", LEVEL.below(30), VALUE, INPUT_TYPE, inputs=[constant([1 << 31], "INT64"), BOOL])

accepted("GATHER", [FLOAT_RANK_5, COMPUTED_PAIR], [FLOAT], LEVEL.below(29), version=2)
variant("GATHER", LEVEL.below(29), RANK, inputs={1: COMPUTED_AXIS})
variant("GATHER", VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, RANK, inputs=[BOOL, arena("INT64")], version=3)

accepted("EMBEDDING_LOOKUP", [INT64, FLOAT], [FLOAT])
variant("EMBEDDING_LOOKUP", VERSION, INPUT_TYPE, inputs={1: INT8}, version=2)

accepted("HASHTABLE_LOOKUP", [INT64, INT64, INT64], [FLOAT, UINT8])
variant("HASHTABLE_LOOKUP", VERSION, OUTPUT_TYPE, outputs={0: INT32}, version=2)

# Reductions

for _op in ("ARG_MAX", "ARG_MIN"):
    accepted(_op, [FLOAT_RANK_5, AXIS], [INT32], LEVEL.below(29), version=2, output_type=2)
    variant(_op, LEVEL.below(29), inputs={1: COMPUTED_AXIS})
    variant(_op, LEVEL.below(29), inputs={1: AXIS_INT64})
    variant(_op, LEVEL.below(29), INPUT_TYPE, inputs={1: persistent(1, "INT64")})
    variant(_op, LEVEL.below(29), INPUT_TYPE, inputs={1: constant(1 << 31, "INT64")})
    variant(_op, LEVEL.below(29), inputs={1: constant(-(1 << 31), "INT64")})
    variant(_op, LEVEL.below(29), OUTPUT_TYPE, output_type=4)
    without_options(_op, LEVEL.below(29), OUTPUT_TYPE)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, INPUT_TYPE, OUTPUT_TYPE,
            inputs=[INT64, FLOAT_SCALAR], version=3, output_type=4)  # fmt: skip

accepted("MEAN", [FLOAT, COMPUTED_AXIS], [FLOAT_RANK_2], LEVEL.below(28), version=2)
variant("MEAN", LEVEL.below(28), SCALAR_OUTPUT, outputs=[FLOAT_SCALAR])
variant("MEAN", VERSION, LEVEL.below(28), INPUT_TYPE.below(29), SCALAR_OUTPUT, RANK_VALUE,
        inputs={0: arena("INT8", 1, 1, 1, 1, 1)}, outputs=[FLOAT_SCALAR], version=3)  # fmt: skip
variant("MEAN", VERSION, LEVEL.below(28), INPUT_TYPE, SCALAR_OUTPUT, RANK_VALUE,
        inputs={0: arena("INT16", 1, 1, 1, 1, 1)}, outputs=[FLOAT_SCALAR], version=3)  # fmt: skip

accepted("REDUCE_ANY", [INT64, COMPUTED_AXIS], [INT64], LEVEL.below(29), version=2)
variant("REDUCE_ANY", VERSION, LEVEL.below(29), SCALAR_OUTPUT, outputs=[FLOAT_SCALAR], version=3)

for _op in ("REDUCE_MIN", "REDUCE_MAX"):
    accepted(_op, [FLOAT_RANK_5, COMPUTED_AXIS], [FLOAT_SCALAR], LEVEL.below(29), version=2)
    variant(_op, VERSION, LEVEL.below(29), INPUT_TYPE, OUTPUT_TYPE._replace(code="nnapi-rank"),
            inputs={0: COMPUTED_AXIS}, version=3)  # fmt: skip

for _op in ("REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT_RANK_5, COMPUTED_AXIS], [FLOAT_RANK_2], LEVEL.below(29))
    variant(_op, VERSION, LEVEL.below(29), SCALAR_OUTPUT, INPUT_TYPE, inputs={0: INT8}, outputs=[FLOAT_SCALAR], version=2)

# Recurrent operators and sparse weights

_WEIGHTS = arena("FLOAT32", 2, 2)
_INT8_WEIGHTS = arena("INT8", 2, 2)
_UINT8_WEIGHTS = arena("UINT8", 2, 2)


def _full_lstm(*weights: Tensor, count: int = 20) -> list[Tensor]:
    """The operands of the full kernel: the input, its three or four weights, and others that are not looked at."""
    return [FLOAT_RANK_2, *weights, *[_WEIGHTS] * (count - 1 - len(weights))]


accepted("LSTM", _full_lstm(), [FLOAT_RANK_2], LEVEL.below(28), version=3)
variant("LSTM", LEVEL.below(28), LEVEL.below(29), inputs=_full_lstm(count=24))
variant("LSTM", LEVEL.below(28), HYBRID.below(29), inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS))
variant("LSTM", LEVEL.below(28), INPUT_TYPE.below(30), inputs=_full_lstm(_WEIGHTS, _WEIGHTS, _WEIGHTS, _INT8_WEIGHTS))
variant("LSTM", LEVEL.below(28), INPUT_TYPE, inputs=_full_lstm(_WEIGHTS, _WEIGHTS, _WEIGHTS, arena("INT16", 2, 2)))
# Neither kernel: not hybrid either, and its fifth operand counts as weights.
variant("LSTM", LEVEL.below(28), inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS, count=18))
variant("LSTM", VERSION, LEVEL.below(28), HYBRID.below(29), LEVEL.below(29), INPUT_TYPE.below(30),
        inputs=_full_lstm(*[_INT8_WEIGHTS] * 4, count=24), version=4)  # fmt: skip

_UNIT = quantized(arena("UINT8", 1, 2), 1 / 128, zero_point=128)
_STATE = quantized(arena("INT16", 1, 2), 16 / 32768)
_BASIC_INPUTS = [_UNIT, _UNIT, constant([[1, 1]], "UINT8"), constant([1]), _STATE]
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE])
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(zero_point=5)])
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(scale=1.0)])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(scale=1.0, zero_point=5)])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=_BASIC_INPUTS, outputs=[_UNIT._replace(zero_point=0), _STATE])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=[_UNIT._replace(scale=0.5), *_BASIC_INPUTS[1:]], outputs=[_UNIT, _STATE])
variant("LSTM", LEVEL.below(28), CONSTANT, inputs=[*_BASIC_INPUTS[:3], COMPUTED_PAIR, _STATE], outputs=[_UNIT, _STATE])
variant(
    "LSTM", VERSION, LEVEL.below(28), INPUT_TYPE, QUANTIZATION, QUANTIZATION, QUANTIZATION, CONSTANT, CONSTANT,
    inputs=[FLOAT, FLOAT, _INT8_WEIGHTS, COMPUTED_PAIR, INT8],
    outputs=[FLOAT, _STATE._replace(scale=1.0, zero_point=5)], version=4,
)  # fmt: skip

accepted("UNIDIRECTIONAL_SEQUENCE_LSTM", _full_lstm(), [FLOAT_RANK_3], LEVEL.below(29), version=2)
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", LEVEL.below(29), inputs=_full_lstm(count=24))
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", VERSION, LEVEL.below(29), HYBRID, COUNT,
        inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS, count=21), version=3)  # fmt: skip

accepted("BIDIRECTIONAL_SEQUENCE_LSTM", _full_lstm(count=48), [FLOAT_RANK_3, FLOAT_RANK_3], LEVEL.below(29))
variant("BIDIRECTIONAL_SEQUENCE_LSTM", VERSION, LEVEL.below(29), HYBRID, inputs=_full_lstm(_WEIGHTS, _UINT8_WEIGHTS), version=2)

accepted("UNIDIRECTIONAL_SEQUENCE_RNN", [FLOAT, *[_WEIGHTS] * 4], [FLOAT], LEVEL.below(29))
variant("UNIDIRECTIONAL_SEQUENCE_RNN", LEVEL.below(29), inputs={0: INT8, 1: _INT8_WEIGHTS})
variant("UNIDIRECTIONAL_SEQUENCE_RNN", VERSION, LEVEL.below(29), HYBRID, inputs={1: _INT8_WEIGHTS}, version=2)

accepted("RNN", [INT8, *[_WEIGHTS] * 4], [FLOAT])
variant("RNN", COUNT, inputs=[FLOAT])
variant("RNN", VERSION, COUNT, INPUT_TYPE, inputs=[FLOAT, _INT8_WEIGHTS], version=2)

_RANK_LEVEL = RANK._replace(code="nnapi-feature-level").below(28)
_RANK_COUNT = RANK._replace(code="nnapi-operand-count")
accepted("SVDF", [INT8, *[_WEIGHTS] * 4], [FLOAT], _RANK_LEVEL)
variant("SVDF", INPUT_TYPE, _RANK_LEVEL, INPUT_TYPE, inputs={1: _INT8_WEIGHTS})
variant("SVDF", VERSION, _RANK_COUNT, INPUT_TYPE, _RANK_LEVEL, INPUT_TYPE, inputs=[FLOAT, _INT8_WEIGHTS], version=2)

SPARSE, DENSE = 1, 2
accepted("LSH_PROJECTION", [FLOAT, FLOAT, FLOAT], [INT32], type=DENSE)
variant("LSH_PROJECTION", VALUE_TYPE.below(29), inputs=[FLOAT, FLOAT], type=SPARSE)
variant("LSH_PROJECTION", VERSION, VALUE_TYPE.below(29), COUNT, type=SPARSE, version=2)
without_options("LSH_PROJECTION")

_DENSE_WEIGHTS = Failure("nnapi-dense-weights", "sparse-weights")
accepted("DENSIFY", [constant([1], "INT64")], [FLOAT], _DENSE_WEIGHTS.below(30), version=9)
variant("DENSIFY", _DENSE_WEIGHTS, inputs=[FLOAT])


def _identifier(case: Case) -> str:
    return f"{case.op}-{'+'.join(failure.code for failure in case.failures) or 'accepted'}"


@pytest.mark.parametrize("case", _CASES, ids=_identifier)
def test_failures_in_order_at_every_level(case):
    def expected(target):
        return [(failure.code, failure.kind) for failure in case.failures if failure.counts_at(target)]

    verdicts = {target: validate(case.node, target) for target in TARGETS}
    found = {target: [(reason.code, reason.kind) for reason in verdict.reasons] for target, verdict in verdicts.items()}
    assert found == {target: expected(target) for target in TARGETS}
    assert all(verdict.is_supported == (not verdict.reasons) for verdict in verdicts.values())


def test_every_reason_says_what_was_found_and_what_was_needed():
    reasons = {reason for case in _CASES for target in TARGETS for reason in validate(case.node, target).reasons}
    assert all(reason.found and reason.needed for reason in reasons)
    assert all(reason.message == f"{reason.found}; needs {reason.needed}" for reason in reasons)


# Operators that have no rule

_UNMAPPED = [("nnapi-operator", "kUnsupportedOperator")]


@pytest.mark.parametrize("op", sorted(set(schema.enum_names("BuiltinOperator").values()) - set(RULES) - {"CUSTOM"}))
def test_operators_that_are_not_mapped(op):
    view = node_view(op, [FLOAT], [FLOAT])
    for target in TARGETS:
        assert [(reason.code, reason.kind) for reason in validate(view, target).reasons] == _UNMAPPED


def test_custom_operators_are_not_mapped_whatever_their_name():
    for target in TARGETS:
        verdict = validate(node_view("ADD", [FLOAT, FLOAT], [FLOAT], custom=True), target)
        assert [(reason.code, reason.kind) for reason in verdict.reasons] == _UNMAPPED


# Versions

_VERSION_LIMITS = {
    1: "ABS BIDIRECTIONAL_SEQUENCE_LSTM CAST COS DIV ELU EMBEDDING_LOOKUP EXP EXPAND_DIMS FILL FLOOR HASHTABLE_LOOKUP L2_POOL_2D "
    "LEAKY_RELU LOCAL_RESPONSE_NORMALIZATION LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOG_SOFTMAX LSH_PROJECTION POW PRELU "
    "REDUCE_PROD RESHAPE RNN SIN SQRT SQUEEZE SUM SVDF TILE UNIDIRECTIONAL_SEQUENCE_RNN",
    2: "ADD ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_MATMUL BATCH_TO_SPACE_ND CONCATENATION DEQUANTIZE EQUAL GATHER GREATER "
    "GREATER_EQUAL L2_NORMALIZATION LESS LESS_EQUAL LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD MUL NEG NOT_EQUAL PACK PAD PADV2 "
    "QUANTIZE REDUCE_ANY REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_N1_TO_1 RSQRT SELECT SLICE SOFTMAX SPACE_TO_BATCH_ND "
    "SPACE_TO_DEPTH SPLIT_V SQUARED_DIFFERENCE STRIDED_SLICE TANH TOPK_V2 TRANSPOSE UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK",
    3: "DEPTHWISE_CONV_2D LSTM MAXIMUM MINIMUM RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_V2 SPLIT SUB",
    4: "TRANSPOSE_CONV",
    5: "CONV_2D FULLY_CONNECTED",
    99: "DENSIFY DEPTH_TO_SPACE HARD_SWISH",
}
_VERSIONS = [(op, limit) for limit, ops in _VERSION_LIMITS.items() for op in ops.split()]


@pytest.mark.parametrize(("op", "limit"), _VERSIONS, ids=[f"{op}-nnapi-operator-version" for op, _ in _VERSIONS])
def test_versions(op, limit):
    def kinds(version):
        view = node_view(op, **{**_ACCEPTED[op].arguments, "version": version})
        return [reason.kind for reason in validate(view, Target(LEVEL_7, False)).reasons]

    accepted_versions = [version for version in range(1, 12) if not kinds(version)]
    assert accepted_versions == [version for version in range(1, 12) if version <= limit]
    assert all(kinds(version) == ["kUnsupportedOperatorVersion"] for version in range(limit + 1, 12))


def test_dequantize_has_no_version_0():
    view = node_view("DEQUANTIZE", [UINT8], [FLOAT], version=0)
    assert [reason.kind for reason in validate(view, Target(30, True)).reasons] == ["kUnsupportedOperatorVersion"]


# Types

_ALL = frozenset(schema.enum_names("TensorType").values())
_F = frozenset({"FLOAT32"})
_FU = _F | {"UINT8"}
_FQ = _FU | {"INT8"}
_FUI = _FU | {"INT32"}
_FQI = _FQ | {"INT32"}
_I = frozenset({"INT32"})
_U = frozenset({"UINT8"})
_Q = _U | {"INT8"}

_TYPES: list[tuple[str, str, int, dict[int, frozenset[str]]]] = [
    ("ADD MUL", "inputs", 0, {27: _FQ, 30: _FQI}),
    ("SUB", "inputs", 0, {27: frozenset(), 28: _F, 29: _FQ, 30: _FQI}),
    ("SQUARED_DIFFERENCE", "inputs", 0, {27: _F, 29: _FU, 30: _FQI}),
    ("RSQRT", "inputs", 0, {27: _F, LEVEL_7: _FQ}),
    ("NEG", "inputs", 0, {27: _F | _I}),
    ("LOGICAL_OR LOGICAL_AND LOGICAL_NOT", "inputs", 0, {27: frozenset({"BOOL"})}),
    ("LESS LESS_EQUAL GREATER GREATER_EQUAL EQUAL NOT_EQUAL", "inputs", 0, {27: _FQI | {"BOOL"}}),
    ("DIV ABS EXP LOG POW COS SIN SQRT ELU LOG_SOFTMAX L2_POOL_2D REDUCE_PROD SUM", "inputs", 0, {27: _F}),
    ("MAXIMUM MINIMUM TOPK_V2 SLICE TILE MIRROR_PAD REVERSE_V2 SPLIT_V", "inputs", 0, {27: _FQI}),
    ("RELU RELU_N1_TO_1 RELU6 LOGISTIC HARD_SWISH LEAKY_RELU PRELU SOFTMAX QUANTIZE", "inputs", 0, {27: _FQ}),
    ("AVERAGE_POOL_2D MAX_POOL_2D RESIZE_NEAREST_NEIGHBOR SPACE_TO_DEPTH DEPTH_TO_SPACE", "inputs", 0, {27: _FQ}),
    ("STRIDED_SLICE UNPACK REDUCE_MIN REDUCE_MAX", "inputs", 0, {27: _FQ}),
    ("TANH MEAN PAD PADV2 RESIZE_BILINEAR", "inputs", 0, {27: _F, 29: _FQ}),
    ("L2_NORMALIZATION", "inputs", 0, {27: _F, 29: _ALL}),
    ("CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED", "inputs", 0, {27: _FU, 29: _ALL}),
    ("BATCH_MATMUL", "inputs", 0, {27: _F | {"INT32", "INT8"}}),
    ("CAST", "inputs", 0, {27: _FUI, 30: _FQI}),
    ("DEQUANTIZE", "inputs", 0, {27: _U, 29: _Q, 30: _Q | {"FLOAT16"}}),
    ("RESHAPE", "inputs", 0, {27: _FQ, LEVEL_6: _FQI}),
    ("EXPAND_DIMS GATHER ARG_MAX ARG_MIN", "inputs", 0, {27: _FQI | {"FLOAT16"}}),
    ("CONCATENATION", "inputs", 0, {27: _FQ | {"FLOAT16"}}),
    ("SPLIT", "inputs", 0, {27: _I}),
    ("PACK", "inputs", 0, {27: _F | {"INT8"}, LEVEL_6: _FQI}),
    ("FILL", "inputs", 0, {27: _I | {"INT64"}}),
    ("FLOOR SELECT LOCAL_RESPONSE_NORMALIZATION TRANSPOSE_CONV SQUEEZE", "inputs", 0, {27: _ALL}),
    ("SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND TRANSPOSE EMBEDDING_LOOKUP HASHTABLE_LOOKUP REDUCE_ANY", "inputs", 0, {27: _ALL}),
    ("LSTM UNIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_LSTM", "inputs", 0, {27: _ALL}),
    ("UNIDIRECTIONAL_SEQUENCE_RNN RNN SVDF LSH_PROJECTION DENSIFY", "inputs", 0, {27: _ALL}),
    ("EMBEDDING_LOOKUP RNN SVDF", "inputs", 1, {27: _F}),
    ("SELECT", "inputs", 1, {27: _FQI}),
    ("SPLIT", "inputs", 1, {27: _FUI, 30: _FQI}),
    ("FILL", "inputs", 1, {27: _F | _I | {"INT64"}}),
    ("ARG_MAX ARG_MIN", "inputs", 1, {27: _I | {"INT64"}}),
    ("TOPK_V2 EXPAND_DIMS GATHER TILE SLICE SPLIT_V", "inputs", 1, {27: _I}),
    ("SLICE SPLIT_V", "inputs", 2, {27: _I}),
    ("LSTM", "inputs", 4, {27: _FU, 30: _FQ}),
    ("SOFTMAX", "outputs", 0, {27: _FQ}),
    ("CAST", "outputs", 0, {27: _FUI, 30: _FQI}),
    ("QUANTIZE", "outputs", 0, {27: _U, 30: _Q}),
    ("FULLY_CONNECTED", "outputs", 0, {27: _ALL - {"INT16"}}),
    ("HASHTABLE_LOOKUP", "outputs", 0, {27: _F}),
]
"""The types, by the lowest level, at which an operand or result gives no failure about types. All others take every type."""

_TYPE_KINDS = {"inputs": "kUnsupportedInputType", "outputs": "kUnsupportedOutputType"}
_LIMITED = {(op, side, position): levels for ops, side, position, levels in _TYPES for op in ops.split()}
_OPERANDS = [
    (case.op, side, position)
    for case in _ACCEPTED.values()
    for side in ("inputs", "outputs")
    for position in range(min(5, len(case.arguments[side])))
]


@pytest.mark.parametrize(("op", "side", "position"), _OPERANDS, ids=[f"{op}-{side}{number}" for op, side, number in _OPERANDS])
def test_types(op, side, position):
    arguments = _ACCEPTED[op].arguments
    levels = _LIMITED.get((op, side, position), {27: _ALL})
    # What is refused at a level whatever the types says nothing about them.
    tried = [level for level in FEATURE_LEVELS if (op, level) != ("SUB", 27) or position == 0]

    def refused_types(level):
        refused = set()
        for kind in _ALL:
            tensor = (arguments[side][position] or arena("FLOAT32", 2))._replace(type=kind, zero_point=0)
            changed = {**arguments, side: _replaced(arguments[side], {position: tensor})}
            kinds = [reason.kind for reason in validate(node_view(op, **changed), Target(level, True)).reasons]
            if _TYPE_KINDS[side] in kinds:
                refused.add(kind)
        return refused

    assert {level: refused_types(level) for level in tried} == {
        level: _ALL - levels[max(since for since in levels if since <= level)] for level in tried
    }


# Nothing is left out


def test_every_operator_has_tables():
    assert set(_ACCEPTED) == {op for op, _ in _VERSIONS} == set(RULES)
    assert {op for op, side, position in _LIMITED if (side, position) == ("inputs", 0)} == set(RULES)


def _all_checks(op: str) -> list[Check]:
    rule = rules_in(RULES, NEWEST)[op]
    return [*rule.checks, *([rule.accepted_early] if rule.accepted_early else [])]


def test_every_check_is_exercised_on_both_sides():
    refused, met = set(), set()
    for case, target in itertools.product(_CASES, TARGETS):
        for position, check in enumerate(_all_checks(case.op)):
            if check.counts_at(target.level, target.accelerator):
                side = met if check.finder(case.node, target) is None else refused
                side.add((case.op, position, check.code))
    every = {(op, position, check.code) for op in RULES for position, check in enumerate(_all_checks(op))}
    assert every - refused == set()
    assert every - met == {("SUB", 1, "nnapi-feature-level")}, "this one stands for a level at which nothing is taken"


def test_every_code_is_explained_and_every_explanation_is_of_a_code():
    codes = {check.code for op in RULES for check in RULES[op].checks}
    assert {*codes, "nnapi-operator"} == set(EXPLANATIONS)
    assert codes == {failure.code for case in _CASES for failure in case.failures}
