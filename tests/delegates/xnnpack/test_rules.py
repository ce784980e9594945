"""The acceptance rules, operator by operator, against the visits in ``xnnpack_delegate.cc``.

Each case is a node and the one code that it is refused with, None if it is taken.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from delegate_sim.delegates.xnnpack.rules import EXPLANATIONS, RULES, custom, validate
from delegate_sim.delegates.xnnpack.target import DEFAULT_FLAGS, FLAGS, Target
from delegate_sim.graph.graph import file_graph
from delegate_sim.model.model import Quantization
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules.rule import rules_in
from fixtures.builder import ModelBuilder
from tests.delegates.cases import CaseTable, assert_explained
from tests.graphs import arena, constant, node_view, persistent, quantized

OPERATOR = "xnnpack-unsupported-operator"
VERSION = "xnnpack-operator-version"
COUNT = "xnnpack-operand-count"
OPTIONAL = "xnnpack-optional-operand"
CONSTANT = "xnnpack-constant-operand"
TYPE = "xnnpack-tensor-type"
HYBRID = "xnnpack-hybrid"
RANK = "xnnpack-rank"
SHAPE = "xnnpack-shape"
VALUE = "xnnpack-operand-value"
ATTRIBUTE = "xnnpack-attribute-value"
ACTIVATION = "xnnpack-activation"
QUANTIZATION = "xnnpack-quantization"
NEIGHBOUR = "xnnpack-neighbouring-node"

DEFAULT = Target()
NO_8_BITS = Target(0)
UNSIGNED_ONLY = Target(FLAGS["qu8"])
DYNAMIC_WEIGHTS = Target(DEFAULT_FLAGS | FLAGS["dynamic_fully_connected"])
NO_DYNAMIC_QUANTIZATION = Target(DEFAULT_FLAGS | FLAGS["disable_dynamically_quantized_ops"])

TANH = 4
SHAPE_4 = (1, 4, 4, 2)
FLOAT = arena("FLOAT32", *SHAPE_4)
FLOAT16 = arena("FLOAT16", *SHAPE_4)
INT8 = quantized(arena("INT8", *SHAPE_4), 0.5)
UINT8 = quantized(arena("UINT8", *SHAPE_4), 0.5, zero_point=128)
INT16 = arena("INT16", *SHAPE_4)
BARE_INT8 = arena("INT8", *SHAPE_4)
PER_CHANNEL = quantized(arena("INT8", *SHAPE_4), 0.5)._replace(
    quantization=Quantization("affine", np.array([0.5, 0.5], np.float32), np.zeros(2, np.int64), 3)
)
RANK_7 = arena("FLOAT32", 1, 1, 1, 1, 1, 1, 2)
EMPTY = arena("FLOAT32", 1, 0, 4, 2)
RANK_3 = arena("FLOAT32", 4, 4, 2)
SCALAR = arena("FLOAT32")


def scaled(scale, kind="INT8"):
    """An activation with another scale than the others."""
    return quantized(arena(kind, *SHAPE_4), scale)


def weights(*shape, kind="FLOAT32", scales=(), zero_point=0, dimension=0):
    """A constant of ones, quantised if there are scales."""
    tensor = constant(np.ones(shape), kind)
    if not scales:
        return tensor
    tensor = quantized(tensor, *scales, zero_point=zero_point)
    return tensor._replace(quantization=tensor.quantization._replace(dimension=dimension))


TABLE = CaseTable(DEFAULT)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

# Arithmetic, activations and conversions

_FLOAT_UNARY = (
    "ABS", "CEIL", "COS", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "ROUND", "RSQRT",
    "SIN", "SQRT", "SQUARE",
)  # fmt: skip
for _op in (*_FLOAT_UNARY, "ELU", "LOGISTIC", "TANH"):
    accepted(_op, [FLOAT], [FLOAT])
    variant(_op, None, inputs=[FLOAT16], outputs=[FLOAT16])
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, RANK, inputs=[RANK_7])
    variant(_op, SHAPE, inputs=[EMPTY])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, TYPE, outputs=[INT16])
for _op in _FLOAT_UNARY:
    variant(_op, TYPE, inputs=[INT8])
for _op in ("ELU", "LOGISTIC", "TANH"):
    variant(_op, None, inputs=[INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8], outputs=[INT8], target=NO_8_BITS)
    variant(_op, TYPE if _op == "ELU" else None, inputs=[UINT8], outputs=[UINT8])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, QUANTIZATION, inputs=[PER_CHANNEL])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])

accepted("DEQUANTIZE", [INT8], [FLOAT])
variant("DEQUANTIZE", None, inputs=[UINT8], outputs=[FLOAT16])
variant("DEQUANTIZE", COUNT, outputs=[FLOAT, FLOAT])
variant("DEQUANTIZE", RANK, inputs=[RANK_7])
variant("DEQUANTIZE", SHAPE, inputs=[EMPTY])
variant("DEQUANTIZE", TYPE, inputs=[FLOAT16])
variant("DEQUANTIZE", TYPE, inputs=[UINT8], target=NO_8_BITS)
variant("DEQUANTIZE", QUANTIZATION, inputs=[PER_CHANNEL])
variant("DEQUANTIZE", TYPE, outputs=[INT8])

accepted("QUANTIZE", [FLOAT], [INT8])
variant("QUANTIZE", None, inputs=[INT8])
variant("QUANTIZE", None, inputs=[scaled(64.0)])
variant("QUANTIZE", COUNT, inputs=[])
variant("QUANTIZE", RANK, inputs=[RANK_7])
variant("QUANTIZE", SHAPE, inputs=[EMPTY])
variant("QUANTIZE", TYPE, inputs=[INT16])
variant("QUANTIZE", QUANTIZATION, inputs=[BARE_INT8])
variant("QUANTIZE", TYPE, outputs=[INT16])
variant("QUANTIZE", QUANTIZATION, outputs=[BARE_INT8])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(64.5)])
variant("QUANTIZE", QUANTIZATION, inputs=[scaled(0.001)])
variant("QUANTIZE", TYPE, inputs=[UINT8])
variant("QUANTIZE", TYPE, inputs=[scaled(-1.0)])

accepted("LEAKY_RELU", [FLOAT], [FLOAT], alpha=0.25)
variant("LEAKY_RELU", None, inputs=[INT8], outputs=[INT8])
variant("LEAKY_RELU", COUNT, inputs=[FLOAT, FLOAT])
variant("LEAKY_RELU", RANK, inputs=[RANK_7])
variant("LEAKY_RELU", SHAPE, inputs=[EMPTY])
variant("LEAKY_RELU", TYPE, inputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, inputs=[BARE_INT8])
variant("LEAKY_RELU", TYPE, outputs=[INT16])
variant("LEAKY_RELU", QUANTIZATION, outputs=[BARE_INT8])
variant("LEAKY_RELU", ATTRIBUTE, alpha=0.0)
variant("LEAKY_RELU", ATTRIBUTE, alpha=float("inf"))
variant("LEAKY_RELU", QUANTIZATION, inputs=[scaled(128.0)], outputs=[INT8])
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=0.001)
variant("LEAKY_RELU", QUANTIZATION, inputs=[INT8], outputs=[INT8], alpha=-128.0)

for _op in ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
    accepted(_op, [FLOAT, FLOAT], [FLOAT])
    variant(_op, None, inputs={1: SCALAR})
    variant(_op, COUNT, inputs=[FLOAT])
    for _position in (0, 1):
        variant(_op, RANK, inputs={_position: RANK_7})
        variant(_op, SHAPE, inputs={_position: EMPTY})
        variant(_op, TYPE, inputs={_position: INT16})
    variant(_op, TYPE, outputs=[INT16])
for _op in ("ADD", "SUB", "MUL"):
    variant(_op, None, inputs=[INT8, INT8], outputs=[INT8])
    variant(_op, TYPE, inputs=[INT8, INT8], outputs=[INT8], target=UNSIGNED_ONLY)
    for _position in (0, 1):
        variant(_op, QUANTIZATION, inputs={_position: BARE_INT8})
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, HYBRID, inputs=[FLOAT, FLOAT16])
    variant(_op, QUANTIZATION, inputs=[scaled(256.0), INT8], outputs=[INT8])
for _op in ("ADD", "SUB"):
    variant(_op, QUANTIZATION, inputs=[scaled(128.0), INT8], outputs=[INT8])
    variant(_op, QUANTIZATION, inputs=[INT8, scaled(0.0004)], outputs=[INT8])
for _op in ("ADD", "SUB", "MUL", "DIV"):
    variant(_op, None, fused_activation_function=1)
    variant(_op, ACTIVATION, fused_activation_function=TANH)
    without_options(_op, None)

accepted("PRELU", [FLOAT, weights(2)], [FLOAT])
variant("PRELU", COUNT, inputs=[FLOAT])
variant("PRELU", RANK, inputs={0: RANK_7})
variant("PRELU", SHAPE, inputs={0: EMPTY})
variant("PRELU", RANK, inputs={1: RANK_7})
variant("PRELU", SHAPE, inputs={1: EMPTY})
variant("PRELU", TYPE, inputs={0: INT8})
variant("PRELU", TYPE, inputs={1: INT8})
variant("PRELU", TYPE, outputs=[INT8])
variant("PRELU", CONSTANT, inputs={1: FLOAT})

accepted("SOFTMAX", [FLOAT], [FLOAT], beta=1.0)
variant("SOFTMAX", ATTRIBUTE, beta=2.0)
variant("SOFTMAX", COUNT, inputs=[FLOAT, FLOAT])
variant("SOFTMAX", TYPE, inputs=[INT8])
variant("SOFTMAX", TYPE, outputs=[INT8])
without_options("SOFTMAX", ATTRIBUTE)

# Convolutions and pooling

INT8_WEIGHTS = weights(2, 3, 3, 2, kind="INT8", scales=(0.5,))
INT32_BIAS = weights(2, kind="INT32", scales=(0.25,))


def convolution(op, filter_shape, dimension, **options):
    """The cases that CONV_2D and DEPTHWISE_CONV_2D have in common."""
    kernel = weights(*filter_shape)
    int8_kernel = weights(*filter_shape, kind="INT8", scales=(0.5,))
    per_channel = weights(*filter_shape, kind="INT8", scales=(0.5, 0.25), dimension=dimension)
    accepted(op, [FLOAT, kernel, weights(2)], [FLOAT], stride_w=1, stride_h=1, **options)
    variant(op, None, inputs=[INT8, int8_kernel, INT32_BIAS], outputs=[INT8])
    variant(op, None, inputs=[INT8, per_channel, weights(2, kind="INT32", scales=(0.5, 0.5))], outputs=[INT8])
    variant(op, None, inputs=[UINT8, weights(*filter_shape, kind="UINT8", scales=(0.5,)), INT32_BIAS], outputs=[UINT8])
    variant(op, None, inputs=[FLOAT16, weights(*filter_shape, kind="FLOAT16"), weights(2)], outputs=[FLOAT16])
    variant(op, COUNT, inputs=[FLOAT, kernel])
    variant(op, TYPE, inputs={0: INT16})
    variant(op, QUANTIZATION, inputs={0: BARE_INT8})
    variant(op, RANK, inputs={0: RANK_3})
    variant(op, SHAPE, inputs={0: EMPTY})
    variant(op, TYPE, inputs={1: weights(*filter_shape, kind="INT16")})
    variant(op, TYPE, inputs={1: int8_kernel}, target=NO_8_BITS)
    variant(op, QUANTIZATION, inputs={1: weights(*filter_shape, kind="INT8")})
    variant(op, QUANTIZATION, inputs={1: weights(*filter_shape, kind="UINT8")})
    variant(op, QUANTIZATION, inputs={1: weights(*filter_shape, kind="INT8", scales=(0.0,))})
    variant(op, QUANTIZATION, inputs={1: weights(*filter_shape, kind="INT8", scales=(0.5, 0.5), dimension=1)})
    variant(
        op, QUANTIZATION, inputs={1: weights(*filter_shape, kind="INT8", scales=(0.5, 0.5), zero_point=1, dimension=dimension)}
    )
    variant(op, RANK, inputs={1: weights(3, 3, 2)})
    variant(op, SHAPE, inputs={1: weights(0, 3, 3, 2)})
    variant(op, CONSTANT, inputs={1: arena("FLOAT32", *filter_shape)})
    variant(op, CONSTANT, inputs={1: persistent(np.ones(filter_shape), "FLOAT32")})
    variant(op, OPTIONAL, inputs={2: None})
    variant(op, TYPE, inputs={2: weights(2, kind="INT64")})
    variant(op, TYPE, inputs={2: INT32_BIAS}, target=UNSIGNED_ONLY)
    variant(op, QUANTIZATION, inputs={2: weights(2, kind="INT32")})
    variant(op, QUANTIZATION, inputs={2: weights(2, kind="INT32", scales=(0.5,), zero_point=1)})
    variant(op, RANK, inputs={2: weights(1, 2)})
    variant(op, SHAPE, inputs={2: weights(0)})
    variant(op, CONSTANT, inputs={2: arena("FLOAT32", 2)})
    variant(op, HYBRID, inputs={2: INT32_BIAS})
    variant(op, HYBRID, inputs={2: weights(2, kind="FLOAT16")})
    variant(op, TYPE, outputs=[INT16])
    variant(op, QUANTIZATION, outputs=[BARE_INT8])
    variant(op, RANK, outputs=[RANK_3])
    variant(op, SHAPE, outputs=[EMPTY])
    variant(op, HYBRID, outputs=[FLOAT16])
    variant(op, ATTRIBUTE, stride_w=0)
    variant(op, ATTRIBUTE, dilation_h_factor=0)
    variant(op, ATTRIBUTE, padding=2)
    variant(op, ACTIVATION, fused_activation_function=TANH)
    without_options(op, ATTRIBUTE)


convolution("CONV_2D", (2, 3, 3, 2), 0)
variant("CONV_2D", None, inputs={1: INT8_WEIGHTS})
variant("CONV_2D", HYBRID, inputs={1: INT8_WEIGHTS}, target=NO_DYNAMIC_QUANTIZATION)
variant("CONV_2D", SHAPE, inputs={1: weights(2, 3, 3, 4)})

convolution("DEPTHWISE_CONV_2D", (1, 3, 3, 2), 3, depth_multiplier=1)
variant("DEPTHWISE_CONV_2D", HYBRID, inputs={1: weights(1, 3, 3, 2, kind="INT8", scales=(0.5,))})
variant("DEPTHWISE_CONV_2D", ATTRIBUTE, depth_multiplier=0)
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=3)

_SIZES = constant([1, 4, 4, 2])
accepted("TRANSPOSE_CONV", [_SIZES, weights(2, 3, 3, 2), FLOAT], [FLOAT], stride_w=1, stride_h=1)
variant("TRANSPOSE_CONV", None, inputs=[_SIZES, weights(2, 3, 3, 2), FLOAT, None])
variant("TRANSPOSE_CONV", None, inputs=[_SIZES, INT8_WEIGHTS, FLOAT, weights(2)])
variant("TRANSPOSE_CONV", COUNT, inputs=[_SIZES, FLOAT])
variant("TRANSPOSE_CONV", TYPE, inputs={0: constant([1, 4, 4, 2], "INT64")})
variant("TRANSPOSE_CONV", RANK, inputs={0: constant([[1, 4, 4, 2]])})
variant("TRANSPOSE_CONV", CONSTANT, inputs={0: persistent([1, 4, 4, 2])})
variant("TRANSPOSE_CONV", SHAPE, inputs={0: constant([4, 4, 2])})
variant("TRANSPOSE_CONV", RANK, inputs={1: weights(3, 3, 2)})
variant("TRANSPOSE_CONV", SHAPE, inputs={1: weights(2, 0, 3, 2)})
variant("TRANSPOSE_CONV", CONSTANT, inputs={1: arena("FLOAT32", 2, 3, 3, 2)})
variant("TRANSPOSE_CONV", TYPE, inputs={2: FLOAT16})
variant("TRANSPOSE_CONV", QUANTIZATION, inputs={2: BARE_INT8})
variant("TRANSPOSE_CONV", RANK, inputs={2: RANK_3})
variant("TRANSPOSE_CONV", SHAPE, inputs={2: EMPTY})
variant("TRANSPOSE_CONV", TYPE, inputs={1: weights(2, 3, 3, 2, kind="INT16")})
variant("TRANSPOSE_CONV", QUANTIZATION, inputs={1: weights(2, 3, 3, 2, kind="INT8")})
for _bias, _code in [
    (weights(2, kind="INT64"), TYPE), (weights(2, kind="INT32"), QUANTIZATION), (weights(1, 2), RANK), (weights(0), SHAPE),
    (arena("FLOAT32", 2), CONSTANT),
]:  # fmt: skip
    variant("TRANSPOSE_CONV", _code, inputs=[_SIZES, weights(2, 3, 3, 2), FLOAT, _bias])
variant("TRANSPOSE_CONV", TYPE, outputs=[FLOAT16])
variant("TRANSPOSE_CONV", QUANTIZATION, outputs=[BARE_INT8])
variant("TRANSPOSE_CONV", RANK, outputs=[RANK_3])
variant("TRANSPOSE_CONV", SHAPE, outputs=[EMPTY])
variant("TRANSPOSE_CONV", VALUE, inputs={0: constant([1, 4, 4, 3])})
variant("TRANSPOSE_CONV", SHAPE, inputs={1: weights(2, 3, 3, 3)})
variant("TRANSPOSE_CONV", ATTRIBUTE, inputs={0: constant([1, 9, 4, 2])})
variant("TRANSPOSE_CONV", ATTRIBUTE, inputs={0: constant([1, 16, 4, 2])}, stride_h=4)
variant("TRANSPOSE_CONV", ATTRIBUTE, inputs={0: constant([1, 2, 4, 2])}, padding=1)
variant("TRANSPOSE_CONV", ATTRIBUTE, stride_h=0)
variant("TRANSPOSE_CONV", ACTIVATION, fused_activation_function=TANH)
without_options("TRANSPOSE_CONV", ATTRIBUTE)

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], stride_w=2, stride_h=2, filter_width=2, filter_height=2)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, ATTRIBUTE, stride_w=0)
    variant(_op, ATTRIBUTE, filter_height=0)
    variant(_op, ATTRIBUTE, stride_w=3)
    variant(_op, ATTRIBUTE, filter_width=1, filter_height=1, stride_w=1, stride_h=2)
    variant(_op, None, filter_width=1, filter_height=1, stride_w=1, stride_h=1)
    variant(_op, ATTRIBUTE, padding=2)
    variant(_op, ACTIVATION, fused_activation_function=TANH)
variant("AVERAGE_POOL_2D", TYPE, inputs=[INT8], outputs=[INT8])
variant("MAX_POOL_2D", None, inputs=[INT8], outputs=[INT8])
variant("MAX_POOL_2D", TYPE, inputs=[FLOAT16])
variant("MAX_POOL_2D", QUANTIZATION, inputs=[BARE_INT8])
variant("MAX_POOL_2D", QUANTIZATION, outputs=[BARE_INT8])

# Matrix products

MATRIX = arena("FLOAT32", 3, 4)
INT8_MATRIX = quantized(arena("INT8", 3, 4), 0.5)
UINT8_MATRIX = quantized(arena("UINT8", 3, 4), 0.5)
accepted("FULLY_CONNECTED", [MATRIX, weights(2, 4), weights(2)], [arena("FLOAT32", 3, 2)])
variant("FULLY_CONNECTED", None, inputs=[MATRIX, weights(2, 4)])
variant("FULLY_CONNECTED", None, inputs=[MATRIX, weights(2, 4), None])
variant("FULLY_CONNECTED", None, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,), zero_point=3)})
variant("FULLY_CONNECTED", None, inputs={1: weights(2, 4, kind="INT8")})
variant("FULLY_CONNECTED", HYBRID, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,))}, target=NO_DYNAMIC_QUANTIZATION)
variant("FULLY_CONNECTED", VERSION, version=8)
variant("FULLY_CONNECTED", ATTRIBUTE, weights_format=1)
variant("FULLY_CONNECTED", COUNT, inputs=[MATRIX])
variant("FULLY_CONNECTED", TYPE, inputs={0: arena("INT16", 3, 4)})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={0: arena("INT8", 3, 4)})
variant("FULLY_CONNECTED", RANK, inputs={1: weights(2, 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: weights(0, 4)})
variant("FULLY_CONNECTED", TYPE, inputs={1: weights(2, 4, kind="INT16")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: weights(2, 4, kind="UINT8")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: weights(2, 4, kind="INT8", scales=(0.5,) * 4, dimension=1)})
variant("FULLY_CONNECTED", CONSTANT, inputs={1: arena("FLOAT32", 2, 4)})
variant("FULLY_CONNECTED", None, inputs={1: arena("FLOAT32", 2, 4), 2: arena("FLOAT32", 3)}, target=DYNAMIC_WEIGHTS)
variant("FULLY_CONNECTED", SHAPE, inputs={2: weights(3)})
variant("FULLY_CONNECTED", TYPE, inputs={2: weights(2, kind="INT64")})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={2: weights(2, kind="INT32")})
variant("FULLY_CONNECTED", CONSTANT, inputs={2: arena("FLOAT32", 2)})
variant("FULLY_CONNECTED", HYBRID, inputs={2: weights(2, kind="FLOAT16")})
variant("FULLY_CONNECTED", TYPE, outputs=[arena("INT16", 3, 2)])
variant("FULLY_CONNECTED", QUANTIZATION, outputs=[arena("INT8", 3, 2)])
variant("FULLY_CONNECTED", HYBRID, outputs=[arena("FLOAT16", 3, 2)])
variant(
    "FULLY_CONNECTED", QUANTIZATION,
    inputs=[INT8_MATRIX, weights(2, 4, kind="INT8", scales=(0.5,), zero_point=1)], outputs=[quantized(arena("INT8", 3, 2), 0.5)],
)  # fmt: skip
variant("FULLY_CONNECTED", ACTIVATION, fused_activation_function=TANH)


def small_weights(kind, *shape, **changes):
    """Constant INT4 or INT2 weights, which numpy cannot hold."""
    return weights(*shape, kind="INT8", scales=(0.5,) * shape[0])._replace(type=kind, value=None, **changes)


def in_blocks(size, scales_tensor=0):
    """Blockwise quantisation."""
    return Quantization("blockwise", np.empty(0, np.float32), np.empty(0, np.int64), 0, size, scales_tensor, -1)


variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT4", 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: small_weights("INT4", 2, 3)})
variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT2", 2, 4)})
variant("FULLY_CONNECTED", SHAPE, inputs={1: small_weights("INT2", 2, 6)})
_ONE_SCALE = weights(2, 4, kind="INT8", scales=(0.5,)).quantization
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT2", 2, 4, quantization=_ONE_SCALE)})
variant("FULLY_CONNECTED", None, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(32))})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(16))})
variant("FULLY_CONNECTED", QUANTIZATION, inputs={1: small_weights("INT4", 2, 32, quantization=in_blocks(32, -1))})

COLUMNS = arena("FLOAT32", 4, 5)
INT8_COLUMNS = quantized(arena("INT8", 4, 5), 0.5)
accepted("BATCH_MATMUL", [MATRIX, COLUMNS], [MATRIX])
variant("BATCH_MATMUL", None, inputs={1: INT8_COLUMNS})
variant("BATCH_MATMUL", None, inputs=[INT8_MATRIX, INT8_COLUMNS], outputs=[INT8_MATRIX])
variant("BATCH_MATMUL", TYPE, inputs={0: arena("INT16", 3, 4)})
variant("BATCH_MATMUL", QUANTIZATION, inputs={0: arena("INT8", 3, 4)})
variant("BATCH_MATMUL", TYPE, inputs={1: arena("INT16", 4, 5)})
variant("BATCH_MATMUL", QUANTIZATION, inputs={1: quantized(arena("INT8", 4, 5), *[0.5] * 4)})
variant("BATCH_MATMUL", None, inputs={1: quantized(arena("INT8", 5, 4), *[0.5] * 5)}, adj_y=True)
variant("BATCH_MATMUL", QUANTIZATION, inputs=[INT8_MATRIX, quantized(arena("INT8", 4, 5), 0.5, zero_point=1)])
variant("BATCH_MATMUL", TYPE, outputs=[arena("INT16", 3, 4)])
variant("BATCH_MATMUL", QUANTIZATION, outputs=[arena("INT8", 3, 4)])
variant("BATCH_MATMUL", HYBRID, inputs={0: INT8_MATRIX})
variant("BATCH_MATMUL", RANK, inputs={0: arena("FLOAT32", 4)})
variant("BATCH_MATMUL", RANK, inputs={1: arena("FLOAT32", 4)})

# Shapes

accepted("CONCATENATION", [FLOAT, FLOAT], [FLOAT], axis=3)
variant("CONCATENATION", None, inputs=[FLOAT] * 5, axis=-1)
variant("CONCATENATION", COUNT, inputs=[FLOAT] * 6)
variant("CONCATENATION", TYPE, outputs=[INT16])
variant("CONCATENATION", QUANTIZATION, outputs=[BARE_INT8])
variant("CONCATENATION", ATTRIBUTE, axis=4)
variant("CONCATENATION", QUANTIZATION, inputs=[UINT8, scaled(0.25, "UINT8")], outputs=[UINT8])
variant("CONCATENATION", None, inputs=[INT8, scaled(0.25)], outputs=[INT8])
variant("CONCATENATION", TYPE, inputs={1: INT16})
variant("CONCATENATION", QUANTIZATION, inputs={1: BARE_INT8})

accepted("SPLIT", [constant(3), FLOAT], [FLOAT, FLOAT], num_splits=2)
variant("SPLIT", ATTRIBUTE, num_splits=3)
variant("SPLIT", COUNT, outputs=[FLOAT] * 5, num_splits=5)
variant("SPLIT", TYPE, inputs={0: constant(3, "INT64")})
variant("SPLIT", CONSTANT, inputs={0: persistent(3)})
variant("SPLIT", TYPE, inputs={1: INT16})
variant("SPLIT", QUANTIZATION, inputs={1: BARE_INT8})
variant("SPLIT", TYPE, outputs={1: INT16})
variant("SPLIT", QUANTIZATION, outputs={1: BARE_INT8})

accepted("SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2], "INT64")], [FLOAT])
for _position in (1, 2):
    variant("SLICE", RANK, inputs={_position: constant([[1, 2, 2, 2]])})
    variant("SLICE", CONSTANT, inputs={_position: persistent([1, 2, 2, 2])})
    variant("SLICE", TYPE, inputs={_position: constant([1, 2, 2, 2], "INT16")})
variant("SLICE", SHAPE, inputs={1: constant([0])})
variant("SLICE", TYPE, inputs={0: INT16})
variant("SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("SLICE", TYPE, outputs=[INT16])
variant("SLICE", QUANTIZATION, outputs=[BARE_INT8])
variant("SLICE", VALUE, inputs={2: constant([1, 2, 2, -1])})

_ONES = constant([1, 1, 1, 1])
accepted("STRIDED_SLICE", [FLOAT, constant([0, 0, 0, 0]), constant([1, 2, 2, 2]), _ONES], [FLOAT])
for _name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
    variant("STRIDED_SLICE", ATTRIBUTE, **{_name: 1})
for _position in (1, 2, 3):
    variant("STRIDED_SLICE", RANK, inputs={_position: constant([[1, 1, 1, 1]])})
    variant("STRIDED_SLICE", CONSTANT, inputs={_position: persistent([1, 1, 1, 1])})
    variant("STRIDED_SLICE", TYPE, inputs={_position: constant([1, 1, 1, 1], "INT64")})
    variant("STRIDED_SLICE", SHAPE, inputs={_position: constant([1, 1, 1])})
variant("STRIDED_SLICE", VALUE, inputs={3: constant([1, 2, 1, 1])})
variant("STRIDED_SLICE", TYPE, inputs={0: INT16})
variant("STRIDED_SLICE", QUANTIZATION, inputs={0: BARE_INT8})
variant("STRIDED_SLICE", TYPE, outputs=[INT16])
variant("STRIDED_SLICE", QUANTIZATION, outputs=[BARE_INT8])

accepted("RESHAPE", [FLOAT, constant([8, 4])], [arena("FLOAT32", 8, 4)])
variant("RESHAPE", None, inputs=[FLOAT], new_shape=(8, 4))
variant("RESHAPE", None, inputs={1: constant([[8, 4]])})
variant("RESHAPE", COUNT, inputs=[])
variant("RESHAPE", TYPE, inputs={0: INT16})
variant("RESHAPE", QUANTIZATION, inputs={0: BARE_INT8})
variant("RESHAPE", RANK, inputs={0: RANK_7})
variant("RESHAPE", SHAPE, inputs={0: EMPTY})
variant("RESHAPE", TYPE, outputs=[INT16])
variant("RESHAPE", QUANTIZATION, outputs=[BARE_INT8])
variant("RESHAPE", RANK, outputs=[RANK_7])
variant("RESHAPE", SHAPE, outputs=[EMPTY])
variant("RESHAPE", QUANTIZATION, inputs={0: INT8}, outputs=[scaled(0.25)])
variant("RESHAPE", TYPE, inputs={1: constant([8, 4], "INT64")})
variant("RESHAPE", SHAPE, inputs={1: constant([[8], [4]])})
variant("RESHAPE", CONSTANT, inputs={1: persistent([8, 4])})
variant("RESHAPE", VALUE, inputs={1: constant([-1])})
variant("RESHAPE", VALUE, inputs=[FLOAT], new_shape=(0,))
without_options("RESHAPE", None)

accepted("TRANSPOSE", [FLOAT, constant([0, 2, 1, 3])], [FLOAT])
variant("TRANSPOSE", COUNT, inputs=[FLOAT])
variant("TRANSPOSE", TYPE, inputs={0: INT16})
variant("TRANSPOSE", QUANTIZATION, inputs={0: BARE_INT8})
variant("TRANSPOSE", RANK, inputs={0: SCALAR})
variant("TRANSPOSE", SHAPE, inputs={0: EMPTY})
variant("TRANSPOSE", CONSTANT, inputs={1: persistent([0, 2, 1, 3])})

_PADDINGS = [[0, 0], [1, 1], [1, 1], [0, 0]]
accepted("PAD", [FLOAT, constant(_PADDINGS)], [FLOAT])
variant("PAD", COUNT, inputs=[FLOAT])
variant("PAD", TYPE, inputs={0: INT16})
variant("PAD", QUANTIZATION, inputs={0: BARE_INT8})
variant("PAD", RANK, inputs={0: SCALAR})
variant("PAD", SHAPE, inputs={0: EMPTY})
variant("PAD", TYPE, inputs={1: constant(_PADDINGS, "INT64")})
variant("PAD", SHAPE, inputs={1: constant(_PADDINGS[1:])})
variant("PAD", CONSTANT, inputs={1: persistent(_PADDINGS)})
variant("PAD", TYPE, outputs=[INT16])
variant("PAD", QUANTIZATION, outputs=[BARE_INT8])
variant("PAD", RANK, outputs=[SCALAR])
variant("PAD", SHAPE, outputs=[EMPTY])
variant("PAD", VALUE, inputs={1: constant([[0, 0], [1, -1], [1, 1], [0, 0]])})

accepted("RESIZE_BILINEAR", [FLOAT, constant([8, 8])], [FLOAT])
variant("RESIZE_BILINEAR", COUNT, inputs=[FLOAT])
variant("RESIZE_BILINEAR", TYPE, inputs={0: FLOAT16})
variant("RESIZE_BILINEAR", QUANTIZATION, inputs={0: BARE_INT8})
variant("RESIZE_BILINEAR", RANK, inputs={0: RANK_3})
variant("RESIZE_BILINEAR", SHAPE, inputs={0: EMPTY})
variant("RESIZE_BILINEAR", TYPE, inputs={1: constant([8, 8], "INT64")})
variant("RESIZE_BILINEAR", RANK, inputs={1: constant([[8, 8]])})
variant("RESIZE_BILINEAR", CONSTANT, inputs={1: persistent([8, 8])})
variant("RESIZE_BILINEAR", TYPE, outputs=[INT16])
variant("RESIZE_BILINEAR", QUANTIZATION, outputs=[BARE_INT8])
variant("RESIZE_BILINEAR", RANK, outputs=[RANK_3])
variant("RESIZE_BILINEAR", SHAPE, outputs=[EMPTY])
variant("RESIZE_BILINEAR", VALUE, inputs={1: constant([0, 8])})
variant("RESIZE_BILINEAR", None, inputs={1: constant([8, 0])})

for _op in ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"):
    accepted(_op, [FLOAT], [FLOAT], block_size=2)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT])
    variant(_op, TYPE, inputs=[INT16])
    variant(_op, QUANTIZATION, inputs=[BARE_INT8])
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])
    variant(_op, ATTRIBUTE, block_size=1)
variant("SPACE_TO_DEPTH", TYPE, inputs=[FLOAT16])
variant("SPACE_TO_DEPTH", SHAPE, block_size=3)

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM"):
    accepted(_op, [FLOAT, constant([1, 2])], [FLOAT])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, TYPE, inputs={0: INT16})
    variant(_op, QUANTIZATION, inputs={0: BARE_INT8})
    variant(_op, TYPE, inputs={1: constant([1], "INT64")})
    variant(_op, RANK, inputs={1: constant([[1]])})
    variant(_op, CONSTANT, inputs={1: persistent([1])})
    variant(_op, SHAPE, inputs={1: constant(np.empty(0))})
    variant(_op, SHAPE, inputs=[SCALAR, constant([0])])
    variant(_op, SHAPE, inputs={1: constant([0] * 7)})
    variant(_op, TYPE, outputs=[INT16])
    variant(_op, QUANTIZATION, outputs=[BARE_INT8])


@pytest.mark.parametrize("case", TABLE.cases, ids=[case.name for case in TABLE.cases])
def test_rule(case):
    verdict = validate(case.node, case.target)
    assert [reason.code for reason in verdict.reasons] == ([case.code] if case.code else [])
    assert verdict.is_supported == (case.code is None)


@pytest.mark.parametrize("op", ["EXPAND_DIMS", "GATHER", "POW"])
def test_operators_without_a_visit_are_refused(op):
    (reason,) = validate(node_view(op, [FLOAT], [FLOAT]), Target()).reasons
    assert (reason.code, reason.kind) == (OPERATOR, "unsupported-operator")


# Custom operators

_SAME, _VALID = 1, 2
IMAGE = ("FLOAT32", (1, 4, 4, 2))
POOLED = ("FLOAT32", (1, 2, 2, 2))


def custom_code(op, inputs, outputs, *parameters, bias=True):
    """The code that a custom operator with these 32-bit parameters is refused with."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensors = [graph.input("operand", *operand) for operand in inputs]
    if op == "Convolution2DTransposeBias":
        tensors += [
            graph.tensor("weights", "FLOAT32", (2, 2, 2, 2), [1.0] * 16),
            graph.tensor("bias", "FLOAT32", (2,), [0.0] * 2),
        ]
    results = [graph.tensor("result", *output) for output in outputs]
    graph.outputs(*results)
    content = struct.pack(f"<{len(parameters)}i", *parameters)
    graph.node("CUSTOM", tensors, results, custom=op, custom_options=content)
    found = file_graph(model := load(builder.bytes()), model.subgraphs[0])
    reasons = validate(found.view(found.nodes[0]), Target()).reasons
    return reasons[0].code if reasons else None


