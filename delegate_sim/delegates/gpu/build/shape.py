"""Parsers of operators that move elements (``delegates/gpu/common/model_builder.cc``)."""

from __future__ import annotations

from collections.abc import Sequence

from .model import BuildError, Operation, Shape, Value, consume, produce
from .reader import BHWC, HW, INT32, LINEAR, NodeReader, bhwc, gpu_axis, with_size

_BATCH, _HEIGHT, _WIDTH, _CHANNELS = range(4)
_INT32_BYTES = 4
_AXIS_NAMES = ("batch", "height", "width", "channels")


def parse_one_to_one(reader: NodeReader) -> None:
    """Operators that ask for nothing but their first operand and their results."""
    reader.add_one_to_one(reader.view.op)


def parse_reshape(reader: NodeReader) -> None:
    """``ReshapeOperationParser``."""
    reader.add_identity(0)


def _joined_values(reader: NodeReader) -> list[Value]:
    """The operands of a CONCAT, with constants as values of their own."""
    values = []
    for position in range(len(reader.view.node.inputs)):
        if reader.is_constant(position):
            reader.read(position, BHWC)
            values.append(reader.add_constant(position, bhwc(reader.view.input(position))))
        else:
            values.append(reader.value(position))
    return values


def parse_concatenation(reader: NodeReader) -> None:
    """``ConcatenationOperationParser``: an operand that is joined a second time is copied."""
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
    """The first axis along which an operand has another size than the result; the batch if there is none."""
    for value in values:
        for axis in (_HEIGHT, _WIDTH, _CHANNELS):
            if value.shape[axis] != result[axis]:
                return axis
    return _BATCH


def parse_pack(reader: NodeReader) -> None:
    """``PackOperationParser``: a CONCAT of operands that are first brought into shape."""
    if len(reader.view.node.inputs) == 1:
        reader.add_identity(0)
        return
    values = _joined_values(reader)
    result = reader.view.output(0)
    axis = gpu_axis(result, reader.view.options.axis)
    wanted = with_size(bhwc(result), axis, 1)
    for position, value in enumerate(values):
        if value.shape != wanted:
            reshape = reader.add("RESHAPE", wanted)
            consume(reshape, value)
            values[position] = Value(wanted)
            produce(reshape, values[position])
    operation = reader.add("CONCAT", axis)
    reader.add_outputs(operation)
    for value in values:
        consume(operation, value)


def parse_unpack(reader: NodeReader) -> None:
    """``UnpackOperationParser``: a SPLIT, whose results are brought into shape."""
    options = reader.view.options
    if options.num == 1:
        reader.add_identity(0)
        return
    source = reader.view.input(0)
    wanted = with_size(bhwc(source), gpu_axis(source, options.axis), 1)
    operation = reader.add("SPLIT")
    reader.add_input(operation, 0)
    for position in range(len(reader.view.node.outputs)):
        if bhwc(reader.view.output(position)) == wanted:
            reader.add_output(operation, position)
        else:
            reader.add_reshaped_output(operation, wanted, position)


def parse_split(reader: NodeReader) -> None:
    """``SplitOperationParser``."""
    _split(reader, data=1, axis=0)


def parse_split_v(reader: NodeReader) -> None:
    """``SplitVOperationParser``."""
    _split(reader, data=0, axis=2)


def _split(reader: NodeReader, data: int, axis: int) -> None:
    if reader.view.options.num_splits == 1:
        reader.add_identity(data)
        return
    axes = reader.view.value(reader.view.input(axis))
    if axes is None or axes.nbytes < _INT32_BYTES:
        raise BuildError("gpu-build-runtime-operand", reader.view.input(axis))
    # The original takes the first bytes as INT32, whatever the type.
    gpu_axis(reader.view.input(data), int.from_bytes(axes[:_INT32_BYTES].tobytes()[:_INT32_BYTES], "little", signed=True))
    operation = reader.add("SPLIT")
    reader.add_input(operation, data)
    reader.add_outputs(operation)


