"""Random graphs of operators that the runtime can run; XNNPACK knows most of them in some form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.support.live.sketch import Sketch, SketchTensor

_QUANTIZED = ("INT8", "UINT8")
_SAME = 0

_FREE_UNARY = (
    "ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "GELU", "HARD_SWISH", "LOG", "LOGISTIC", "NEG", "RELU", "RELU6", "RELU_N1_TO_1",
    "ROUND", "RSQRT", "SIN", "SQRT", "SQUARE", "TANH", "ZEROS_LIKE",
)  # fmt: skip
_BINARY = ("ADD", "ADD", "SUB", "MUL", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV")

_FIXED_RESULTS = {
    ("LOGISTIC", "INT8"): {"scale": 1 / 256, "zero_point": -128},
    ("LOGISTIC", "UINT8"): {"scale": 1 / 256, "zero_point": 0},
    ("TANH", "INT8"): {"scale": 1 / 128, "zero_point": 0},
    ("TANH", "UINT8"): {"scale": 1 / 128, "zero_point": 128},
    ("SOFTMAX", "INT8"): {"scale": 1 / 256, "zero_point": -128},
    ("SOFTMAX", "UINT8"): {"scale": 1 / 256, "zero_point": 0},
}

_NARROW_UNARY = {"INT32": ("ABS", "NEG", "ZEROS_LIKE"), "FLOAT16": ("RELU", "ABS", "LOGISTIC")}
_QUANTIZED_UNARY = ("ABS", "ELU", "HARD_SWISH", "LOGISTIC", "TANH", "RELU", "RELU6", "RELU_N1_TO_1", "EXP", "GELU", "RSQRT")


def _unary(sketch: Sketch) -> None:
    operand = sketch.operand()
    names = _QUANTIZED_UNARY if operand.type in _QUANTIZED else _NARROW_UNARY.get(operand.type, _FREE_UNARY)
    op = sketch.choice(names)
    sketch.node(op, [operand], operand.type, operand.shape, quantization=_FIXED_RESULTS.get((op, operand.type)))


def _leaky_relu(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED))
    if operand is not None:
        alpha = sketch.choice((0.25, 0.0, -0.5, 1e-4))
        sketch.node("LEAKY_RELU", [operand], operand.type, operand.shape, {"alpha": alpha})


def _softmax(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED))
    if operand is not None:
        fixed = _FIXED_RESULTS.get(("SOFTMAX", operand.type))
        sketch.node("SOFTMAX", [operand], operand.type, operand.shape, {"beta": sketch.choice((1.0, 1.0, 0.5))},
                    quantization=fixed)  # fmt: skip


def _binary(sketch: Sketch) -> None:
    first = sketch.operand()
    op = sketch.choice(_BINARY)
    options = {}
    if op in ("ADD", "SUB", "MUL", "DIV"):
        options = {"fused_activation_function": sketch.number(0, 4) if sketch.chance(3) else 0}
    second: SketchTensor | int
    if sketch.chance(2):
        second = sketch.operand(types=(first.type,))
        shape = _broadcast(first.shape, second.shape)
    else:
        shape = sketch.choice((first.shape, first.shape[-1:], (), (1,), (1, *first.shape)))
        if first.type in ("INT8", "UINT8") and math.prod(shape) == 1 and len(shape) > len(first.shape):
            # XNNPACK in the runtime's wheel then gives a result of the operand's rank, too few (docs/learned.md).
            shape = ()
        second = sketch.constant(first.type, shape, **sketch.quantization(first.type))
        shape = _broadcast(first.shape, shape)
    if shape is not None:
        operands = [second, first] if sketch.chance(4) else [first, second]
        same = first.quantization if op in ("MAXIMUM", "MINIMUM") else None
        sketch.node(op, operands, first.type, shape, options, quantization=same)


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        return None


def _prelu(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED))
    if operand is not None:
        shape = sketch.choice((operand.shape[-1:], operand.shape[1:], (1,)))
        slope = sketch.constant(operand.type, shape, **sketch.quantization(operand.type))
        sketch.node("PRELU", [operand, slope], operand.type, operand.shape)


def _windows(sketch: Sketch, height: int, width: int) -> tuple[dict[str, int], int, int, int, int]:
    """Choose padding, strides and a filter; return options, the filter's size and the result's."""
    padding, stride = sketch.number(0, 1), sketch.choice((1, 1, 2))
    filter_height, filter_width = sketch.number(1, min(3, height)), sketch.number(1, min(3, width))
    if padding == _SAME:
        result = (-(-height // stride), -(-width // stride))
    else:
        result = ((height - filter_height) // stride + 1, (width - filter_width) // stride + 1)
    activation = sketch.number(0, 4) if sketch.chance(4) else 0
    options = {"padding": padding, "stride_h": stride, "stride_w": stride, "fused_activation_function": activation}
    return options, filter_height, filter_width, *result


def _weights(sketch: Sketch, operand: SketchTensor, shape: Sequence[int], axis: int) -> tuple[int, list[int]]:
    """Return weights that go with an operand, and a bias in a list, if one is given."""
    channels = shape[axis]
    has_bias = not sketch.chance(10)
    if operand.type in _QUANTIZED:
        per_channel = operand.type == "INT8" and not sketch.chance(3)
        scale: Any = [0.5 / (1 + index) for index in range(channels)] if per_channel else 0.5
        zero_point = 3 if operand.type == "UINT8" or sketch.chance(8) else 0
        weights = sketch.constant(
            operand.type, shape, scale=scale, zero_point=[0] * channels if per_channel else zero_point, axis=axis
        )
        product = np.float32(operand.quantization["scale"]) * np.float32(scale)
        zeros = [0] * channels if per_channel else 0
        return weights, [sketch.constant("INT32", (channels,), scale=product, zero_point=zeros)] if has_bias else []
    kind = sketch.choice(("FLOAT32", "FLOAT32", "half", "half", "dequantized", "hybrid"))
    if kind == "half":
        weights = sketch.unpacked("FLOAT16", shape)
        bias = sketch.unpacked("FLOAT16", (channels,)) if sketch.chance(2) else sketch.constant("FLOAT32", (channels,))
    else:
        bias = sketch.constant("FLOAT32", (channels,))
        if kind == "dequantized":
            weights = sketch.unpacked("INT8", shape)
        elif kind == "hybrid":
            per_channel = [0.5] * channels if sketch.chance(2) else 0.5
            weights = sketch.constant("INT8", shape, scale=per_channel, axis=axis)
        else:
            weights = sketch.constant("FLOAT32", shape)
    return weights, [bias] if has_bias else []


def _convolution(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4, types=("FLOAT32", *_QUANTIZED))
    if operand is None:
        return
    batch, height, width, depth = operand.shape
    options, filter_height, filter_width, *size = _windows(sketch, height, width)
    channels = sketch.choice((1, 2, 4, 8))
    groups = 2 if depth % 2 == 0 and channels % 2 == 0 and sketch.chance(8) else 1
    weights, bias = _weights(sketch, operand, (channels, filter_height, filter_width, depth // groups), 0)
    if options["padding"] == _SAME and sketch.chance(5):
        options |= {"dilation_h_factor": 2, "dilation_w_factor": 2}
    sketch.node("CONV_2D", [operand, weights, *bias], operand.type, (batch, *size, channels), options)


def _depthwise(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4, types=("FLOAT32", *_QUANTIZED))
    if operand is None:
        return
    batch, height, width, depth = operand.shape
    options, filter_height, filter_width, *size = _windows(sketch, height, width)
    multiplier = sketch.choice((1, 1, 2))
    weights, bias = _weights(sketch, operand, (1, filter_height, filter_width, depth * multiplier), 3)
    sketch.node("DEPTHWISE_CONV_2D", [operand, weights, *bias], operand.type, (batch, *size, depth * multiplier),
                {**options, "depth_multiplier": multiplier})  # fmt: skip


def _transpose_convolution(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4, types=("FLOAT32", *_QUANTIZED))
    if operand is None:
        return
    batch, height, width, depth = operand.shape
    stride, channels, size = sketch.number(1, 2), sketch.choice((1, 2, 4)), sketch.number(1, 3)
    shape = (batch, height * stride, width * stride, channels)
    weights, bias = _weights(sketch, operand, (channels, size, size, depth), 0)
    options = {"padding": _SAME, "stride_h": stride, "stride_w": stride}
    operands = [sketch.constant("INT32", (4,), shape), weights, operand, *bias]
    sketch.node("TRANSPOSE_CONV", operands, operand.type, shape, options)


def _fully_connected(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED))
    if operand is None:
        return
    keep, channels = sketch.chance(2), sketch.choice((1, 2, 4, 8))
    depth = operand.shape[-1]
    if operand.type == "FLOAT32" and depth % 2 == 0 and sketch.chance(6):
        weights = sketch.constant("INT4", (channels, depth), scale=[0.5] * channels)
        bias = []
    else:
        weights, bias = _weights(sketch, operand, (channels, depth), 0)
    rows = math.prod(operand.shape[:-1])
    shape = (*operand.shape[:-1], channels) if keep else (rows, channels)
    options = {"keep_num_dims": keep, "fused_activation_function": sketch.number(0, 4) if sketch.chance(4) else 0}
    sketch.node("FULLY_CONNECTED", [operand, weights, *(bias or [-1])], operand.type, shape, options)


def _batch_matmul(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", "INT8"))
    if operand is None or not 2 <= len(operand.shape) <= 5:
        return
    columns, transposed = sketch.choice((1, 2, 4)), sketch.chance(2)
    depth = operand.shape[-1]
    size = (columns, depth) if transposed else (depth, columns)
    shape = (*operand.shape[:-2], *size) if sketch.chance(2) else size
    type = "INT8" if sketch.chance(3) else operand.type
    quantization = {"scale": 0.5, "zero_point": 0} if type == "INT8" else {}
    second = sketch.constant(type, shape, **quantization)
    sketch.node("BATCH_MATMUL", [operand, second], operand.type, (*operand.shape[:-1], columns), {"adj_y": transposed})


def _pooling(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4, types=("FLOAT32", *_QUANTIZED))
    if operand is None:
        return
    batch, height, width, depth = operand.shape
    options, filter_height, filter_width, *size = _windows(sketch, height, width)
    op = sketch.choice(("AVERAGE_POOL_2D", "MAX_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"))
    options |= {"filter_height": filter_height, "filter_width": filter_width}
    sketch.node(op, [operand], operand.type, (batch, *size, depth), options, quantization=operand.quantization)


def _reshape(sketch: Sketch) -> None:
    operand = sketch.operand()
    count = math.prod(operand.shape)
    first = next(size for size in (4, 2, 1) if count % size == 0)
    shape = sketch.choice(((count,), (first, count // first), (1, 1, first, count // first), (*operand.shape, 1)))
    type = sketch.choice(("INT32", "INT32", "INT32", "INT64", None))
    operands = [operand] if type is None else [operand, sketch.constant(type, (len(shape),), shape)]
    sketch.node("RESHAPE", operands, operand.type, shape, {"new_shape": shape}, quantization=_mostly(sketch, operand))


def _mostly(sketch: Sketch, operand: SketchTensor) -> dict[str, Any] | None:
    """The operand's scale, and seldom another."""
    return None if sketch.chance(8) else operand.quantization


