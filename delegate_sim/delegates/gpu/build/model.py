"""The delegate's own model of a partition, as far as building it can fail.

Source: ``GraphFloat32`` (``delegates/gpu/common/model.cc``).
"""

from __future__ import annotations

from typing import Any

from ....model.model import Tensor

QUANTIZE_AND_DEQUANTIZE = "QUANTIZE_AND_DEQUANTIZE"
"""Rounds float values as the quantized tensor would, since all tensors are float here."""
GATE_SUM = "LSTM_GATE_SUM"
"""The ADD in each gate of an LSTM, which the original makes without attributes."""

Shape = tuple[int, int, int, int]
"""Batch, height, width and channels."""


class BuildError(Exception):
    """A step that fails: the code, the tensor and the node to blame, and what was found by the names in the wording."""

    def __init__(self, code: str, tensor: Tensor | None = None, node: int | None = None, **found: Any) -> None:
        super().__init__(code)
        self.code = code
        self.tensor = tensor
        self.node = node
        self.found = found


class Value:
    """What an operation reads or writes. ``tensor`` is that of the graph, None for a value in between."""

    __slots__ = ("consumers", "is_quantized", "producer", "shape", "tensor")

    def __init__(self, shape: Shape, tensor: Tensor | None = None, is_quantized: bool = False) -> None:
        self.shape = shape
        self.tensor = tensor
        self.is_quantized = is_quantized
        self.producer: Operation | None = None
        self.consumers: dict[Operation, None] = {}
        """In order; a dictionary, as there may be very many."""


class Operation:
    """One operation, by the delegate's name for it. ``node`` is the index of the node that it comes from."""

    __slots__ = ("_places", "attributes", "inputs", "kind", "node", "outputs")

    def __init__(self, kind: str, node: int, attributes: Any = None) -> None:
        self.kind = kind
        self.node = node
        self.attributes = attributes
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self._places: dict[Value, int] = {}

    def reads(self, value: Value) -> bool:
        """Return whether a value is an operand; none is so twice."""
        return value in self._places

    def read(self, value: Value) -> None:
        """Add an operand."""
        self._places[value] = len(self.inputs)
        self.inputs.append(value)

    def read_instead(self, old: Value, new: Value) -> None:
        """Replace an operand."""
        place = self._places[new] = self._places.pop(old)
        self.inputs[place] = new

    def input(self, position: int) -> Value:
        """Return what it reads at a position; raises BuildError if that is missing."""
        if position >= len(self.inputs):
            raise BuildError("gpu-build-missing-operand", node=self.node)
        return self.inputs[position]

    def output(self, position: int) -> Value:
        """Return what it writes at a position; raises BuildError if that is missing."""
        if position >= len(self.outputs):
            raise BuildError("gpu-build-output-count", node=self.node, found=len(self.outputs))
        return self.outputs[position]


class GpuModel:
    """Operations in running order, and the values that the partition must give."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.known_outputs: set[Value] = set()

    def add(self, kind: str, node: int, attributes: Any = None) -> Operation:
        """Add an operation (``NewNode``)."""
        operation = Operation(kind, node, attributes)
        self.operations.append(operation)
        return operation

    def is_output(self, value: Value) -> bool:
        """``IsGraphOutput``: nothing reads the value, or the partition must give it."""
        return not value.consumers or value in self.known_outputs


def produce(operation: Operation, value: Value) -> None:
    """Make a value the result of an operation (``SetProducer``)."""
    if value.producer is operation:
        raise BuildError("gpu-build-repeated-operand", value.tensor)
    if operation.reads(value):
        raise BuildError("gpu-build-in-place", value.tensor)
    if value.producer is not None:
        value.producer.outputs.remove(value)
    value.producer = operation
    operation.outputs.append(value)


def consume(operation: Operation, value: Value) -> None:
    """Make a value an operand (``AddConsumer``)."""
    if value.producer is operation:
        raise BuildError("gpu-build-in-place", value.tensor)
    if operation.reads(value):
        raise BuildError("gpu-build-repeated-operand", value.tensor)
    operation.read(value)
    value.consumers[operation] = None


def replace_input(operation: Operation, old: Value, new: Value) -> None:
    """Let an operation read another value, which it must not read already (``ReplaceInput``)."""
    operation.read_instead(old, new)
    new.consumers[operation] = None
    del old.consumers[operation]
