"""Checks that several kernels of TensorFlow Lite Micro share.

Source: ``InitializeTfLiteTensorFromFlatbuffer`` (``micro_allocator.cc``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from ..foundation.float32 import quotient
from ..graph.graph import ACTIVATION_BOUNDS, Graph, NodeView, fused_activation
from ..model.model import Allocation, Model, Node, Quantization, Subgraph, Tensor
from ..model.numbers import FlatNumbers, StoredNumbers, as_list
from ..rules.kinds import ACTIVATION, CONSTANT, OPERAND_VALUE, QUANTIZATION, SHAPE
from ..rules.operands import INPUT, OUTPUT, Operand, listed
from ..rules.rule import Check, Condition, Source
from ..rules.vocabulary import check, constant_words, operand_count, same_type, where
from .target import TENSOR_TYPE, TFLM, MicroTarget

_SIZES_OF_TYPES = {
    1: "UINT8 INT8 BOOL INT4",
    2: "FLOAT16 BFLOAT16 INT16 UINT16",
    4: "FLOAT32 INT32 UINT32 RESOURCE",
    8: "FLOAT64 INT64 UINT64 COMPLEX64",
    16: "COMPLEX128",
}
_SIZES = {name: size for size, names in _SIZES_OF_TYPES.items() for name in names.split()}
"""The size in bytes of an element of each type (``TfLiteTypeSizeOf`` in ``memory_helpers.cc``)."""


def count_external_tensors(model: Model) -> int:
    """Return the number of tensors with data outside the flatbuffer that nodes read or that are outputs of a graph."""
    return sum([len(external_tensors(model, subgraph)) for subgraph in model.subgraphs])


def external_tensors(model: Model, subgraph: Subgraph) -> set[int]:
    """Return the tensors of a subgraph with data outside the flatbuffer that nodes read or that are outputs."""
    if not model.offset_buffers:
        return set()
    read = {index for node in subgraph.nodes for index in node.inputs}.union(subgraph.outputs)
    return {index for index in read if index >= 0 and subgraph.tensors[index].buffer in model.offset_buffers}


def variable_name(model: Model, node: Node) -> tuple[str, str] | None:
    """Return the container and the name of the variable that a VAR_HANDLE creates, or None for any other node."""
    if node.op != "VAR_HANDLE" or node.is_custom:
        return None
    options = model.options(node)
    return str(options.container or ""), str(options.shared_name or "")


def count_variables(model: Model) -> int:
    """Return the number of variables of a model."""
    return len({variable_name(model, node) for subgraph in model.subgraphs for node in subgraph.nodes} - {None})


def micro_graph(model: Model, subgraph: Subgraph) -> Graph:
    """Return the graph of a subgraph."""
    return Graph(
        model=model,
        index=subgraph.index,
        name=subgraph.name,
        tensors=tuple([_as_arena(tensor, tensor.buffer in model.offset_buffers) for tensor in subgraph.tensors]),
        nodes=subgraph.nodes,
        inputs=subgraph.inputs,
        outputs=subgraph.outputs,
        execution_plan=tuple(range(len(subgraph.nodes))),
    )


def _as_arena(tensor: Tensor, is_external: bool) -> Tensor:
    if tensor.data is None or (tensor.data[1] and not is_external):
        return tensor
    return tensor._replace(allocation=Allocation.VARIABLE if tensor.is_variable else Allocation.ARENA, data=None)


def is_allocated(tensor: Tensor) -> bool:
    """Return whether the flatbuffer has no data for a tensor. For such a tensor, the runtime allocates memory."""
    return tensor.data is None and tensor.value is None


def has_size(tensor: Tensor) -> bool:
    """Return whether the tensor's type has a known size in the runtime."""
    return tensor.type in _SIZES


def byte_size(tensor: Tensor) -> int:
    """Return the size of a tensor in the arena in bytes, or 0 for a type without a size. An INT4 element takes one byte."""
    return tensor.element_count * _SIZES.get(tensor.type, 0)


INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def affine(tensor: Tensor) -> Quantization | None:
    """Return the quantization of a tensor, or None if the tensor has no scales or no zero points."""
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine or not len(quantization.zero_points):
        return None
    return quantization


def scales(tensor: Tensor) -> FlatNumbers | tuple[()]:
    """Return the scales of a tensor, or an empty tuple if the tensor is not quantized. The scales are not read yet."""
    quantization = affine(tensor)
    return () if quantization is None else quantization.scales


