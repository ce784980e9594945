"""What ML Drift demands of a tensor that it reads: as a value at run time, or as a constant while the model is built.

Source: the functions ``PreCheck...`` (``ml_drift_delegate/tflite/operation_parser.cc`` and ``operation_parser.h``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....model.numbers import StoredNumbers
from ....rules import kinds
from ....rules.numbers import counted, listed
from ....rules.rule import Check
from ....rules.vocabulary import check
from ...gpu_compatibility.checks import Found, asked, joined
from ..naming import name_of
from ..shapes import is_linear
from .checks import PARSER, READER, SINCE_2_2, Checks, before, since

_QUANTIZED = ("INT8", "UINT8")
_MOST_OLD, _MOST = 4, 5
"""The highest rank that is read, before LiteRT 2.2 and since. Where tensors are looked at as a whole, 4 is the limit in both."""


@functools.cache
def available(position: int) -> Check[object]:
    """``PreGetInputTensor``: demand that an operand is given."""

    def find(node: NodeView) -> Found | None:
        is_given = position < len(node.node.inputs) and node.node.input(position) >= 0
        return None if is_given else Found(f"no input {position}", f"input #{position} tensor is not available")

    return asked(kinds.OPERAND_COUNT, f"input {position}", find).from_source(PARSER.with_symbol("PreGetInputTensor"))


@functools.cache
def named(position: int) -> Check[object]:
    """``GetTensorId``: the same demand, in other words of ML Drift's."""

    def find(node: NodeView) -> Found | None:
        if position >= len(node.node.inputs):
            return Found(f"no input {position}", f"Invalid input tensor index: {position}")
        index = node.node.input(position)
        return Found(f"no input {position}", f"Invalid Tensor index: {index}") if index < 0 else None

    return asked(kinds.OPERAND_COUNT, f"input {position}", find).from_source(PARSER.with_symbol("GetTensorId"))


TensorsOf = Callable[[NodeView], Sequence[Tensor]]


def _ranked(name: str, tensors_of: TensorsOf) -> Checks:
    def limited(limit: int) -> Check[object]:
        def find(node: NodeView) -> Found | None:
            tensor = next((each for each in tensors_of(node) if each.rank > limit), None)
            return None if tensor is None else Found(f"{name} of rank {tensor.rank}", bad_rank(node, tensor))

        found = asked(kinds.RANK, f"{name} of rank at most {limit}", find)
        return found.from_source(PARSER.with_symbol("CheckTensorShape"))

    return (*before(SINCE_2_2, limited(_MOST_OLD)), *since(SINCE_2_2, limited(_MOST)))


def bad_rank(node: NodeView, tensor: Tensor) -> str:
    """Return what ML Drift says of a tensor of a rank that it cannot use."""
    return f'Tensor "{name_of(node.graph, tensor)}" has bad input dims size: {tensor.rank}.'


def _scaled(name: str, tensors_of: TensorsOf) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        for tensor in tensors_of(node):
            if tensor.type in _QUANTIZED and tensor.is_per_channel:
                return Found(f"{name} with one scale per channel", "Unsupported quantization scale size")
        return None

    hint = "quantise this tensor with one scale"
    found = asked(kinds.QUANTIZATION, f"{name} with one scale, if quantised to 8 bits", find, hint)
    return found.from_source(PARSER.with_symbol("PreCheckReadValueByTensorIdx"))


@functools.cache
def readable(position: int) -> Checks:
    """``PreCheckReadValue``: demand that an operand, constant or not, can be read as a value."""
    return (named(position), *readable_tensor(f"input {position}", lambda node: (node.input(position),)))


def readable_tensor(name: str, tensors_of: TensorsOf) -> Checks:
    """``PreCheckReadValueByTensorIdx``."""
    return (*_ranked(name, tensors_of), _scaled(name, tensors_of))


RESULTS: Checks = readable_tensor("output", lambda node: node.outputs)
"""``PreCheckOutputs``: demand that all results can be read."""
RANKED_RESULT: Checks = _ranked("output", lambda node: node.outputs[:1])
"""``PreCheckTensorShape`` of the first result."""
READABLE_RESULT: Checks = readable_tensor("output 0", lambda node: (node.output(0),))
"""``PreCheckReadValueByTensorIdx`` of the first result."""


@functools.cache
def ranked(position: int) -> Checks:
    """``PreCheckTensorShape`` of an operand."""
    return _ranked(f"input {position}", lambda node: (node.input(position),))


