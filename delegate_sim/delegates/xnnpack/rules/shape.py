"""Joining, splitting, slicing, reordering and padding.

Source: ``VisitConcatenationNode``, ``VisitSplitNode``, ``VisitSliceNode``, ``VisitStridedSliceNode``, ``VisitReshapeNode``,
``VisitTransposeNode``, ``VisitPadNode``, ``VisitDepthToSpaceNode`` and ``VisitSpaceToDepthNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, QUANTIZATION, SHAPE, TENSOR_TYPE
from ....rules.numbers import at_least, between, counted
from ....rules.operands import OUTPUT, Operand, operand
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target, operand_count, option, where
from ..scales import EIGHT_BIT_TYPES, has_one_scale, other_parameters, scales_of
from ..visit import Visit
from .checks import ANY_RANK, INPUT, MAX_RANK, counting_from, integers, operands, shaped, stored, vector, xnnpack_rule
from .types import FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_ARITHMETIC, FLOAT_OR_8_BITS_LAYERS, Types, of_types
from .upstream import in_method, method


def _integers_of(node: NodeView, position: int) -> Sequence[int]:
    """The elements of a constant operand."""
    value = node.value(node.input(position))
    return () if value is None else value.tolist()


def _each_of_types(side: str) -> tuple[Check[Visit], ...]:
    """Demand that all operands, or all results, are float or 8-bit with one scale."""

    def of_these(types: Types) -> Check[Visit]:
        def find(node: NodeView, visit: Visit) -> str | None:
            found = (tensor.type for tensor in (node.inputs if side == "input" else node.outputs))
            return next((f"{side} of type {kind}" for kind in found if not types.accepts(kind, visit.target)), None)

        return check_for_target(TENSOR_TYPE, f"{side}s of type {types.words}", find)

    def find_scales(node: NodeView) -> str | None:
        for tensor in node.inputs if side == "input" else node.outputs:
            if tensor.type in EIGHT_BIT_TYPES and not has_one_scale(tensor):
                return f"{side} with {scales_of(tensor)}"
        return None

    of_scales = check(QUANTIZATION, f"one scale for each of 8-bit {side}s", find_scales)
    return (*FLOAT_OR_8_BITS_ARITHMETIC.checks(of_these), *in_method(FLOAT_OR_8_BITS_ARITHMETIC.function, of_scales))


def _new_dimension(node: NodeView) -> str | None:
    axis = node.options.axis
    return next((f"axis {axis} and an input of rank {tensor.rank}" for tensor in node.inputs if axis >= tensor.rank), None)


def _rescaled_inputs(node: NodeView) -> str | None:
    output = node.output(0)
    if output.type != "UINT8":
        return None
    return next((found for tensor in node.inputs if (found := other_parameters(tensor, output))), None)


_SPLIT_DIMENSION = operand(0, "dimension")


def _other_result_count(node: NodeView) -> str | None:
    splits, outputs = node.options.num_splits, len(node.node.outputs)
    return None if splits == outputs else f"num_splits {splits} and {counted(outputs, 'output')}"


_BEGIN, _SIZE, _END, _STRIDES = operand(1, "begin"), operand(2, "size"), operand(2, "end"), operand(3, "strides")


def _same_count(first: Operand, second: Operand) -> Check[object]:
    """``CheckTensorsDimensionMatch``."""

    def find(node: NodeView) -> str | None:
        counts = first.tensor(node).shape[0], second.tensor(node).shape[0]
        return None if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"

    needed = f"{first.name} and {second.name} of one length"
    return check(SHAPE, needed, find).from_source(method("CheckTensorsDimensionMatch"))


def _empty_slice(node: NodeView) -> str | None:
    return next((f"size {size}" for size in _integers_of(node, 2) if size <= 0), None)


def _longer_strides(node: NodeView) -> str | None:
    return next((f"stride {stride}" for stride in _integers_of(node, 3) if stride != 1), None)


def _one_for_each_dimension(which: Operand) -> Check[object]:
    def find(node: NodeView) -> str | None:
        (count,), rank = which.tensor(node).shape, node.input(0).rank
        return None if count == rank else f"{which.name} of {counted(count, 'element')} for an input of rank {rank}"

    return check(SHAPE, f"one element of {which.name} for each dimension of the input", find)


def _slice_beyond_input(node: NodeView) -> str | None:
    options = node.options
    for dimension, (size, begin, end) in enumerate(
        zip(node.input(0).shape, _integers_of(node, 1), _integers_of(node, 2), strict=False)
    ):
        first = 0 if options.begin_mask >> dimension & 1 else begin + size if begin < 0 else begin
        last = size if options.end_mask >> dimension & 1 else first + end if options.offset else end + size if end < 0 else end
        if max(first, last) > size:
            return f"slice from {first} to {last} of a dimension of {size}"
    return None


_NEW_SHAPE = operand(1, "shape")


def _has_new_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2


def _rescaled_reshape(node: NodeView) -> str | None:
    output = node.output(0)
    return other_parameters(node.input(0), output) if output.type in ("INT8", "UINT8") else None


def _many_dimensional_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"shape operand of shape {list(shape)}" if any(size != 1 for size in shape[:-1]) else None


def _legacy_scalar(node: NodeView) -> str | None:
    """A new shape of one dimension, 0 or -1, was a way to write a scalar."""
    sizes = _integers_of(node, 1) if _has_new_shape(node) else node.options.new_shape or ()
    return f"shape {list(sizes)}" if len(sizes) == 1 and sizes[0] in (0, -1) else None


_PERMUTATION = operand(1, "permutation")
_PADDINGS = operand(1, "paddings")


def _not_a_pair_for_each_dimension(node: NodeView) -> str | None:
    shape, rank = node.input(1).shape, node.input(0).rank
    return None if shape == (rank, 2) else f"paddings {list(shape)} for an input of rank {rank}"


def _negative_padding(node: NodeView) -> str | None:
    return next((f"padding {padding}" for padding in _integers_of(node, 1) if padding < 0), None)


def _negative_padding_in_first_rows(node: NodeView) -> str | None:
    """Of the paddings, the delegate looked at as many dimensions as the operand itself has, which are two."""
    paddings = _integers_of(node, 1)[: 2 * node.input(1).rank]
    return next((f"padding {padding}" for padding in paddings if padding < 0), None)


def _not_in_blocks(node: NodeView) -> str | None:
    shape, size = node.input(0).shape, node.options.block_size
    return f"input of shape {list(shape)} and block_size {size}" if any(length % size for length in shape[1:3]) else None


RULES = {
    "CONCATENATION": xnnpack_rule(
        "VisitConcatenationNode",
        operands(between(2, 5)),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(ATTRIBUTE, "an axis that the inputs have", _new_dimension).from_release("litert-2.1.4"),
        check(QUANTIZATION, "inputs with the scale and zero point of a UINT8 output", _rescaled_inputs),
        *_each_of_types("input"),
    ),
    "DEPTH_TO_SPACE": xnnpack_rule(
        "VisitDepthToSpaceNode",
        operands(1),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
    ),
    "PAD": xnnpack_rule(
        "VisitPadNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(INPUT, between(1, MAX_RANK)),
        integers(_PADDINGS, "INT32"),
        *in_method(
            "CheckPaddingsTensorShape", check(SHAPE, "a pair of paddings for each dimension", _not_a_pair_for_each_dimension)
        ),
        stored(_PADDINGS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, between(1, MAX_RANK)),
        check(
            OPERAND_VALUE, "paddings of the first two dimensions of at least 0", _negative_padding_in_first_rows
        ).before_release("litert-1.4.0"),
        check(OPERAND_VALUE, "paddings of at least 0", _negative_padding).from_release("litert-1.4.0"),
    ),
    "RESHAPE": xnnpack_rule(
        "VisitReshapeNode",
        operands(between(1, 2)),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(INPUT, ANY_RANK),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(OUTPUT, ANY_RANK),
        check(QUANTIZATION, "input with the scale and zero point of an 8-bit output", _rescaled_reshape),
        *where(
            _has_new_shape,
            "if given",
            integers(_NEW_SHAPE, "INT32"),
            *in_method(
                "CheckShapeTensorShape",
                check(SHAPE, "shape operand with no dimension other than 1 but the last", _many_dimensional_shape),
            ),
            stored(_NEW_SHAPE),
        ),
        check(
            OPERAND_VALUE, "another shape than [0] or [-1]", _legacy_scalar, "write the number of elements instead of -1"
        ).from_release("litert-2.1.3"),
    ),
    "SLICE": xnnpack_rule(
        "VisitSliceNode",
        vector(_BEGIN),
        stored(_BEGIN),
        integers(_BEGIN, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        vector(_SIZE),
        stored(_SIZE),
        integers(_SIZE, "INT32", "INT64", function="CheckTensorInt32OrInt64Type"),
        _same_count(_BEGIN, _SIZE),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        check(OPERAND_VALUE, "sizes of at least 1, not -1", _empty_slice, "write the size of the slice instead of -1"),
    ),
    "SPACE_TO_DEPTH": xnnpack_rule(
        "VisitSpaceToDepthNode",
        operands(1),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
        check(SHAPE, "height and width that block_size divides", _not_in_blocks),
    ),
    "SPLIT": xnnpack_rule(
        "VisitSplitNode",
        check(ATTRIBUTE, "num_splits equal to the number of outputs", _other_result_count),
        operand_count(2, between(2, 4)).from_source(method("CheckNumInputs")),
        integers(_SPLIT_DIMENSION, "INT32"),
        stored(_SPLIT_DIMENSION),
        *of_types(operand(1, "input"), FLOAT_OR_8_BITS_ARITHMETIC),
        *_each_of_types("output"),
    ),
    "STRIDED_SLICE": xnnpack_rule(
        "VisitStridedSliceNode",
        option("ellipsis_mask", 0, hint="write the slice without an ellipsis"),
        option("new_axis_mask", 0, hint="add the dimension with RESHAPE"),
        option("shrink_axis_mask", 0, hint="remove the dimension with RESHAPE"),
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
    ).from_release("litert-1.1.0"),  # measured, not read
    "TRANSPOSE": xnnpack_rule(
        "VisitTransposeNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *counting_from("litert-2.0.2", *shaped(INPUT, between(1, MAX_RANK))),
        stored(_PERMUTATION),
    ),
}