def _squeeze_or_expand(sketch: Sketch) -> None:
    operand = sketch.operand()
    if sketch.chance(2):
        axis = sketch.constant("INT32", (1,), (0,))
        sketch.node("EXPAND_DIMS", [operand, axis], operand.type, (1, *operand.shape), quantization=operand.quantization)
    elif len(operand.shape) > 1 and operand.shape[0] == 1:
        sketch.node("SQUEEZE", [operand], operand.type, operand.shape[1:], {"squeeze_dims": [0]},
                    quantization=operand.quantization)  # fmt: skip


def _transpose(sketch: Sketch) -> None:
    operand = sketch.operand()
    rank = len(operand.shape)
    order = sketch.choice((tuple(range(rank)), tuple(reversed(range(rank))), (*range(1, rank), 0)))
    permutation = sketch.constant(sketch.choice(("INT32", "INT32", "INT64")), (rank,), order)
    sketch.node("TRANSPOSE", [operand, permutation], operand.type, [operand.shape[axis] for axis in order],
                quantization=_mostly(sketch, operand))  # fmt: skip


def _reduction(sketch: Sketch) -> None:
    operand = sketch.operand()
    op = sketch.choice(("MEAN", "MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"))
    rank = len(operand.shape)
    axes = sorted({sketch.number(0, rank - 1) for _ in range(sketch.number(1, 2))})
    keep = sketch.chance(2) or len(axes) == rank
    sizes = [1 if axis in axes else size for axis, size in enumerate(operand.shape) if keep or axis not in axes]
    written = [axis - rank for axis in axes] if sketch.chance(3) else axes
    constant = sketch.constant("INT32", (len(axes),), written)
    same = operand.quantization if op in ("REDUCE_MAX", "REDUCE_MIN") else None
    sketch.node(op, [operand, constant], operand.type, sizes, {"keep_dims": keep}, quantization=same)


