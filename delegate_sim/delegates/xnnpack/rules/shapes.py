"""Reshaping, slicing, joining and padding.

Source: ``VisitReshapeNode``, ``VisitTransposeNode``, ``VisitDepthToSpaceNode`` and ``VisitSpaceToDepthNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, QUANTIZATION, RANK, SHAPE, TENSOR_TYPE, by_reshape
from ....rules.operands import OUTPUT, Operand, at_least, between, counted, operand
from ....rules.rule import Check, NodeFinder
from ....rules.vocabulary import check, check_for_target, operand_count, option, where
from ..target import EIGHT_BIT_TYPES, Visit, has_one_scale, other_parameters, scales_of
from .checks import (
    ANY_RANK,
    FLOAT32_OR_8_BITS,
    FLOAT_OR_8_BITS_ARITHMETIC,
    FLOAT_OR_8_BITS_LAYERS,
    INPUT,
    MAX_RANK,
    Types,
    counting_from,
    elements_of,
    has_type,
    in_method,
    method,
    of_types,
    operands,
    shaped,
    stored,
    vector,
    xnnpack_rule,
)

_NEW_SHAPE = operand(1, "shape")


def _has_new_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2


def _rescaled_reshape(node: NodeView) -> str | None:
    output = node.output(0)
    return other_parameters(node.input(0), output) if output.type in ("INT8", "UINT8") else None


def _many_dimensional_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"a shape operand of shape {list(shape)}" if any(size != 1 for size in shape[:-1]) else None


def _legacy_scalar(node: NodeView) -> str | None:
    """Return the new shape as text if the shape is [0] or [-1], an old notation for scalars; otherwise None."""
    sizes = elements_of(node, 1) if _has_new_shape(node) else node.options.new_shape or ()
    return f"shape {list(sizes)}" if len(sizes) == 1 and sizes[0] in (0, -1) else None


_PERMUTATION = operand(1, "permutation")


def _not_in_blocks(node: NodeView) -> str | None:
    shape, size = node.input(0).shape, node.options.block_size
    return f"an input of shape {list(shape)} and block_size {size}" if any(length % size for length in shape[1:3]) else None


_BEGIN, _SIZE, _END, _STRIDES = operand(1, "begin"), operand(2, "size"), operand(2, "end"), operand(3, "strides")


def _same_count(first: Operand, second: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        counts = first.tensor(node).shape[0], second.tensor(node).shape[0]
        return None if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"

    needed = f"the same length in {first.name} and {second.name}"
    return check(SHAPE, needed, find).from_source(method("CheckTensorsDimensionMatch"))


_SLICE_TO_END_FROM = "litert-2.4"
"""The first release that accepts the size -1, and compares the length of ``begin`` with the rank of the input."""
_LARGEST_INT64 = 2**63 - 1


def _any_of(position: int, name: str, is_refused: Callable[[int], bool]) -> NodeFinder:
    return lambda node: next((f"{name} {element}" for element in elements_of(node, position) if is_refused(element)), None)


def _overflowing_slice(node: NodeView) -> str | None:
    for begin, size in zip(elements_of(node, 1), elements_of(node, 2), strict=False):
        if begin + size > _LARGEST_INT64:
            return f"begin {begin} and size {size}"
    return None


def _too_many_dimensions(node: NodeView) -> str | None:
    (count,) = _BEGIN.tensor(node).shape
    return None if count <= MAX_RANK else counted(count, "dimension")


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


def _each_of_types(side: str) -> tuple[Check[Visit], ...]:
    def of_these(types: Types) -> Check[Visit]:
        def find(node: NodeView, visit: Visit) -> str | None:
            tensor_types = (tensor.type for tensor in (node.inputs if side == "input" else node.outputs))
            return next((f"{side} of type {kind}" for kind in tensor_types if not types.accepts(kind, visit.target)), None)

        return check_for_target(TENSOR_TYPE, f"{side}s of type {types.words}", find)

    def find_scales(node: NodeView) -> str | None:
        for tensor in node.inputs if side == "input" else node.outputs:
            if tensor.type in EIGHT_BIT_TYPES and not has_one_scale(tensor):
                return f"{side} with {scales_of(tensor)}"
        return None

    of_scales = check(QUANTIZATION, f"a single scale for each 8-bit {side}", find_scales)
    return (*FLOAT_OR_8_BITS_ARITHMETIC.checks(of_these), *in_method(FLOAT_OR_8_BITS_ARITHMETIC.scales_function, of_scales))


def _new_dimension(node: NodeView) -> str | None:
    axis = node.options.axis
    return next((f"axis {axis} for an input of rank {tensor.rank}" for tensor in node.inputs if axis >= tensor.rank), None)


def _rescaled_inputs(node: NodeView) -> str | None:
    output = node.output(0)
    if output.type != "UINT8":
        return None
    return next((difference for tensor in node.inputs if (difference := other_parameters(tensor, output))), None)


_SPLIT_DIMENSION = operand(0, "dimension")


def _other_result_count(node: NodeView) -> str | None:
    splits, outputs = node.options.num_splits, len(node.node.outputs)
    return None if splits == outputs else f"num_splits {splits} and {counted(outputs, 'output')}"


_PADDINGS = operand(1, "paddings")


def _not_a_pair_for_each_dimension(node: NodeView) -> str | None:
    shape, rank = node.input(1).shape, node.input(0).rank
    return None if shape == (rank, 2) else f"paddings of shape {list(shape)} for an input of rank {rank}"


def _negative_padding_in_first_rows(node: NodeView) -> str | None:
    """Return the first negative padding of the first two dimensions as text. Old releases do not check further dimensions."""
    paddings = elements_of(node, 1)[: 2 * node.input(1).rank]
    return next((f"padding {padding}" for padding in paddings if padding < 0), None)


RULES = {
    "DEPTH_TO_SPACE": xnnpack_rule(
        "VisitDepthToSpaceNode",
        operands(1),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
    ),
    "RESHAPE": xnnpack_rule(
        "VisitReshapeNode",
        operands(between(1, 2)),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(INPUT, ANY_RANK),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(OUTPUT, ANY_RANK),
        check(QUANTIZATION, "the same scale and zero point in input and output if the output has 8 bits", _rescaled_reshape),
        *where(
            _has_new_shape,
            "if given",
            has_type(_NEW_SHAPE, "INT32"),
            *in_method(
                "CheckShapeTensorShape",
                check(SHAPE, "a shape operand with size 1 in all dimensions except the last", _many_dimensional_shape),
            ),
            stored(_NEW_SHAPE),
        ),
        check(
            OPERAND_VALUE, "a shape other than [0] and [-1]", _legacy_scalar, "write the number of elements instead of -1"
        ).from_release("litert-2.1.3"),
    ),
    "SPACE_TO_DEPTH": xnnpack_rule(
        "VisitSpaceToDepthNode",
        operands(1),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
        check(SHAPE, "a height and a width that are multiples of block_size", _not_in_blocks),
    ),
    "TRANSPOSE": xnnpack_rule(
        "VisitTransposeNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *counting_from("litert-2.0.2", *shaped(INPUT, between(1, MAX_RANK))),
        stored(_PERMUTATION),
    ),
    "SLICE": xnnpack_rule(
        "VisitSliceNode",
        vector(_BEGIN),
        stored(_BEGIN),
        has_type(_BEGIN, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        vector(_SIZE),
        stored(_SIZE),
        has_type(_SIZE, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        _same_count(_BEGIN, _SIZE),
        check(
            RANK, f"at most {MAX_RANK} dimensions", _too_many_dimensions, by_reshape("fold dimensions with RESHAPE")
        ).from_release("litert-2.3.0"),
        _one_for_each_dimension(_BEGIN).from_release(_SLICE_TO_END_FROM),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(
            OPERAND_VALUE, "begin of at least 0", _any_of(1, "begin", lambda begin: begin < 0), "count begin from the start"
        ).from_release("litert-2.3.0"),
        check(
            OPERAND_VALUE,
            "sizes of at least 1 (-1 is not supported)",
            _any_of(2, "size", lambda size: size <= 0),
            "write the size of the slice instead of -1",
        ).before_release(_SLICE_TO_END_FROM),
        check(
            OPERAND_VALUE, "sizes of at least 1, or -1", _any_of(2, "size", lambda size: size <= 0 and size != -1)
        ).from_release(_SLICE_TO_END_FROM),
        check(OPERAND_VALUE, "an end below 2^63", _overflowing_slice, "write the size of the slice").from_release(
            _SLICE_TO_END_FROM
        ),
    ),
    "STRIDED_SLICE": xnnpack_rule(
        "VisitStridedSliceNode",
        option("ellipsis_mask", 0, hint="slice without an ellipsis"),
        option("new_axis_mask", 0, hint=by_reshape("add the dimension with RESHAPE")),
        option("shrink_axis_mask", 0, hint=by_reshape("remove the dimension with RESHAPE")),
        vector(_STRIDES),
        stored(_STRIDES),
        has_type(_STRIDES, "INT32", function="CheckTensorInt32Type"),
        check(OPERAND_VALUE, "strides of 1", _any_of(3, "stride", lambda stride: stride != 1)),
        vector(_BEGIN),
        stored(_BEGIN),
        has_type(_BEGIN, "INT32", function="CheckTensorInt32Type"),
        vector(_END),
        stored(_END),
        has_type(_END, "INT32", function="CheckTensorInt32Type"),
        _one_for_each_dimension(_BEGIN),
        _one_for_each_dimension(_END),
        _one_for_each_dimension(_STRIDES),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(OPERAND_VALUE, "begin and end within the input", _slice_beyond_input).before_release("litert-1.4.0"),
    ).from_release("litert-1.1.0"),  # measured, not in the source,
    "CONCATENATION": xnnpack_rule(
        "VisitConcatenationNode",
        operands(between(2, 5)),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(ATTRIBUTE, "an axis that all inputs have", _new_dimension).from_release("litert-2.1.4"),
        check(QUANTIZATION, "inputs with the scale and zero point of the output, if the output is UINT8", _rescaled_inputs),
        *_each_of_types("input"),
    ),
    "SPLIT": xnnpack_rule(
        "VisitSplitNode",
        check(ATTRIBUTE, "num_splits equal to the number of outputs", _other_result_count),
        operand_count(2, between(2, 4)).from_source(method("CheckNumInputs", "expected_num_inputs")),
        has_type(_SPLIT_DIMENSION, "INT32"),
        stored(_SPLIT_DIMENSION),
        *of_types(operand(1, "input"), FLOAT_OR_8_BITS_ARITHMETIC),
        *_each_of_types("output"),
    ),
    "PAD": xnnpack_rule(
        "VisitPadNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(INPUT, between(1, MAX_RANK)),
        has_type(_PADDINGS, "INT32"),
        *in_method(
            "CheckPaddingsTensorShape", check(SHAPE, "a pair of paddings for each dimension", _not_a_pair_for_each_dimension)
        ),
        stored(_PADDINGS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, between(1, MAX_RANK)),
        check(
            OPERAND_VALUE, "paddings of at least 0 for the first two dimensions", _negative_padding_in_first_rows
        ).before_release("litert-1.4.0"),
        check(OPERAND_VALUE, "paddings of at least 0", _any_of(1, "padding", lambda padding: padding < 0)).from_release(
            "litert-1.4.0"
        ),
    ),
}
