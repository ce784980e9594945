"""Slicing, joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPERAND_VALUE, RANK, SHAPE, TENSOR_TYPE
from ....rules.operands import INPUT, OUTPUT, operand
from ..steps import Layer, Need, Query
from ..tensors import Info, Thrown, info_of, input_info, input_infos, output_info
from .checks import (
    ALL_INPUTS,
    FUSED,
    all_outputs,
    inputs_at_least,
    inputs_exactly,
    outputs_exactly,
    place,
    present,
    readable,
    unary_call,
    values_of,
    visited,
    wrapped,
)

_SECOND, _THIRD = operand(1), operand(2)
_READABLE_OUTPUTS: Need[NodeView] = Need(TENSOR_TYPE, "outputs of a type that Arm NN knows", all_outputs)


def _int32_vector(position: int, name: str, texts: tuple[str, str, str]) -> tuple[Need[NodeView], ...]:
    """Demand a vector of INT32 with a value for each dimension (``ReadInt32Input``), whose value can be read."""
    which = operand(position, name)
    kind, rank, count = (_said(text) for text in texts)
    return (
        Need(
            TENSOR_TYPE,
            f"{name} of type INT32",
            lambda node: None if which.tensor(node).type == "INT32" else f"{name} is {which.tensor(node).type}",
            kind,
            f"convert with an INT32 {name}",
        ),
        Need(
            RANK,
            f"{name} of rank 1",
            lambda node: None if which.tensor(node).rank == 1 else f"{name} of rank {which.tensor(node).rank}",
            rank,
        ),
        Need(
            OPERAND_COUNT,
            f"{name} with a value for each dimension of input",
            lambda node: (
                None if which.tensor(node).shape == (node.input(0).rank,) else f"{name} of {which.tensor(node).shape[0]}"
            ),
            count,
            f"give {name} a value for each dimension",
        ),
        present(which),
    )


def _said(text: str):  # type: ignore[no-untyped-def]
    return lambda node: f"TfLiteArmnnDelegate: {text} Operator: #{place(node)[10:]}"


def _slice_texts(name: str) -> tuple[str, str, str]:
    return (
        f"The {name} Tensor of the Slice operation needs to be of type int32.",
        f"The {name} Tensor of the Slice operation needs to be a 1D-Tensor.",
        f"The number of values in the {name} Tensor of the Slice operation needs to be equal to the rank of the Input Tensor.",
    )


_THREE = "The Begin-, End- and Stride-Tensors of the StridedSlice operation need to be"
_STRIDED_TEXTS = (
    f"{_THREE} of type int32.",
    f"{_THREE} a 1D-Tensor.",
    "The number of values in the Begin-, End- and Stride-Tensors of the StridedSlice operation need to be equal to the rank of "
    "the Input-Tensor.",
)


def _bad_size(node: NodeView) -> tuple[int, int] | None:
    """Return the first bad size with the largest size at its place, or None."""
    sizes = zip(node.input(0).shape, values_of(node, 1), values_of(node, 2), strict=False)
    return next(((size, whole - begin) for whole, begin, size in sizes if size < -1 or size > whole - begin), None)


def _size(node: NodeView) -> str | None:
    bad = _bad_size(node)
    return None if bad is None else f"size {bad[0]} where {bad[1]} remain"


def _size_line(node: NodeView) -> str:
    size, largest = _bad_size(node) or (0, 0)
    return (
        f"TfLiteArmnnDelegate: Invalid value for Size. Size must be in range [-1, inputDimSize - begin] [-1, {largest}] "
        f"inclusive but was {size} Operator: #{place(node)[10:]}"
    )


def _sliced(node: NodeView) -> Query:
    begin, size = values_of(node, 1), values_of(node, 2)
    return unary_call(node)._replace(values={"begin": begin, "size": size})


def _strided(node: NodeView) -> Query:
    options = node.options
    masks = {
        name: getattr(options, name) for name in ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask")
    }
    values = {"begin": values_of(node, 1), "end": values_of(node, 2), "stride": values_of(node, 3), **masks}
    return Query((input_info(node, 0),), (info_of(node.output(0)),), values=values)


def _joined_axis(node: NodeView) -> int:
    rank = max(node.input(0).rank, 1)
    return (rank + int(node.options.axis)) % rank


def _other_ranks(node: NodeView) -> str | None:
    """Find operands of another rank than the first. Raises Thrown."""
    rank = node.input(0).rank
    for position, info in enumerate(input_infos(node)):
        if info.rank != rank:
            text = f"The number of dimensions for input tensors of the concatenation operator should be: {rank}"
            raise Thrown(text, f"input {position} of rank {info.rank} beside rank {rank}")
    return None


def _concat(node: NodeView) -> Query:
    return Query(tuple(input_infos(node)), (output_info(node),), values={"axis": _joined_axis(node)})


def _stack(node: NodeView) -> Query:
    # The CPU kernel's Prepare has counted the axis from the front.
    axis = wrapped(node.options.axis, node.input(0).rank + 1)
    return Query(tuple(input_infos(node)), (output_info(node),), values={"axis": axis})


def _results(node: NodeView) -> tuple[Info, ...]:
    return tuple([output_info(node, position) for position in range(len(node.node.outputs))])


def _split_axis(node: NodeView, source: int, axis: int) -> int:
    rank = input_info(node, source).rank
    value = wrapped(next(iter(values_of(node, axis)), 0), rank)
    if not 0 <= value < rank:
        raise Thrown("Unable to compute wrapped index", f"axis {value} for rank {rank}")
    return value


def _uneven(node: NodeView) -> str | None:
    size = input_info(node, 1).size(_split_axis(node, 1, 0))
    return None if node.options.num_splits and size % node.options.num_splits == 0 else f"a dimension of size {size}"


def _uneven_line(node: NodeView) -> str:
    size = input_info(node, 1).size(_split_axis(node, 1, 0))
    return (
        f"TfLiteArmnnDelegate: Number of splits #{node.options.num_splits} must evenly divide the dimension #{size} in node "
        f"#{node.node.index}: "
    )


def _split(node: NodeView) -> Query:
    return Query((input_info(node, 1),), _results(node), values={"axis": _split_axis(node, 1, 0)})


def _split_v(node: NodeView) -> Query:
    return Query((input_info(node, 0),), _results(node), values={"axis": _split_axis(node, 0, 2), "sizes": values_of(node, 1)})


def _wrong_sum(node: NodeView) -> str | None:
    sizes = values_of(node, 1)
    whole = input_info(node, 0).size(_split_axis(node, 0, 2))
    return None if min(sizes, default=0) < 0 or sum(sizes) == whole else f"sizes {sizes} of a dimension of size {whole}"


def _inferred(node: NodeView) -> str | None:
    count = sum(size < 0 for size in values_of(node, 1))
    return f"{count} sizes below 0" if count > 1 else None


def _one_axis(position: int) -> Need[NodeView]:
    def find(node: NodeView) -> str | None:
        count = input_info(node, position).element_count
        return None if count == 1 else f"{count} axes"

    return Need(OPERAND_COUNT, "one axis", find)


def _negative(name: str) -> Need[NodeView]:
    def find(node: NodeView) -> str | None:
        value = getattr(node.options, name)
        if value < 0:
            raise Thrown(f"TfLiteArmnnDelegate: Non-negative value in node {node.node.index}", f"{name} {value}")
        return None

    return Need(ATTRIBUTE, f"{name} of at least 0", find, hint=f"convert with a positive {name}")


def _unpack_axis(node: NodeView) -> str | None:
    return None if node.options.axis < input_info(node, 0).rank else f"axis {node.options.axis}"


def _unpack_count(node: NodeView) -> int:
    return int(node.options.num) or input_info(node, 0).size(node.options.axis)


def _unpacked_size(node: NodeView) -> str | None:
    size = input_info(node, 0).size(node.options.axis)
    return None if size == _unpack_count(node) else f"{_unpack_count(node)} outputs of a dimension of size {size}"


def _unpack(node: NodeView) -> Query:
    source, axis = input_info(node, 0), node.options.axis
    shape = tuple([1 if at == axis else source.size(at) for at in range(source.rank)])
    return Query((source,), tuple([info.with_shape(shape) for info in _results(node)]), values={"axis": axis})


RULES = {
    "SLICE": visited(
        "Slice.hpp",
        inputs_exactly(3),
        outputs_exactly(),
        *_int32_vector(1, "begin", _slice_texts("Begin")),
        *_int32_vector(2, "size", _slice_texts("Size")),
        Need(OPERAND_VALUE, "sizes within the dimensions of input", _size, _size_line),
        readable(INPUT, OUTPUT),
        Layer("SLICE", "slice", _sliced, "Slice.hpp:136"),
    ),
    "STRIDED_SLICE": visited(
        "StridedSlice.hpp",
        inputs_exactly(4),
        outputs_exactly(),
        *_int32_vector(1, "begin", _STRIDED_TEXTS),
        *_int32_vector(2, "end", _STRIDED_TEXTS),
        *_int32_vector(3, "strides", _STRIDED_TEXTS),
        readable(INPUT, OUTPUT),
        Layer("STRIDED_SLICE", "strided_slice", _strided, "StridedSlice.hpp:120"),
    ),
    "REVERSE_V2": visited(
        "ReverseV2.hpp",
        inputs_exactly(2),
        outputs_exactly(),
        readable(INPUT, _SECOND, OUTPUT),
        Layer(
            "REVERSEV2",
            "reverse",
            lambda node: Query((input_info(node, 0), input_info(node, 1)), (output_info(node),)),
            "ReverseV2.hpp:30",
            "ValidateReverseV2Operator",
        ),
    ),
    "CONCATENATION": visited(
        "Control.hpp:VisitConcatenationOperator",
        inputs_at_least(2),
        outputs_exactly(),
        ALL_INPUTS,
        Need(RANK, "inputs of the same rank", _other_ranks),
        readable(OUTPUT),
        *FUSED,
        Layer("CONCATENATION", "concat", _concat, "Control.hpp:112"),
    ),
    "PACK": visited(
        "Pack.hpp",
        inputs_at_least(1, "TfLiteArmnnDelegate: Must have at least one input in"),
        outputs_exactly(),
        ALL_INPUTS,
        readable(OUTPUT),
        Layer("STACK", "stack", _stack, "Pack.hpp:80"),
    ),
    "SPLIT": visited(
        "Split.hpp:VisitSplitOperator",
        inputs_exactly(2),
        _negative("num_splits"),
        outputs_exactly(lambda node: int(node.options.num_splits), "as many outputs as num_splits"),
        readable(_SECOND, INPUT),
        _one_axis(0),
        present(INPUT),
        _READABLE_OUTPUTS,
        Need(SHAPE, "a dimension that num_splits divides", _uneven, _uneven_line),
        Layer("SPLIT", "split", _split, "Split.hpp:125", "VisitSplitOperator"),
    ),
    "SPLIT_V": visited(
        "Split.hpp:VisitSplitVOperator",
        inputs_exactly(3),
        readable(INPUT, _SECOND),
        Need(
            RANK,
            "sizes of rank 1",
            lambda node: None if input_info(node, 1).rank == 1 else f"sizes of rank {input_info(node, 1).rank}",
        ),
        readable(_THIRD),
        _one_axis(2),
        present(_THIRD),
        outputs_exactly(lambda node: int(node.options.num_splits), "as many outputs as num_splits"),
        _READABLE_OUTPUTS,
        present(_SECOND),
        Need(
            OPERAND_VALUE,
            "sizes that add up to the dimension",
            _wrong_sum,
            lambda node: (
                "TfLiteArmnnDelegate: SplitV split_sizes does not sum to the dimension of value along split_dim in node "
                f"#{node.node.index}"
            ),
        ),
        Need(
            OPERAND_VALUE,
            "at most one size below 0",
            _inferred,
            lambda node: (
                f"TfLiteArmnnDelegate: SplitV cannot infer split size for more than one split in node #{node.node.index}"
            ),
        ),
        Layer("SPLIT", "split", _split_v, "Split.hpp:329", "VisitSplitVOperator"),
    ),
    "UNPACK": visited(
        "Unpack.hpp",
        inputs_exactly(1),
        _negative("axis"),
        readable(INPUT),
        Need(
            ATTRIBUTE,
            "an axis within the rank",
            _unpack_axis,
            lambda node: (
                f"TfLiteArmnnDelegate: The unpack axis #{node.options.axis} cannot be greater than or equal to the number "
                f"of input dimensions #{input_info(node, 0).rank} in operator #{node.node.builtin_code} node #{node.node.index}"
            ),
        ),
        outputs_exactly(_unpack_count, "an output for each slice"),
        Need(
            SHAPE,
            "as many outputs as slices",
            _unpacked_size,
            lambda node: (
                "TfLiteArmnnDelegate: Number to unpack must be the same as length of the dimension to unpack along in "
                + place(node)
            ),
        ),
        _READABLE_OUTPUTS,
        Layer("UNPACK", "split", _unpack, "Unpack.hpp:141", "VisitUnpackOperator"),
    ),
}
"""The rules by operator."""
