"""Operators that read, write or reverse slices."""

from __future__ import annotations

from collections.abc import Mapping

from ....rules.number_sets import at_least, exactly
from ....rules.operands import operand
from ....rules.vocabulary import operand_count, rank
from ...gpu_compatibility import copying
from ..build.model import Operation, Shape
from ..build.reader import NodeReader, Parser
from ..failures import build_error
from .checks import UP_TO_2, UP_TO_4, gpu_rule

_INPUT = operand(0, "input")

RULES = {
    "SLICE": gpu_rule("SliceOperationParser", operand_count(at_least(3)), rank(_INPUT, exactly(3, 4)), version_in=UP_TO_2),
    "STRIDED_SLICE": gpu_rule(
        "StridedSliceOperationParser",
        *copying.SLICE_MASKS,
        rank(_INPUT, exactly(3, 4)),
        version_in=UP_TO_4,
    ),
}


# Building the model
_AXIS_NAMES = ("batch", "height", "width", "channels")


def parse_slice(reader: NodeReader) -> None:
    """Parse SLICE (``SliceOperationParser``).

    If the input has rank 4, three starts apply to height, width and channels. If the input has rank 3, three starts apply to
    batch, width and channels.
    """
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


def parse_strided_slice(reader: NodeReader) -> None:
    """Parse STRIDED_SLICE (``StridedSliceOperationParser``).

    Three starts apply to height, width and channels, for every rank of the input.
    """
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


PARSERS: Mapping[str, Parser] = {
    "SLICE": parse_slice,
    "STRIDED_SLICE": parse_strided_slice,
}