def parse_gather(reader: NodeReader) -> None:
    """``GatherOperationParser``."""
    gpu_axis(reader.view.input(0), reader.view.options.axis)
    operation = reader.add("GATHER")
    reader.add_input(operation, 0)
    if reader.is_constant(1):
        reader.read(1, LINEAR, INT32)
    else:
        reader.add_input(operation, 1)
    reader.add_outputs(operation)


def parse_pad(reader: NodeReader) -> None:
    """``PadOperationParser``."""
    reader.add_one_to_one("PAD")
    reader.read(1, HW, INT32)


def parse_transpose(reader: NodeReader) -> None:
    """``TransposeOperationParser``."""
    reader.add_one_to_one("TRANSPOSE")
    (size,) = reader.read(1, LINEAR, INT32)
    if size not in (2, 3, 4):
        raise BuildError("gpu-build-shape", reader.view.input(1), needed="2 to 4 elements")


def parse_slice(reader: NodeReader) -> None:
    """``SliceOperationParser``. Three starts mean height, width and channels of four, or batch, width and channels."""
    operation, shape = _add_slice(reader)
    starts, sizes = reader.integers(1), reader.integers(2)
    rank = reader.view.input(0).rank
    if len(starts) != len(sizes) or (rank, len(starts)) not in ((4, 4), (4, 3), (3, 3)):
        found = f"{len(starts)} starts and {len(sizes)} sizes for rank {rank}"
        raise BuildError("gpu-build-slice", found=found, needed="as many starts and sizes as the input has dimensions, 3 or 4")
    axes = {(4, 4): (0, 1, 2, 3), (4, 3): (1, 2, 3), (3, 3): (0, 2, 3)}[rank, len(starts)]
    begin, extent = [0, 0, 0, 0], list(shape)
    for axis, start, size in zip(axes, starts, sizes, strict=True):
        begin[axis] = start
        extent[axis] = shape[axis] - start if size == -1 else size
    ends = [_from_end(begin[axis] + extent[axis], shape[axis]) for axis in range(4)]
    _finish_slice(operation, begin, ends, [1, 1, 1, 1])


def parse_strided_slice(reader: NodeReader) -> None:
    """``StridedSliceOperationParser``. Three values mean height, width and channels, whatever the rank."""
    operation, shape = _add_slice(reader)
    count = len(reader.integers(1))
    if count not in (3, 4):
        raise BuildError("gpu-build-slice", found=f"{count} starts", needed="3 or 4")
    options = reader.view.options
    first = 4 - count
    values = [reader.integers(position) for position in (1, 2, 3)]
    if min(map(len, values)) < count:
        found = ", ".join([f"{len(value)} {name}" for value, name in zip(values, ("starts", "ends", "strides"), strict=True)])
        raise BuildError("gpu-build-slice", found=found, needed="as many ends and strides as starts")
    starts, ends, strides = ([0] * first + value[:count] for value in values)
    for axis in range(4):
        mask = 1 << (axis - first) if axis >= first else 0
        starts[axis] = 0 if options.begin_mask & mask else _from_end(starts[axis], shape[axis])
        ends[axis] = shape[axis] if options.end_mask & mask else _from_end(ends[axis], shape[axis])
    if first:
        starts[0], ends[0], strides[0] = 0, shape[0], 1
    if min(strides) <= 0:
        raise BuildError("gpu-build-slice", found=f"strides {strides[first:]}", needed="strides above 0")
    _finish_slice(operation, starts, ends, strides)


def _add_slice(reader: NodeReader) -> tuple[Operation, Shape]:
    operation = reader.add("SLICE")
    reader.add_outputs(operation)
    return operation, reader.add_input(operation, 0).shape


def _from_end(position: int, size: int) -> int:
    return position + size if position < 0 else position


def _finish_slice(operation: Operation, starts: list[int], ends: list[int], strides: list[int]) -> None:
    result = operation.output(0).shape
    for axis, name in enumerate(_AXIS_NAMES):
        # Division towards zero, as in C++.
        found = int((ends[axis] - starts[axis] + strides[axis] - 1) / strides[axis])
        if found != result[axis]:
            raise BuildError("gpu-build-slice", found=f"{found} of {name}", needed=f"{result[axis]}, the output's")
    operation.attributes = (tuple(starts), tuple(ends), tuple(strides))
