"""Rules of convolutions, pooling, resizing, matrix products and LSTM cells.

Each case is a node and the code of the one reason that the delegate gives for it, or None where it takes the node.
"""

from __future__ import annotations

from delegate_sim.delegates.gpu.rules import layers
from tests.support.delegates.gpu_table import (
    ACTIVATION,
    BIAS,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOATS,
    MATRIX,
    RANK,
    RANK_3,
    RELU,
    SCALAR,
    SHAPE,
    SHAPE_OF_4,
    SIGN_BIT,
    TANH,
    VALUE,
    VERSION,
    WEIGHTS,
    FamilyCases,
    assert_verdict,
)
from tests.support.graphs import arena, constant
from tests.support.tables import for_each

TABLE = FamilyCases(layers)
accepted, variant, without_options = TABLE.accepted, TABLE.variant, TABLE.without_options

_CONVOLUTION = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}

accepted("CONV_2D", [FLOAT, WEIGHTS, BIAS], [FLOAT], version=6, **_CONVOLUTION)
accepted(
    "DEPTHWISE_CONV_2D",
    [FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32"), BIAS],
    [FLOAT],
    version=6,
    depth_multiplier=1,
    **_CONVOLUTION,
)
accepted("TRANSPOSE_CONV", [SHAPE_OF_4, WEIGHTS, FLOAT], [FLOAT], version=3, stride_h=1, stride_w=1)
for _op, _highest in (("CONV_2D", 6), ("DEPTHWISE_CONV_2D", 6), ("TRANSPOSE_CONV", 3)):
    variant(_op, VERSION, version=_highest + 1)
    variant(_op, COUNT, inputs=[FLOAT, FLOAT, FLOAT])
    variant(_op, COUNT, inputs=[FLOATS, WEIGHTS])
    variant(_op, COUNT, inputs=[FLOAT])
    variant(_op, COUNT, outputs=[FLOAT, FLOAT])
    variant(_op, VALUE, stride_h=0)
    variant(_op, VALUE, stride_w=-1)
    without_options(_op, VALUE)
for _op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
    variant(_op, VALUE, dilation_w_factor=0)
    variant(_op, None, fused_activation_function=RELU)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)
variant("CONV_2D", None, inputs={1: arena("FLOAT32", 2, 3, 3, 2)})
variant("DEPTHWISE_CONV_2D", RANK, inputs={0: RANK_3})
variant("DEPTHWISE_CONV_2D", RANK, inputs={1: constant([[[0.0, 0.0]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", RANK, outputs=[RANK_3])
variant("DEPTHWISE_CONV_2D", SHAPE, outputs=[arena("FLOAT32", 2, 4, 4, 2)])
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={1: constant([[[[0.0] * 4]]], "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, depth_multiplier=2)
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: constant([0.0] * 4, "FLOAT32")})
variant("DEPTHWISE_CONV_2D", SHAPE, inputs={2: None})
variant("DEPTHWISE_CONV_2D", None, inputs=[FLOAT, constant([[[[0.0] * 2] * 3] * 3], "FLOAT32")])

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], version=2, filter_height=2, filter_width=2, stride_h=1, stride_w=1)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, filter_width=0)
    variant(_op, VALUE, stride_h=0)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)

for _op in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
    accepted(_op, [FLOAT, constant([8, 8])], [FLOAT], version=3, align_corners=True)
    variant(_op, VERSION, version=4)
    variant(_op, COUNT, inputs={1: arena("INT32", 2)})
variant("RESIZE_BILINEAR", VALUE, half_pixel_centers=True)
variant("RESIZE_NEAREST_NEIGHBOR", None, half_pixel_centers=True)

accepted("FULLY_CONNECTED", [MATRIX, constant([[0.0, 0.0]], "FLOAT32"), None], [MATRIX], version=9)
variant("FULLY_CONNECTED", VERSION, version=10)
variant("FULLY_CONNECTED", COUNT, inputs=[])
variant("FULLY_CONNECTED", VALUE, weights_format=1)
variant("FULLY_CONNECTED", COUNT, inputs=[MATRIX, MATRIX, SCALAR])
variant("FULLY_CONNECTED", CONSTANT, inputs={0: constant([[0.0, 0.0]], "FLOAT32")})
variant("FULLY_CONNECTED", None, inputs={0: FLOAT})
variant("FULLY_CONNECTED", RANK, inputs={0: FLOAT}, keep_num_dims=True)

accepted("BATCH_MATMUL", [FLOAT, FLOAT], [FLOAT], version=9)
variant("BATCH_MATMUL", COUNT, inputs=[FLOAT])
variant("BATCH_MATMUL", COUNT, outputs=[FLOAT, FLOAT])

_GATE = constant([[0.0]], "FLOAT32")
_FULL = [FLOAT, *[_GATE] * 17, MATRIX, MATRIX]
_BASIC = {
    "inputs": [MATRIX, MATRIX, _GATE, _GATE, MATRIX],
    "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 8)],
    "kernel_type": 1,
}

accepted("LSTM", _FULL, [MATRIX], version=4, fused_activation_function=TANH)
variant("LSTM", VERSION, version=5)
variant("LSTM", None, inputs=[*_FULL, *[_GATE] * 4])
variant("LSTM", COUNT, inputs=_FULL[:18])
variant("LSTM", COUNT, outputs=[MATRIX, MATRIX])
variant("LSTM", ACTIVATION, fused_activation_function=RELU)
variant("LSTM", None, **_BASIC)
variant("LSTM", COUNT, **{**_BASIC, "inputs": [MATRIX, MATRIX, _GATE, _GATE]})
variant("LSTM", SHAPE, **{**_BASIC, "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 6)]})
variant("LSTM", ACTIVATION, **_BASIC, fused_activation_function=RELU)
variant("LSTM", VALUE, **_BASIC, cell_clip=1.0)
variant("LSTM", VALUE, **_BASIC, proj_clip=1.0)


@for_each(TABLE.cases, lambda case: case.name)
def test_verdict(case):
    assert_verdict(case)


def test_every_operator_and_both_sides_of_every_check_have_cases():
    TABLE.assert_complete()
