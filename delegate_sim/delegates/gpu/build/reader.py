"""Read the operands of nodes for the parsers.

Source: ``ObjectReader`` (``delegates/gpu/common/object_reader.cc`` and ``.h``) and ``model_builder_helper.cc`` in the same
folder. Where the real delegate would crash, this module raises Refused with a problem code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ....foundation.late_numpy import np
from ....graph.graph import Graph, NodeView, fused_activation
from ....model.model import Tensor
from ....model.numbers import as_list
from ....refusal import Effect, Refused
from ....releases.catalogue import NEWEST, Release
from ...gpu_compatibility.checks import ACTIVATIONS
from .model import DEQUANTIZED_TYPES, GpuModel, Operation, Shape, Value, build_error, consume, produce

_QUANTIZED_TYPES = frozenset({"INT8", "UINT8"})
_SPARSE_TYPES = frozenset({"FLOAT32", "FLOAT16"})


@dataclass(frozen=True, slots=True)
class Elements:
    """An element type that a parser reads, and the tensor types that can be converted to it (``CreateVectorCopyData``)."""

    name: str
    types: frozenset[str]


FLOAT_VALUES = Elements("float", frozenset({"FLOAT32", "FLOAT16"}) | DEQUANTIZED_TYPES)
INT32_VALUES = Elements(
    "INT32", frozenset({"FLOAT32", "INT32", "UINT8", "INT64", "BOOL", "INT16", "INT8", "FLOAT64", "UINT64", "UINT32", "UINT16"})
)
BOOL_VALUES = Elements("BOOL", INT32_VALUES.types)
_INT32_BYTES = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout of constants (``SetAllDimensions``).

    ``sizes`` takes a shape, and returns the sizes in this layout, or None if the shape does not fit the layout.
    """

    name: str
    sizes: Callable[[tuple[int, ...]], tuple[int, ...] | None]


