"""Custom operators: MediaPipe's, mixtures of experts, and scaled dot-product attention.

Source: ``VisitMediaPipeDeconvolutionNode``, ``VisitMediaPipeMaxPoolingNode``, ``VisitMediaPipeUnpoolingNode`` and
``VisitDotAttentionNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

import struct

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import ACTIVATION, ATTRIBUTE, OPERAND_COUNT, SHAPE
from ....rules.operands import OUTPUT, operand, result
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, refused_if, where_given
from ..experts import MIXTURE
from ..node_visit import Visit
from .checks import BIAS, INPUT, RELU_TO_RELU6, WEIGHTS, operands, shaped, stored_or_unpacked, xnnpack_rule
from .convolution import TRANSPOSE_PADDING_NEEDS, transpose_padding_problem
from .types import FLOAT32, of_type
from .upstream import in_method, method

_PADDING_MODES = {1: "SAME", 2: "VALID"}
"""The names of the padding modes, by their numbers in ``TfLitePadding``."""
_PARAMETERS = struct.Struct("<6i")
"""Layout of ``TfLitePoolParams``: padding, stride width and height, filter width and height, activation.

``TfLiteTransposeConvParams`` also starts with padding, stride width and stride height.
"""


def _parameters(node: NodeView) -> tuple[int, ...]:
    """Return the custom options as the six integers of ``TfLitePoolParams``. Missing bytes are 0."""
    offset, size = node.node.custom_options or (0, 0)
    content = bytes(node.graph.model.content[offset : offset + min(size, _PARAMETERS.size)])
    return _PARAMETERS.unpack(content.ljust(_PARAMETERS.size, b"\0"))


def _empty_strides(node: NodeView) -> str | None:
    _, width, height, *_ = _parameters(node)
    return f"strides {height}x{width}" if width <= 0 or height <= 0 else None


_STRIDES = check(ATTRIBUTE, "strides of at least 1x1", _empty_strides)


def _unusable_transpose_paddings(node: NodeView) -> str | None:
    mode, width, height, *_ = _parameters(node)
    _, output_height, output_width, _ = node.output(0).shape
    output = output_height, output_width
    return transpose_padding_problem(_PADDING_MODES.get(mode), node.input(0).shape, node.input(1).shape, output, (height, width))


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
    *in_method(
        "CheckMediaPipePoolParams",
        _STRIDES,
        check(ATTRIBUTE, "a filter of at least 1x1", _empty_filter),
        check(ATTRIBUTE, "strides equal to the filter size", _filter_unlike_strides),
        check(ACTIVATION, "a fused RELU, RELU6 or RELU_N1_TO_1, or no fused activation", _unknown_activation),
    ),
    check(ATTRIBUTE, "padding SAME or VALID", _no_padding).from_source(method("CalculatePadding")),
)
_INDICES_IN, _INDICES_OUT = operand(1, "indices"), result(1, "indices")


def _size(tensor: Tensor, dimension: int) -> int:
    """Return the size of a dimension, or 0 if the tensor lacks the dimension."""
    return tensor.shape[dimension] if -tensor.rank <= dimension < tensor.rank else 0


def _same_heads(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(0), -1), _size(node.input(position), -1)
        return None if sizes[0] == sizes[1] else f"heads of size {sizes[0]} in the query and {sizes[1]} in the {name}"

    return check(SHAPE, f"heads of the same size in query and {name}", find)


def _same_length(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(position), 1), _size(node.input(3), -1)
        return None if sizes[0] == sizes[1] else f"a sequence of length {sizes[0]} in the {name} and {sizes[1]} in the mask"

    return check(SHAPE, f"a mask with the same sequence length as the {name}", find)


_MASK = operand(3, "mask")
_NAMED_MASK = refused_if(
    OPERAND_COUNT, "a mask", lambda node: len(node.node.inputs) <= _MASK.position, "no mask", "give the operator a mask"
)
ATTENTION_CHECKS: tuple[Check[Visit], ...] = (
    _NAMED_MASK.before_release("litert-1.2.0"),
    *of_type(operand(0, "query"), FLOAT32),
    *of_type(operand(1, "key"), FLOAT32),
    *of_type(operand(2, "value"), FLOAT32),
    *where_given(_MASK, *of_type(_MASK, FLOAT32)),
    *of_type(OUTPUT, FLOAT32),
    _same_heads(1, "key"),
    _same_heads(2, "value"),
    *where_given(_MASK, _same_length(1, "key"), _same_length(2, "value")),
)
ATTENTION_SOURCE = (method("VisitDotAttentionNode"), method("VisitScaledDotAttentionCompositeNode"))

CUSTOM_RULES = {
    "Convolution2DTransposeBias": xnnpack_rule(
        "VisitMediaPipeDeconvolutionNode",
        operands(3),
        *of_type(INPUT, FLOAT32),
        *shaped(INPUT, 4),
        *of_type(WEIGHTS, FLOAT32),
        *shaped(WEIGHTS, 4),
        stored_or_unpacked(WEIGHTS),
        *of_type(BIAS, FLOAT32),
        *shaped(BIAS, 1),
        stored_or_unpacked(BIAS),
        *of_type(OUTPUT, FLOAT32),
        *shaped(OUTPUT, 4),
        *in_method("CheckMediaPipeTransposedConvolutionParams", _STRIDES),
        *in_method("CalculateTransposeConvPaddings", check(ATTRIBUTE, TRANSPOSE_PADDING_NEEDS, _unusable_transpose_paddings)),
    ),
    "MaxPoolingWithArgmax2D": xnnpack_rule(
        "VisitMediaPipeMaxPoolingNode",
        operands(1, 2),
        *of_type(INPUT, FLOAT32),
        *shaped(INPUT, 4),
        *of_type(OUTPUT, FLOAT32),
        *shaped(OUTPUT, 4),
        *shaped(_INDICES_OUT, 4),
        *_POOLING,
    ),
    "MaxUnpooling2D": xnnpack_rule(
        "VisitMediaPipeUnpoolingNode",
        operands(2),
        *of_type(INPUT, FLOAT32),
        *shaped(INPUT, 4),
        *shaped(_INDICES_IN, 4),
        *of_type(OUTPUT, FLOAT32),
        *shaped(OUTPUT, 4),
        *_POOLING,
    ),
    "moe": MIXTURE,
    "odml.scaled_dot_product_attention": OpRule(ATTENTION_CHECKS).from_source(*ATTENTION_SOURCE),
}
"""Custom operators, by name."""