def scale(tensor: Tensor) -> float:
    """Return the first scale of a tensor, or 0 if the tensor is not quantized."""
    quantization = affine(tensor)
    return 0.0 if quantization is None else quantization.scale


def zero_point(tensor: Tensor) -> int:
    """Return the first zero point of a tensor as a 32-bit integer, or 0 if the tensor is not quantized."""
    quantization = affine(tensor)
    return 0 if quantization is None else (quantization.zero_point + (1 << 31)) % (1 << 32) - (1 << 31)


def is_quantizable(value: float, tensor: Tensor) -> bool:
    """Return whether a number divided by the tensor's scale fits into a 32-bit integer (``Quantize`` in ``kernel_util.cc``)."""
    steps = quotient(value, scale(tensor))
    return not math.isnan(steps) and INT32_MIN <= steps <= INT32_MAX


def binary_exponent(tensor: Tensor) -> int | None:
    """Return the exponent of a scale that is a power of two, or None for other scales (``CheckedLog2``)."""
    first = scale(tensor)
    if first <= 0 or math.isinf(first) or math.isnan(first):
        return None
    exponent = math.log2(first)
    return round(exponent) if abs(exponent - round(exponent)) < 1e-3 else None


FLOAT32, INT8, INT16, INT32 = ("FLOAT32",), ("INT8",), ("INT16",), ("INT32",)
FLOAT32_INT8 = ("FLOAT32", "INT8")
FLOAT32_INT8_INT16 = ("FLOAT32", "INT8", "INT16")
FLOAT32_INT8_INT16_INT32 = ("FLOAT32", "INT8", "INT16", "INT32")
INT8_INT16 = ("INT8", "INT16")

ONE_TO_ONE = operand_count(1, 1)
TWO_TO_ONE = operand_count(2, 1)
THREE_TO_ONE = operand_count(3, 1)
SAME_TYPES = same_type(INPUT, OUTPUT, kind=TENSOR_TYPE)

_CMSIS_NN = Condition[MicroTarget]("with CMSIS-NN", lambda target: target.kernels == "cmsis-nn")


def with_cmsis_nn(file: str, *checks: Check[object], symbol: str = "Prepare") -> tuple[Check[MicroTarget], ...]:
    """Return these checks with the function ``symbol`` of a CMSIS-NN kernel as their source.

    The checks do not apply to the reference kernel.
    """
    source = Source(TFLM, f"tensorflow/lite/micro/kernels/cmsis_nn/{file}", symbol)
    return tuple(one.from_source(source).when(_CMSIS_NN) for one in checks)


def where_typed(which: Operand, types: Collection[str], *checks: Check[object]) -> tuple[Check[object], ...]:
    """Return these checks, limited to nodes whose operand ``which`` has one of these types."""
    return where(lambda node: which.tensor(node).type in types, f"with {which.name} of type {listed(types)}", *checks)