def _linear(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    return shape[-1:] if shape and all(size == 1 for size in shape[:-1]) else None


def _hwc(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if len(shape) == 3:
        return shape
    return shape[1:] if len(shape) == 4 and shape[0] == 1 else None


SCALAR = Layout("one element", lambda shape: () if all(size == 1 for size in shape) else None)
LINEAR = Layout("size 1 in all dimensions except the last", _linear)
HW = Layout("rank 2", lambda shape: shape if len(shape) == 2 else None)
HWC = Layout("rank 3, or rank 4 with a batch of 1", _hwc)
OHWI = Layout("rank 4", lambda shape: shape if len(shape) == 4 else None)
BHWC = OHWI


def bhwc(tensor: Tensor) -> Shape:
    """Return a tensor's shape on the GPU (``ExtractTensorShape``)."""
    match tensor.shape:
        case (batch,):
            return batch, 1, 1, 1
        case (batch, channels):
            return batch, 1, 1, channels
        case (batch, width, channels):
            return batch, 1, width, channels
        case (batch, height, width, channels):
            return batch, height, width, channels
    raise build_error("gpu-build-rank", tensor)


_AXES = {1: (0,), 2: (0, 3), 3: (0, 2, 3), 4: (0, 1, 2, 3)}


def gpu_axis(tensor: Tensor, index: int) -> int:
    """Return the GPU axis (batch, height, width or channels) for an axis of a tensor (``ExtractAxisFromIndex``)."""
    position = index + tensor.rank if index < 0 else index
    if not 0 <= position < tensor.rank:
        raise build_error("gpu-build-axis", tensor, axis=index)
    if tensor.rank not in _AXES:
        raise build_error("gpu-build-rank", tensor)
    return _AXES[tensor.rank][position]


def with_size(shape: Shape, axis: int, size: int) -> Shape:
    """Return a copy of a shape with ``size`` along one axis."""
    changed = list(shape)
    changed[axis] = size
    return changed[0], changed[1], changed[2], changed[3]


@dataclass(eq=False, slots=True)
class Values:
    """The values of a partition's runtime tensors. Each value is created when it is first read."""

    graph: Graph
    allow_quant_ops: bool
    release: Release = NEWEST
    by_tensor: dict[int, Value] = field(default_factory=dict)

    def of(self, index: int) -> Value:
        """Return the value of a tensor (``ReadNonConstantTensor``)."""
        value = self.by_tensor.get(index)
        if value is None:
            value = self.by_tensor[index] = self._create(index)
        return value

    def update(self, index: int, operation: Operation) -> None:
        """Record that an operation writes a variable. Later operations read the new value (``AddUpdate``)."""
        old = self.of(index)
        self.by_tensor[index] = new = Value(old.shape, old.tensor, old.is_quantized)
        produce(operation, new)

    def _create(self, index: int) -> Value:
        if index < 0:
            raise build_error("gpu-build-missing-operand")
        tensor = self.graph.tensors[index]
        if tensor.is_constant:
            raise build_error("gpu-build-constant-operand", tensor)
        is_quantized = tensor.type in _QUANTIZED_TYPES and self.allow_quant_ops
        value = Value(bhwc(tensor), tensor, is_quantized)
        if is_quantized:
            _check_quantization(tensor)
        return value


def _check_quantization(tensor: Tensor) -> None:
    if tensor.quantization is None or not tensor.quantization.is_affine:
        raise build_error("gpu-build-quantization", tensor, found="without scale and zero point")
    if tensor.is_per_channel:
        raise build_error("gpu-build-quantization", tensor, found="quantized per channel")


@dataclass(eq=False, slots=True)
class NodeReader:
    """A reader of one node of the partition. The node's parser uses the reader to add operations to the model."""

    model: GpuModel
    values: Values
    view: NodeView

    def add(self, kind: str, attributes: object = None) -> Operation:
        """Add an operation for this node."""
        return self.model.add(kind, self.view.node.index, attributes)

    def value(self, position: int) -> Value:
        """Return the value of an operand (``ReadValue``)."""
        return self.values.of(self.view.node.input(position))

    def add_input(self, operation: Operation, position: int) -> Value:
        """Add an operand to an operation and return its value (``AddInput``)."""
        value = self.value(position)
        consume(operation, value)
        return value

    def add_output(self, operation: Operation, position: int) -> Value:
        """Add a result to an operation and return its value (``AddOutput``)."""
        value = self.values.of(self.view.node.output(position))
        produce(operation, value)
        return value

    def add_outputs(self, operation: Operation) -> None:
        """Add all results to an operation (``AddOutputs``)."""
        for position in range(len(self.view.node.outputs)):
            self.add_output(operation, position)

    def add_one_to_one(self, kind: str) -> Operation:
        """Add an operation that reads the first operand and writes all results."""
        operation = self.add(kind)
        self.add_input(operation, 0)
        self.add_outputs(operation)
        return operation

    def add_reshaped_output(self, operation: Operation, shape: Shape, position: int) -> None:
        """Add an intermediate result of this shape to an operation. Then add a RESHAPE from this result to the node's result."""
        between = Value(shape)
        produce(operation, between)
        reshape = self.add("RESHAPE", bhwc(self.view.output(position)))
        consume(reshape, between)
        self.add_output(reshape, position)

    def add_identity(self, position: int) -> None:
        """Add a RESHAPE that gives an operand the shape of the first result."""
        operation = self.add("RESHAPE")
        self.add_input(operation, position)
        self.add_outputs(operation)
        operation.attributes = operation.output(0).shape

    def add_constant(self, position: int, shape: Shape) -> Value:
        """Add a constant operand as a value (``NewConstNode``)."""
        constant = self.add("CONSTANT", self.view.input(position))
        value = Value(shape)
        produce(constant, value)
        return value

    def is_constant(self, position: int) -> bool:
        """Return whether an operand is stored in the model file."""
        return self.view.input(position).is_constant

    def read(self, position: int, layout: Layout, elements: Elements = FLOAT_VALUES) -> tuple[int, ...]:
        """Read a constant, and return its sizes in a layout (``ReadTensor``)."""
        tensor = self.view.input(position)
        if tensor.index < 0:
            raise build_error("gpu-build-missing-operand")
        _check_elements(tensor, elements)
        sizes = layout.sizes(tensor.shape)
        if sizes is None:
            raise build_error("gpu-build-constant-shape", tensor, needed=layout.name)
        return sizes

    def read_bias(self, position: int) -> None:
        """Read a bias. A bias that cannot be read is treated as missing. Raises Refused if the real delegate crashes."""
        try:
            self.read(position, LINEAR)
        except Refused as error:
            if error.refusal.effect is Effect.CRASH:
                raise

    def integers(self, position: int) -> list[int]:
        """Read a vector as INT32 and return its elements."""
        self.read(position, LINEAR, INT32_VALUES)
        value = self.view.value(self.view.input(position))
        assert value is not None  # tensors without elements cannot be read
        is_read_as_is = self.view.input(position).type == "INT32"
        elements: list[int] = as_list(value if is_read_as_is else np.asarray(value).astype(np.int32))
        return elements

    def fuse_activation(self, operation: Operation, activation: str | None = None) -> None:
        """Check a fused activation (``MaybeFuseActivation``).

        The operation of the activation is not added to the model, because this step cannot fail.
        """
        if len(operation.outputs) != 1:
            raise build_error("gpu-build-output-count", found=len(operation.outputs))
        function = activation or fused_activation(self.view)
        if function not in ACTIVATIONS:
            raise build_error("gpu-build-activation", found=function)


def _check_elements(tensor: Tensor, elements: Elements) -> None:
    types = elements.types if tensor.sparsity is None else _SPARSE_TYPES
    is_whole = elements is not INT32_VALUES or tensor.byte_size % _INT32_BYTES == 0
    if tensor.type not in types or not is_whole:
        raise build_error("gpu-build-constant-type", tensor, wanted=elements.name)
    if elements is FLOAT_VALUES and tensor.type in DEQUANTIZED_TYPES and tensor.quantization is None:
        raise build_error("gpu-build-unscaled-constant", tensor)
    if not tensor.is_constant and tensor.value is None and tensor.element_count:
        raise build_error("gpu-build-runtime-operand", tensor)


Parser = Callable[[NodeReader], None]
"""A function that adds a node to the model. Each family module has a table ``PARSERS`` for its operators."""


def parse_one_to_one(reader: NodeReader) -> None:
    """Parse an operator that needs only its first operand and its results."""
    reader.add_one_to_one(reader.view.op)
