"""Custom operators: those of MediaPipe, and scaled dot-product attention, also as a composite.

Source: ``VisitMediaPipeDeconvolutionNode``, ``VisitMediaPipeMaxPoolingNode``, ``VisitMediaPipeUnpoolingNode`` and
``VisitDotAttentionNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

import struct

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, OpRule
from .checks import (
    ACTIVATION,
    ATTRIBUTE,
    FLOAT32,
    INPUT,
    OPERAND_COUNT,
    OPERATOR,
    OUTPUT,
    RELU_TO_RELU6,
    SHAPE,
    check,
    constant_or_unpacked,
    operand,
    operands,
    result,
    shaped,
    typed,
    where_given,
)
from .convolution import TRANSPOSE_PADDING_NEEDS, transpose_padding_problem

ATTENTION = "odml.scaled_dot_product_attention"

_PADDING_MODES = {1: "SAME", 2: "VALID"}
"""``TfLitePadding``."""
_PARAMETERS = struct.Struct("<6i")
"""``TfLitePoolParams``: padding, stride width and height, filter width and height, activation. The parameters of a transposed
convolution begin with the same three."""


def _parameters(node: NodeView) -> tuple[int, ...]:
    """The custom options; what lies behind their end reads as 0."""
    offset, size = node.node.custom_options or (0, 0)
    content = bytes(node.graph.model.content[offset : offset + min(size, _PARAMETERS.size)])
    return _PARAMETERS.unpack(content.ljust(_PARAMETERS.size, b"\0"))


def _empty_strides(node: NodeView) -> str | None:
    _, width, height, *_ = _parameters(node)
    return f"strides {height}x{width}" if width <= 0 or height <= 0 else None


_STRIDES = check(ATTRIBUTE, "strides of at least 1x1", _empty_strides)
_WEIGHTS, _BIAS = operand(1, "weights"), operand(2, "bias")


def _unusable_transpose_paddings(node: NodeView) -> str | None:
    mode, width, height, *_ = _parameters(node)
    _, output_height, output_width, _ = node.output(0).shape
    output = output_height, output_width
    return transpose_padding_problem(_PADDING_MODES.get(mode), node.input(0).shape, node.input(1).shape, output, (height, width))


_TRANSPOSE_CONVOLUTION = (
    operands(3),
    *typed(INPUT, FLOAT32),
    *shaped(INPUT, 4),
    *typed(_WEIGHTS, FLOAT32),
    *shaped(_WEIGHTS, 4),
    constant_or_unpacked(_WEIGHTS),
    *typed(_BIAS, FLOAT32),
    *shaped(_BIAS, 1),
    constant_or_unpacked(_BIAS),
    *typed(OUTPUT, FLOAT32),
    *shaped(OUTPUT, 4),
    _STRIDES,
    check(ATTRIBUTE, TRANSPOSE_PADDING_NEEDS, _unusable_transpose_paddings),
)


def _empty_filter(node: NodeView) -> str | None:
    _, _, _, width, height, _ = _parameters(node)
    return f"filter {height}x{width}" if width <= 0 or height <= 0 else None


def _filter_unlike_strides(node: NodeView) -> str | None:
    _, stride_width, stride_height, width, height, _ = _parameters(node)
    if (stride_width, stride_height) == (width, height):
        return None
    return f"strides {stride_height}x{stride_width} and filter {height}x{width}"


def _unknown_activation(node: NodeView) -> str | None:
    *_, activation = _parameters(node)
    return None if activation in RELU_TO_RELU6 else f"activation {activation}"


def _no_padding(node: NodeView) -> str | None:
    mode, *_ = _parameters(node)
    return None if mode in _PADDING_MODES else f"padding mode {mode}"


_POOLING = (
    _STRIDES,
    check(ATTRIBUTE, "filter of at least 1x1", _empty_filter),
    check(ATTRIBUTE, "strides of the filter's size", _filter_unlike_strides),
    check(ACTIVATION, "activation RELU, RELU6 or RELU_N1_TO_1, or none", _unknown_activation),
    check(ATTRIBUTE, "padding SAME or VALID", _no_padding),
)
_INDICES_IN, _INDICES_OUT = operand(1, "indices"), result(1, "indices")

_MAX_POOLING = (
    operands(1, 2),
    *typed(INPUT, FLOAT32),
    *shaped(INPUT, 4),
    *typed(OUTPUT, FLOAT32),
    *shaped(OUTPUT, 4),
    *shaped(_INDICES_OUT, 4),
    *_POOLING,
)
_UNPOOLING = (
    operands(2),
    *typed(INPUT, FLOAT32),
    *shaped(INPUT, 4),
    *shaped(_INDICES_IN, 4),
    *typed(OUTPUT, FLOAT32),
    *shaped(OUTPUT, 4),
    *_POOLING,
)


def _size(tensor: Tensor, dimension: int) -> int:
    """The size of a dimension, 0 where there is none."""
    return tensor.shape[dimension] if -tensor.rank <= dimension < tensor.rank else 0


def _same_heads(position: int, name: str) -> Check:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(0), -1), _size(node.input(position), -1)
        return None if sizes[0] == sizes[1] else f"heads of {sizes[0]} in the query and {sizes[1]} in the {name}"

    return check(SHAPE, f"heads of one size in query and {name}", find)


def _same_length(position: int, name: str) -> Check:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(position), 1), _size(node.input(3), -1)
        return None if sizes[0] == sizes[1] else f"sequence of {sizes[0]} in the {name} and {sizes[1]} in the mask"

    return check(SHAPE, f"mask as long as the sequence of the {name}", find)


_MASK = check(OPERAND_COUNT, "a mask", lambda node: None if len(node.node.inputs) > 3 else "no mask")

_ATTENTION = (
    _MASK.before_release("litert-1.2.0"),
    *typed(operand(0, "query"), FLOAT32),
    *typed(operand(1, "key"), FLOAT32),
    *typed(operand(2, "value"), FLOAT32),
    *where_given(3, *typed(operand(3, "mask"), FLOAT32)),
    *typed(OUTPUT, FLOAT32),
    _same_heads(1, "key"),
    _same_heads(2, "value"),
    *where_given(3, _same_length(1, "key"), _same_length(2, "value")),
)


def _other_composite(node: NodeView) -> str | None:
    name = node.options.name or ""
    return None if name == ATTENTION else f"composite {name!r}"


_COMPOSITE = check(OPERATOR, f"composite {ATTENTION}", _other_composite, "leave other composites to the CPU")

RULES = {
    "Convolution2DTransposeBias": OpRule(_TRANSPOSE_CONVOLUTION),
    "MaxPoolingWithArgmax2D": OpRule(_MAX_POOLING),
    "MaxUnpooling2D": OpRule(_UNPOOLING),
    ATTENTION: OpRule(_ATTENTION),
}
"""Custom operators, by name."""

COMPOSITES = {"STABLEHLO_COMPOSITE": OpRule((_COMPOSITE, *_ATTENTION))}
