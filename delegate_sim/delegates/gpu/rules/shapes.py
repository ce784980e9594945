"""Reshaping, slicing, joining, padding, gathering and filling."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from ....model.numbers import as_list
from ....rules.kinds import SHAPE, TENSOR_TYPE
from ....rules.operands import at_least, exactly, operand
from ....rules.rule import Check
from ....rules.vocabulary import operand_count, rank, refused_if
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY, runtime_operands, saying_by_release
from ..model import (
    BHWC,
    HW,
    INT32_VALUES,
    LINEAR,
    NodeReader,
    Operation,
    Parser,
    Shape,
    Value,
    build_error,
    consume,
    gpu_axis,
    gpu_shape,
    parse_one_to_one,
    produce,
    with_size,
)
from . import INT32, SINCE_1_1, SINCE_2_1_6, gpu_rule


def _parse_transpose(reader: NodeReader) -> None:
    reader.add_complete("TRANSPOSE")
    (size,) = reader.read(1, LINEAR, INT32_VALUES)
    if size not in (2, 3, 4):
        raise build_error("gpu-build-shape", reader.view.input(1), needed="2 to 4 elements")


_INPUT = operand(0, "input")


_AXIS_NAMES = ("batch", "height", "width", "channels")


def _parse_slice(reader: NodeReader) -> None:
    # With rank 4, three starts apply to height, width and channels. With rank 3, they apply to batch, width and channels.
    operation, shape = _add_slice(reader)
    starts, sizes = reader.integers(1), reader.integers(2)
    rank = reader.view.input(0).rank
    if len(starts) != len(sizes) or (rank, len(starts)) not in ((4, 4), (4, 3), (3, 3)):
        description = f"{len(starts)} starts and {len(sizes)} sizes for rank {rank}"
        raise build_error(
            "gpu-build-slice", found=description, needed="3 or 4 starts and as many sizes, one for each dimension of the input"
        )
    axes = {(4, 4): (0, 1, 2, 3), (4, 3): (1, 2, 3), (3, 3): (0, 2, 3)}[rank, len(starts)]
    begin, extent = [0, 0, 0, 0], list(shape)
    for axis, start, size in zip(axes, starts, sizes, strict=True):
        begin[axis] = start
        extent[axis] = shape[axis] - start if size == -1 else size
    ends = [_from_end(begin[axis] + extent[axis], shape[axis]) for axis in range(4)]
    _finish_slice(operation, begin, ends, [1, 1, 1, 1])


def _parse_strided_slice(reader: NodeReader) -> None:
    # Three starts apply to height, width and channels, for every rank of the input.
    operation, shape = _add_slice(reader)
    count = len(reader.integers(1))
    if count not in (3, 4):
        raise build_error("gpu-build-slice", found=f"{count} starts", needed="3 or 4")
    options = reader.view.options
    first = 4 - count
    values = [reader.integers(position) for position in (1, 2, 3)]
    if min(map(len, values)) < count:
        description = ", ".join(
            [f"{len(value)} {name}" for value, name in zip(values, ("starts", "ends", "strides"), strict=True)]
        )
        raise build_error("gpu-build-slice", found=description, needed="the same number of starts, ends and strides")
    starts, ends, strides = ([0][:first] + value[:count] for value in values)
    for axis in range(4):
        mask = 1 << (axis - first) if axis >= first else 0
        starts[axis] = 0 if options.begin_mask & mask else _from_end(starts[axis], shape[axis])
        ends[axis] = shape[axis] if options.end_mask & mask else _from_end(ends[axis], shape[axis])
    if first:
        starts[0], ends[0], strides[0] = 0, shape[0], 1
    if min(strides) <= 0:
        raise build_error("gpu-build-slice", found=f"strides {strides[first:]}", needed="strides above 0")
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
        # Division rounds towards zero, as in C++.
        size = int((ends[axis] - starts[axis] + strides[axis] - 1) / strides[axis])
        if size != result[axis]:
            raise build_error("gpu-build-slice", found=f"{size} of {name}", needed=f"{result[axis]}, the output's")
    operation.attributes = (tuple(starts), tuple(ends), tuple(strides))


_BATCH, _HEIGHT, _WIDTH, _CHANNELS = range(4)
_INT32_BYTES = 4


def _joined_values(reader: NodeReader) -> list[Value]:
    values = []
    for position in range(len(reader.view.node.inputs)):
        if reader.is_constant(position):
            reader.read(position, BHWC)
            values.append(reader.add_constant(position, gpu_shape(reader.view.input(position))))
        else:
            values.append(reader.value(position))
    return values


def _parse_concatenation(reader: NodeReader) -> None:
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
    for value in values:
        for axis in (_HEIGHT, _WIDTH, _CHANNELS):
            if value.shape[axis] != result[axis]:
                return axis
    return _BATCH


def _parse_pack(reader: NodeReader) -> None:
    if len(reader.view.node.inputs) == 1:
        reader.add_identity(0)
        return
    values = _joined_values(reader)
    result = reader.view.output(0)
    axis = gpu_axis(result, reader.view.options.axis)
    shape = with_size(gpu_shape(result), axis, 1)
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


def _parse_unpack(reader: NodeReader) -> None:
    options = reader.view.options
    if options.num == 1:
        reader.add_identity(0)
        return
    source = reader.view.input(0)
    shape = with_size(gpu_shape(source), gpu_axis(source, options.axis), 1)
    operation = reader.add("SPLIT")
    reader.add_input(operation, 0)
    for position in range(len(reader.view.node.outputs)):
        if gpu_shape(reader.view.output(position)) == shape:
            reader.add_output(operation, position)
        else:
            reader.add_reshaped_output(operation, shape, position)


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


_PAD = gpu_rule("PadOperationParser", *arithmetic.PAD, version_up_to=2)


def _parse_pad(reader: NodeReader) -> None:
    operation = reader.add_complete("PAD")
    rows, _ = reader.read(1, HW, INT32_VALUES)
    paddings = reader.view.value(reader.view.input(1))
    # If there are three rows, upstream sets the padding of the batch to 1.
    operation.attributes = rows == 3 or (paddings is not None and any(as_list(paddings[:2])))


def _parse_gather(reader: NodeReader) -> None:
    gpu_axis(reader.view.input(0), reader.view.options.axis)
    operation = reader.add("GATHER")
    reader.add_input(operation, 0)
    if reader.is_constant(1):
        reader.read(1, LINEAR, INT32_VALUES)
    else:
        reader.add_input(operation, 1)
    reader.add_outputs(operation)


def _mask(check: Check[object], says: str) -> Check[object]:
    later = f"StridedSlice does not support {says.rstrip()}"
    return saying_by_release(check, f"Slice does not support {says}", {SINCE_2_1_6: later})


_INDEX_COUNT, _INDEX_RANK, _INDEX_TYPE = arithmetic.GATHER
_ELLIPSIS_MASK, _NEW_AXIS_MASK, _SHRINK_AXIS_MASK, _FOUR_INPUTS = arithmetic.SLICE_MASKS
_ONE_HOT_SAYS = {SINCE_2_1_6: functools.partial(arithmetic.say_one_hot_dimension, "Unsupported")}
_ONE_HOT = tuple(
    [
        saying_by_release(check, arithmetic.say_one_hot_dimension_misspelled, _ONE_HOT_SAYS) if check.kind is SHAPE else check
        for check in arithmetic.ONE_HOT
    ]
)

RULES = {
    "DEPTH_TO_SPACE": gpu_rule("DepthToSpaceOperationParser", *arithmetic.BLOCKS),
    "RESHAPE": gpu_rule("ReshapeOperationParser", runtime_operands(1, 1), version_up_to=1),
    "SPACE_TO_DEPTH": gpu_rule("SpaceToDepthOperationParser", *arithmetic.BLOCKS, version_up_to=2),
    "TRANSPOSE": gpu_rule("TransposeOperationParser", runtime_operands(1, 1), version_up_to=4),
    "SLICE": gpu_rule(
        "SliceOperationParser",
        operand_count(at_least(3)).saying(lambda node: f"SLICE requires 3 inputs, but node has {len(node.node.inputs)} inputs."),
        rank(_INPUT, exactly(3, 4)).saying(
            lambda node: (
                f"SLICE supports for 3 or 4 dimensional tensors only, but node has {node.input(0).rank} dimensional tensors."
            )
        ),
        version_up_to=2,
    ),
    "STRIDED_SLICE": gpu_rule(
        "StridedSliceOperationParser",
        _mask(_ELLIPSIS_MASK, "ellipsis_mask."),
        _mask(_NEW_AXIS_MASK, "new_axis_mask."),
        _mask(_SHRINK_AXIS_MASK, "shrink_axis_mask parameter. "),
        _FOUR_INPUTS,
        rank(_INPUT, exactly(3, 4)).saying("STRIDED_SLICE supports for 3 or 4 dimensional tensors only."),
        version_up_to=4,
    ),
    "CONCATENATION": gpu_rule("ConcatenationOperationParser", version_up_to=2),
    "PACK": gpu_rule("PackOperationParser"),
    "SPLIT": gpu_rule("SplitOperationParser"),
    "SPLIT_V": gpu_rule("SplitVOperationParser"),
    "UNPACK": gpu_rule("UnpackOperationParser", cases=()),
    "MIRROR_PAD": gpu_rule("PadOperationParser", *arithmetic.MIRROR_PAD, version_up_to=2),
    "PAD": _PAD,
    "PADV2": _PAD,
    "GATHER": gpu_rule(
        "GatherOperationParser",
        _INDEX_COUNT,
        refused_if(TENSOR_TYPE, "data of any type except INT32", lambda node: node.input(0).type == "INT32", "INT32 data")
        .before_release(SINCE_1_1)
        .saying("Does not accept INT32 input.\n"),
        saying_by_release(_INDEX_RANK, "Only support 1D indices\n", {SINCE_2_1_6: "Only support 1D indices"}),
        saying_by_release(_INDEX_TYPE, "Only accept INT32 indices\n", {SINCE_2_1_6: "Only accept INT32 indices"}),
        version_up_to=1,
        inputs=INT32,
    ),
    "ONE_HOT": gpu_rule(
        "OneHotOperationParser",
        *_ONE_HOT,
        version_up_to=1,
        cases=(COMPATIBILITY, COMPATIBILITY.with_symbol("CheckOneHotGpuDelegateCompatibility")),
        inputs=INT32,
    ),
    "TILE": gpu_rule("TileOperationParser", runtime_operands(1, 1)),
}

PARSERS: Mapping[str, Parser] = {
    **dict.fromkeys(("DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "ONE_HOT", "TILE"), parse_one_to_one),
    **dict.fromkeys(("MIRROR_PAD", "PAD", "PADV2"), _parse_pad),
    "RESHAPE": lambda reader: reader.add_identity(0),
    "TRANSPOSE": _parse_transpose,
    "SLICE": _parse_slice,
    "STRIDED_SLICE": _parse_strided_slice,
    "CONCATENATION": _parse_concatenation,
    "PACK": _parse_pack,
    "SPLIT": lambda reader: _split(reader, data=1, axis=0),
    "SPLIT_V": lambda reader: _split(reader, data=0, axis=2),
    "UNPACK": _parse_unpack,
    "GATHER": _parse_gather,
}
