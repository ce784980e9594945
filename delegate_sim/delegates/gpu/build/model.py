"""The delegate's own model of a partition, reduced to the parts that can fail to build.

Source: ``GraphFloat32`` (``delegates/gpu/common/model.cc``).
"""

from __future__ import annotations

from typing import Any

from ....model.model import Tensor
from ..failures import build_error

QUANTIZE_AND_DEQUANTIZE = "QUANTIZE_AND_DEQUANTIZE"
"""An operation that rounds floats to the possible values of a quantized tensor. On the GPU, all tensors are float."""
GATE_SUM = "LSTM_GATE_SUM"
"""The ADD in each gate of an LSTM. Upstream creates this ADD without attributes."""

Shape = tuple[int, int, int, int]
"""The sizes of batch, height, width and channels."""


class Value:
    """A value that operations read or write. ``tensor`` is the tensor in the graph; None for an intermediate value."""

    __slots__ = ("consumers", "is_quantized", "producer", "shape", "tensor")

    def __init__(self, shape: Shape, tensor: Tensor | None = None, is_quantized: bool = False) -> None:
        self.shape = shape
        self.tensor = tensor
        self.is_quantized = is_quantized
        self.producer: Operation | None = None
        self.consumers: dict[Operation, int] = {}
        """The operations that read the value, in order, with the position of the value among their operands."""


class Operation:
    """One operation. ``kind`` is the delegate's name of the operation. ``node`` is the index of the original node."""

    __slots__ = ("attributes", "inputs", "kind", "node", "outputs")

    def __init__(self, kind: str, node: int, attributes: Any = None) -> None:
        self.kind = kind
        self.node = node
        self.attributes = attributes
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []

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


class GpuModel:
    """Operations in running order, and the values that leave the partition."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.known_outputs: set[Value] = set()

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