def _runtime_or_constant(positions: Sequence[int] | None, limit: int) -> Check[object]:
    def problem(node: NodeView, position: int) -> Found | None:
        tensor = node.input(position)
        if position >= len(node.node.inputs) or node.node.input(position) < 0:
            return Found(f"no input {position}", f"input #{position} tensor is not available")
        if tensor.rank <= limit and not (tensor.type in _QUANTIZED and tensor.is_per_channel):
            return None
        found = f"input {position} of type {tensor.type} and rank {tensor.rank}"
        if tensor.type not in ("FLOAT32", "BOOL", "INT32"):
            return Found(found, f"Unsupported tensor type in NewConstNode: {tensor.type}")
        return Found(found, bad_rank(node, tensor) if has_data(tensor) else "src has no data.")

    def find(node: NodeView) -> Found | None:
        found = (problem(node, each) for each in (range(len(node.node.inputs)) if positions is None else positions))
        return next((each for each in found if each is not None), None)

    name = "all inputs" if positions is None else f"input {listed(map(str, positions))}"
    needed = f"{name} of rank at most {limit}, with one scale if quantised to 8 bits"
    return asked(kinds.SHAPE, needed, find).from_source(PARSER.with_symbol("PreCheckRuntimeOrConstantInput"))


def _in_releases(positions: Sequence[int] | None) -> Checks:
    old, new = _runtime_or_constant(positions, _MOST_OLD), _runtime_or_constant(positions, _MOST)
    return (*before(SINCE_2_2, old), *since(SINCE_2_2, new))


def runtime_or_constant(position: int) -> Checks:
    """``PreCheckRuntimeOrConstantInput``."""
    return _in_releases((position,))


ALL_RUNTIME_OR_CONSTANT: Checks = _in_releases(None)
"""The same of all operands."""


def positive_rank(name: str, tensors_of: TensorsOf) -> Check[object]:
    """``PreCheckTfLiteShape``: demand a rank from 1 to 4."""

    def find(node: NodeView) -> Found | None:
        tensor = next((each for each in tensors_of(node) if not 1 <= each.rank <= 4), None)
        return None if tensor is None else Found(f"{name} of rank {tensor.rank}", bad_rank(node, tensor))

    return asked(kinds.RANK, f"{name} of rank 1 to 4", find).from_source(PARSER.with_symbol("PreCheckTfLiteShape"))


# Constants


def has_data(tensor: Tensor) -> bool:
    """Whether the bytes of a tensor are known while delegates are applied: of constants, and of what Prepare computed."""
    return tensor.is_constant or tensor.value is not None


def _byte_count(tensor: Tensor) -> int:
    if tensor.value is not None:
        return tensor.value.nbytes
    return tensor.data[1] if tensor.data is not None else 0


ShapeFinder = Callable[[tuple[int, ...]], str | None]
"""Returns what ML Drift says of a shape that does not fit, None of one that does."""


def _scalar(shape: tuple[int, ...]) -> str | None:
    return None if all(size == 1 for size in shape) else f"{joined(shape)}  cannot be reduced to scalar."


def _linear(shape: tuple[int, ...]) -> str | None:
    return None if is_linear(shape) else "Isn't linear convertible."


def _hw(shape: tuple[int, ...]) -> str | None:
    return None if len(shape) == 2 else f"Expected a 2D tensor of shape HxW but got {joined(shape)}"


def _hwc(shape: tuple[int, ...]) -> str | None:
    if len(shape) == 3:
        return None
    if len(shape) == 4:
        return None if shape[0] == 1 else "Batch size is not equal to 1."
    return f"Expected a 3D tensor of shape HxWxC or a 4D tensor of shape 1xHxWxC but got {joined(shape)}"


def _ohwi(shape: tuple[int, ...]) -> str | None:
    return None if len(shape) == 4 else f"Expected a 4D tensor of shape OxHxWxI but got {joined(shape)}"


_SHAPES: dict[str, tuple[str, ShapeFinder]] = {
    "scalar": ("of one element", _scalar),
    "linear": ("with elements in the last dimension only", _linear),
    "matrix": ("of rank 2", _hw),
    "image": ("of rank 3, or 4 with a batch of 1", _hwc),
    "filter": ("of rank 4", _ohwi),
    "any": ("of any rank", lambda _: None),
}


def shape_of_constant(position: int, shape: str) -> Check[object]:
    """``CheckAllDimensions``: demand that an operand has a shape, such as ``linear`` or ``matrix``."""
    words, problem = _SHAPES[shape]

    def find(node: NodeView) -> Found | None:
        found = node.input(position).shape
        said = problem(found)
        return None if said is None else Found(f"input {position} of shape {list(found)}", said)

    return asked(kinds.SHAPE, f"input {position} {words}", find).from_source(READER.with_symbol("CheckAllDimensions"))


def _stored(position: int) -> Checks:
    dense = check(
        kinds.CONSTANT,
        f"input {position} not sparse",
        lambda node: "a sparse tensor" if node.input(position).sparsity is not None else None,
        "convert without sparse tensors",
    ).saying("ML Drift doesn't support sparsity.")
    stored = check(
        kinds.CONSTANT,
        f"a constant input {position}",
        lambda node: None if has_data(node.input(position)) else f"input {position} is not constant",
    ).saying("src has no data.")
    return (named(position), dense.from_source(READER), stored.from_source(READER.with_symbol("PreCheckCopyData")))


