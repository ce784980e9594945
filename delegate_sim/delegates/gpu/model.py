"""The delegate's own model of a partition, reduced to the parts that can fail to build, and the reader of a node's operands.

Where the real delegate would crash, the reader raises Refused with a problem code.

Source: ``GraphFloat32`` (``delegates/gpu/common/model.cc``), ``ObjectReader`` (``object_reader.cc`` and ``.h``) and
``model_builder_helper.cc`` in the same folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ...foundation.late_numpy import np
from ...graph.graph import Graph, NodeView, fused_activation
from ...model.model import Tensor
from ...model.numbers import as_list
from ...refusal import Effect, Refused
from ...releases.catalogue import NEWEST, Release
from ...rules.kinds import kinds_in
from ..gpu_compatibility import Bhwc, axes_of, bhwc, filled, is_linear
from ..gpu_compatibility.checks import ACTIVATIONS

KINDS = kinds_in("delegates/gpu", "failures", is_shared=True)
"""The kind of each failure, by its code."""


def build_error(code: str, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a failed step of the build. ``values`` fill the placeholders of its message."""
    return Refused(KINDS[code].failure(tensor, node, **values))


def predicted_error(code: str, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a step after the build that is predicted to fail."""
    return Refused(replace(build_error(code, None, node, **values).refusal, is_predicted=True))


QUANTIZE_AND_DEQUANTIZE = "QUANTIZE_AND_DEQUANTIZE"
"""An operation that rounds floats to the possible values of a quantized tensor. On the GPU, all tensors are float."""
GATE_SUM = "LSTM_GATE_SUM"
"""The ADD in each gate of an LSTM. Upstream creates this ADD without attributes."""

DEQUANTIZED_TYPES = frozenset({"INT8", "UINT8", "INT32"})
"""The types of constants that the delegate converts to float with a scale and a zero point."""

Shape = tuple[int, int, int, int]
"""The sizes of batch, height, width and channels."""


@dataclass(eq=False, slots=True)
class Value:
    """A value that operations read or write. ``tensor`` is the tensor in the graph; None for an intermediate value."""

    shape: Shape
    tensor: Tensor | None = None
    is_quantized: bool = False
    producer: Operation | None = None
    consumers: dict[Operation, int] = field(default_factory=dict)
    """The operations that read the value, in order, with the position of the value among their operands."""


@dataclass(eq=False, slots=True)
class Operation:
    """One operation. ``kind`` is the delegate's name of the operation. ``node`` is the index of the original node."""

    kind: str
    node: int
    attributes: Any = None
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)

    def reads(self, value: Value) -> bool:
        """Return whether a value is one of the operands. An operation reads each value only once."""
        return self in value.consumers

    def input(self, position: int) -> Value:
        """Return the operand at a position. Raises Refused if there is no such operand."""
        if position >= len(self.inputs):
            raise build_error("gpu-build-missing-operand", node=self.node)
        return self.inputs[position]

    def output(self, position: int) -> Value:
        """Return the result at a position. Raises Refused if there is no such result."""
        if position >= len(self.outputs):
            raise build_error("gpu-build-output-count", node=self.node, found=len(self.outputs))
        return self.outputs[position]


@dataclass(eq=False, slots=True)
class GpuModel:
    """Operations in running order, and the values that leave the partition."""

    operations: list[Operation] = field(default_factory=list)
    known_outputs: set[Value] = field(default_factory=set)

    def add(self, kind: str, node: int, attributes: Any = None) -> Operation:
        """Add an operation (``NewNode``)."""
        operation = Operation(kind, node, attributes)
        self.operations.append(operation)
        return operation

    def is_output(self, value: Value) -> bool:
        """Return whether a value leaves the partition or has no consumers (``IsGraphOutput``)."""
        return not value.consumers or value in self.known_outputs


def produce(operation: Operation, value: Value) -> None:
    """Set the operation that computes a value (``SetProducer``)."""
    if value.producer is operation:
        raise build_error("gpu-build-repeated-operand", value.tensor)
    if operation.reads(value):
        raise build_error("gpu-build-in-place", value.tensor)
    if value.producer is not None:
        value.producer.outputs.remove(value)
    value.producer = operation
    operation.outputs.append(value)


def consume(operation: Operation, value: Value) -> None:
    """Add a value to the operands of an operation (``AddConsumer``)."""
    if value.producer is operation:
        raise build_error("gpu-build-in-place", value.tensor)
    if operation.reads(value):
        raise build_error("gpu-build-repeated-operand", value.tensor)
    value.consumers[operation] = len(operation.inputs)
    operation.inputs.append(value)


