"""Convolutions and pooling.

Source: ``VisitConv2DNode``, ``VisitDepthwiseConv2DNode``, ``VisitTransposeConvNode``, ``VisitAveragePool2DNode`` and
``VisitMaxPool2DNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import Check, OpRule
from ..target import Target
from .checks import (
    ATTRIBUTE,
    FLOAT16_LAYERS,
    FLOAT32,
    FLOAT32_OR_8_BITS,
    HYBRID,
    INPUT,
    OPTIONAL_OPERAND,
    OUTPUT,
    SHAPE,
    VALUE,
    activation,
    bias,
    check,
    check_for_target,
    constant,
    constant_or_unpacked,
    float_bias_like_weights,
    integers,
    operand,
    operands,
    padding,
    padding_mode,
    positive,
    shaped,
    typed,
    vector,
    weights,
    where_given,
)

_WEIGHTS = operand(1, "weights")
_BIAS = operand(2, "bias")
_HEIGHT, _WIDTH, _CHANNELS = 1, 2, 3

_FLOAT = FLOAT32.or_float16_from(FLOAT16_LAYERS)
_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_LAYERS)


def _convolution(dimension: int, words: str) -> tuple[Check, ...]:
    """What CONV_2D and DEPTHWISE_CONV_2D have in common; weights have channels along this dimension."""
    return (
        operands(3),
        *typed(INPUT, _FLOAT_OR_8_BITS),
        *shaped(INPUT, 4),
        *weights(1, lambda _: dimension, words),
        *shaped(_WEIGHTS, 4),
        constant_or_unpacked(_WEIGHTS),
        check(OPTIONAL_OPERAND, "a bias", lambda node: "no bias" if node.node.inputs[2] < 0 else None),
        *bias(2),
        *shaped(_BIAS, 1),
        constant_or_unpacked(_BIAS),
        *float_bias_like_weights(1, 2),
        *typed(OUTPUT, _FLOAT_OR_8_BITS),
        *shaped(OUTPUT, 4),
    )


def _mixed_types(node: NodeView, target: Target) -> str | None:
    source, of_weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    is_dynamic = target.dynamic_quantization and (source, of_weights) == ("FLOAT32", "INT8")
    if source == output and (source == of_weights or is_dynamic):
        return None
    return f"{source} input, {of_weights} weights and {output} output"


def _mixed_types_depthwise(node: NodeView) -> str | None:
    source, of_weights, output = node.input(0).type, node.input(1).type, node.output(0).type
    return None if source == of_weights == output else f"{source} input, {of_weights} weights and {output} output"


def _no_groups(node: NodeView) -> str | None:
    channels, taken = node.input(0).shape[_CHANNELS], node.input(1).shape[_CHANNELS]
    return f"{channels} input channels, weights for {taken}" if channels < taken else None


def _channels_not_multiplied(node: NodeView) -> str | None:
    channels, multiplier = node.input(1).shape[_CHANNELS], node.options.depth_multiplier
    return f"{channels} output channels and depth_multiplier {multiplier}" if channels % multiplier else None


_STRIDES = positive("stride_w", "stride_h")
_DILATIONS = positive("dilation_w_factor", "dilation_h_factor")

_CONV_2D = (
    _STRIDES,
    _DILATIONS,
    *_convolution(0, "dimension 0"),
    check_for_target(HYBRID, "input, weights and output of one type, or INT8 weights with FLOAT32 activations", _mixed_types),
    check(SHAPE, "at least as many input channels as the weights take", _no_groups),
    padding(),
    activation(),
)
_DEPTHWISE_CONV_2D = (
    *_convolution(3, "dimension 3"),
    check(HYBRID, "input, weights and output of one type", _mixed_types_depthwise),
    _STRIDES,
    positive("depth_multiplier"),
    check(SHAPE, "output channels that depth_multiplier divides", _channels_not_multiplied),
    _DILATIONS,
    padding(),
    activation(),
)

_OUTPUT_SHAPE = operand(0, "output shape")
_TRANSPOSE_CONV_INPUT = operand(2, "input")
_TRANSPOSE_CONV_BIAS = operand(3, "bias")


def _not_four_sizes(node: NodeView) -> str | None:
    (count,) = node.input(0).shape
    return None if count == 4 else f"output shape of {count} sizes"


def _output_size(node: NodeView, dimension: int) -> int:
    value = node.value(node.input(0))
    return int(value[dimension]) if value is not None and dimension < len(value) else 0


def _other_output_channels(node: NodeView) -> str | None:
    of_weights, channels = node.input(1).shape[0], _output_size(node, _CHANNELS)
    return None if of_weights == channels else f"weights for {of_weights} output channels, output shape with {channels}"


def _other_input_channels(node: NodeView) -> str | None:
    of_weights, channels = node.input(1).shape[_CHANNELS], node.input(2).shape[_CHANNELS]
    return None if of_weights == channels else f"weights for {of_weights} input channels, input with {channels}"


def _unusable_transpose_paddings(node: NodeView) -> str | None:
    """``CalculateTransposeConvPaddings`` of TRANSPOSE_CONV."""
    strides = node.options.stride_h, node.options.stride_w
    output = _output_size(node, _HEIGHT), _output_size(node, _WIDTH)
    return transpose_padding_problem(padding_mode(node), node.input(2).shape, node.input(1).shape, output, strides)


def transpose_padding_problem(
    mode: str | None, source: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, int], strides: tuple[int, int]
) -> str | None:
    """Say why a transposed convolution cannot be padded this way (``CalculateTransposeConvPaddings``), without dilation."""
    if mode is None:
        return "no padding mode"
    for size, axis, result, stride in zip(("height", "width"), (_HEIGHT, _WIDTH), output, strides, strict=True):
        if mode == "VALID" and kernel[axis] > result:
            return f"padding VALID and kernel {size} {kernel[axis]} over the output's {result}"
        if mode == "SAME" and source[axis] != _size_before_same_padding(result, stride):
            return f"padding SAME, output {size} {result}, stride {stride} and input {size} {source[axis]}"
    for size, axis, stride in zip(("height", "width"), (_HEIGHT, _WIDTH), strides, strict=True):
        if mode == "SAME" and kernel[axis] < stride:
            return f"padding SAME and kernel {size} {kernel[axis]} below stride {stride}"
    return None


def _size_before_same_padding(output: int, stride: int) -> int:
    """``ComputeOutSize`` of the convolution that is turned round."""
    return (output + stride - 1) // stride if stride else 0


TRANSPOSE_PADDING_NEEDS = "padding SAME or VALID by which the sizes of input, output, kernel and strides fit"

_TRANSPOSE_CONV = (
    operands(3, 1, most=4),
    integers(_OUTPUT_SHAPE, "INT32"),
    vector(_OUTPUT_SHAPE),
    constant(_OUTPUT_SHAPE),
    check(SHAPE, "output shape of 4 sizes", _not_four_sizes),
    *shaped(_WEIGHTS, 4),
    constant_or_unpacked(_WEIGHTS),
    *typed(_TRANSPOSE_CONV_INPUT, FLOAT32_OR_8_BITS),
    *shaped(_TRANSPOSE_CONV_INPUT, 4),
    *weights(1, lambda _: 0, "dimension 0"),
    *where_given(3, *bias(3), *shaped(_TRANSPOSE_CONV_BIAS, 1), constant_or_unpacked(_TRANSPOSE_CONV_BIAS)),
    *typed(OUTPUT, FLOAT32_OR_8_BITS),
    *shaped(OUTPUT, 4),
    check(VALUE, "output shape with the channels of the weights", _other_output_channels),
    check(SHAPE, "input with the channels of the weights", _other_input_channels),
    check(ATTRIBUTE, TRANSPOSE_PADDING_NEEDS, _unusable_transpose_paddings),
    activation(),
)


def _strides_over_filter(node: NodeView) -> str | None:
    options = node.options
    if options.stride_w <= options.filter_width and options.stride_h <= options.filter_height:
        return None
    return f"strides {options.stride_h}x{options.stride_w} over filter {options.filter_height}x{options.filter_width}"


_POOLING = (
    positive("stride_w", "stride_h"),
    positive("filter_width", "filter_height"),
    check(ATTRIBUTE, "strides no larger than the filter", _strides_over_filter),
    padding(),
    activation(),
)

RULES = {
    "CONV_2D": OpRule(_CONV_2D),
    "DEPTHWISE_CONV_2D": OpRule(_DEPTHWISE_CONV_2D),
    "TRANSPOSE_CONV": OpRule(_TRANSPOSE_CONV),
    "AVERAGE_POOL_2D": OpRule((operands(1), *typed(INPUT, _FLOAT), *typed(OUTPUT, _FLOAT), *_POOLING)),
    "MAX_POOL_2D": OpRule((operands(1), *typed(INPUT, FLOAT32_OR_8_BITS), *typed(OUTPUT, _FLOAT_OR_8_BITS), *_POOLING)),
}
