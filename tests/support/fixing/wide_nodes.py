"""Nodes of five and six dimensions that passes rewrite."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.support.live.sketch import Sketch, SketchTensor

_QUANTIZATION = {"INT8": {"scale": 0.5, "zero_point": 3}}


def _input(sketch: Sketch, kind: str, shape: Sequence[int]) -> SketchTensor:
    return sketch.input_of(kind, shape, **_QUANTIZATION.get(kind, {}))


def _node(
    sketch: Sketch, op: str, inputs: Sequence[Any], kind: str, shape: Sequence[int], options: Any = None, **more: Any
) -> None:
    sketch.node(op, inputs, kind, shape, options, quantization=_QUANTIZATION.get(kind, {}), **more)


def _kind(sketch: Sketch) -> str:
    return str(sketch.choice(("FLOAT32", "FLOAT32", "INT8", "INT32")))


def _shape(sketch: Sketch, rank: int = 0) -> tuple[int, ...]:
    return tuple(sketch.choice((1, 2, 2, 3)) for _ in range(rank or sketch.number(5, 6)))


def _indices(sketch: Sketch, values: Any) -> int:
    return sketch.constant("INT32", np.shape(values), values)


def _transpose(sketch: Sketch) -> None:
    kind = _kind(sketch)
    operand = _input(sketch, kind, _shape(sketch))
    order = list(range(len(operand.shape)))
    for place in range(len(order) - 1):
        other = sketch.number(place, len(order) - 1)
        order[place], order[other] = order[other], order[place]
    _node(sketch, "TRANSPOSE", [operand, _indices(sketch, order)], kind, [operand.shape[axis] for axis in order])


_STRETCHED = ((True,) * 6, (False, False, False, True, True, True), (True, True, False, False, False, False))
"""Along which dimensions, counted from the last, an operand is stretched."""


def _element_wise(sketch: Sketch) -> None:
    op = sketch.choice(("ABS", "TANH", "ADD", "MUL", "SUB", "MAXIMUM", "LESS", "SELECT_V2", "PRELU", "DEQUANTIZE"))
    shape = _shape(sketch)
    kind = "FLOAT32" if op in ("TANH", "SELECT_V2", "PRELU", "ABS", "SUB") else sketch.choice(("FLOAT32", "INT8"))
    if op == "DEQUANTIZE":
        _node(sketch, op, [_input(sketch, "INT8", shape)], "FLOAT32", shape)
        return
    operand = _input(sketch, kind, shape)
    if op in ("ABS", "TANH"):
        _node(sketch, op, [operand], kind, shape)
        return
    stretched = sketch.choice(_STRETCHED)[-len(shape) :]
    other = tuple([1 if each else size for each, size in zip(stretched, shape, strict=True)])
    if sketch.chance(2):
        other = other[sketch.number(0, len(other) - 1) :] if op != "PRELU" else other
    if op == "PRELU":
        other = (1, *other[1:])
    if op == "PRELU" or sketch.chance(2):
        values = np.arange(math.prod(other)).reshape(other) - 3
        second: Any = sketch.constant(kind, other, values, **_QUANTIZATION.get(kind, {}))
    else:
        second = _input(sketch, kind, other)
    if op == "SELECT_V2":
        _node(sketch, op, [_input(sketch, "BOOL", shape), operand, second], kind, shape)
    else:
        _node(sketch, op, [operand, second], "BOOL" if op == "LESS" else kind, shape)


def _reduction(ops: Sequence[str]) -> Callable[[Sketch], None]:
    def make(sketch: Sketch) -> None:
        op = sketch.choice(ops)
        kind = (
            "BOOL"
            if op in ("REDUCE_ANY", "REDUCE_ALL")
            else "FLOAT32"
            if op == "REDUCE_PROD"
            else sketch.choice(("FLOAT32", "INT8"))
        )
        operand = _input(sketch, kind, tuple(sketch.choice((2, 3)) for _ in range(5)))
        axes = sketch.choice(((1, 2), (0, 1, 2), (4,), (-1, -2), (2, 3), (0,), (0, 3, 4)))
        gone = [axis % 5 for axis in axes]
        keeps = sketch.chance(2)
        shape = [1 if axis in gone else size for axis, size in enumerate(operand.shape) if keeps or axis not in gone]
        _node(sketch, op, [operand, _indices(sketch, axes)], kind, shape, {"keep_dims": keeps})

    return make


def _move(sketch: Sketch) -> None:
    op = sketch.choice(tuple(_MOVES))
    _MOVES[op](sketch, op)


def _concatenation(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), _shape(sketch)
    axis = sketch.number(-len(shape), len(shape) - 1)
    other = [*shape]
    other[axis] = sketch.number(1, 3)
    whole = [*shape]
    whole[axis] += other[axis]
    _node(sketch, op, [_input(sketch, kind, shape), _input(sketch, kind, other)], kind, whole, {"axis": axis})


def _split(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), [*_shape(sketch)]
    axis = sketch.number(-len(shape), len(shape) - 1)
    part = [*shape]
    shape[axis] *= 2
    operand, dimension = _input(sketch, kind, shape), sketch.constant("INT32", (), axis)
    inputs = [dimension, operand] if op == "SPLIT" else [operand, _indices(sketch, [part[axis]] * 2), dimension]
    _node(sketch, op, inputs, kind, part, {"num_splits": 2}, outputs=2)


def _gather(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), _shape(sketch, 5)
    axis = sketch.number(0, 4)
    indices = np.zeros(sketch.choice(((), (3,), (1, 2))), np.int32) + shape[axis] - 1
    _node(sketch, op, [_input(sketch, kind, shape), _indices(sketch, indices)], kind,
          [*shape[:axis], *indices.shape, *shape[axis + 1 :]], {"axis": axis})  # fmt: skip


def _slice(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), tuple(sketch.choice((2, 3, 4)) for _ in range(5))
    cut = {sketch.number(0, 4), sketch.number(0, 4)}
    begin = [1 if axis in cut else 0 for axis in range(5)]
    stride = sketch.choice((1, 1, 2)) if op == "STRIDED_SLICE" else 1
    strides = [stride if axis in cut else 1 for axis in range(5)]
    taken = [-(-(size - first) // step) for size, first, step in zip(shape, begin, strides, strict=True)]
    operand = _input(sketch, kind, shape)
    if op == "SLICE":
        _node(sketch, op, [operand, _indices(sketch, begin), _indices(sketch, taken)], kind, taken)
        return
    shrinks = begin[0] and stride == 1
    inputs = [operand, _indices(sketch, begin), _indices(sketch, shape), _indices(sketch, strides)]
    options = {"end_mask": sketch.choice((0, 31)), "shrink_axis_mask": int(bool(shrinks))}
    _node(sketch, op, inputs, kind, taken[1:] if shrinks else taken, options)


def _pad(sketch: Sketch, op: str) -> None:
    kind, shape = ("FLOAT32" if op == "MIRROR_PAD" else _kind(sketch)), tuple(sketch.choice((2, 3)) for _ in range(5))
    padded = {sketch.number(0, 4), sketch.number(0, 4)}
    widths = [(1, sketch.number(0, 1)) if axis in padded else (0, 0) for axis in range(5)]
    whole = [size + sum(pair) for size, pair in zip(shape, widths, strict=True)]
    inputs: list[Any] = [_input(sketch, kind, shape), _indices(sketch, widths)]
    if op == "PADV2":
        inputs.append(sketch.constant(kind, (), 2, **_QUANTIZATION.get(kind, {})))
    _node(sketch, op, inputs, kind, whole, {"mode": sketch.number(0, 1)} if op == "MIRROR_PAD" else None)


def _tile(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), _shape(sketch, 5)
    multiples = [sketch.choice((1, 1, 2)) for _ in shape]
    whole = [size * multiple for size, multiple in zip(shape, multiples, strict=True)]
    _node(sketch, op, [_input(sketch, kind, shape), _indices(sketch, multiples)], kind, whole)


def _broadcast_to(sketch: Sketch, op: str) -> None:
    kind, shape = _kind(sketch), _shape(sketch)
    stretched = sketch.choice(_STRETCHED)[-len(shape) :]
    own = [1 if each else size for each, size in zip(stretched, shape, strict=True)]
    _node(sketch, op, [_input(sketch, kind, own), _indices(sketch, shape)], kind, shape, version=2)


_MOVES: Mapping[str, Callable[[Sketch, str], None]] = MappingProxyType(
    {
        "BROADCAST_TO": _broadcast_to,
        "CONCATENATION": _concatenation,
        "GATHER": _gather,
        "MIRROR_PAD": _pad,
        "PAD": _pad,
        "PADV2": _pad,
        "SLICE": _slice,
        "SPLIT": _split,
        "SPLIT_V": _split,
        "STRIDED_SLICE": _slice,
        "TILE": _tile,
    }
)


def _rows(sketch: Sketch) -> None:
    op = sketch.choice(("SOFTMAX", "LOG_SOFTMAX", "ARG_MAX", "BATCH_MATMUL", "BATCH_MATMUL"))
    shape = _shape(sketch, 5)
    operand = _input(sketch, "FLOAT32", shape)
    if op == "ARG_MAX":
        axis = sketch.number(-5, 4)
        result = [size for place, size in enumerate(shape) if place != axis % 5]
        sketch.node(op, [operand, sketch.constant("INT32", (), axis)], "INT32", result, {"output_type": 2})
    elif op == "BATCH_MATMUL":
        stretched = sketch.chance(2)
        leading = (1, 1, 1) if stretched else shape[:3]
        other = _input(sketch, "FLOAT32", (*leading, shape[4], 2))
        _node(sketch, op, [operand, other], "FLOAT32", (*shape[:4], 2))
    else:
        _node(sketch, op, [operand], "FLOAT32", shape, {"beta": 1.0} if op == "SOFTMAX" else {})


def _repeated(sketch: Sketch) -> None:
    """An image whose rows and then columns are repeated, or the other way around, or both at once."""
    kind = sketch.choice(("FLOAT32", "INT8"))
    batch, height, width, depth = _shape(sketch, 4)
    image = _input(sketch, kind, (batch, height, width, depth))
    vertical, horizontal = sketch.choice((1, 2, 7)), sketch.choice((2, 3))
    rows = ((batch, height, 1, width, depth), vertical, 2)
    order = sketch.choice(("rows", "columns", "both"))
    if order == "rows":
        steps = [rows, ((batch, height * vertical, width, 1, depth), horizontal, 3)]
    elif order == "columns":
        steps = [((batch, height, width, 1, depth), horizontal, 3), ((batch, height, 1, width * horizontal, depth), vertical, 2)]
    else:
        steps = [((batch, height, 1, width, 1, depth), vertical, 2), ((batch, height, vertical, width, 1, depth), horizontal, 4)]
    last = image
    for shape, times, axis in steps:
        if shape != last.shape:
            _node(sketch, "RESHAPE", [last, _indices(sketch, shape)], kind, shape, {"new_shape": shape})
            last = sketch.last()
        result = (*shape[:axis], times, *shape[axis + 1 :])
        multiples = [times if place == axis else 1 for place in range(len(shape))]
        if sketch.chance(2):
            _node(sketch, "TILE", [last, _indices(sketch, multiples)], kind, result)
        else:
            _node(sketch, "BROADCAST_TO", [last, _indices(sketch, result)], kind, result, {}, version=2)
        last = sketch.last()
    end = (batch, height * vertical, width * horizontal, depth)
    _node(sketch, "RESHAPE", [last, _indices(sketch, end)], kind, end, {"new_shape": end})


WIDE: Mapping[str, Callable[[Sketch], None]] = MappingProxyType(
    {
        "transpose-of-lower-rank": _transpose,
        "element-wise-of-rank-4": _element_wise,
        "repeats-as-resize": _repeated,
        "move-of-rank-4": _move,
        "limit-of-rank-4": _reduction(("REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL")),
        "sum-of-rank-4": _reduction(("MEAN", "SUM", "REDUCE_PROD")),
        "rows-of-rank-4": _rows,
    }
)