def _concatenation(sketch: Sketch) -> None:
    first = sketch.operand()
    axis = sketch.number(0, len(first.shape) - 1)
    count = sketch.number(1, 6)
    alike = [tensor for tensor in sketch._tensors if tensor.type == first.type and tensor.shape == first.shape]
    operands = [first, *(sketch.choice(alike) for _ in range(count - 1))]
    shape = list(first.shape)
    shape[axis] *= count
    written = axis - len(shape) if sketch.chance(4) else axis
    same = None if first.type == "INT8" and sketch.chance(2) else first.quantization
    sketch.node("CONCATENATION", operands, first.type, shape, {"axis": written}, quantization=same)


def _padding(sketch: Sketch) -> None:
    operand = sketch.operand()
    op = sketch.choice(("PAD", "PAD", "PAD", "PADV2", "MIRROR_PAD"))
    rank = len(operand.shape)
    largest = 0 if op == "MIRROR_PAD" and min(operand.shape) == 1 else 1
    paddings = [[sketch.number(0, largest), sketch.number(0, largest)] for _ in range(rank)]
    shape = [size + sum(added) for size, added in zip(operand.shape, paddings, strict=True)]
    operands = [operand, sketch.constant(sketch.choice(("INT32", "INT32", "INT64")), (rank, 2), paddings)]
    if op == "PADV2":
        operands.append(sketch.constant(operand.type, (1,), **operand.quantization))
    sketch.node(op, operands, operand.type, shape, {"mode": 0} if op == "MIRROR_PAD" else {}, quantization=operand.quantization)


