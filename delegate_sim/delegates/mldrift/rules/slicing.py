"""Operators that read or write slices, and joining and splitting.

For SLICE and STRIDED_SLICE, ML Drift computes the size of the slice and compares it with the shape of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ....graph.graph import NodeView
from ....model.schema import type_number
from ....refusal import Refusal
from ....rules.kinds import CONSTANT, OPERAND_COUNT, OPERAND_VALUE, RANK, SHAPE, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, operand_count, rank, refused_if, typed, where
from ...gpu_compatibility import Bhwc, arithmetic, axes_of, bhwc, filled
from ...gpu_compatibility.checks import Found, asked, case
from ..target import COPIED_INPUT, BuildProblems, constants_read, unread_constants
from . import ANY_NUMBERS, parsed_by, tensors
from .checks import (
    FUSED,
    INPUT_AXES,
    RANKED_RESULT,
    READABLE_RESULT,
    RESULTS,
    RESULTS_FROM_2_1_5,
    available,
    axes,
    before,
    input_count,
    integer_constant,
    integers,
    one_scale,
    other_inputs,
    ranked,
    readable,
    readable_tensor,
    runtime_inputs,
    runtime_or_constant,
    since,
    version_up_to,
    with_results,
)

_ANY = tensors(*ANY_NUMBERS)

_ZERO, _ONE = Bhwc(0, 0, 0, 0), Bhwc(1, 1, 1, 1)
_WITHOUT_BATCH = (1, 2, 3)


def _other_count(node: NodeView) -> Found | None:
    starts, sizes = node.input(1).element_count, node.input(2).element_count
    message = f"The dimensionality of `starts` ({starts}D) must match `sizes` ({sizes}D)."
    return None if starts == sizes else (f"{starts} starts and {sizes} sizes", message)


def _unlike_rank(node: NodeView) -> Found | None:
    rank, starts = node.input(0).rank, node.input(1).element_count
    description = f"{starts} starts for an input of rank {rank}"
    if not 1 <= rank <= 4:
        return description, "Slicing is unsupported for input with rank > 4"
    if rank == 4:
        return None if starts in (3, 4) else (description, "Slicing starts count must be 3 or 4 for 4d input")
    return None if starts == rank else (description, f"Slicing starts count must be {rank} for {rank}d input")


def _slice(node: NodeView) -> tuple[Bhwc, Bhwc]:
    """Return the start and the end. A size of -1 extends to the end of the input. A negative end counts from there."""
    rank, source = node.input(0).rank, bhwc(node.input(0).shape)
    starts, sizes = tuple(integers(node, 1)), tuple(integers(node, 2))
    named = _WITHOUT_BATCH if rank == 4 and len(starts) == 3 else axes_of(rank)
    begin = filled(_ZERO, named, starts)
    lengths = filled(source, named, sizes)
    lengths = Bhwc(*[limit - at if size == -1 else size for at, size, limit in zip(begin, lengths, source, strict=True)])
    return begin, _from_end(Bhwc(*[at + size for at, size in zip(begin, lengths, strict=True)]), source)


def _from_end(bounds: Bhwc, source: Bhwc) -> Bhwc:
    return Bhwc(*[at + size if at < 0 else at for at, size in zip(bounds, source, strict=True)])


_SAYS = ("Output batch don't match", "Output height doesn't match", "Output width doesn't match", "Output channels don't match")


def _unlike_output(node: NodeView) -> Found | None:
    begin, end = _slice(node)
    result = bhwc(node.output(0).shape)
    description = f"a slice from {list(begin)} to {list(end)} and an output of shape {list(node.output(0).shape)}"
    messages = [message for axis, message in enumerate(_SAYS) if end[axis] - begin[axis] != result[axis]]
    return (description, messages[0]) if messages else None


_SLICE = parsed_by(
    "SliceOperationParser",
    *version_up_to(8, older=2),
    input_count(3),
    *with_results(
        *readable(0),
        refused_if(CONSTANT, "an input that is not constant", lambda node: node.input(0).is_constant, "a constant input").saying(
            "Constant input is not supported."
        ),
        *integer_constant(1, "linear"),
        *integer_constant(2, "linear"),
        asked(SHAPE, "the same number of starts and sizes", _other_count),
        asked(SHAPE, "one start for each dimension of the input (the batch is optional with rank 4)", _unlike_rank),
        asked(SHAPE, "an output with the size of the slice", _unlike_output),
    ),
    all_tensors=_ANY,
)


def _other_rank(words: str, count: Callable[[NodeView], int]) -> Check[object]:
    def find(node: NodeView) -> str | None:
        rank, starts = node.input(0).rank, count(node)
        return None if rank in (starts, starts + 1) else f"{starts} starts for an input of rank {rank}"

    demand = check(SHAPE, "one start for each dimension of the input, or for each dimension except the first", find)
    return replace(demand.saying("STRIDED_SLICE input/params dimensions mismatch."), applies=words)


def _masked(mask: int, rank: int) -> tuple[bool, ...]:
    # The bits are numbered by the input's dimensions, even if there are fewer starts (``UpdateMask``).
    axes = axes_of(rank)
    return tuple([any(mask >> bit & 1 and axis == position for bit, axis in enumerate(axes)) for position in range(4)])


def _named(count: int, *, has_batch: bool) -> tuple[int, ...]:
    if has_batch:
        return axes_of(count) if count <= 4 else ()
    return _WITHOUT_BATCH[3 - count :] if count <= 3 else ()


def _strided(node: NodeView) -> tuple[Bhwc, Bhwc, Bhwc]:
    source, rank = bhwc(node.input(0).shape), node.input(0).rank
    has_batch = rank == node.input(1).element_count
    begin, end, strides = (
        filled(base, _named(node.input(position).element_count, has_batch=has_batch), tuple(integers(node, position)))
        for position, base in ((1, _ZERO), (2, source), (3, _ONE))
    )
    begin, end = _from_end(begin, source), _from_end(end, source)
    from_start, to_end = _masked(node.options.begin_mask, rank), _masked(node.options.end_mask, rank)
    begin = Bhwc(*[0 if is_masked else at for at, is_masked in zip(begin, from_start, strict=True)])
    end = Bhwc(*[size if is_masked else at for at, is_masked, size in zip(end, to_end, source, strict=True)])
    return begin, end, strides


def _strides_that(are_wrong: Callable[[Bhwc], bool]) -> Callable[[NodeView], str | None]:
    def find(node: NodeView) -> str | None:
        strides = _strided(node)[2]
        return f"strides {list(strides)}" if are_wrong(strides) else None

    return find


def _divided(length: int, stride: int) -> int:
    quotient = abs(length) // stride
    quotient = quotient if length >= 0 else -quotient
    return quotient if length == quotient * stride else quotient + 1


def _unlike_strided_output(node: NodeView) -> str | None:
    begin, end, strides = _strided(node)
    size = Bhwc(*[_divided(last - first, step) for first, last, step in zip(begin, end, strides, strict=True)])
    if size == bhwc(node.output(0).shape):
        return None
    return f"a slice from {list(begin)} to {list(end)} by {list(strides)} and an output of shape {list(node.output(0).shape)}"


_STRIDED_SLICE = parsed_by(
    "StridedSliceOperationParser",
    *version_up_to(2),
    *arithmetic.SLICE_MASKS,
    _other_rank(
        "counted by the first dimension of the starts", lambda node: node.input(1).shape[0] if node.input(1).shape else 0
    ),
    available(0),
    *integer_constant(1, "linear"),
    _other_rank("counted by the number of starts", lambda node: node.input(1).element_count),
    *integer_constant(2, "linear"),
    *integer_constant(3, "linear"),
    check(OPERAND_VALUE, "strides other than 0", _strides_that(lambda strides: 0 in strides)).saying(
        "stride values must be non-zero"
    ),
    check(OPERAND_VALUE, "positive strides", _strides_that(lambda strides: min(strides) < 0)).saying(
        "Reverse slices are not supported."
    ),
    check(SHAPE, "an output with the size of the slice", _unlike_strided_output).saying("Output shape mismatch"),
    *RESULTS,
    all_tensors=_ANY,
)


def _other_update_type(node: NodeView) -> Found | None:
    one, other = node.input(0).type, node.input(1).type
    start = "Array to update and updated slice must have the same data type, but got: array to update: "
    message = f"{start}{type_number(one)}, updated slice: {type_number(other)}"
    return None if one == other else (f"{one} input and {other} update", message)


def _other_update_rank(node: NodeView) -> Found | None:
    one, other = node.input(0).rank, node.input(1).rank
    message = f"Operand and update must have the same number of dimensions, but got: operand: {one}, update: {other}"
    return None if one == other else (f"input of rank {one} and update of rank {other}", message)


def _mapped(node: NodeView, position: int) -> Bhwc:
    # The dimensions of the operand become the last axes (``MapAxis``).
    sizes = node.input(position).shape
    return filled(Bhwc(1, 1, 1, 1), tuple(range(4))[4 - len(sizes) :], sizes)


def _too_large(node: NodeView) -> Found | None:
    array, update = _mapped(node, 0), _mapped(node, 1)
    if all(size <= most for size, most in zip(update, array, strict=True)):
        return None
    one, other = ("".join(map(str, sizes)) for sizes in (update, array))
    message = "Updated_slice shape must be less or equal to the array to update, but they are "
    description = f"an update of shape {list(node.input(1).shape)} for an input of shape {list(node.input(0).shape)}"
    return description, f"{message}updated_slice: [{one}], array_to_update: [{other}]"


def _mappable(position: int | None, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        rank = (node.output(0) if position is None else node.input(position)).rank
        return None if 1 <= rank <= 4 else f"{name} of rank {rank}"

    return check(RANK, f"{name} of rank 1 to 4", find).saying(f"{name} dims must be 1D-4D.")


_STARTS = operand(2, "start indices")
_DYNAMIC_UPDATE_SLICE = parsed_by(
    "DynamicUpdateSliceOperationParser",
    *case(
        operand_count(3).saying("DynamicUpdateSlice requires 3 inputs."),
        asked(TENSOR_TYPE, "the same type in input and update", _other_update_type),
        rank(_STARTS, 1).saying(lambda node: f"Start indices must be 1D, but got: {node.input(2).rank}"),
        typed(_STARTS, ("INT32",)).saying("start_indices must be of type int32."),
        asked(RANK, "the same rank in input and update", _other_update_rank),
    ),
    *with_results(
        available(0),
        available(1),
        available(2),
        refused_if(
            CONSTANT, "start indices that are not constant", lambda node: node.input(2).is_constant, "constant start indices"
        ).saying("start_indices must be a runtime tensor"),
        *readable(0),
        _mappable(0, "operand"),
        *readable(1),
        _mappable(1, "update"),
        asked(SHAPE, "an update no larger than the input", _too_large),
        *readable(2),
        _mappable(2, "start_indices"),
        *READABLE_RESULT,
        _mappable(None, "output"),
    ),
    all_tensors=tensors(*ANY_NUMBERS, inputs=("INT32",)),
)


def _axis_is_hidden(first: Bhwc, other: Bhwc, axis: int) -> bool:
    return all(first[position] != other[position] for position in range(4) if position != axis)


def _no_axis(node: NodeView) -> str | None:
    # An input hides an axis if it differs from the first input along all three other axes (``GetAxis``).
    if not node.node.inputs:
        return None
    first, *others = [bhwc(tensor.shape) for tensor in node.inputs]
    if all(any(_axis_is_hidden(first, other, axis) for other in others) for axis in (0, 1, 2, 3)):
        return f"shapes {', '.join(str(list(tensor.shape)) for tensor in node.inputs)}"
    return None


def _all_given(node: NodeView) -> Found | None:
    missing = next((position for position, index in enumerate(node.node.inputs) if index < 0), None)
    return None if missing is None else (f"no input {missing}", f"input #{missing} tensor is not available")


_CONCATENATION = parsed_by(
    "ConcatenationOperationParser",
    *version_up_to(6, older=2),
    *with_results(
        asked(OPERAND_COUNT, "all inputs", _all_given),
        *readable_tensor("an input", lambda node: node.inputs),
        check(SHAPE, "inputs with the shape of the first input, except for one dimension", _no_axis).saying(
            "Couldn't find an axis to concatenate by."
        ),
        *FUSED,
    ),
    all_tensors=tensors(*ANY_NUMBERS),
)


def _has_other_inputs(node: NodeView) -> bool:
    return len(node.node.inputs) != 1


def _is_split(node: NodeView) -> bool:
    return int(node.options.num_splits) != 1


_SPLIT = parsed_by(
    "SplitOperationParser",
    *where(lambda node: not _is_split(node), "into one part", *RESULTS, *readable(0)),
    *where(
        _is_split,
        "into several parts",
        available(1),
        available(0),
        axes("the input", lambda node: node.input(1), lambda node: integers(node, 0)[:1]),
        *readable(1),
        *RESULTS,
    ),
)
_SPLIT_V = parsed_by(
    "SplitVOperationParser",
    *before("litert-2.2.0", other_inputs(2)),
    runtime_inputs(1),
    *since("litert-2.2.0", other_inputs(2)),
    *with_results(
        *readable(0),
        *where(
            _is_split,
            "into several parts",
            available(0),
            available(2),
            axes("the input", lambda node: node.input(0), lambda node: integers(node, 2)[:1]),
        ),
    ),
)


def _has_several_parts(node: NodeView) -> bool:
    return int(node.options.num) != 1


_UNPACK = parsed_by(
    "UnpackOperationParser",
    *where(lambda node: not _has_several_parts(node), "into one part", *readable(0), *RESULTS),
    *where(
        _has_several_parts,
        "into several parts",
        available(0),
        *ranked(0),
        axes("the input", lambda node: node.input(0), lambda node: (node.options.axis,)),
        one_scale(0),
        *RESULTS,
    ),
)

RULES = {
    "DYNAMIC_UPDATE_SLICE": _DYNAMIC_UPDATE_SLICE,
    "REVERSE_V2": parsed_by(
        "ReverseOperationParser", *arithmetic.MEAN, *readable(0), *with_results(INPUT_AXES), all_tensors=_ANY
    ),
    "SLICE": _SLICE,
    "STRIDED_SLICE": _STRIDED_SLICE,
    "CONCATENATION": _CONCATENATION,
    "PACK": parsed_by(
        "PackOperationParser",
        *where(lambda node: not _has_other_inputs(node), "of one input", *readable(0), *RESULTS),
        *where(
            _has_other_inputs,
            "of several inputs",
            *RESULTS_FROM_2_1_5,
            *runtime_or_constant(),
            axes("the output", lambda node: node.output(0), lambda node: (node.options.axis,)),
            *before("litert-2.1.5", *RANKED_RESULT),
        ),
        all_tensors=tensors(*ANY_NUMBERS),
    ),
    "SPLIT": _SPLIT,
    "SPLIT_V": _SPLIT_V,
    "UNPACK": _UNPACK,
}


def _copied_input(node: NodeView) -> Iterator[Refusal]:
    source, result, graph = node.input(0), node.output(0), node.graph
    is_input = source.index >= 0 and not source.is_constant and source.index not in graph.writers
    is_whole = source.shape == result.shape and all(step == 1 for step in integers(node, 3))
    is_removed = is_input and is_whole and result.index not in graph.output_indices
    if is_removed and any(source.index in reader.inputs for reader in graph.readers.get(result.index, ())):
        yield COPIED_INPUT.failure(source)


BUILD_PROBLEMS: BuildProblems = {
    "DYNAMIC_UPDATE_SLICE": lambda node: constants_read(node, 0, 1),
    "STRIDED_SLICE": _copied_input,
    "CONCATENATION": lambda node: unread_constants(node, range(len(node.node.inputs))),
    "PACK": lambda node: unread_constants(node, range(len(node.node.inputs)) if _has_other_inputs(node) else ()),
    # If there is only one part, ML Drift reads the axis as data.
    "SPLIT": lambda node: constants_read(node, 1 if _is_split(node) else 0),
    "UNPACK": lambda node: constants_read(node, *((0,) if _has_several_parts(node) else ())),
}
