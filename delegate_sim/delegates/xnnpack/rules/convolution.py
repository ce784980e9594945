"""Convolutions.

Source: ``VisitConv2DNode``, ``VisitDepthwiseConv2DNode`` and ``VisitTransposeConvNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, HYBRID, OPERAND_VALUE, OPTIONAL_OPERAND, SHAPE
from ....rules.number_sets import between
from ....rules.operands import OUTPUT, operand
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target, refused_if, where_given
from ..node_visit import Visit
from .checks import (
    BIAS,
    BOUNDING_ACTIVATION,
    INPUT,
    PADDING,
    WEIGHTS,
    integers,
    operands,
    padding_mode,
    positive,
    shaped,
    stored,
    stored_or_unpacked,
    vector,
    xnnpack_rule,
)
from .types import FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_LAYERS, of_types
from .upstream import in_method
from .weights import FLOAT_BIAS_LIKE_WEIGHTS, quantized_bias, quantized_weights

_HEIGHT, _WIDTH, _CHANNELS = 1, 2, 3


def _convolution(dimension: int) -> tuple[Check[Visit], ...]:
    """Return the checks that CONV_2D and DEPTHWISE_CONV_2D share.

    The output channels lie along ``dimension`` of the weights.
    """
    return (
        operands(3),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(INPUT, 4),
        *quantized_weights(lambda _: dimension, f"dimension {dimension}"),
        *shaped(WEIGHTS, 4),
        stored_or_unpacked(WEIGHTS),
        refused_if(OPTIONAL_OPERAND, "a bias", lambda node: not BIAS.is_given(node), "no bias"),
        *quantized_bias(BIAS),
        *shaped(BIAS, 1),
        stored_or_unpacked(BIAS),
        *FLOAT_BIAS_LIKE_WEIGHTS,
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, 4),
    )


def _mixed_types(node: NodeView, visit: Visit) -> str | None:
    source, weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    is_dynamic = (source, weights) == ("FLOAT32", "INT8")
    if source == output and (source == weights or (is_dynamic and visit.target.dynamic_quantization)):
        return None
    return f"{source} input, {weights} weights and {output} output"


def _mixed_types_depthwise(node: NodeView) -> str | None:
    source, weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    return None if source == weights == output else f"{source} input, {weights} weights and {output} output"


def _no_groups(node: NodeView) -> str | None:
    channels, weight_channels = node.input(0).shape[_CHANNELS], node.input(1).shape[_CHANNELS]
    return f"{channels} input channels, but weights for {weight_channels}" if channels < weight_channels else None


def _channels_not_multiplied(node: NodeView) -> str | None:
    channels, multiplier = node.input(1).shape[_CHANNELS], node.options.depth_multiplier
    return f"{channels} output channels and depth_multiplier {multiplier}" if channels % multiplier else None


_OUTPUT_SHAPE = operand(0, "output shape")
_TRANSPOSE_CONV_INPUT = operand(2, "input")
_TRANSPOSE_CONV_BIAS = operand(3, "bias")


def _not_four_sizes(node: NodeView) -> str | None:
    (count,) = node.input(0).shape
    return None if count == 4 else f"output shape with {count} sizes"


def _output_size(node: NodeView, dimension: int) -> int:
    value = node.value(node.input(0))
    return int(value[dimension]) if value is not None and dimension < len(value) else 0


def _other_output_channels(node: NodeView) -> str | None:
    expected, channels = node.input(1).shape[0], _output_size(node, _CHANNELS)
    return None if expected == channels else f"weights for {expected} output channels, but output shape with {channels}"


def _other_input_channels(node: NodeView) -> str | None:
    expected, channels = node.input(1).shape[_CHANNELS], node.input(2).shape[_CHANNELS]
    return None if expected == channels else f"weights for {expected} input channels, but input with {channels}"


def _unusable_transpose_paddings(node: NodeView) -> str | None:
    """Return the reason why the padding of TRANSPOSE_CONV cannot be computed, or None (``CalculateTransposeConvPaddings``)."""
    strides = node.options.stride_h, node.options.stride_w
    output = _output_size(node, _HEIGHT), _output_size(node, _WIDTH)
    return transpose_padding_problem(padding_mode(node), node.input(2).shape, node.input(1).shape, output, strides)


def transpose_padding_problem(
    mode: str | None, source: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, int], strides: tuple[int, int]
) -> str | None:
    """Return the reason why the padding of a transposed convolution cannot be computed, or None.

    Upstream: ``CalculateTransposeConvPaddings``, without dilation. ``output`` and ``strides`` are (height, width).
    """
    if mode is None:
        return "no padding mode"
    for size, axis, result, stride in zip(("height", "width"), (_HEIGHT, _WIDTH), output, strides, strict=True):
        if mode == "VALID" and kernel[axis] > result:
            return f"padding VALID and kernel {size} {kernel[axis]}, larger than the output {size} {result}"
        if mode == "SAME" and source[axis] != _size_before_same_padding(result, stride):
            return f"padding SAME, output {size} {result}, stride {stride} and input {size} {source[axis]}"
    for size, axis, stride in zip(("height", "width"), (_HEIGHT, _WIDTH), strides, strict=True):
        if mode == "SAME" and kernel[axis] < stride:
            return f"padding SAME and kernel {size} {kernel[axis]}, smaller than stride {stride}"
    return None


def _size_before_same_padding(output: int, stride: int) -> int:
    """Return the input size for which a transposed convolution with padding SAME has this output size (``ComputeOutSize``)."""
    return (output + stride - 1) // stride if stride else 0


TRANSPOSE_PADDING_NEEDS = "padding SAME or VALID, with matching sizes of input, output, kernel and strides"

_TRANSPOSE_PADDING = in_method(
    "CalculateTransposeConvPaddings", check(ATTRIBUTE, TRANSPOSE_PADDING_NEEDS, _unusable_transpose_paddings)
)

RULES = {
    "CONV_2D": xnnpack_rule(
        "VisitConv2DNode",
        positive("CheckConvolutionParams", "stride_w", "stride_h"),
        positive("CheckConvolutionParams", "dilation_w_factor", "dilation_h_factor"),
        *_convolution(0),
        check_for_target(
            HYBRID, "the same type in input, weights and output, or INT8 weights with FLOAT32 activations", _mixed_types
        ),
        check(SHAPE, "at least as many input channels as the weights have", _no_groups),
        PADDING,
        BOUNDING_ACTIVATION,
    ),
    "DEPTHWISE_CONV_2D": xnnpack_rule(
        "VisitDepthwiseConv2DNode",
        *_convolution(3),
        check(HYBRID, "the same type in input, weights and output", _mixed_types_depthwise),
        positive("CheckDepthwiseConvolutionParams", "stride_w", "stride_h"),
        positive("CheckDepthwiseConvolutionParams", "depth_multiplier"),
        *in_method(
            "CheckDepthwiseConvolutionParams",
            check(SHAPE, "a number of output channels that is a multiple of depth_multiplier", _channels_not_multiplied),
        ),
        positive("CheckDepthwiseConvolutionParams", "dilation_w_factor", "dilation_h_factor"),
        PADDING,
        BOUNDING_ACTIVATION,
    ),
    "TRANSPOSE_CONV": xnnpack_rule(
        "VisitTransposeConvNode",
        operands(between(3, 4)),
        integers(_OUTPUT_SHAPE, "INT32"),
        vector(_OUTPUT_SHAPE),
        stored(_OUTPUT_SHAPE),
        check(SHAPE, "an output shape with 4 sizes", _not_four_sizes),
        *shaped(WEIGHTS, 4),
        stored_or_unpacked(WEIGHTS),
        *of_types(_TRANSPOSE_CONV_INPUT, FLOAT32_OR_8_BITS),
        *shaped(_TRANSPOSE_CONV_INPUT, 4),
        *quantized_weights(lambda _: 0, "dimension 0"),
        *where_given(
            _TRANSPOSE_CONV_BIAS,
            *quantized_bias(_TRANSPOSE_CONV_BIAS),
            *shaped(_TRANSPOSE_CONV_BIAS, 1),
            stored_or_unpacked(_TRANSPOSE_CONV_BIAS),
        ),
        *of_types(OUTPUT, FLOAT32_OR_8_BITS),
        *shaped(OUTPUT, 4),
        check(OPERAND_VALUE, "an output shape with the same number of output channels as the weights", _other_output_channels),
        check(SHAPE, "an input with the same number of input channels as the weights", _other_input_channels),
        *_TRANSPOSE_PADDING,
        BOUNDING_ACTIVATION,
    ),
}
