"""Cases of convolutions, matrix products, pooling, reductions, LSTM and custom operators."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from delegate_sim.model.model import Tensor
from tests.support.graphs import arena, constant

from .gpu_table import (
    ACTIVATION,
    AXIS,
    BIAS,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOATS,
    HALF,
    INT8,
    MATRIX,
    RANK,
    RANK_3,
    RELU,
    SCALAR,
    SHAPE,
    SHAPE_OF_4,
    SIGN_BIT,
    TANH,
    TYPE,
    VALUE,
    VERSION,
    WEIGHTS,
    Chain,
    accepted,
    variant,
    without_options,
)

# Convolutions, products, pooling

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

for _op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
    accepted(_op, [FLOAT], [FLOAT], version=2, filter_height=2, filter_width=2, stride_h=1, stride_w=1)
    variant(_op, VERSION, version=3)
    variant(_op, COUNT, inputs=[FLOATS])
    variant(_op, VALUE, filter_width=0)
    variant(_op, VALUE, stride_h=0)
    variant(_op, ACTIVATION, fused_activation_function=SIGN_BIT)

# Reductions

for _op in ("MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "SUM"):
    accepted(_op, [FLOAT, AXIS], [FLOAT], version=9)
    variant(_op, COUNT, inputs={1: arena("INT32", 1)})
    variant(_op, COUNT, inputs={0: FLOATS})
    variant(_op, CONSTANT, inputs=[AXIS, FLOAT])
    variant(_op, CONSTANT, inputs={1: constant([1], "INT64")})
accepted("CUMSUM", [FLOAT, constant(1)], [FLOAT])
variant("CUMSUM", VERSION, version=2)
variant("CUMSUM", COUNT, inputs=[FLOAT])
variant("CUMSUM", TYPE, inputs={0: INT8}, outputs=[INT8])
variant("CUMSUM", TYPE, outputs=[HALF])
variant("CUMSUM", CONSTANT, inputs={1: arena("INT32")})

# LSTM

_GATE = constant([[0.0]], "FLOAT32")
_FULL = [FLOAT, *[_GATE] * 17, MATRIX, MATRIX]
accepted("LSTM", _FULL, [MATRIX], version=4, fused_activation_function=TANH)
variant("LSTM", VERSION, version=5)
variant("LSTM", None, inputs=[*_FULL, *[_GATE] * 4])
variant("LSTM", COUNT, inputs=_FULL[:18])
variant("LSTM", COUNT, outputs=[MATRIX, MATRIX])
variant("LSTM", ACTIVATION, fused_activation_function=RELU)
_BASIC = {
    "inputs": [MATRIX, MATRIX, _GATE, _GATE, MATRIX],
    "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 8)],
    "kernel_type": 1,
}
variant("LSTM", None, **_BASIC)
variant("LSTM", COUNT, **{**_BASIC, "inputs": [MATRIX, MATRIX, _GATE, _GATE]})
variant("LSTM", SHAPE, **{**_BASIC, "outputs": [MATRIX, MATRIX, MATRIX, arena("FLOAT32", 1, 6)]})
variant("LSTM", ACTIVATION, **_BASIC, fused_activation_function=RELU)
variant("LSTM", VALUE, **_BASIC, cell_clip=1.0)
variant("LSTM", VALUE, **_BASIC, proj_clip=1.0)

# Custom operators

_POOL = (1, 2, 2, 2, 2, RELU)


def custom(op: str, code: str | None, inputs: Sequence[Tensor], outputs: int, words: Sequence[int] | None, version: int = 1):
    """Add a custom operator whose options are these 32-bit words."""
    chain = Chain()
    operands = [chain.tensor(t.type, *t.shape, **({} if t.value is None else {"data": t.value})) for t in inputs]
    results = [chain.tensor("FLOAT32", 1, 4, 4, 2) for _ in range(outputs)]
    options = None if words is None else struct.pack(f"<{len(words)}i", *words)
    chain.subgraph.node("CUSTOM", operands, results, version, custom=op, custom_options=options)
    chain.case(op, code)


custom("Convolution2DTransposeBias", None, [FLOAT, WEIGHTS], 1, (1, 2, 2))
custom("Convolution2DTransposeBias", COUNT, [FLOAT], 1, (1, 2, 2))
custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, None)
custom("Convolution2DTransposeBias", VALUE, [FLOAT, WEIGHTS], 1, (1, 0, 2))
custom("MaxPoolingWithArgmax2D", None, [FLOAT], 2, _POOL, version=2)
custom("MaxPoolingWithArgmax2D", VERSION, [FLOAT], 2, _POOL, version=3)
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, None)
custom("MaxPoolingWithArgmax2D", COUNT, [FLOAT], 1, _POOL)
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 2, 0, 2, 0))
custom("MaxPoolingWithArgmax2D", VALUE, [FLOAT], 2, (1, 2, 0, 2, 2, 0))
custom("MaxPoolingWithArgmax2D", ACTIVATION, [FLOAT], 2, (1, 2, 2, 2, 2, SIGN_BIT))
custom("MaxUnpooling2D", None, [FLOAT, FLOAT], 1, _POOL)
custom("MaxUnpooling2D", COUNT, [FLOAT], 1, _POOL)
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, None)
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 2, 2, 2))
custom("MaxUnpooling2D", VALUE, [FLOAT, FLOAT], 1, (1, 0, 2, 2, 2, 0))
custom("Resampler", None, [FLOAT, FLOAT], 1, None)
custom("Resampler", COUNT, [FLOAT], 1, None)
custom("Resampler", RANK, [FLOAT, RANK_3], 1, None)
custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 2, 4, 4, 2)], 1, None)
custom("Resampler", SHAPE, [FLOAT, arena("FLOAT32", 1, 4, 4, 1)], 1, None)
