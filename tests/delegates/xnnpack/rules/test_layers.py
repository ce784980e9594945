"""Rules of convolutions, pooling and resizing.

Each case is a node and the one code that it is refused with, None if it is accepted.
"""

from __future__ import annotations

import numpy as np

from delegate_sim.delegates.xnnpack.rules import layers
from tests.support.delegates.xnnpack_rule_cases import (
    ACTIVATION,
    ATTRIBUTE,
    BARE_INT8,
    CONSTANT,
    COUNT,
    EMPTY,
    FLOAT,
    FLOAT16,
    HYBRID,
    INT8,
    INT16,
    NO_8_BITS,
    NO_DYNAMIC_QUANTIZATION,
    OPTIONAL,
    QUANTIZATION,
    RANK,
    RANK_3,
    SHAPE,
    TANH,
    TYPE,
    UINT8,
    UNSIGNED_ONLY,
    VALUE,
    FamilyCases,
    assert_verdict,
    weights,
)
from tests.support.graphs import arena, constant, persistent
from tests.support.tables import for_each

TABLE = FamilyCases(layers)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

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


@for_each(TABLE.cases, lambda case: case.name)
def test_rule(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete_except()
