"""The shapes that Arm NN infers (``InferOutputShapes``, ``src/armnn/layers``), where they may differ from the runtime's.

Each function returns the shape of the result of a call. It raises Thrown if there is none. If an assertion fails, the text is
empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from .demands import Query
from .tensors import Thrown

ShapeSizes = tuple[int, ...]


def _broadcast(call: Query) -> ShapeSizes:
    shapes = [info.sizes for info in call.inputs[:2]]
    rank = max(map(len, shapes))
    one, two = ([1] * (rank - len(shape)) + shape for shape in shapes)
    if any(1 not in pair and pair[0] != pair[1] for pair in zip(one, two, strict=True)):
        raise Thrown("", f"inputs of shape {shapes[0]} and {shapes[1]}")
    return tuple(map(max, one, two))


def _logical(call: Query) -> ShapeSizes:
    if call.input.rank != call.second.rank:
        raise Thrown("", f"inputs of rank {call.input.rank} and {call.second.rank}")
    return _broadcast(call)


def padded_shape(call: Query) -> ShapeSizes:
    """Return the shape of the result of PAD."""
    return tuple([size + sum(pair) for size, pair in zip(call.input.sizes, call.values["pads"], strict=False)])


def strided_shape(call: Query) -> ShapeSizes:
    """Return the shape of the result of STRIDED_SLICE."""
    values, shape = call.values, []
    for at, size in enumerate(call.input.sizes):
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


def _stack(call: Query) -> ShapeSizes:
    shape, axis = call.input.known_shape, call.values["axis"]
    for info in call.inputs:
        if info.known_shape != shape:
            text = "StackLayer: TensorShape set on InputSlot[1] does not match defined input shape"
            raise Thrown(text, f"inputs of shape {list(shape)} and {list(info.known_shape)}")
    if not 0 <= axis <= len(shape):
        raise Thrown("", f"axis {axis}")
    if len(shape) == 5:
        raise Thrown("Tensor numDimensions must be less than or equal to MaxNumOfTensorDimensions", "a result of rank 6")
    return (*shape[:axis], len(call.inputs), *shape[axis:])


def _gather(call: Query) -> ShapeSizes:
    source, indices = call.input.sizes, call.second.sizes
    axis = call.values["axis"] % len(source)
    return (*source[:axis], *indices, *source[axis + 1 :])


def _reduced(call: Query) -> ShapeSizes:
    if call.input.rank > 4:
        raise Thrown("", f"input of rank {call.input.rank}")
    axes, keeps = call.values["axes"], call.values["keep_dims"]
    if not axes:
        return (1,) * (call.input.rank if keeps else 1)
    shape = [1 if at in axes else size for at, size in enumerate(call.input.sizes) if keeps or at not in axes]
    return tuple(shape) or (1,)


def transposed_convolution_shape(call: Query) -> ShapeSizes:
    """Return the shape of the result of TRANSPOSE_CONV."""
    values, weights = call.values, call.part("weights")
    sides = [
        (call.input.size(at) - 1) * values[f"stride_{side}"] + weights.size(at) - values[f"padding_{side}"]
        for side, at in (("h", 1), ("w", 2))
    ]
    return call.input.size(0), *sides, weights.size(0)


_SAME = """
    activation cast dequantize quantize softmax log_softmax l2_normalization normalization floor abs ceil exp log logical_not neg
    rsqrt sin sqrt
"""
_BROADCAST = "add div maximum minimum mul power squared_difference sub comparison prelu"

INFERRED: Mapping[str, Callable[[Query], ShapeSizes | None]] = {
    **dict.fromkeys(_SAME.split(), lambda call: call.input.known_shape),
    **dict.fromkeys(_BROADCAST.split(), _broadcast),
    **dict.fromkeys(("logical_and", "logical_or"), _logical),
    **dict.fromkeys(("mean", "reduce"), _reduced),
    "pad": padded_shape,
    "strided_slice": strided_shape,
    "stack": _stack,
    "reshape": lambda call: tuple(call.values["shape"]) if "shape" in call.values else None,
    "gather": _gather,
    "fully_connected": lambda call: (call.input.size(0), call.part("weights").size(0)),
    "transpose_convolution": transposed_convolution_shape,
}
"""The functions by layer. Other layers have the runtime's shape."""
