"""Joining and splitting. PACK, SPLIT, SPLIT_V and UNPACK have only the checks that all operators share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..build.model import Shape, Value, consume, produce
from ..build.reader import BHWC, NodeReader, Parser, bhwc, gpu_axis, with_size
from ..failures import build_error
from .checks import UP_TO_2, gpu_rule

RULES = {
    "CONCATENATION": gpu_rule("ConcatenationOperationParser", version_in=UP_TO_2),
    "PACK": gpu_rule("PackOperationParser"),
    "SPLIT": gpu_rule("SplitOperationParser"),
    "SPLIT_V": gpu_rule("SplitVOperationParser"),
    "UNPACK": gpu_rule("UnpackOperationParser", cases=()),
}


# Building the model

_BATCH, _HEIGHT, _WIDTH, _CHANNELS = range(4)
_INT32_BYTES = 4


def _joined_values(reader: NodeReader) -> list[Value]:
    """Return the operands of a CONCAT. Add constant operands to the model as values."""
    values = []
    for position in range(len(reader.view.node.inputs)):
        if reader.is_constant(position):
            reader.read(position, BHWC)
            values.append(reader.add_constant(position, bhwc(reader.view.input(position))))
        else:
            values.append(reader.value(position))
    return values


def parse_concatenation(reader: NodeReader) -> None:
    """Parse CONCATENATION (``ConcatenationOperationParser``). Repeated operands are copied first."""
    values = _joined_values(reader)
    joined: set[Value] = set()
    for position, value in enumerate(values):
        if value in joined:
            copy = reader.add("COPY")
            consume(copy, value)
            values[position] = Value(value.shape)
            produce(copy, values[position])
        joined.add(value)
    operation = reader.add("CONCAT")
    reader.add_outputs(operation)
    for value in values:
        consume(operation, value)
    operation.attributes = _joined_axis(values, operation.output(0).shape)
    reader.fuse_activation(operation)


def _joined_axis(values: Sequence[Value], result: Shape) -> int:
    """Return the first axis along which an operand and the result differ in size, or the batch axis if there is no such axis."""
    for value in values:
        for axis in (_HEIGHT, _WIDTH, _CHANNELS):
            if value.shape[axis] != result[axis]:
                return axis
    return _BATCH


def parse_pack(reader: NodeReader) -> None:
    """Parse PACK as a CONCAT of reshaped operands (``PackOperationParser``)."""
    if len(reader.view.node.inputs) == 1:
        reader.add_identity(0)
        return
    values = _joined_values(reader)
    result = reader.view.output(0)
    axis = gpu_axis(result, reader.view.options.axis)
    shape = with_size(bhwc(result), axis, 1)
    for position, value in enumerate(values):
        if value.shape != shape:
            reshape = reader.add("RESHAPE", shape)
            consume(reshape, value)
            values[position] = Value(shape)
            produce(reshape, values[position])
    operation = reader.add("CONCAT", axis)
    reader.add_outputs(operation)
    for value in values:
        consume(operation, value)


def parse_unpack(reader: NodeReader) -> None:
    """Parse UNPACK as a SPLIT with reshaped results (``UnpackOperationParser``)."""
    options = reader.view.options
    if options.num == 1:
        reader.add_identity(0)
        return
    source = reader.view.input(0)
    shape = with_size(bhwc(source), gpu_axis(source, options.axis), 1)
    operation = reader.add("SPLIT")
    reader.add_input(operation, 0)
    for position in range(len(reader.view.node.outputs)):
        if bhwc(reader.view.output(position)) == shape:
            reader.add_output(operation, position)
        else:
            reader.add_reshaped_output(operation, shape, position)


def parse_split(reader: NodeReader) -> None:
    """Parse SPLIT (``SplitOperationParser``)."""
    _split(reader, data=1, axis=0)


def parse_split_v(reader: NodeReader) -> None:
    """Parse SPLIT_V (``SplitVOperationParser``)."""
    _split(reader, data=0, axis=2)


def _split(reader: NodeReader, data: int, axis: int) -> None:
    if reader.view.options.num_splits == 1:
        reader.add_identity(data)
        return
    axes = reader.view.value(reader.view.input(axis))
    if axes is None or axes.nbytes < _INT32_BYTES:
        raise build_error("gpu-build-runtime-operand", reader.view.input(axis))
    # Upstream reads the first bytes as INT32, even if the type differs.
    gpu_axis(reader.view.input(data), int.from_bytes(axes[:_INT32_BYTES].tobytes()[:_INT32_BYTES], "little", signed=True))
    operation = reader.add("SPLIT")
    reader.add_input(operation, data)
    reader.add_outputs(operation)


PARSERS: Mapping[str, Parser] = {
    "CONCATENATION": parse_concatenation,
    "PACK": parse_pack,
    "SPLIT": parse_split,
    "SPLIT_V": parse_split_v,
    "UNPACK": parse_unpack,
}