def _slice(sketch: Sketch) -> None:
    operand = sketch.operand()
    type, rank = sketch.choice(("INT32", "INT64")), len(operand.shape)
    begin = [sketch.number(0, size - 1) for size in operand.shape]
    shape = [sketch.number(1, size - start) for size, start in zip(operand.shape, begin, strict=True)]
    if sketch.chance(2):
        to_end = sketch.chance(4)
        written = [-1, *shape[1:]] if to_end else shape
        if to_end:
            shape[0] = operand.shape[0] - begin[0]
        operands = [operand, sketch.constant(type, (rank,), begin), sketch.constant(type, (rank,), written)]
        sketch.node("SLICE", operands, operand.type, shape, quantization=operand.quantization)
        return
    end = [start + size for start, size in zip(begin, shape, strict=True)]
    mask = 1 if sketch.chance(4) else 0
    if mask:
        begin[0], shape[0] = 0, end[0]
    stride = 2 if sketch.chance(6) else 1
    strides = [*(1 for _ in shape[1:]), stride]
    shape[-1] = -(-shape[-1] // stride)
    operands = [operand, *(sketch.constant("INT32", (rank,), values) for values in (begin, end, strides))]
    sketch.node("STRIDED_SLICE", operands, operand.type, shape, {"begin_mask": mask}, quantization=operand.quantization)


def _split(sketch: Sketch) -> None:
    operand = sketch.operand()
    axis = sketch.number(0, len(operand.shape) - 1)
    count = sketch.choice((1, 2, 4, 5))
    if operand.shape[axis] % count == 0:
        shape = list(operand.shape)
        shape[axis] //= count
        dimension = sketch.constant("INT32", sketch.choice(((), (1,))), axis)
        sketch.node("SPLIT", [dimension, operand], operand.type, shape, {"num_splits": count}, outputs=count,
                    quantization=operand.quantization)  # fmt: skip


def _requantize(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED))
    if operand is not None:
        sketch.node("QUANTIZE", [operand], sketch.choice(("INT8", "INT8", "UINT8", "INT16")), operand.shape, {})


