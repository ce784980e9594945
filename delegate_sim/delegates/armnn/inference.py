"""The shapes that Arm NN infers (``InferOutputShapes``, ``src/armnn/layers``), where they may differ from the runtime's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from .steps import Query
from .tensors import Info, Thrown

InferredSizes = tuple[int, ...]

_SAME = """
    activation cast dequantize quantize softmax log_softmax l2_normalization normalization floor abs ceil exp log logical_not neg
    rsqrt sin sqrt
"""
_BROADCAST = """
    add div maximum minimum mul power squared_difference sub comparison logical_and logical_or prelu
"""


def inferred_shape(node: NodeView, layer: str, call: Query) -> InferredSizes | None:
    """Return the shape of a layer's result, or None if it is always the runtime's.

    Raises Thrown if there is none. The text is empty if an assertion fails.
    """
    infer = _INFERRED.get(layer)
    return None if infer is None else infer(node, call)


def _assertion(found: str) -> Thrown:
    return Thrown("", found)


def _same(_: NodeView, call: Query) -> InferredSizes:
    return call.input.known_shape


def _sizes(info: Info) -> InferredSizes:
    return tuple([info.size(at) for at in range(info.rank)])


def _broadcast(_: NodeView, call: Query) -> InferredSizes:
    shapes = [_sizes(info) for info in call.inputs[:2]]
    rank = max(map(len, shapes))
    one, two = ((1,) * (rank - len(shape)) + shape for shape in shapes)
    if any(1 not in pair and pair[0] != pair[1] for pair in zip(one, two, strict=True)):
        raise _assertion(f"inputs of shape {list(shapes[0])} and {list(shapes[1])}")
    return tuple(map(max, one, two))


def _logical(node: NodeView, call: Query) -> InferredSizes:
    if call.input.rank != call.second.rank:
        raise _assertion(f"inputs of rank {call.input.rank} and {call.second.rank}")
    return _broadcast(node, call)


def _pad(_: NodeView, call: Query) -> InferredSizes:
    return tuple([size + sum(pair) for size, pair in zip(_sizes(call.input), call.values["pads"], strict=False)])


def strided_shape(call: Query) -> InferredSizes:
    """Return the shape of the result of STRIDED_SLICE. Raises Thrown if Arm NN does not slice so."""
    values, shape = call.values, []
    for at, size in enumerate(_sizes(call.input)):
        begin, end, stride = (values[name][at] for name in ("begin", "end", "stride"))
        if values["shrink_axis_mask"] >> at & 1:
            if abs(begin - end) > 1:
                text = "StridedSlice: Attempting to take a larger slice than can fit in inferred output"
                raise Thrown(text, f"begin {begin} and end {end} of a dimension to shrink")
            if stride < 0:
                raise Thrown("StridedSlice: Stride can not be negative with Shrink Axis Mask set.", f"stride {stride}")
            continue
        start, stop = _range(values, at, size, begin, end, stride)
        shape.append(max(0, math.ceil((stop - start) / stride)) if stride else 0)
    return tuple(shape) or (1,)


def _range(values: Mapping[str, int], at: int, size: int, begin: int, end: int, stride: int) -> tuple[int, int]:
    """Return where a dimension is read from and to (``GetStartForAxis`` and ``GetStopForAxis``)."""
    if values["begin_mask"] >> at & 1:
        begin = 0 if stride > 0 else size - 1
    if values["end_mask"] >> at & 1:
        end = size if stride > 0 else -1 - size
    begin, end = (value + size if value < 0 else value for value in (begin, end))
    return max(0, min(begin, size - 1)), max(0, min(end, size)) if stride > 0 else max(-1, min(end, size - 1))


def _stack(_: NodeView, call: Query) -> InferredSizes:
    shape, axis = call.input.known_shape, call.values["axis"]
    for info in call.inputs:
        if info.known_shape != shape:
            text = "StackLayer: TensorShape set on InputSlot[1] does not match defined input shape"
            raise Thrown(text, f"inputs of shape {list(shape)} and {list(info.known_shape)}")
    if not 0 <= axis <= len(shape):
        raise _assertion(f"axis {axis}")
    if len(shape) == 5:
        raise Thrown("Tensor numDimensions must be less than or equal to MaxNumOfTensorDimensions", "a result of rank 6")
    return (*shape[:axis], len(call.inputs), *shape[axis:])


def _reshape(_: NodeView, call: Query) -> InferredSizes | None:
    if "shape" not in call.values:
        return None
    shape = [*call.values["shape"]]
    if -1 in shape:
        known = -element_count(shape)
        shape[shape.index(-1)] = call.input.element_count // known if known else 0
    return tuple(shape)


def _gather(_: NodeView, call: Query) -> InferredSizes:
    source, indices = _sizes(call.input), _sizes(call.second)
    axis = call.values["axis"] % len(source)
    return (*source[:axis], *indices, *source[axis + 1 :])


def _reduced(_: NodeView, call: Query) -> InferredSizes:
    if call.input.rank > 4:
        raise _assertion(f"input of rank {call.input.rank}")
    axes, keeps = call.values["axes"], call.values["keep_dims"]
    if not axes:
        return (1,) * (call.input.rank if keeps else 1)
    shape = [1 if at in axes else size for at, size in enumerate(_sizes(call.input)) if keeps or at not in axes]
    return tuple(shape) or (1,)


def _fully_connected(_: NodeView, call: Query) -> InferredSizes:
    assert call.weights is not None
    return call.input.size(0), call.weights.size(0)


def _transpose_convolution(_: NodeView, call: Query) -> InferredSizes:
    assert call.weights is not None
    values = call.values
    sides = [
        (call.input.size(at) - 1) * values[f"stride_{side}"] + call.weights.size(at) - sum(values[f"padding_{side}"])
        for side, at in (("h", 1), ("w", 2))
    ]
    return call.input.size(0), *sides, call.weights.size(0)


_INFERRED: Mapping[str, Callable[[NodeView, Query], InferredSizes | None]] = {
    **dict.fromkeys(_SAME.split(), _same),
    **dict.fromkeys(_BROADCAST.split(), _broadcast),
    "logical_and": _logical,
    "logical_or": _logical,
    "pad": _pad,
    "strided_slice": lambda _, call: strided_shape(call),
    "stack": _stack,
    "reshape": _reshape,
    "gather": _gather,
    "mean": _reduced,
    "reduce": _reduced,
    "fully_connected": _fully_connected,
    "transpose_convolution": _transpose_convolution,
}
