"""Tensors as Arm NN describes them (``GetTensorInfoForTfLiteTensor``, ``ClassicDelegateUtils.hpp``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model.model import Tensor
from ...model.schema import type_number

PER_CHANNEL = "per-channel INT8"
"""The type of INT8 tensors with several zero points (``QSymmS8``)."""
TYPES = ("BOOL", "FLOAT32", "FLOAT16", "UINT8", "INT8", "INT16", "INT32", "INT64")
"""The types that Arm NN knows, apart from ``PER_CHANNEL``."""
QUANTIZED = frozenset({"UINT8", "INT8", PER_CHANNEL, "INT16"})
_LIBRARY_TYPES = {
    "BOOL": "U8",
    "FLOAT32": "F32",
    "FLOAT16": "F16",
    "UINT8": "QASYMM8",
    "INT8": "QASYMM8_SIGNED",
    PER_CHANNEL: "QSYMM8_PER_CHANNEL",
    "INT16": "QSYMM16",
    "INT32": "S32",
    "INT64": "S64",
}
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