def _dequantize(sketch: Sketch) -> None:
    operand = sketch.operand(types=(*_QUANTIZED, "FLOAT16", "INT16"))
    if operand is not None:
        sketch.node("DEQUANTIZE", [operand], "FLOAT32", operand.shape, {})


def _cast(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", "INT32", "FLOAT16"))
    if operand is not None:
        sketch.node("CAST", [operand], sketch.choice(("FLOAT32", "INT32", "FLOAT16")), operand.shape, {})


def _gather(sketch: Sketch) -> None:
    operand = sketch.operand()
    indices = sketch.constant("INT32", (2,), (0, 0))
    shape = (2, *operand.shape[1:])
    sketch.node("GATHER", [operand, indices], operand.type, shape, {"axis": 0}, quantization=operand.quantization)


def _arg_max(sketch: Sketch) -> None:
    operand = sketch.operand(types=("FLOAT32", *_QUANTIZED, "INT32"))
    if operand is not None and len(operand.shape) > 1:
        axis = sketch.constant("INT32", (), len(operand.shape) - 1)
        sketch.node("ARG_MAX", [operand, axis], "INT32", operand.shape[:-1], {"output_type": 2})


def _resize(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4, types=("FLOAT32", *_QUANTIZED))
    if operand is not None:
        size = (sketch.number(1, 6), sketch.number(1, 6))
        aligned = sketch.chance(3)
        op = sketch.choice(("RESIZE_BILINEAR", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"))
        batch, *_, depth = operand.shape
        options = {"align_corners": aligned, "half_pixel_centers": not aligned and sketch.chance(2)}
        sketch.node(op, [operand, sketch.constant("INT32", (2,), size)], operand.type, (batch, *size, depth), options,
                    quantization=operand.quantization)  # fmt: skip


def _block(sketch: Sketch) -> None:
    operand = sketch.operand(rank=4)
    if operand is None:
        return
    batch, height, width, depth = operand.shape
    if depth % 4 == 0 and sketch.chance(2):
        op, shape = "DEPTH_TO_SPACE", (batch, height * 2, width * 2, depth // 4)
    elif height % 2 == 0 and width % 2 == 0:
        op, shape = "SPACE_TO_DEPTH", (batch, height // 2, width // 2, depth * 4)
    else:
        return
    sketch.node(op, [operand], operand.type, shape, {"block_size": 2}, quantization=operand.quantization)


_STEPS = (
    _unary, _unary, _binary, _binary, _binary, _convolution, _convolution, _convolution, _depthwise, _depthwise,
    _fully_connected, _fully_connected, _fully_connected, _transpose_convolution, _batch_matmul, _pooling, _pooling, _reshape,
    _reshape, _squeeze_or_expand, _transpose, _reduction, _reduction, _concatenation, _padding, _slice, _split, _requantize,
    _requantize, _dequantize, _cast, _gather, _arg_max, _resize, _block, _leaky_relu, _softmax, _prelu,
)  # fmt: skip


def random_step(sketch: Sketch) -> None:
    """Add a node, or none if the one that was chosen does not fit."""
    sketch.choice(_STEPS)(sketch)


@st.composite
def models(draw: Callable[[st.SearchStrategy[Any]], Any]) -> bytes:
    """A model of one subgraph made in 1 to 8 steps, each of at most one node and DEQUANTIZE of its constants."""
    sketch = Sketch(draw)
    for _ in range(sketch.number(1, 2)):
        sketch.input()
    for _ in range(sketch.number(1, 8)):
        random_step(sketch)
    return sketch.bytes()