_AS_FLOATS = ("FLOAT32", "FLOAT16", "INT4", "INT8", "UINT8", "INT32")


def float_constant(position: int, shape: str) -> Checks:
    """``PreCheckReadTensor`` of floats: demand a constant that can be read as float, of a shape."""

    def find(node: NodeView) -> Found | None:
        found = node.input(position).type
        return None if found in _AS_FLOATS else Found(f"input {position} is {found}", "Unsupported data type for float32 tensor")

    typed = asked(kinds.TENSOR_TYPE, f"input {position} of type FLOAT32, FLOAT16, INT32 or of 4 or 8 bits", find)
    stored = (*_stored(position), typed.from_source(PARSER.with_symbol("PreCheckCopyData")))
    if shape == "any":
        return (*stored, *ranked(position))
    return (*stored, shape_of_constant(position, shape))


def integer_constant(position: int, shape: str) -> Checks:
    """``PreCheckReadTensor`` of integers: demand a constant with 4 bytes for each element, of a shape."""

    def find(node: NodeView) -> Found | None:
        tensor = node.input(position)
        size = _byte_count(tensor)
        found = f"input {position} is {tensor.type}"
        if size % 4:
            return Found(found, f"Input data size {size} is not aligned to expected type: 4")
        if size != 4 * tensor.element_count:
            return Found(found, "src has wrong size.")
        return None

    whole = asked(kinds.TENSOR_TYPE, f"input {position} with 4 bytes for each element, such as INT32", find)
    return (*_stored(position), whole.from_source(READER.with_symbol("PreCheckCopyData")), shape_of_constant(position, shape))


def integers(node: NodeView, position: int) -> list[int]:
    """Return the bytes of a constant as 32-bit integers, as ML Drift reads it whatever its type; empty if it has none."""
    value = node.value(node.input(position))
    return [] if value is None else StoredNumbers.read("<i4", value.tobytes()).tolist()


# Axes


def axes(name: str, tensor_of: Callable[[NodeView], Tensor], axes_of: Callable[[NodeView], Sequence[int]]) -> Check[object]:
    """``PreCheckAxisFromIndex``: demand that axes are among those of a tensor, whose rank is 1 to 4."""

    def find(node: NodeView) -> Found | None:
        rank = tensor_of(node).rank
        for axis in axes_of(node):
            if not -rank <= axis < rank:
                return Found(f"axis {axis} of {counted(rank, 'dimension')}", "Index for axis out of range")
            if not 1 <= rank <= 4:
                return Found(f"{name} of rank {rank}", "Unknown layout.")
        return None

    found = asked(kinds.RANK, f"axes inside {name}, of rank 1 to 4", find)
    return found.from_source(PARSER.with_symbol("PreCheckAxisFromIndex"))


INPUT_AXES: Check[object] = axes(
    "the input", lambda node: node.input(0), lambda node: integers(node, 1)[: node.input(1).element_count]
)
"""Demand that the axes in operand 1 are among those of operand 0."""

# Quantised weights

_WEIGHTS = "PreCheckReadQuantizedValueByTensorIdx"


def quantized_weights(position: int) -> Check[object]:
    """``PreCheckReadQuantizedValueByTensorIdx``: demand weights of 8, 4 or 2 bits, as a matrix."""

    def find(node: NodeView) -> Found | None:
        weights = node.input(position)
        at = weights.index
        if weights.quantization is None:
            return Found("weights without scales", f"{_WEIGHTS}: Empty quantization params: {at}")
        if weights.quantization.kind not in ("affine", "blockwise"):
            return Found(f"{weights.quantization.kind} weights", f"{_WEIGHTS}: Tensor is not quantized: {at}")
        if weights.type not in ("INT8", "INT4", "INT2"):
            return Found(f"{weights.type} weights", f"Expected Int8, Int4, or Int2 quantized tensor: {at}")
        if weights.rank not in (2, 4):
            return Found(f"weights of rank {weights.rank}", f"{_WEIGHTS}: Expected 2D or 4D quantized tensor: {at}")
        if weights.rank == 4 and weights.shape[1:3] != (1, 1):
            said = f"{_WEIGHTS}: Expected 4D quantized tensor with height of 1 and width of 1: {at}"
            return Found(f"weights of shape {list(weights.shape)}", said)
        return None

    needed = "quantised weights of type INT8, INT4 or INT2 and shape [o, i] or [o, 1, 1, i]"
    return asked(kinds.QUANTIZATION, needed, find).from_source(PARSER.with_symbol(_WEIGHTS))