def replace_input(operation: Operation, old: Value, new: Value) -> None:
    """Replace an operand by a value that the operation does not read yet (``ReplaceInput``)."""
    place = new.consumers[operation] = old.consumers.pop(operation)
    operation.inputs[place] = new


class Elements(NamedTuple):
    """An element type that a parser reads, and the tensor types that can be converted to it (``CreateVectorCopyData``)."""

    name: str
    types: frozenset[str]


FLOAT_VALUES = Elements("float", frozenset({"FLOAT32", "FLOAT16"}) | DEQUANTIZED_TYPES)
INT32_VALUES = Elements(
    "INT32", frozenset({"FLOAT32", "INT32", "UINT8", "INT64", "BOOL", "INT16", "INT8", "FLOAT64", "UINT64", "UINT32", "UINT16"})
)
BOOL_VALUES = Elements("BOOL", INT32_VALUES.types)


class Layout(NamedTuple):
    """A layout of constants (``SetAllDimensions``). ``sizes`` returns a shape's sizes in this layout, or None if it has none."""

    name: str
    sizes: Callable[[tuple[int, ...]], tuple[int, ...] | None]


def _hwc(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    if len(shape) == 3:
        return shape
    return shape[1:] if len(shape) == 4 and shape[0] == 1 else None


SCALAR = Layout("one element", lambda shape: () if all(size == 1 for size in shape) else None)
LINEAR = Layout("size 1 in all dimensions except the last", lambda shape: shape[-1:] if is_linear(shape) else None)
HW = Layout("rank 2", lambda shape: shape if len(shape) == 2 else None)
HWC = Layout("rank 3, or rank 4 with a batch of 1", _hwc)
OHWI = Layout("rank 4", lambda shape: shape if len(shape) == 4 else None)
BHWC = OHWI


def gpu_shape(tensor: Tensor) -> Bhwc:
    """Return a tensor's shape on the GPU (``ExtractTensorShape``)."""
    if not 1 <= tensor.rank <= 4:
        raise build_error("gpu-build-rank", tensor)
    return bhwc(tensor.shape)


def gpu_axis(tensor: Tensor, index: int) -> int:
    """Return the GPU axis (batch, height, width or channels) for an axis of a tensor (``ExtractAxisFromIndex``)."""
    position = index + tensor.rank if index < 0 else index
    if not 0 <= position < tensor.rank:
        raise build_error("gpu-build-axis", tensor, axis=index)
    if tensor.rank > 4:
        raise build_error("gpu-build-rank", tensor)
    return axes_of(tensor.rank)[position]


def with_size(shape: Shape, axis: int, size: int) -> Bhwc:
    """Return a copy of a shape with ``size`` along one axis."""
    return filled(Bhwc(*shape), (axis,), (size,))


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
        is_quantized = tensor.type in ("INT8", "UINT8") and self.allow_quant_ops
        value = Value(gpu_shape(tensor), tensor, is_quantized)
        if is_quantized and not tensor.is_affine:
            raise build_error("gpu-build-quantization", tensor, found="without scale and zero point")
        if is_quantized and tensor.is_per_channel:
            raise build_error("gpu-build-quantization", tensor, found="quantized per channel")
        return value


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

    def add_complete(self, kind: str, *positions: int) -> Operation:
        """Add an operation that reads the operands at ``positions``, by default the first, and writes all results."""
        operation = self.add(kind)
        for position in positions or (0,):
            self.add_input(operation, position)
        self.add_outputs(operation)
        return operation

    def add_reshaped_output(self, operation: Operation, shape: Shape, position: int) -> None:
        """Add an intermediate result of this shape to an operation. Then add a RESHAPE from this result to the node's result."""
        between = Value(shape)
        produce(operation, between)
        reshape = self.add("RESHAPE", gpu_shape(self.view.output(position)))
        consume(reshape, between)
        self.add_output(reshape, position)

    def add_identity(self, position: int) -> None:
        """Add a RESHAPE that gives an operand the shape of the first result."""
        operation = self.add_complete("RESHAPE", position)
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
    types = elements.types if tensor.sparsity is None else ("FLOAT32", "FLOAT16")
    is_whole = elements is not INT32_VALUES or tensor.byte_size % 4 == 0
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
    reader.add_complete(reader.view.op)
