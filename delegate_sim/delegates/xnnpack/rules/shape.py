"""Joining, splitting, slicing, reordering, padding and resizing.

Source: ``VisitConcatenationNode``, ``VisitSplitNode``, ``VisitSliceNode``, ``VisitStridedSliceNode``, ``VisitReshapeNode``,
``VisitTransposeNode``, ``VisitPadNode``, ``VisitResizeBilinearNode``, ``VisitDepthToSpaceNode`` and ``VisitSpaceToDepthNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule
from ..target import Target
from .checks import (
    ATTRIBUTE,
    FLOAT16_ARITHMETIC,
    FLOAT16_LAYERS,
    FLOAT32_OR_8_BITS,
    INPUT,
    MAX_RANK,
    OPERAND_COUNT,
    OUTPUT,
    QUANTIZATION,
    SHAPE,
    TENSOR_TYPE,
    VALUE,
    Operand,
    Types,
    check,
    check_for_target,
    constant,
    counted,
    counting_from,
    has_one_scale,
    integers,
    operand,
    operands,
    scales_of,
    shaped,
    typed,
    vector,
)

_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_ARITHMETIC)
_COMPUTED_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_LAYERS)


def _integers_of(node: NodeView, position: int) -> Sequence[int]:
    """The elements of a constant operand."""
    value = node.value(node.input(position))
    return () if value is None else value.tolist()


def _each_typed(name: str, tensors: str, first: int = 0) -> tuple[Check, ...]:
    """All operands (from one on), or all results, are float or 8-bit with one scale."""

    def each(node: NodeView) -> Sequence[Tensor]:
        return node.inputs[first:] if tensors == "inputs" else node.outputs

    def of_types(types: Types) -> Check:
        def find(node: NodeView, target: Target) -> str | None:
            found = (tensor.type for tensor in each(node))
            return next((f"{name} of type {kind}" for kind in found if not types.takes(kind, target)), None)

        return check_for_target(TENSOR_TYPE, f"{tensors} of type {types.words()}", find)

    def find_scales(node: NodeView) -> str | None:
        for tensor in each(node):
            if tensor.type in ("INT8", "UINT8") and not has_one_scale(tensor):
                return f"{name} with {scales_of(tensor)}"
        return None

    return (
        *_FLOAT_OR_8_BITS.checks(of_types),
        check(QUANTIZATION, f"one scale for each of 8-bit {tensors}", find_scales),
    )


def _new_dimension(node: NodeView) -> str | None:
    axis = node.options.axis
    return next((f"axis {axis} and an input of rank {tensor.rank}" for tensor in node.inputs if axis >= tensor.rank), None)


def _rescaled_inputs(node: NodeView) -> str | None:
    output = node.output(0)
    if output.type != "UINT8":
        return None
    return next((_other_parameters(tensor, output) for tensor in node.inputs if _other_parameters(tensor, output)), None)


def _other_parameters(tensor: Tensor, output: Tensor) -> str | None:
    if (tensor.zero_point, tensor.scale) == (output.zero_point, output.scale):
        return None
    return f"scale {tensor.scale:g} and zero point {tensor.zero_point}, output {output.scale:g} and {output.zero_point}"


_CONCATENATION = (
    operands(2, 1, most=5),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    check(ATTRIBUTE, "axis of a dimension that the inputs have", _new_dimension).from_release("litert-2.1.4"),
    check(QUANTIZATION, "inputs with the scale and zero point of a UINT8 output", _rescaled_inputs),
    *_each_typed("input", "inputs"),
)

_SPLIT_DIMENSION = operand(0, "dimension")


def _other_result_count(node: NodeView) -> str | None:
    splits, outputs = node.options.num_splits, len(node.node.outputs)
    return None if splits == outputs else f"num_splits {splits} and {counted(outputs, 'output')}"


def _split_operands(node: NodeView) -> str | None:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    return None if inputs == 2 and 2 <= outputs <= 4 else f"{counted(inputs, 'input')} and {counted(outputs, 'output')}"


_SPLIT = (
    check(ATTRIBUTE, "num_splits equal to the number of outputs", _other_result_count),
    check(OPERAND_COUNT, "2 inputs and 2 to 4 outputs", _split_operands),
    integers(_SPLIT_DIMENSION, "INT32"),
    constant(_SPLIT_DIMENSION),
    *typed(operand(1), _FLOAT_OR_8_BITS),
    *_each_typed("output", "outputs"),
)

_BEGIN, _SIZE, _END, _STRIDES = operand(1, "begin"), operand(2, "size"), operand(2, "end"), operand(3, "strides")


def _same_count(first: Operand, second: Operand) -> Check:
    """``CheckTensorsDimensionMatch``."""

    def find(node: NodeView) -> str | None:
        counts = first.tensor(node).shape[0], second.tensor(node).shape[0]
        return None if counts[0] == counts[1] else f"{counts[0]} and {counts[1]}"

    return check(SHAPE, f"{first.name} and {second.name} of one length", find)


def _empty_slice(node: NodeView) -> str | None:
    return next((f"size {size}" for size in _integers_of(node, 2) if size <= 0), None)


_SLICE = (
    vector(_BEGIN),
    constant(_BEGIN),
    integers(_BEGIN, "INT32", "INT64"),
    vector(_SIZE),
    constant(_SIZE),
    integers(_SIZE, "INT32", "INT64"),
    _same_count(_BEGIN, _SIZE),
    *typed(INPUT, _FLOAT_OR_8_BITS),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    check(VALUE, "sizes of at least 1, not -1", _empty_slice, "write the size of the slice instead of -1"),
)


def _no_mask(name: str) -> Check:
    return check(ATTRIBUTE, f"{name} 0", lambda node: f"{name} {found}" if (found := getattr(node.options, name)) else None)


def _longer_strides(node: NodeView) -> str | None:
    return next((f"stride {stride}" for stride in _integers_of(node, 3) if stride != 1), None)


def _one_for_each_dimension(which: Operand) -> Check:
    def find(node: NodeView) -> str | None:
        (count,), rank = which.tensor(node).shape, node.input(0).rank
        return None if count == rank else f"{which.name} of {counted(count, 'element')} for an input of rank {rank}"

    return check(SHAPE, f"{which.name} for each dimension of the input", find)


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


_STRIDED_SLICE = (
    _no_mask("ellipsis_mask"),
    _no_mask("new_axis_mask"),
    _no_mask("shrink_axis_mask"),
    vector(_STRIDES),
    constant(_STRIDES),
    integers(_STRIDES, "INT32"),
    check(VALUE, "strides of 1", _longer_strides),
    vector(_BEGIN),
    constant(_BEGIN),
    integers(_BEGIN, "INT32"),
    vector(_END),
    constant(_END),
    integers(_END, "INT32"),
    _one_for_each_dimension(_BEGIN),
    _one_for_each_dimension(_END),
    _one_for_each_dimension(_STRIDES),
    *typed(INPUT, _FLOAT_OR_8_BITS),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    check(VALUE, "begin and end within the input", _slice_beyond_input).before_release("litert-1.4.0"),
)

_NEW_SHAPE = operand(1, "shape")


def _has_new_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2


def _only_with_new_shape(inner: Check) -> Check:
    def find(node: NodeView, target: Target) -> str | None:
        return inner.finder(node, target) if _has_new_shape(node) else None

    return replace(inner, needed=f"{inner.needed} (if there is one)", finder=find)


def _rescaled_reshape(node: NodeView) -> str | None:
    output = node.output(0)
    return _other_parameters(node.input(0), output) if output.type in ("INT8", "UINT8") else None


def _many_dimensional_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"shape operand {list(shape)}" if any(size != 1 for size in shape[:-1]) else None


def _legacy_scalar(node: NodeView) -> str | None:
    """A new shape of one dimension, 0 or -1, was a way to write a scalar."""
    sizes = _integers_of(node, 1) if _has_new_shape(node) else node.options.new_shape or ()
    return f"shape {list(sizes)}" if len(sizes) == 1 and sizes[0] in (0, -1) else None


_RESHAPE = (
    operands(1, 1, most=2),
    *typed(INPUT, _FLOAT_OR_8_BITS),
    *shaped(INPUT, 0, MAX_RANK),
    *typed(OUTPUT, _FLOAT_OR_8_BITS),
    *shaped(OUTPUT, 0, MAX_RANK),
    check(QUANTIZATION, "input with the scale and zero point of an 8-bit output", _rescaled_reshape),
    _only_with_new_shape(integers(_NEW_SHAPE, "INT32")),
    _only_with_new_shape(check(SHAPE, "shape operand of one dimension other than 1", _many_dimensional_shape)),
    _only_with_new_shape(constant(_NEW_SHAPE)),
    check(VALUE, "another shape than [0] or [-1]", _legacy_scalar, "write the number of elements instead of -1").from_release(
        "litert-2.1.3"
    ),
)

_PERMUTATION = operand(1, "permutation")

_TRANSPOSE = (
    operands(2),
    *typed(INPUT, _FLOAT_OR_8_BITS),
    *counting_from("litert-2.0.2", *shaped(INPUT, 1, MAX_RANK)),
    constant(_PERMUTATION),
)

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


_PAD = (
    operands(2),
    *typed(INPUT, _COMPUTED_FLOAT_OR_8_BITS),
    *shaped(INPUT, 1, MAX_RANK),
    integers(_PADDINGS, "INT32"),
    check(SHAPE, "a pair of paddings for each dimension", _not_a_pair_for_each_dimension),
    constant(_PADDINGS),
    *typed(OUTPUT, _COMPUTED_FLOAT_OR_8_BITS),
    *shaped(OUTPUT, 1, MAX_RANK),
    check(VALUE, "paddings of the first two dimensions of at least 0", _negative_padding_in_first_rows).before_release(
        "litert-1.4.0"
    ),
    check(VALUE, "paddings of at least 0", _negative_padding).from_release("litert-1.4.0"),
)


def _empty_first_size(node: NodeView) -> str | None:
    """Of the new height and width, the delegate looks at the height only."""
    sizes = _integers_of(node, 1)
    return f"new height {sizes[0]}" if sizes and sizes[0] <= 0 else None


_NEW_SIZE = operand(1, "new size")

_RESIZE_BILINEAR = (
    operands(2),
    *typed(INPUT, FLOAT32_OR_8_BITS),
    *shaped(INPUT, 4),
    integers(_NEW_SIZE, "INT32"),
    vector(_NEW_SIZE),
    constant(_NEW_SIZE),
    *typed(OUTPUT, _COMPUTED_FLOAT_OR_8_BITS),
    *shaped(OUTPUT, 4),
    check(VALUE, "new height of at least 1", _empty_first_size),
)

_BLOCK_SIZE = check(
    ATTRIBUTE,
    "block_size of at least 2",
    lambda node: f"block_size {node.options.block_size}" if node.options.block_size <= 1 else None,
)


def _not_in_blocks(node: NodeView) -> str | None:
    shape, size = node.input(0).shape, node.options.block_size
    return f"input {list(shape)} and block_size {size}" if any(length % size for length in shape[1:3]) else None


RULES = {
    "CONCATENATION": OpRule(_CONCATENATION),
    "SPLIT": OpRule(_SPLIT),
    "SLICE": OpRule(_SLICE),
    "STRIDED_SLICE": OpRule(_STRIDED_SLICE).from_release("litert-1.1.0"),  # measured, not read
    "RESHAPE": OpRule(_RESHAPE),
    "TRANSPOSE": OpRule(_TRANSPOSE),
    "PAD": OpRule(_PAD),
    "RESIZE_BILINEAR": OpRule(_RESIZE_BILINEAR),
    "DEPTH_TO_SPACE": OpRule(
        (operands(1), *typed(INPUT, _COMPUTED_FLOAT_OR_8_BITS), *typed(OUTPUT, _COMPUTED_FLOAT_OR_8_BITS), _BLOCK_SIZE)
    ),
    "SPACE_TO_DEPTH": OpRule(
        (
            operands(1),
            *typed(INPUT, FLOAT32_OR_8_BITS),
            *typed(OUTPUT, _COMPUTED_FLOAT_OR_8_BITS),
            _BLOCK_SIZE,
            check(SHAPE, "height and width that block_size divides", _not_in_blocks),
        )
    ),
}
