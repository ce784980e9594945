"""Tensors as Arm NN describes them (``GetTensorInfoForTfLiteTensor``, ``ClassicDelegateUtils.hpp``), and inferred shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model.model import Tensor
from ...model.schema import type_number

PER_CHANNEL = "per-channel INT8"
"""The type of INT8 tensors with several zero points (``QSymmS8``)."""
TYPES = ("BOOL", "FLOAT32", "FLOAT16", "UINT8", "INT8", "INT16", "INT32", "INT64")
"""The types that Arm NN knows, apart from ``PER_CHANNEL``."""
QUANTIZED = frozenset({"UINT8", "INT8", PER_CHANNEL, "INT16"})
_LIBRARY_NAMES = ("U8", "F32", "F16", "QASYMM8", "QASYMM8_SIGNED", "QSYMM16", "S32", "S64")
_LIBRARY_TYPES = {**dict(zip(TYPES, _LIBRARY_NAMES, strict=True)), PER_CHANNEL: "QSYMM8_PER_CHANNEL"}
MOST_DIMENSIONS = 5

_SHAPE = "./src/armnn/Tensor.cpp"


class Thrown(Exception):
    """An exception of Arm NN. The delegate catches it, and refuses the node.

    ``text`` is the text of the exception. ``found`` describes what caused it. If a tensor caused it, ``detail`` is the
    description without the name of the tensor.
    """

    def __init__(self, text: str, found: str = "", detail: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.found = found or f"a tensor {detail}"
        self.detail = detail


class Info(NamedTuple):
    """A tensor as Arm NN describes it. ``shape`` is None for a result without dimensions. 0 is an unknown size.

    ``scales`` is the number of scales. With several scales, ``scale`` is the first one. The properties that need the shape raise
    Thrown if the number of dimensions is not known.
    """

    type: str
    shape: tuple[int, ...] | None
    scale: float = 0.0
    zero_point: int = 0
    scales: int = 1
    is_constant: bool = False

    @property
    def known_shape(self) -> tuple[int, ...]:
        """The shape."""
        if self.shape is None:
            text = "Invalid action on a tensor shape that has unknown number of dimensions."
            raise Thrown(f"{text} at function CheckUnspecifiedNumDimensions [{_SHAPE}:323]", "a result without dimensions")
        return self.shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.known_shape)

    def size(self, dimension: int) -> int:
        """Return the size of a dimension. Raises Thrown if it is missing or not known."""
        shape = self.known_shape
        if dimension >= len(shape):
            text = f"Invalid dimension index: {dimension} (number of dimensions is {len(shape)})"
            raise Thrown(f"{text} at function CheckDimensionIndex [{_SHAPE}:279]", detail=f"of rank {len(shape)}")
        if not shape[dimension]:
            text = f"Dimension index: {dimension} not specified. Tensor shape not inferred yet."
            raise Thrown(f"{text} at function CheckDimensionSpecified [{_SHAPE}:303]", detail=f"of shape {list(shape)}")
        return shape[dimension]

    @property
    def sizes(self) -> list[int]:
        """The sizes of all dimensions. Raises Thrown if one is not known."""
        return [self.size(at) for at in range(self.rank)]

    @property
    def element_count(self) -> int:
        """The product of all known sizes, or 0 if no size is known."""
        known = [size for size in self.known_shape if size]
        return element_count(known) if known else 0

    @property
    def library_type(self) -> str:
        """Compute Library's name of the type."""
        return _LIBRARY_TYPES[self.type]

    @property
    def space(self) -> tuple[float, int]:
        """The scale and the zero point."""
        return self.scale, self.zero_point

    @property
    def is_quantized(self) -> bool:
        """Whether the type is a quantized type."""
        return self.type in QUANTIZED

    @property
    def is_per_axis(self) -> bool:
        """Whether there are several scales."""
        return self.scales > 1

    def with_shape(self, shape: tuple[int, ...]) -> Info:
        """Return the tensor with another shape. Raises Thrown for a number of dimensions that Arm NN does not know."""
        return self._replace(shape=checked(shape))

    def has_space_of(self, other: Info) -> bool:
        """Return whether types are equal, and quantization parameters too (``IsTypeSpaceMatch``)."""
        return self.type == other.type and (not self.is_quantized or self.is_per_axis or self.space == other.space)


def checked(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape. Raises Thrown if it has no dimensions, or more than ``MOST_DIMENSIONS``."""
    if 0 < len(shape) <= MOST_DIMENSIONS:
        return shape
    limit, line = ("greater than 0", 287) if not shape else ("less than or equal to MaxNumOfTensorDimensions", 293)
    text = f"Tensor numDimensions must be {limit} at function CheckValidNumDimensions [{_SHAPE}:{line}]"
    raise Thrown(text, detail=f"of rank {len(shape)}")


def info_of(tensor: Tensor, *, is_result: bool = False) -> Info:
    """Describe a tensor. Raises Thrown if Arm NN does not know its type or its number of dimensions."""
    kind, given = tensor.type, tensor.quantization
    if kind not in TYPES:
        # Upstream adds the type's number to the address of the text, so the text loses its beginning.
        text = "TfLiteArmnnDelegate: Unsupported data type: "[type_number(kind) :]
        raise Thrown(text, detail=f"of type {kind}")
    shape: tuple[int, ...] | None = tuple(max(size, 0) for size in tensor.shape)
    shape = (None if is_result else (1,)) if not shape else checked(shape)
    is_constant = tensor.is_constant and shape is not None
    if given is None or not given.is_affine:
        return Info(kind, shape, tensor.scale, tensor.zero_point, 1, is_constant)
    kind = PER_CHANNEL if kind == "INT8" and len(given.zero_points) != 1 else kind
    return Info(kind, shape, given.scale, given.zero_point, max(len(given.scales), 1), is_constant)


def input_info(node: NodeView, position: int) -> Info:
    """Describe an operand. Raises Thrown as ``info_of``."""
    return info_of(node.input(position))


def output_info(node: NodeView, position: int = 0) -> Info:
    """Describe a result. Raises Thrown as ``info_of``."""
    return info_of(node.output(position), is_result=True)


def input_infos(node: NodeView) -> Iterator[Info]:
    """Describe all operands. Raises Thrown as ``info_of``."""
    return map(info_of, node.inputs)


class Query(NamedTuple):
    """A question to a backend: whether it supports a layer with these tensors and values."""

    inputs: tuple[Info, ...]
    outputs: tuple[Info, ...]
    weights: Info | None = None
    bias: Info | None = None
    values: Mapping[str, Any] = MappingProxyType({})

    @property
    def input(self) -> Info:
        """The first operand."""
        return next(iter(self.inputs))

    @property
    def second(self) -> Info:
        """The second operand."""
        _, second, *_ = self.inputs
        return second

    @property
    def output(self) -> Info:
        """The first result."""
        return next(iter(self.outputs))

    @property
    def tensors(self) -> tuple[Info, ...]:
        """The operands and the first result."""
        return (*self.inputs, *self.outputs[:1])

    def part(self, name: str) -> Any:
        """Return a tensor or a value by name, or None if the call lacks it."""
        return self.values[name] if name in self.values else getattr(self, name, None)


# The shapes that Arm NN infers (InferOutputShapes, src/armnn/layers), where they may differ from the shapes of the runtime. A
# function returns the shape of a call's result, and raises Thrown if there is none. If an assertion fails, the text is empty.

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