def _scaled(which: Operand, is_scaled: bool, needed: str, found: str, hint: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        return None if (affine(which.tensor(node)) is not None) == is_scaled else f"{which.name} {found}"

    return check(QUANTIZATION, f"{which.name} {needed}", find, hint)


def quantized(*which: Operand) -> tuple[Check[object], ...]:
    """Require that each operand has scales and zero points."""
    words = "with scale and zero point", "without scale and zero point", "quantize the tensor with scale and zero point"
    return tuple(_scaled(operand, True, *words) for operand in which)


def not_quantized(*which: Operand) -> tuple[Check[object], ...]:
    """Require that no operand has scales and zero points."""
    words = "without quantization", "with scale and zero point", "quantize to int8, or leave the tensor unquantized"
    return tuple(_scaled(operand, False, *words) for operand in which)


def zero_point_of(which: Operand, value: int) -> Check[object]:
    """Require the zero point ``value``."""

    def find(node: NodeView) -> str | None:
        point = zero_point(which.tensor(node))
        return None if point == value else f"{which.name} with zero point {point}"

    return check(QUANTIZATION, f"{which.name} with zero point {value}", find)


def symmetric(*which: Operand) -> tuple[Check[object], ...]:
    """Require that each operand has the zero point 0."""
    return tuple(zero_point_of(operand, 0) for operand in which)


def same_parameters(first: Operand, second: Operand) -> tuple[Check[object], ...]:
    """Require that two operands have the same scale and zero point."""

    def same(name: str, parameter: Callable[[Tensor], float], form: str) -> Check[object]:
        def find(node: NodeView) -> str | None:
            one, other = (parameter(operand.tensor(node)) for operand in (first, second))
            return None if one == other else f"{first.name} with {name} {one:{form}} and {second.name} with {name} {other:{form}}"

        needed = f"{first.name} and {second.name} with the same {name}"
        return check(QUANTIZATION, needed, find, "quantize both tensors with the same parameters")

    return same("scale", scale, "g"), same("zero point", zero_point, "d")


def _activation_bounds(node: NodeView) -> str | None:
    activation = fused_activation(node)
    for bound in ACTIVATION_BOUNDS.get(activation, ()):
        if not is_quantizable(bound, node.output(0)):
            return f"fused {activation} with a scale of {scale(node.output(0)):g}"
    return None


ACTIVATION_RANGE = check(
    ACTIVATION,
    "an output scale with which the quantized bounds of the fused activation fit into 32 bits",
    _activation_bounds,
    "quantize the output with a scale that is not 0",
)
NO_ACTIVATION = check(
    ACTIVATION,
    "no fused activation",
    lambda node: None if not (name := node.options.fused_activation_function) else f"fused activation {name}",
)


def constant(which: Operand) -> Check[object]:
    """Require a constant operand."""

    def find(node: NodeView) -> str | None:
        return None if which.tensor(node).is_constant else f"{which.name} is computed or given at run time"

    return check(CONSTANT, constant_words(which.name), find)


def _other_shape(node: NodeView) -> str | None:
    source, result = node.input(0).shape, node.output(0).shape
    return None if source == result else f"input 0 of shape {list(source)} and output of shape {list(result)}"


SAME_SHAPES = check(SHAPE, "input 0 and output of the same shape", _other_shape)


def one_element(which: Operand) -> Check[object]:
    """Require a tensor with one element."""

    def find(node: NodeView) -> str | None:
        count = which.tensor(node).element_count
        return None if count == 1 else f"{which.name} with {count} elements"

    return check(SHAPE, f"{which.name} with 1 element", find)


_MOST_READ = 1 << 10
_MOST_COMPARED = 1 << 20


def integers(node: NodeView, tensor: Tensor, most: int = _MOST_READ) -> list[int] | None:
    """Return the first ``most`` elements of a constant, or None if the tensor is not constant."""
    if not tensor.is_constant:
        return None
    values = node.value(tensor)
    return None if values is None else [int(value) for value in values[:most].tolist()]


def as_int32(node: NodeView, tensor: Tensor, most: int = _MOST_READ) -> list[int] | None:
    """Return the bytes of a constant of any type as at most ``most`` 32-bit integers, or None if the tensor is not constant.

    Several kernels read axes, strides and paddings in this way, without checking the type.
    """
    values = node.value(tensor) if tensor.is_constant else None
    if values is None:
        return None
    content = values[: 4 * most].tobytes()
    return [int(value) for value in StoredNumbers.read("<i4", content)[:most].tolist()]


def first_values(node: NodeView, tensor: Tensor) -> list[float] | None:
    """Return the distinct elements of a constant, or None for a tensor that is computed.

    For an input of the model, return a single 0, because inputs are 0 until the application sets them.
    """
    if tensor.is_constant:
        values = node.value(tensor)
        return None if values is None else distinct_elements(values)
    return [0] if node.graph.index == 0 and tensor.index in node.graph.input_indices else None


def distinct_elements(values: FlatNumbers) -> list[float]:
    """Return the distinct elements of a constant. Only the first part of a large constant is read."""
    return [float(value) for value in set(as_list(values[:_MOST_COMPARED]))]


def axis_in_range(which: Operand, of: Operand = INPUT, *, skips_empty: bool = False) -> Check[object]:
    """Require that each constant axis is a dimension of the operand ``of``.

    With ``skips_empty``, the axes are not checked if the operand has no elements or no dimensions.
    """

    def find(node: NodeView) -> str | None:
        tensor = of.tensor(node)
        if skips_empty and (not tensor.rank or 0 in tensor.shape):
            return None
        for axis in as_int32(node, which.tensor(node)) or ():
            if not -tensor.rank <= axis < tensor.rank:
                return f"{which.name} {axis} with {of.name} of rank {tensor.rank}"
        return None

    return check(OPERAND_VALUE, f"{which.name} that is a dimension of {of.name}", find)


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...] | None:
    """Return the broadcast shape of several shapes, or None if the shapes cannot be broadcast."""
    rank = max(map(len, shapes))
    rows = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for sizes in zip(*rows, strict=True):
        largest = 0 if 0 in sizes else max(sizes)
        if any(size not in (1, largest) for size in sizes):
            return None
        result.append(largest)
    return tuple(result)