CUSTOM_CASES = [
    (None, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (None, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 3)),
    (COUNT, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (TYPE, "MaxPoolingWithArgmax2D", [("INT8", (1, 4, 4, 2))], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, 0)),
    (RANK, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, ("INT32", (2, 2))], (_SAME, 2, 2, 2, 2, 0)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], ()),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 0, 2, 0)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 3, 2, 0)),
    (ACTIVATION, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (_SAME, 2, 2, 2, 2, TANH)),
    (ATTRIBUTE, "MaxPoolingWithArgmax2D", [IMAGE], [POOLED, POOLED], (0, 2, 2, 2, 2, 0)),
    (None, "MaxUnpooling2D", [POOLED, POOLED], [IMAGE], (_VALID, 2, 2, 2, 2, 0)),
    (RANK, "MaxUnpooling2D", [POOLED, ("INT32", (2, 2))], [IMAGE], (_VALID, 2, 2, 2, 2, 0)),
    (None, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 2, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 0, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (_SAME, 1, 2)),
    (ATTRIBUTE, "Convolution2DTransposeBias", [POOLED], [IMAGE], (0, 2, 2)),
    (None, custom.ATTENTION, [IMAGE, IMAGE, IMAGE], [IMAGE], ()),
    (None, custom.ATTENTION, [IMAGE, IMAGE, IMAGE, ("FLOAT32", (1, 1, 4, 4))], [IMAGE], ()),
    (TYPE, custom.ATTENTION, [IMAGE, ("FLOAT16", (1, 4, 4, 2)), IMAGE], [IMAGE], ()),
    (SHAPE, custom.ATTENTION, [IMAGE, IMAGE, ("FLOAT32", (1, 4, 4, 3))], [IMAGE], ()),
    (SHAPE, custom.ATTENTION, [IMAGE, IMAGE, IMAGE, ("FLOAT32", (1, 1, 4, 3))], [IMAGE], ()),
    (OPERATOR, "SomethingElse", [IMAGE], [IMAGE], ()),
]


@pytest.mark.parametrize(
    ("code", "op", "inputs", "outputs", "parameters"),
    CUSTOM_CASES,
    ids=[f"{case[1]}-{case[0] or 'accepted'}" for case in CUSTOM_CASES],
)
def test_custom_operator(code, op, inputs, outputs, parameters):
    assert custom_code(op, inputs, outputs, *parameters) == code


@pytest.mark.parametrize(("name", "code"), [(custom.ATTENTION, None), ("odml.rms_norm", OPERATOR)])
def test_composite(name, code):
    node = node_view("STABLEHLO_COMPOSITE", [FLOAT, FLOAT, FLOAT], [FLOAT], options={"name": name})
    assert [reason.code for reason in validate(node, Target()).reasons] == ([code] if code else [])


# Nothing is left out

BY_OTHER_TESTS = {*custom.RULES, *custom.COMPOSITES, "ASSIGN_VARIABLE", "DENSIFY", "READ_VARIABLE", "VAR_HANDLE"}


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete({op: rule for op, rule in rules_in(RULES, NEWEST).items() if op not in BY_OTHER_TESTS})


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES, {OPERATOR}, EXPLANATIONS)
