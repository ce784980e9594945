"""For each pass a node that it rewrites, among random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from flatbuffers import flexbuffers
from hypothesis import strategies as st

from tests.support.fixing.integer_nodes import INTEGERS
from tests.support.fixing.misread_nodes import MISREAD
from tests.support.fixing.wide_nodes import WIDE
from tests.support.live.graphs import random_step
from tests.support.live.sketch import Sketch, SketchTensor

Maker = Callable[[Sketch], None]


def _shape(sketch: Sketch, lowest: int = 1, highest: int = 4) -> tuple[int, ...]:
    return tuple(sketch.choice((1, 2, 3, 5)) for _ in range(sketch.number(lowest, highest)))


def _floats(sketch: Sketch, *shape: int) -> SketchTensor:
    """Return a tensor of floats: an input, or one that a node before makes."""
    return sketch.input_of("FLOAT32", shape or _shape(sketch))


def _values(sketch: Sketch, shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(sketch.number(0, 99)).standard_normal(shape).astype(np.float32)


def _unary(op: str, options: Mapping[str, Any] | None = None) -> Maker:
    def make(sketch: Sketch) -> None:
        operand = _floats(sketch)
        sketch.node(op, [operand], "FLOAT32", operand.shape, None if options is None else dict(options))

    return make


def _broadcast_operand(sketch: Sketch) -> None:
    wide = _floats(sketch, *sketch.choice(((2, 3, 4), (1, 2, 3, 4))))
    shape = sketch.choice((wide.shape[-2:], (1, wide.shape[-1])))
    narrow = _floats(sketch, *shape) if sketch.chance(2) else sketch.constant("FLOAT32", shape, _values(sketch, shape))
    op = sketch.choice(("ADD", "MUL", "MAXIMUM"))
    options = {} if op == "MAXIMUM" else {"fused_activation_function": sketch.choice((0, 1))}
    sketch.node(op, sketch.choice(([wide, narrow], [narrow, wide])), "FLOAT32", wide.shape, options)


def _rsqrt(sketch: Sketch) -> None:
    operand = _floats(sketch)
    sketch.node("SQUARE", [operand], "FLOAT32", operand.shape, {})
    sketch.node("RSQRT", [sketch.operand(types=("FLOAT32",)) or operand], "FLOAT32", operand.shape)


def _binary(op: str, *, options: bool = True) -> Maker:
    def make(sketch: Sketch) -> None:
        first = _floats(sketch)
        activation = {"fused_activation_function": sketch.choice((0, 0, 1, 3))} if options else {}
        second = (
            _floats(sketch, *first.shape)
            if sketch.chance(2)
            else sketch.constant("FLOAT32", first.shape, _values(sketch, first.shape))
        )
        sketch.node(op, [first, second], "FLOAT32", first.shape, activation)

    return make


def _div(sketch: Sketch) -> None:
    operand = _floats(sketch)
    divisor = sketch.constant("FLOAT32", (1,), [sketch.choice((0.3, 7.0, -2.5))])
    sketch.node("DIV", [operand, divisor], "FLOAT32", operand.shape, {"fused_activation_function": sketch.choice((0, 1))})


def _leaky(sketch: Sketch) -> None:
    operand = _floats(sketch)
    sketch.node("LEAKY_RELU", [operand], "FLOAT32", operand.shape, {"alpha": sketch.choice((0.0, 0.1, 0.25, 1.0))})


def _mean(axes: tuple[int, ...]) -> Maker:
    def make(sketch: Sketch) -> None:
        operand = _floats(sketch, 2, 3, 4, 5)
        keeps = sketch.chance(2)
        shape = [1 if axis in axes else size for axis, size in enumerate(operand.shape) if keeps or axis not in axes]
        index = sketch.constant("INT32", (len(axes),), axes)
        sketch.node("MEAN", [operand, index], "FLOAT32", shape, {"keep_dims": keeps})

    return make


def _bias(sketch: Sketch) -> None:
    """Other layers do not run on the CPU without a bias."""
    kind = sketch.choice(("FLOAT32", "INT8"))
    scales: dict[str, Any] = {"scale": 0.5, "zero_point": 0} if kind == "INT8" else {}
    if sketch.chance(2):
        operand = sketch.input_of(kind, (2, 8), **scales)
        weights = sketch.constant(kind, (3, 8), _weights(sketch, kind, (3, 8)), **scales)
        sketch.node("FULLY_CONNECTED", [operand, weights, -1], kind, (2, 3), {}, quantization=scales)
    else:
        operand = sketch.input_of(kind, (1, 4, 4, 3), **scales)
        weights = sketch.constant(kind, (2, 1, 1, 3), _weights(sketch, kind, (2, 1, 1, 3)), **scales)
        inputs = [sketch.constant("INT32", (4,), (1, 4, 4, 2)), weights, operand]
        options = {"stride_w": 1, "stride_h": 1, "padding": 0}
        sketch.node("TRANSPOSE_CONV", inputs, kind, (1, 4, 4, 2), options, quantization=scales)


def _unfused(sketch: Sketch) -> None:
    operand = _floats(sketch, 1, 4, 4, 3)
    weights = sketch.constant("FLOAT32", (2, 2, 2, 3), _values(sketch, (2, 2, 2, 3)))
    bias = [sketch.constant("FLOAT32", (2,), (0.5, -0.5))] if sketch.chance(2) else []
    inputs = [sketch.constant("INT32", (4,), (1, 4, 4, 2)), weights, operand, *bias]
    options = {"stride_w": 1, "stride_h": 1, "padding": 0, "fused_activation_function": sketch.choice((1, 2, 3))}
    sketch.node("TRANSPOSE_CONV", inputs, "FLOAT32", (1, 4, 4, 2), options, version=4)


def _weights(sketch: Sketch, kind: str, shape: tuple[int, ...]) -> Any:
    values = _values(sketch, shape)
    return values if kind == "FLOAT32" else np.clip(values * 40, -127, 127).astype(np.int8)


def _matrix(sketch: Sketch) -> None:
    operand = _floats(sketch, *sketch.choice(((2, 3, 8), (4, 8), (1, 2, 3, 8))))
    swaps = sketch.chance(2)
    shape = (5, 8) if swaps else (8, 5)
    weights = sketch.constant("FLOAT32", shape, _values(sketch, shape))
    sketch.node("BATCH_MATMUL", [operand, weights], "FLOAT32", (*operand.shape[:-1], 5), {"adj_y": swaps})


def _matrices(sketch: Sketch) -> None:
    """A product of several matrices: of computed ones, or of a constant on one side, which may be broadcast."""
    batches = sketch.choice((((2,), (2,)), ((2, 3), (1, 3)), ((1, 2), (1, 2)), ((1,), (4,)), ((1, 1), (1, 1)), ((3,), (2, 1))))
    swaps = sketch.chance(2), sketch.chance(2)
    sizes = [size[::-1] if is_swapped else size for size, is_swapped in zip(((3, 8), (8, 5)), swaps, strict=True)]
    shapes = [(*batch, *size) for batch, size in zip(batches, sizes, strict=True)]
    constant = sketch.choice((-1, -1, 0, 1))
    operands = [
        sketch.constant("FLOAT32", shape, _values(sketch, shape)) if place == constant else sketch.input_of("FLOAT32", shape)
        for place, shape in enumerate(shapes)
    ]
    result = (*np.broadcast_shapes(*batches), 3, 5)
    sketch.node("BATCH_MATMUL", operands, "FLOAT32", result, dict(zip(("adj_x", "adj_y"), swaps, strict=True)))


def _layer(sketch: Sketch) -> None:
    operand = _floats(sketch, *sketch.choice(((2, 3, 8), (1, 2, 3, 8), (1, 1, 8), (2, 1, 2, 3, 8))))
    kind = sketch.choice(("FLOAT32", "INT8"))
    weights = sketch.constant(
        kind, (5, 8), _weights(sketch, kind, (5, 8)), **({"scale": 0.02, "zero_point": 0} if kind == "INT8" else {})
    )
    options = {"keep_num_dims": True, "asymmetric_quantize_inputs": sketch.chance(2)}
    sketch.node("FULLY_CONNECTED", [operand, weights, -1], "FLOAT32", (*operand.shape[:-1], 5), options, version=9)


def _dense(sketch: Sketch) -> None:
    """A layer whose weights have one scale, or one for each channel."""
    kind = sketch.choice(("FLOAT32", "INT8"))
    scales: dict[str, Any] = {"scale": 0.5, "zero_point": 0} if kind == "INT8" else {}
    operand = sketch.input_of(kind, sketch.choice(((4, 8), (2, 3, 8), (1, 8))), **scales)
    own: dict[str, Any] = {"scale": [0.02, 0.1, 0.05], "zero_point": [0, 0, 0]} if kind == "INT8" and sketch.chance(2) else scales
    weights = sketch.constant(kind, (3, 8), _weights(sketch, kind, (3, 8)), **own)
    bias = sketch.constant("FLOAT32", (3,), (1, -2, 3)) if kind == "FLOAT32" and sketch.chance(2) else -1
    options = {"keep_num_dims": True, "fused_activation_function": sketch.choice((0, 1))}
    sketch.node(
        "FULLY_CONNECTED", [operand, weights, bias], kind, (*operand.shape[:-1], 3), options, version=5, quantization=scales
    )


def _dynamic_range(sketch: Sketch) -> None:
    operand = _floats(sketch, 4, 16)
    weights = sketch.constant("INT8", (8, 16), _weights(sketch, "INT8", (8, 16)), scale=0.02, zero_point=0)
    sketch.node("FULLY_CONNECTED", [operand, weights, -1], "FLOAT32", (4, 8), {"asymmetric_quantize_inputs": True}, version=9)


def _packed_weights(sketch: Sketch) -> None:
    """A layer with weights of 4 or 2 bits."""
    bits = sketch.choice((4, 2))
    stored = bytes([sketch.number(0, 255) for _ in range(8 * 16 * bits // 8)])
    scales = [sketch.choice((0.02, 0.5)) for _ in range(8)]
    weights = sketch.constant(f"INT{bits}", (8, 16), stored, scale=scales, zero_point=[0] * 8)
    sketch.node("FULLY_CONNECTED", [_floats(sketch, 4, 16), weights, -1], "FLOAT32", (4, 8), {}, version=12)


def _own_versions(sketch: Sketch) -> None:
    operand = _floats(sketch, 4, 16)
    weights = sketch.constant("FLOAT32", (8, 16), _values(sketch, (8, 16)))
    sketch.node("FULLY_CONNECTED", [operand, weights, -1], "FLOAT32", (4, 8), {}, version=sketch.choice((2, 4, 9)))


def _widened(kind: str) -> Maker:
    def make(sketch: Sketch) -> None:
        operand = _floats(sketch, 2, 4)
        packed = sketch.unpacked(kind, (2, 4))
        sketch.node("ADD", [operand, packed], "FLOAT32", (2, 4), {})

    return make


def _cancel(sketch: Sketch) -> None:
    what = sketch.choice(("TRANSPOSE", "RESHAPE", "QUANTIZE"))
    if what == "TRANSPOSE":
        operand = _floats(sketch, 2, 3, 4)
        order = sketch.constant("INT32", (3,), (2, 0, 1))
        back = sketch.constant("INT32", (3,), (1, 2, 0))
        sketch.node("TRANSPOSE", [operand, order], "FLOAT32", (4, 2, 3), {})
        sketch.node("TRANSPOSE", [sketch.last(), back], "FLOAT32", (2, 3, 4), {})
    elif what == "RESHAPE":
        operand = _floats(sketch, 2, 3, 4)
        sketch.node("RESHAPE", [operand, sketch.constant("INT32", (2,), (6, 4))], "FLOAT32", (6, 4), {})
        sketch.node("RESHAPE", [sketch.last(), sketch.constant("INT32", (1,), (24,))], "FLOAT32", (24,), {})
    else:
        scales = {"scale": 0.25, "zero_point": 3}
        operand = sketch.input_of("INT8", (2, 3), **scales)
        sketch.node("DEQUANTIZE", [operand], "FLOAT32", (2, 3), {})
        sketch.node("QUANTIZE", [sketch.last()], "INT8", (2, 3), {}, quantization=scales)
    last = sketch.last()
    sketch.node("NEG" if last.type == "FLOAT32" else "DEQUANTIZE", [last], "FLOAT32", last.shape, {})


def _any_type(sketch: Sketch, *shape: int) -> SketchTensor:
    kind = sketch.choice(("FLOAT32", "INT8", "INT32"))
    return sketch.input_of(kind, shape or _shape(sketch), **({"scale": 0.5, "zero_point": 3} if kind == "INT8" else {}))


def _expand(sketch: Sketch) -> None:
    operand = _any_type(sketch)
    axis = sketch.constant("INT32", (1,), (-1,))
    sketch.node("EXPAND_DIMS", [operand, axis], operand.type, (*operand.shape, 1), {}, quantization=operand.quantization)


def _squeeze(sketch: Sketch) -> None:
    operand = _any_type(sketch, 1, 3, 1, 2)
    sketch.node("SQUEEZE", [operand], operand.type, (3, 2), {"squeeze_dims": [0, 2]}, quantization=operand.quantization)


def _pack(sketch: Sketch) -> None:
    operand = _any_type(sketch, 2, 3)
    axis = sketch.number(-3, 2)
    shape = [2, 3]
    shape.insert(axis % 3, 2)
    options = {"values_count": 2, "axis": axis}
    sketch.node("PACK", [operand, operand], operand.type, shape, options, quantization=operand.quantization)


def _unpack(sketch: Sketch) -> None:
    operand = _any_type(sketch, 2, 3, 4)
    axis = sketch.number(-3, 2)
    shape = [size for place, size in enumerate(operand.shape) if place != axis % 3]
    count = operand.shape[axis]
    options = {"num": count, "axis": axis}
    sketch.node("UNPACK", [operand], operand.type, shape, options, quantization=operand.quantization, outputs=count)


def _split(sketch: Sketch) -> None:
    operand = _any_type(sketch, 2, 6, 4)
    axis = sketch.choice((1, -2))
    if sketch.chance(2):
        dimension = sketch.constant("INT32", (), axis)
        inputs: list[Any] = [dimension, operand]
        sketch.node("SPLIT", inputs, operand.type, (2, 2, 4), {"num_splits": 3}, quantization=operand.quantization, outputs=3)
    else:
        inputs = [operand, sketch.constant("INT32", (3,), (2, 2, 2)), sketch.constant("INT32", (), axis)]
        sketch.node("SPLIT_V", inputs, operand.type, (2, 2, 4), {"num_splits": 3}, quantization=operand.quantization, outputs=3)


def _elliptical(sketch: Sketch, operand: SketchTensor) -> None:
    """A slice of the last dimension behind an ellipsis, and perhaps a new dimension before or behind it."""
    new = sketch.choice((0, 1, 2))  # none, first or last
    begin, end, shape = [0, 1], [0, 3], [*operand.shape[:2], 2]
    if new:
        place = 0 if new == 1 else 2
        begin.insert(place, 0)
        end.insert(place, 0)
        shape.insert(0 if new == 1 else 3, 1)
    count = len(begin)
    options = {"ellipsis_mask": 2 if new == 1 else 1, "new_axis_mask": (0, 1, 4)[new]}
    inputs = [operand, *[sketch.constant("INT32", (count,), values) for values in (begin, end, (1,) * count)]]
    sketch.node("STRIDED_SLICE", inputs, operand.type, shape, options, quantization=operand.quantization)


def _strided(sketch: Sketch) -> None:
    operand = _any_type(sketch, 4, 5, 3)
    if sketch.chance(3):
        _elliptical(sketch, operand)
        return
    begin = sketch.constant("INT32", (3,), (sketch.choice((0, 1, -3)), 1, sketch.choice((0, 2, -1))))
    last = sketch.choice((4, -1, 9))
    end = sketch.constant("INT32", (3,), (4, last, 3))
    strides = sketch.constant("INT32", (3,), (1, 1, 1))
    options = {"begin_mask": 1, "end_mask": sketch.choice((1, 3)), "shrink_axis_mask": 4}
    size = 5 if options["end_mask"] == 3 or last == 9 else 4
    sketch.node("STRIDED_SLICE", [operand, begin, end, strides], operand.type, (4, size - 1), options,
                quantization=operand.quantization)  # fmt: skip


def _raised(sketch: Sketch) -> None:
    """A slice, selection or concatenation with a constant of up to three dimensions."""
    op = sketch.choice(("CONCATENATION", "SELECT", "SELECT_V2", "SLICE", "STRIDED_SLICE", "STRIDED_SLICE"))
    if op == "CONCATENATION":
        _with_token(sketch)
        return
    if op.startswith("SELECT"):
        _selection(sketch, op)
        return
    operand = _any_type(sketch, *sketch.choice(((5,), (1,), (4, 5), (1, 5), (4, 1), (2, 3, 4))))
    begin = [sketch.number(0, size - 1) for size in operand.shape]
    stride = sketch.choice((1, 1, 2)) if op == "STRIDED_SLICE" else 1
    taken = [-(-(size - first) // stride) for size, first in zip(operand.shape, begin, strict=True)]
    rows = {"SLICE": [begin, taken], "STRIDED_SLICE": [begin, operand.shape, [stride] * len(begin)]}[op]
    shrinks = op == "STRIDED_SLICE" and taken[0] == 1 and sketch.chance(2)
    options = {"end_mask": sketch.choice((0, 1)), "shrink_axis_mask": int(shrinks)} if op == "STRIDED_SLICE" else {}
    inputs = [operand, *[sketch.constant("INT32", (len(row),), row) for row in rows]]
    sketch.node(op, inputs, operand.type, taken[1:] if shrinks else taken, options, quantization=operand.quantization)


def _with_token(sketch: Sketch) -> None:
    shape = sketch.choice(((2, 3), (2, 3, 4)))
    axis = sketch.number(0, len(shape) - 1)
    token, result = ((*shape[:axis], size, *shape[axis + 1 :]) for size in (1, shape[axis] + 1))
    operands = [sketch.constant("FLOAT32", token, _values(sketch, token)), _floats(sketch, *shape)]
    operands = operands[:: sketch.choice((1, -1))]
    sketch.node("CONCATENATION", operands, "FLOAT32", result, {"axis": axis - sketch.choice((0, len(shape)))})


def _selection(sketch: Sketch, op: str) -> None:
    shape, kind = sketch.choice(((3, 4), (2, 3, 4))), sketch.choice(("FLOAT32", "INT32"))
    shapes = (shape,) if op == "SELECT" else (shape, (1, 4), (3, 1), (4,), ())
    condition = sketch.input_of("BOOL", sketch.choice(shapes))
    first = sketch.input_of(kind, shape)
    form = sketch.choice(shapes)
    second = sketch.input_of(kind, form) if sketch.chance(2) else sketch.constant(kind, form, np.ones(form))
    sketch.node(op, [condition, *sketch.choice(([first, second], [second, first]))], kind, shape, {})


def _broadcast(sketch: Sketch) -> None:
    shape = sketch.choice(((1, 4), (3, 1), (4,), (1,)))
    operand = _any_type(sketch, *shape)
    sizes = sketch.constant("INT32", (3,), (2, 3, 4))
    sketch.node("BROADCAST_TO", [operand, sizes], operand.type, (2, 3, 4), {}, quantization=operand.quantization, version=2)


def _of_constants(sketch: Sketch) -> None:
    """Nodes that read only constants; another node reads the last result, since an output stays as it is."""
    shape = (2, 3, 4)
    kind = sketch.choice(("FLOAT32", "INT32"))
    parts, shapes = [], []
    for _ in range(2):
        own = sketch.choice((shape, (1, 4), (3, 1), (4,)))
        shapes.append(own)
        values = np.asarray(_values(sketch, own))
        parts.append(sketch.constant(kind, own, values if kind == "FLOAT32" else values.astype(np.int32)))
    way, made = sketch.number(0, 4), shape
    if way == 0:
        sketch.node("FILL", [sketch.constant("INT32", (3,), shape), sketch.constant(kind, (), 3)], kind, shape, {})
    elif way == 1:
        sketch.node("BROADCAST_TO", [parts[0], sketch.constant("INT32", (3,), shape)], kind, shape, {}, version=2)
    elif way == 2:
        made = np.broadcast_shapes(*shapes)
        sketch.node(sketch.choice(("LESS", "NOT_EQUAL")), parts, "BOOL", made, {})
        sketch.node("SELECT_V2", [sketch.last(), *parts], kind, made, {})
    elif way == 3:
        table, places = sketch.constant(kind, (5, 4), np.arange(20)), sketch.constant("INT32", (2, 3), [[4, 0, 1], [2, 2, 3]])
        sketch.node("GATHER", [table, places], kind, shape, {"axis": 0})
    else:
        turned = sketch.constant(kind, (4, 2, 3), np.arange(24).reshape(4, 2, 3))
        sketch.node("TRANSPOSE", [turned, sketch.constant("INT32", (3,), [1, 2, 0])], kind, shape, {})
    sketch.node(
        sketch.choice(("ADD", "SUB")),
        [sketch.last(), parts[1]],
        kind,
        np.broadcast_shapes(made, shapes[1]),
        {},
    )
    other = _floats(sketch, *shape) if kind == "FLOAT32" else sketch.input_of(kind, shape)
    sketch.node("ADD", [other, sketch.last()], kind, shape, {})


def _flat_indices(sketch: Sketch) -> None:
    table = _any_type(sketch, 5, 4)
    shape = sketch.choice(((1, 3), (2, 2), ()))
    indices = sketch.constant("INT32", shape, np.arange(int(np.prod(shape))).reshape(shape))
    sketch.node("GATHER", [table, indices], table.type, (*shape, 4), {"axis": 0}, quantization=table.quantization)


def _box(sketch: Sketch) -> None:
    """A GATHER_ND of a box, or of everything."""
    operand = _any_type(sketch, 4, 5, 3)
    depth = sketch.choice((1, 2, 3))
    starts = [sketch.number(0, size - 1) if sketch.chance(2) else 0 for size in operand.shape[:depth]]
    sizes = [sketch.number(1, size - start) for size, start in zip(operand.shape, starts, strict=False)]
    vectors = np.indices(sizes).reshape(depth, -1).T + starts
    rows = sketch.choice(((1, len(vectors)), (len(vectors),), tuple(sizes)))
    indices = sketch.constant(sketch.choice(("INT32", "INT64")), (*rows, depth), vectors.reshape(*rows, depth))
    shape = (*rows, *operand.shape[depth:])
    sketch.node("GATHER_ND", [operand, indices], operand.type, shape, {}, quantization=operand.quantization)


def _enlarged(sketch: Sketch) -> None:
    kind = sketch.choice(("FLOAT32", "INT8", "UINT8"))
    operand = sketch.input_of(kind, (1, 3, 4, 2), **({} if kind == "FLOAT32" else {"scale": 0.5, "zero_point": 3}))
    factors = sketch.choice(((2, 2), (3, 3), (1, 4), (2, 5)))
    sizes = [3 * factors[0], 4 * factors[1]]
    options = {"half_pixel_centers": True}
    inputs = [operand, sketch.constant("INT32", (2,), sizes)]
    sketch.node("RESIZE_NEAREST_NEIGHBOR", inputs, kind, (1, *sizes, 2), options, quantization=operand.quantization)


def _batches(sketch: Sketch) -> None:
    operand = _any_type(sketch, 2, 3, 4)
    if sketch.chance(2):
        indices: Any = sketch.constant("INT32", (2, 2), ((0, 2), (1, 1)))
    else:
        indices = sketch.constant("INT32", (2, 2), ((2, 2), (1, 0)))
    options = {"axis": sketch.choice((1, -2)), "batch_dims": 1}
    sketch.node("GATHER", [operand, indices], operand.type, (2, 2, 4), options, quantization=operand.quantization)


def _conv_3d(sketch: Sketch) -> None:
    operand = _floats(sketch, sketch.choice((1, 2)), 5, 4, 4, 2)
    window, padding, stride = sketch.choice((1, 2, 3)), sketch.choice((0, 1)), sketch.choice((1, 2))
    weights = sketch.constant("FLOAT32", (window, 2, 2, 2, 3), _values(sketch, (window, 2, 2, 2, 3)))
    bias = sketch.constant("FLOAT32", (3,), (1, -2, 3))
    sizes = [-(-size // stride) if padding == 0 else (size - own) // stride + 1 for size, own in ((5, window), (4, 2), (4, 2))]
    options = {"padding": padding, "stride_d": stride, "stride_w": stride, "stride_h": stride,
               "fused_activation_function": sketch.choice((0, 1))}  # fmt: skip
    options |= {"dilation_d_factor": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
    sketch.node("CONV_3D", [operand, weights, bias], "FLOAT32", (operand.shape[0], *sizes, 3), options)


def _composite(sketch: Sketch) -> None:
    """A composite of ADD and MUL by a constant, in a subgraph of its own."""
    operand = _floats(sketch, 2, 3)
    inner = sketch.subgraph("decomposition")
    x, y, z = inner.input("x", "FLOAT32", [2, 3]), inner.tensor("y", "FLOAT32", [2, 3]), inner.tensor("z", "FLOAT32", [2, 3])
    inner.node("ADD", [x, x], [y], 1, {})
    inner.node("MUL", [y, inner.tensor("w", "FLOAT32", [3], data=(1, -2, 3))], [z], 1, {})
    inner.outputs(z)
    attributes = bytes(flexbuffers.Dumps({}))
    options = {"name": "odml.test", "decomposition_subgraph_index": inner.index, "composite_attributes": attributes}
    sketch.node("STABLEHLO_COMPOSITE", [operand], "FLOAT32", (2, 3), options)


def _relu_0_to_1(*types: str) -> Maker:
    def make(sketch: Sketch) -> None:
        kind = sketch.choice(types)
        scales: dict[str, Any] = {}
        if kind != "FLOAT32":
            lowest = np.iinfo(kind.lower()).min
            scales = {"scale": sketch.choice((1 / 256, 0.01, 0.5)), "zero_point": lowest + sketch.choice((0, 0, 128))}
        operand = sketch.input_of(kind, _shape(sketch), **scales)
        sketch.node("RELU_0_TO_1", [operand], kind, operand.shape, quantization=scales)

    return make


def _scatter(*, is_constant: bool) -> Maker:
    """A scatter that replaces one slice, at a position that is a constant or the result of ARG_MAX."""

    def make(sketch: Sketch) -> None:
        source = _any_type(sketch, sketch.choice((1, 2)), 6, sketch.choice((2, 3)), 4)
        sizes, count = list(source.shape), sketch.choice((1, 1, 3))
        axes = [1] if is_constant or count > 1 else sketch.choice(([1], [1, 2], [3, 1], [2, 1, 0]))
        inserted = [axis for axis in axes if count > 1 or sketch.chance(2)]
        for axis in axes:
            sizes[axis] = 1 if axis in inserted else sketch.number(1, sizes[axis])
        window = [size for axis, size in enumerate(sizes) if axis not in inserted]
        has_batch = count > 1 or sketch.chance(2)
        batch = sketch.number(0, len(window)) if has_batch else -1
        shape = [*window[:batch], count, *window[batch:]] if has_batch else window
        ends = [source.shape[axis] - (count if count > 1 else sizes[axis]) for axis in axes]
        if is_constant or count > 1 or sketch.chance(2):
            first = [sketch.number(0, end) for end in ends]
            rows = np.array([[first[0] + row, *first[1:]] for row in range(count)])
        else:
            rows = None
        axis = sketch.choice((0, 1)) if has_batch else 0
        index_shape = ([len(axes), count] if axis == 0 else [count, len(axes)]) if has_batch else [len(axes)]
        if rows is None:
            indices: Any = _positions(sketch, ends, index_shape)
        else:
            values = (rows.T if axis == 0 else rows).reshape(index_shape)
            indices = sketch.constant(sketch.choice(("INT32", "INT64")), index_shape, values)
        region = sketch.subgraph("region")
        _, new = [region.input(name, source.type, [], **source.quantization) for name in ("old", "new")]
        region.outputs(new)
        options = {
            "update_window_dims": [place for place in range(len(shape)) if place != batch],
            "inserted_window_dims": sorted(inserted),
            "scatter_dims_to_operand_dims": axes,
            "index_vector_dim": axis,
            "update_computation_subgraph_index": region.index,
        }
        updates = sketch.input_of(source.type, shape, **source.quantization)
        operands = [source, indices, updates]
        sketch.node("STABLEHLO_SCATTER", operands, source.type, source.shape, options, quantization=source.quantization)

    return make


def _positions(sketch: Sketch, ends: Sequence[int], shape: Sequence[int]) -> SketchTensor:
    """Positions from 0 to each of ``ends``, as the runtime computes them."""
    places = []
    for end in ends:
        axis = sketch.constant("INT32", (1,), [1])
        sketch.node("ARG_MAX", [_floats(sketch, 1, end + 1), axis], "INT32", (1,), {"output_type": 2})
        places.append(sketch.last())
    sketch.node("CONCATENATION", places, "INT32", (len(ends),), {"axis": 0})
    sketch.node("RESHAPE", [sketch.last(), sketch.constant("INT32", (len(shape),), shape)], "INT32", shape, {"new_shape": shape})
    return sketch.last()


def _spread(sketch: Sketch) -> None:
    """A convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, with any paddings that the blocks divide.

    A convolution of rows has reshapes around it, which add a dimension before or after the rows.
    """
    block, taps, depth = sketch.choice((2, 3)), sketch.choice((1, 3)), sketch.choice((1, 2))
    batch, added = sketch.choice((1, 2)), sketch.choice((None, None, 0, 1))
    is_same, is_depthwise = sketch.chance(2), sketch.chance(2)
    paddings, crops, sizes, spread, joined = [], [], [], [], []
    for _ in range(2 if added is None else 1):
        size, begin, end, crop = sketch.number(5, 8), sketch.number(0, 3), sketch.number(0, 3), sketch.choice((0, 0, 1))
        end += -(size + begin + end) % block
        spread.append((size + begin + end) // block)
        full = block * (spread[-1] if is_same else spread[-1] - taps + 1)
        crop = crop if full > crop + 1 else 0
        sizes.append(size)
        paddings.append([begin, end])
        crops.append([0, crop])
        joined.append(full - crop)
        if full < 1:
            return
    axes = len(sizes)
    image = _floats(sketch, batch, *sizes, depth)
    blocks = sketch.constant("INT32", (axes,), [block] * axes)
    batches = batch * block**axes
    operands = [image, blocks, sketch.constant("INT32", (axes, 2), paddings)]
    sketch.node("SPACE_TO_BATCH_ND", operands, "FLOAT32", (batches, *spread, depth))
    inner = [size if is_same else size - taps + 1 for size in spread]
    window = [taps] * axes
    if added is not None:
        for values in (spread, inner, window):
            values.insert(added, 1)
        _reshaped(sketch, (batches, *spread, depth))
    shape = (1 if is_depthwise else depth, *window, depth)
    operands = [sketch.last(), sketch.constant("FLOAT32", shape, _values(sketch, shape)), sketch.constant("FLOAT32", (depth,))]
    options = {"padding": 0 if is_same else 1, "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    op = "DEPTHWISE_CONV_2D" if is_depthwise else "CONV_2D"
    options = {**options, "depth_multiplier": 1} if is_depthwise else options
    sketch.node(op, operands, "FLOAT32", (batches, *inner, depth), options)
    if added is not None:
        del inner[added]
        _reshaped(sketch, (batches, *inner, depth))
    operands = [sketch.last(), blocks, sketch.constant("INT32", (axes, 2), crops)]
    sketch.node("BATCH_TO_SPACE_ND", operands, "FLOAT32", (batch, *joined, depth))


def _reshaped(sketch: Sketch, shape: tuple[int, ...]) -> None:
    operands = [sketch.last(), sketch.constant("INT32", (len(shape),), shape)]
    sketch.node("RESHAPE", operands, "FLOAT32", shape, {"new_shape": shape})


MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        "own-versions": _own_versions,
        "pairs-that-cancel": _cancel,
        "float16-widened": _widened("FLOAT16"),
        "constants-dequantized": _widened("INT8"),
        "bias-of-zeros": _bias,
        "activation-unfused": _unfused,
        "matrix-product-as-layer": _matrix,
        "matrix-product-unfolded": _matrices,
        "symmetric-activations": _dynamic_range,
        "weights-in-int8": _packed_weights,
        "weights-widened": _dynamic_range,
        "expand-dims-as-reshape": _expand,
        "squeeze-as-reshape": _squeeze,
        "pack-as-concatenation": _pack,
        "unpack-as-split": _unpack,
        "unpack-as-slices": _unpack,
        "split-as-slices": _split,
        "split-as-strided-slices": _split,
        "strided-slice-without-masks": _strided,
        "strided-slice-as-slice": _strided,
        "gather-nd-as-slice": _box,
        "resize-without-half-pixels": _enlarged,
        "square-as-mul": _unary("SQUARE", {}),
        "neg-as-mul": _unary("NEG", {}),
        "squared-difference-as-sub-mul": _binary("SQUARED_DIFFERENCE", options=False),
        "sub-as-add": _binary("SUB"),
        "operands-of-same-rank": _broadcast_operand,
        "raised-to-rank-4": _raised,
        "div-as-mul": _div,
        "rsqrt-as-sqrt-div": _rsqrt,
        "leaky-relu-as-maximum": _leaky,
        "hard-swish-written-out": _unary("HARD_SWISH"),
        "relu-0-to-1-as-limits": _relu_0_to_1("FLOAT32", "INT8", "UINT8"),
        "relu-0-to-1-by-relu6": _relu_0_to_1("FLOAT32"),
        "scatter-as-update-slice": _scatter(is_constant=False),
        "scatter-as-concatenation": _scatter(is_constant=True),
        "gelu-written-out": _unary("GELU", {"approximate": True}),
        "gelu-by-exponential": _unary("GELU", {"approximate": False}),
        "gelu-approximated": _unary("GELU", {"approximate": False}),
        "mean-as-pool": _mean((1, 2)),
        "mean-one-axis-at-a-time": _mean((1, 3)),
        "layer-of-rows": _layer,
        "composites-inlined": _composite,
        "broadcast-as-tile": _broadcast,
        "broadcast-as-mul": _broadcast,
        "nodes-of-constants": _of_constants,
        "gather-of-flat-indices": _flat_indices,
        "broadcast-as-concatenation": _broadcast,
        "gather-without-batches": _batches,
        "conv-3d-by-frames": _conv_3d,
        "layer-as-convolution": _dense,
        "dilated-convolution": _spread,
        **MISREAD,
        **WIDE,
        **INTEGERS,
    }
)


@st.composite
def models_around(draw: Callable[[st.SearchStrategy[Any]], Any], name: str) -> bytes:
    """A model with a node that a pass rewrites, and up to three random ones around it."""
    sketch = Sketch(draw)
    MAKERS[name](sketch)
    for _ in range(sketch.number(0, 3)):
        random_step(sketch)
    return sketch.bytes()
