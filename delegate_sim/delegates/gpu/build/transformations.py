"""Simplify the delegate's model. Only the transformations that can fail, or that remove constants, are simulated.

Source: ``ApplyGeneralTransformations`` (``delegates/gpu/common/transformations/model_transformations.cc``) and the
transformations in the same folder. Upstream also merges consecutive operations, such as an addition and a convolution. These
transformations are omitted, because they cannot fail and do not affect the transformations that can fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.graph import Graph
from ....model.model import Tensor
from ....model.numbers import bounds
from ....refusal import NodeIndex
from ..failures import build_error
from .model import GATE_SUM, QUANTIZE_AND_DEQUANTIZE, GpuModel, Operation, Value, consume, produce, replace_input
from .reader import DEQUANTIZED_TYPES

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
