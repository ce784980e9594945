"""Slices (``VisitSliceNode`` and ``VisitStridedSliceNode``, ``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import OPERAND_VALUE, RANK, SHAPE
from ....rules.number_sets import counted
from ....rules.operands import OUTPUT, Operand, operand
from ....rules.rule import Check
from ....rules.vocabulary import check, option
from .checks import INPUT, MAX_RANK, elements_of, integers, stored, vector, xnnpack_rule
from .types import FLOAT_OR_8_BITS_ARITHMETIC, of_types
from .upstream import method

_BEGIN, _SIZE, _END, _STRIDES = operand(1, "begin"), operand(2, "size"), operand(2, "end"), operand(3, "strides")


def _same_count(first: Operand, second: Operand) -> Check[object]:
    """Require that two vectors have the same length (``CheckTensorsDimensionMatch``)."""

    def find(node: NodeView) -> str | None:
        counts = first.tensor(node).shape[0], second.tensor(node).shape[0]
        return None if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"

    needed = f"the same length in {first.name} and {second.name}"
    return check(SHAPE, needed, find).from_source(method("CheckTensorsDimensionMatch"))


def _empty_slice(node: NodeView) -> str | None:
    return next((f"size {size}" for size in elements_of(node, 2) if size <= 0), None)


def _too_many_dimensions(node: NodeView) -> str | None:
    (count,) = _BEGIN.tensor(node).shape
    return None if count <= MAX_RANK else counted(count, "dimension")


def _longer_strides(node: NodeView) -> str | None:
    return next((f"stride {stride}" for stride in elements_of(node, 3) if stride != 1), None)


def _one_for_each_dimension(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        (count,), rank = which.tensor(node).shape, node.input(0).rank
        return None if count == rank else f"{which.name} has {counted(count, 'element')} for an input of rank {rank}"

    return check(SHAPE, f"one element of {which.name} for each dimension of the input", find)


def _slice_beyond_input(node: NodeView) -> str | None:
    options = node.options
    for dimension, (size, begin, end) in enumerate(
        zip(node.input(0).shape, elements_of(node, 1), elements_of(node, 2), strict=False)
    ):
        first = 0 if options.begin_mask >> dimension & 1 else begin + size if begin < 0 else begin
        last = size if options.end_mask >> dimension & 1 else first + end if options.offset else end + size if end < 0 else end
        if max(first, last) > size:
            return f"a slice from {first} to {last} in a dimension of size {size}"
    return None


RULES = {
    "SLICE": xnnpack_rule(
        "VisitSliceNode",
        vector(_BEGIN),
        stored(_BEGIN),
        integers(_BEGIN, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        vector(_SIZE),
        stored(_SIZE),
        integers(_SIZE, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        _same_count(_BEGIN, _SIZE),
        check(
            RANK, f"at most {MAX_RANK} dimensions", _too_many_dimensions, by_reshape("fold dimensions with RESHAPE")
        ).from_release("tf-2.22"),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(
            OPERAND_VALUE, "sizes of at least 1 (-1 is not supported)", _empty_slice, "write the size of the slice instead of -1"
        ),
    ),
    "STRIDED_SLICE": xnnpack_rule(
        "VisitStridedSliceNode",
        option("ellipsis_mask", 0, hint="slice without an ellipsis"),
        option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")),
        option("shrink_axis_mask", 0, hint=by_reshape("remove the dimension with RESHAPE")),
        vector(_STRIDES),
        stored(_STRIDES),
        integers(_STRIDES, "INT32", function="CheckTensorInt32Type"),
        check(OPERAND_VALUE, "strides of 1", _longer_strides),
        vector(_BEGIN),
        stored(_BEGIN),
        integers(_BEGIN, "INT32", function="CheckTensorInt32Type"),
        vector(_END),
        stored(_END),
        integers(_END, "INT32", function="CheckTensorInt32Type"),
        _one_for_each_dimension(_BEGIN),
        _one_for_each_dimension(_END),
        _one_for_each_dimension(_STRIDES),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(OPERAND_VALUE, "begin and end within the input", _slice_beyond_input).before_release("litert-1.4.0"),
    ).from_release("litert-1.1.0"),  # measured, not in the source
}
