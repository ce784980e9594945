"""For each pass that cures wrong numbers of ML Drift, a node that it rewrites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.support.live.sketch import Sketch

Maker = Callable[[Sketch], None]


def _values(sketch: Sketch, *shape: int) -> Any:
    return np.random.default_rng(sketch.number(0, 99)).standard_normal(shape).astype(np.float32)


def _shape(sketch: Sketch, rank: int) -> tuple[int, ...]:
    return tuple(sketch.choice((1, 2, 3, 5)) for _ in range(rank))


def _with_constant(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 3))
    operand = sketch.input_of("FLOAT32", shape)
    own = shape[sketch.number(0, len(shape) - 1) :]
    constant = sketch.constant("FLOAT32", own, _values(sketch, *own))
    op = sketch.choice(("ADD", "MUL", "MAXIMUM", "LESS"))
    options = {"fused_activation_function": sketch.choice((0, 1))} if op in ("ADD", "MUL") else {}
    kind = "BOOL" if op == "LESS" else "FLOAT32"
    sketch.node(op, sketch.choice(([operand, constant], [constant, operand])), kind, shape, options)


def _padding(sketch: Sketch) -> None:
    shape = (2, 3, 4)
    operand = sketch.input_of("FLOAT32", shape)
    pads = [[sketch.number(0, 1), sketch.number(0, 1)] for _ in shape]
    inputs = [operand, sketch.constant("INT32", (3, 2), pads)]
    op = sketch.choice(("PAD", "PADV2", "MIRROR_PAD"))
    if op == "PADV2":
        inputs.append(sketch.constant("FLOAT32", (1,), [sketch.choice((0.0, 1.5))]))
    result = [size + sum(pair) for size, pair in zip(shape, pads, strict=True)]
    sketch.node(op, inputs, "FLOAT32", result, {"mode": sketch.choice((0, 1))} if op == "MIRROR_PAD" else {})


def _layer(sketch: Sketch) -> None:
    shape, rows = sketch.choice((((8,), 1), ((1, 2, 2, 8), 4), ((1, 2, 2, 2), 1), ((2, 3, 8), 6)))
    weights = sketch.constant("FLOAT32", (5, 8), _values(sketch, 5, 8))
    operand = sketch.input_of("FLOAT32", shape)
    sketch.node("FULLY_CONNECTED", [operand, weights, -1], "FLOAT32", (rows, 5), {"keep_num_dims": False}, version=4)


def _rows(sketch: Sketch) -> None:
    shape = sketch.choice(((1, 9, 8), (9, 8), (2, 3, 8)))
    weights = sketch.constant("FLOAT32", (5, 8), _values(sketch, 5, 8))
    rows = int(np.prod(shape[:-1]))
    operand = sketch.input_of("FLOAT32", shape)
    sketch.node("FULLY_CONNECTED", [operand, weights, -1], "FLOAT32", (rows, 5), {"keep_num_dims": False}, version=4)


def _from_end(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 4))
    axis = sketch.constant("INT32", (), -sketch.number(1, len(shape)))
    options = {"exclusive": sketch.chance(2), "reverse": sketch.chance(2)}
    sketch.node("CUMSUM", [sketch.input_of("FLOAT32", shape), axis], "FLOAT32", shape, options)


def _softmax(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", (sketch.number(2, 9),))
    sketch.node("SOFTMAX", [operand], "FLOAT32", operand.shape, {"beta": 1.0})


def _sums(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 3))
    operand = sketch.input_of("FLOAT32", shape)
    axis = sketch.constant("INT32", (), sketch.number(-len(shape), len(shape) - 1))
    options = {"exclusive": sketch.chance(2), "reverse": sketch.chance(2)}
    sketch.node("CUMSUM", [operand, axis], "FLOAT32", shape, options)


def _ones(sketch: Sketch) -> None:
    shape, depth = _shape(sketch, sketch.number(2, 3)), sketch.number(1, 5)
    indices = sketch.input_of("INT32", shape)
    values = [sketch.constant("FLOAT32", (), value) for value in (1.0, 0.0)]
    sketch.node("ONE_HOT", [indices, sketch.constant("INT32", (), depth), *values], "FLOAT32", (*shape, depth), {"axis": -1})


def _slope(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", _shape(sketch, sketch.number(2, 4)))
    sketch.node("LEAKY_RELU", [operand], "FLOAT32", operand.shape, {"alpha": sketch.choice((1.5, -0.5, 0.1))})


def _reverse(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 4))
    axis = sketch.constant("INT32", (1,), [sketch.number(0, len(shape) - 1)])
    sketch.node("REVERSE_V2", [sketch.input_of("FLOAT32", shape), axis], "FLOAT32", shape)


def _largest(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(2, 4))
    axis = sketch.constant("INT32", (), len(shape) - 1)
    sketch.node("ARG_MAX", [sketch.input_of("FLOAT32", shape), axis], "INT32", shape[:-1], {"output_type": 2})


def _blocks(sketch: Sketch) -> None:
    op, result = sketch.choice((("SPACE_TO_DEPTH", (2, 1, 16)), ("DEPTH_TO_SPACE", (8, 4, 1))))
    batches = sketch.number(2, 3)
    operand = sketch.input_of("FLOAT32", (batches, 4, 2, 4))
    sketch.node(op, [operand], "FLOAT32", (batches, *result), {"block_size": 2})


def _padded_batch(sketch: Sketch) -> None:
    shape = (1, 3, 2, 4)
    pads = [[sketch.number(0, 1), 1], *[[sketch.number(0, 1), 0] for _ in shape[1:]]]
    operand = sketch.input_of("FLOAT32", shape)
    result = [size + sum(pair) for size, pair in zip(shape, pads, strict=True)]
    sketch.node("PAD", [operand, sketch.constant("INT32", (4, 2), pads)], "FLOAT32", result, {})


def _batches(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", (1, 2, 3, 4))
    shape = sketch.choice(((2, 1, 1, 4), (3, 2, 3, 4)))
    constant = sketch.constant("FLOAT32", shape, _values(sketch, *shape))
    sketch.node(sketch.choice(("ADD", "MUL")), [operand, constant], "FLOAT32", (shape[0], 2, 3, 4), {})


def _reversed_sum(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 4))
    axis = sketch.constant("INT32", (), sketch.number(0, len(shape) - 1))
    operand = sketch.input_of("FLOAT32", shape)
    sketch.node("CUMSUM", [operand, axis], "FLOAT32", shape, {"exclusive": False, "reverse": True})


def _exclusive_sum(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 4))
    axis = sketch.constant("INT32", (), sketch.number(0, len(shape) - 1))
    operand = sketch.input_of("FLOAT32", shape)
    sketch.node("CUMSUM", [operand, axis], "FLOAT32", shape, {"exclusive": True, "reverse": sketch.chance(2)})


def _transposed(sketch: Sketch) -> None:
    stride, size = sketch.choice((1, 2)), sketch.number(2, 5)
    result = (1, size * stride, size * stride, 3)
    weights = sketch.constant("FLOAT32", (3, 3, 3, 2), _values(sketch, 3, 3, 3, 2))
    operand = sketch.input_of("FLOAT32", (1, size, size, 2))
    bias = sketch.constant("FLOAT32", (3,), _values(sketch, 3))
    options = {"padding": 0, "stride_h": stride, "stride_w": stride}
    sketch.node(
        "TRANSPOSE_CONV", [sketch.constant("INT32", (4,), result), weights, operand, bias], "FLOAT32", result, options, version=3
    )


def _grouped(sketch: Sketch) -> None:
    groups, inputs, outputs = sketch.number(2, 3), sketch.number(1, 5), sketch.number(2, 4)
    weights = sketch.constant("FLOAT32", (groups * outputs, 3, 3, inputs), _values(sketch, groups * outputs, 3, 3, inputs))
    bias = sketch.constant("FLOAT32", (groups * outputs,), _values(sketch, groups * outputs))
    operand = sketch.input_of("FLOAT32", (1, 4, 5, groups * inputs))
    options = {"padding": 0, "stride_h": 1, "stride_w": 1, "fused_activation_function": sketch.choice((0, 1))}
    options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
    sketch.node("CONV_2D", [operand, weights, bias], "FLOAT32", (1, 4, 5, groups * outputs), options, version=6)


def _strided(weights_type: str, type: str) -> Maker:
    def make(sketch: Sketch) -> None:
        size, stride = sketch.number(1, 6), sketch.choice((2, 3))
        scales: dict[str, Any] = {"scale": 0.5, "zero_point": 0} if type == "INT8" else {}
        own: dict[str, Any] = {"scale": 0.02, "zero_point": 0} if weights_type == "INT8" else {}
        values = _values(sketch, 5, 1, 1, 3)
        data = np.clip(values * 40, -127, 127).astype(np.int8) if weights_type == "INT8" else values
        weights = sketch.constant(weights_type, (5, 1, 1, 3), data, **own)
        operand = sketch.input_of(type, (1, size, 5, 3), **scales)
        result = (1, -(-size // stride), -(-5 // stride), 5)
        options = {"padding": sketch.choice((0, 1)), "stride_h": stride, "stride_w": stride}
        options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
        bias = sketch.constant("INT32" if type == "INT8" else "FLOAT32", (5,), (3, -2, 1, 0, 4))
        sketch.node("CONV_2D", [operand, weights, bias], type, result, options, version=5, quantization=scales)

    return make


def _without_bias(sketch: Sketch) -> None:
    operand, weights = sketch.input_of("FLOAT32", (3, 8)), sketch.input_of("FLOAT32", (5, 8))
    bias = sketch.constant("FLOAT32", (5,), _values(sketch, 5))
    options = {"fused_activation_function": sketch.choice((0, 1))}
    sketch.node("FULLY_CONNECTED", [operand, weights, bias], "FLOAT32", (3, 5), options)


def _pointwise(sketch: Sketch) -> None:
    multiplier = sketch.number(1, 3)
    weights = sketch.constant("FLOAT32", (1, 1, 1, 4 * multiplier), _values(sketch, 1, 1, 1, 4 * multiplier))
    bias = sketch.constant("FLOAT32", (4 * multiplier,), _values(sketch, 4 * multiplier))
    options = {"padding": sketch.choice((0, 1)), "stride_h": 1, "stride_w": 1, "depth_multiplier": multiplier}
    options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
    operand = sketch.input_of("FLOAT32", (1, 3, 4, 4))
    sketch.node("DEPTHWISE_CONV_2D", [operand, weights, bias], "FLOAT32", (1, 3, 4, 4 * multiplier), options)


def _scaled_output(sketch: Sketch) -> None:
    shape = _shape(sketch, sketch.number(1, 4))
    sketch.node("ABS", [sketch.input_of("FLOAT32", shape)], "FLOAT32", shape)
    read = sketch.last()
    sketch.node("MUL", [read, sketch.constant("FLOAT32", (), 2)], "FLOAT32", shape, {"fused_activation_function": 0})
    sketch.output(read)


def _beyond_windows(sketch: Sketch) -> None:
    """A convolution with padding SAME, whose windows end before the operand in the width."""
    window, stride = (sketch.number(1, 3), sketch.number(1, 2)), (sketch.number(1, 3), 4)
    size = sketch.number(3, 7), sketch.choice((4, 8))
    is_depthwise, is_int8 = sketch.chance(2), sketch.chance(2)
    scales: dict[str, Any] = {"scale": 0.5, "zero_point": 3} if is_int8 else {}
    own: dict[str, Any] = {"scale": 0.02, "zero_point": 0} if is_int8 else {}
    shape = (1, *window, 3) if is_depthwise else (3, *window, 3)
    values = _values(sketch, *shape)
    data = np.clip(values * 40, -127, 127).astype(np.int8) if is_int8 else values
    weights = sketch.constant("INT8" if is_int8 else "FLOAT32", shape, data, **own)
    operand = sketch.input_of("INT8" if is_int8 else "FLOAT32", (2, *size, 3), **scales)
    result = (2, *[-(-length // step) for length, step in zip(size, stride, strict=True)], 3)
    options = {"padding": 0, "stride_h": stride[0], "stride_w": stride[1], "dilation_h_factor": 1, "dilation_w_factor": 1}
    if is_depthwise:
        options["depth_multiplier"] = 1
    quantization = {"scale": 0.5, "zero_point": -4} if is_int8 else None
    op = "DEPTHWISE_CONV_2D" if is_depthwise else "CONV_2D"
    bias = sketch.constant(
        "INT32" if is_int8 else "FLOAT32", (3,), np.full(3, 5), **({"scale": 0.01, "zero_point": 0} if is_int8 else {})
    )
    sketch.node(op, [operand, weights, bias], operand.type, result, options, quantization=quantization, version=3)


def _square(sketch: Sketch) -> None:
    operand = sketch.input_of("FLOAT32", (*_shape(sketch, sketch.number(0, 2)), 3, 3))
    sketch.node(
        "BATCH_MATMUL", [operand, operand], "FLOAT32", operand.shape, {"adj_x": sketch.chance(2), "adj_y": sketch.chance(2)}
    )


MISREAD: Mapping[str, Maker] = MappingProxyType(
    {
        "padding-as-node": _beyond_windows,
        "operand-as-copy": _square,
        "output-as-copy": _scaled_output,
        "constant-operand-of-image": _with_constant,
        "padding-of-image": _padding,
        "layer-of-matrix": _layer,
        "layer-with-rows": _rows,
        "axis-from-front": _from_end,
        "softmax-of-row": _softmax,
        "sums-of-image": _sums,
        "ones-of-vector": _ones,
        "leaky-relu-as-prelu": _slope,
        "convolution-of-every-pixel": _strided("INT8", "INT8"),
        "hybrid-convolution-of-every-pixel": _strided("INT8", "FLOAT32"),
        "layer-without-bias": _without_bias,
        "depthwise-convolution-of-wider-window": _pointwise,
        "reverse-as-gather": _reverse,
        "largest-before-last-axis": _largest,
        "blocks-of-each-batch": _blocks,
        "padding-of-other-dimension": _padded_batch,
        "operand-of-each-batch": _batches,
        "reversed-sum-by-reverse": _reversed_sum,
        "exclusive-sum-by-sub": _exclusive_sum,
        "transposed-convolution-cut": _transposed,
        "convolution-of-each-group": _grouped,
    }
)
