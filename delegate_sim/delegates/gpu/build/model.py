"""The delegate's own model of a partition, reduced to the parts that can fail to build, its simplification, and the failures.

Source: ``GraphFloat32`` (``delegates/gpu/common/model.cc``), ``ApplyGeneralTransformations``
(``delegates/gpu/common/transformations/model_transformations.cc``) and the transformations in the same folder. Only the
transformations that can fail, or that remove constants, are simulated. Upstream also merges consecutive operations, such as an
addition and a convolution. These transformations are omitted, because they cannot fail and do not affect the transformations
that can fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ....graph.graph import Graph
from ....model.model import Tensor
from ....model.numbers import bounds
from ....refusal import NodeIndex, Refused
from ....rules.kinds import kinds_in
from ... import decision

KINDS = kinds_in("delegates/gpu", "failures", is_shared=True)
"""The kind of each failure, by its code."""


def build_error(code: str, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a failed step of the build. ``values`` fill the placeholders of its message."""
    return Refused(decision.kernel_failure(KINDS, code, node, tensor, **values))


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


_NO_STARTS = (0, 0, 0, 0)
_NO_STRIDES = (1, 1, 1, 1)
_BATCH = 0


def clean_up(model: GpuModel, graph: Graph) -> None:
    """Apply the transformations in order."""
    kinds = {operation.kind for operation in model.operations}
    _round_quantized_values(model)
    if not kinds.isdisjoint(("RESHAPE", "SLICE")):
        _remove_identities(model)
    if not kinds.isdisjoint(("CONSTANT", "DENSIFY")):
        merged = set[Operation]()
        for operation in model.operations:
            if operation.kind == "CONCAT":
                merged.update(_pad_instead_of_zeros(operation, graph))
        for operation in model.operations:
            if operation.kind in ("CONVOLUTION_2D", "DEPTHWISE_CONVOLUTION"):
                merged.update(_merge_densify(operation))
        model.operations = [operation for operation in model.operations if operation not in merged]
    for operation in model.operations:
        if operation.kind == GATE_SUM:
            # ``MergeAddWithConvolution`` reads the attributes of the ADD, but this ADD has no attributes.
            raise build_error("gpu-build-lstm", node=operation.node)


def _round_quantized_values(model: GpuModel) -> None:
    for operation in tuple(model.operations):
        if operation.kind == QUANTIZE_AND_DEQUANTIZE:
            continue
        for value in operation.outputs:
            if value.is_quantized and value.consumers:
                rounding = model.add(QUANTIZE_AND_DEQUANTIZE, operation.node)
                rounded = Value(value.shape, value.tensor)
                produce(rounding, rounded)
                for consumer in tuple(value.consumers):
                    replace_input(consumer, value, rounded)
                consume(rounding, value)
                value.is_quantized = False


def _remove_identities(model: GpuModel) -> None:
    for kind in _IDENTITIES:
        for operation in model.operations:
            if operation.kind == kind and is_identity(operation) and not model.is_output(operation.output(0)):
                _remove_keeping_input(operation)


def _is_identity_slice(operation: Operation) -> bool:
    starts, ends, strides = operation.attributes
    shape = operation.output(0).shape
    return bool(operation.input(0).shape == shape == ends and starts == _NO_STARTS and strides == _NO_STRIDES)


_IDENTITIES = {"RESHAPE": lambda operation: bool(operation.input(0).shape == operation.attributes), "SLICE": _is_identity_slice}


def is_identity(operation: Operation) -> bool:
    """Return whether an operation changes nothing."""
    return operation.kind in _IDENTITIES and _IDENTITIES[operation.kind](operation)


def _remove_keeping_input(operation: Operation) -> None:
    """Let the consumers of an operation's result read the operation's operand instead (``RemoveSimpleNodeKeepInput``).

    Raises Refused if a consumer already reads the operand.
    """
    if len(operation.outputs) != 1:
        raise build_error("gpu-build-output-count", node=operation.node, found=len(operation.outputs))
    source, result = operation.input(0), operation.output(0)
    del source.consumers[operation]
    for consumer in tuple(result.consumers):
        if consumer.reads(source):
            raise build_error("gpu-build-identity", source.tensor, operation.node, consumer=NodeIndex(consumer.node))
        replace_input(consumer, result, source)


def _pad_instead_of_zeros(operation: Operation, graph: Graph) -> Sequence[Operation]:
    """Replace a CONCAT that appends zeros by a PAD, and return the constant that it no longer reads.

    Raises Refused if another operation reads the zeros (``MakePaddingFromZerosConcat``).
    """
    if len(operation.inputs) != 2:
        return ()
    for value in operation.inputs:
        producer = value.producer
        if producer is not None and producer.kind == "CONSTANT" and _is_zero(producer.attributes, graph):
            if operation.attributes == _BATCH:
                return ()
            _check_only_consumer(producer, operation)
            operation.kind, operation.attributes = "PAD", False
            operation.inputs.remove(value)
            return (producer,)
    return ()


def _is_zero(tensor: Tensor, graph: Graph) -> bool:
    value = graph.model.constant(tensor)
    if value is None:
        return False
    if tensor.type in DEQUANTIZED_TYPES and tensor.quantization is not None:
        zero_point = tensor.quantization.zero_point
        return not len(value) or bounds(value) == (zero_point, zero_point)
    return not value.any()


def _merge_densify(operation: Operation) -> Sequence[Operation]:
    """Merge the DENSIFY that unpacks the weights of a convolution, and return the operations that are removed.

    Raises Refused if another operation reads the unpacked weights (``MergeDensify``).
    """
    if len(operation.inputs) != 2:
        return ()
    merged = []
    producer, consumer = operation.input(1).producer, operation
    if producer is not None and producer.kind == QUANTIZE_AND_DEQUANTIZE:
        densify = producer.input(0).producer
        if densify is not None and densify.kind == "DENSIFY":
            _check_only_consumer(producer, operation)
            merged.append(producer)
            producer, consumer = densify, producer
    if producer is None or producer.kind != "DENSIFY":
        return ()
    _check_only_consumer(producer, consumer)
    operation.inputs.pop()
    return (*merged, producer)


def _check_only_consumer(operation: Operation, consumer: Operation) -> None:
    for value in operation.outputs:
        if any(reader is not consumer for reader in value.consumers):
            raise build_error("gpu-build-shared-constant", value.tensor, operation.node)
