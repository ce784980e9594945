"""Convolutions, pooling, resizing and custom operators.

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).

Source: ``VisitConv2DNode``, ``VisitDepthwiseConv2DNode``, ``VisitTransposeConvNode``, ``VisitAveragePool2DNode``,
``VisitMaxPool2DNode``, ``VisitResizeBilinearNode``, ``VisitMediaPipeDeconvolutionNode``, ``VisitMediaPipeMaxPoolingNode`` and
``VisitMediaPipeUnpoolingNode`` (``delegates/xnnpack/xnnpack_delegate.cc``).
"""

from __future__ import annotations

import struct

from ....graph.graph import NodeView
from ....rules.kinds import ACTIVATION, ATTRIBUTE, HYBRID, OPERAND_VALUE, OPTIONAL_OPERAND, SHAPE
from ....rules.operands import OUTPUT, between, operand, result
from ....rules.rule import Check
from ....rules.vocabulary import check, check_for_target, refused_if, where_given
from ..experts import MIXTURE
from ..target import Visit
from .calls import ATTENTION, ATTENTION_RULE
from .checks import (
    BIAS,
    BOUNDING_ACTIVATION,
    FLOAT32,
    FLOAT32_OR_8_BITS,
    FLOAT_BIAS_LIKE_WEIGHTS,
    FLOAT_LAYERS,
    FLOAT_OR_8_BITS_LAYERS,
    INPUT,
    PADDING,
    RELU_TO_RELU6,
    WEIGHTS,
    has_type,
    in_method,
    method,
    of_type,
    of_types,
    operands,
    padding_mode,
    positive,
    quantized_bias,
    quantized_weights,
    shaped,
    stored,
    stored_or_unpacked,
    vector,
    xnnpack_rule,
)

_HEIGHT, _WIDTH, _CHANNELS = 1, 2, 3


def _convolution(dimension: int) -> tuple[Check[Visit], ...]:
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
    for size, axis, resulting, stride in zip(("height", "width"), (_HEIGHT, _WIDTH), output, strides, strict=True):
        if mode == "VALID" and kernel[axis] > resulting:
            return f"padding VALID and kernel {size} {kernel[axis]}, larger than the output {size} {resulting}"
        if mode == "SAME" and source[axis] != _size_before_same_padding(resulting, stride):
            return f"padding SAME, output {size} {resulting}, stride {stride} and input {size} {source[axis]}"
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


def _strides_over_filter(node: NodeView) -> str | None:
    options = node.options
    if options.stride_w <= options.filter_width and options.stride_h <= options.filter_height:
        return None
    return f"strides {options.stride_h}x{options.stride_w} and filter {options.filter_height}x{options.filter_width}"


_POOLING = (
    positive("CheckPoolingParams", "stride_w", "stride_h"),
    positive("CheckPoolingParams", "filter_width", "filter_height"),
    check(ATTRIBUTE, "strides no larger than the filter", _strides_over_filter).from_source(method("CheckPoolingParams")),
    PADDING,
    BOUNDING_ACTIVATION,
)


def _empty_first_size(node: NodeView) -> str | None:
    value = node.value(node.input(1))
    return f"new height {value[0]}" if value is not None and len(value) and value[0] <= 0 else None


_NEW_SIZE = operand(1, "new size")

_PADDING_MODES = {1: "SAME", 2: "VALID"}
"""The names of the padding modes, by their numbers in ``TfLitePadding``."""
_PARAMETERS = struct.Struct("<6i")
"""Layout of ``TfLitePoolParams``: padding, stride width and height, filter width and height, activation.

``TfLiteTransposeConvParams`` also starts with padding, stride width and stride height.
"""


def _parameters(node: NodeView) -> tuple[int, ...]:
    offset, size = node.node.custom_options or (0, 0)
    content = bytes(node.graph.model.content[offset : offset + min(size, _PARAMETERS.size)])
    return _PARAMETERS.unpack(content.ljust(_PARAMETERS.size, b"\0"))


def _empty_strides(node: NodeView) -> str | None:
    _, width, height, *_ = _parameters(node)
    return f"strides {height}x{width}" if width <= 0 or height <= 0 else None


_STRIDES = check(ATTRIBUTE, "strides of at least 1x1", _empty_strides)


def _custom_unusable_transpose_paddings(node: NodeView) -> str | None:
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


def _same_padding(node: NodeView) -> str | None:
    mode, *_ = _parameters(node)
    return f"padding {_PADDING_MODES[mode]}" if _PADDING_MODES.get(mode) == "SAME" else None


_CUSTOM_POOLING = (
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
        *in_method(
            "CalculateTransposeConvPaddings", check(ATTRIBUTE, TRANSPOSE_PADDING_NEEDS, _custom_unusable_transpose_paddings)
        ),
    ),
    "MaxPoolingWithArgmax2D": xnnpack_rule(
        "VisitMediaPipeMaxPoolingNode",
        operands(1, 2),
        *of_type(INPUT, FLOAT32),
        *shaped(INPUT, 4),
        *of_type(OUTPUT, FLOAT32),
        *shaped(OUTPUT, 4),
        *shaped(_INDICES_OUT, 4),
        *_CUSTOM_POOLING,
    ),
    "MaxUnpooling2D": xnnpack_rule(
        "VisitMediaPipeUnpoolingNode",
        operands(2),
        *of_type(INPUT, FLOAT32),
        *shaped(INPUT, 4),
        *shaped(_INDICES_IN, 4),
        *of_type(OUTPUT, FLOAT32),
        *shaped(OUTPUT, 4),
        *_CUSTOM_POOLING,
        # This check was measured; in the source, the kernel fails instead.
        check(ATTRIBUTE, "padding VALID", _same_padding).from_release("litert-2.3.0"),
    ),
    "moe": MIXTURE,
    ATTENTION: ATTENTION_RULE,
}
"""Custom operators, by name."""

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
        has_type(_OUTPUT_SHAPE, "INT32"),
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
    "AVERAGE_POOL_2D": xnnpack_rule(
        "VisitAveragePool2DNode", operands(1), *of_types(INPUT, FLOAT_LAYERS), *of_types(OUTPUT, FLOAT_LAYERS), *_POOLING
    ),
    "MAX_POOL_2D": xnnpack_rule(
        "VisitMaxPool2DNode",
        operands(1),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *_POOLING,
    ),
    "RESIZE_BILINEAR": xnnpack_rule(
        "VisitResizeBilinearNode",
        operands(2),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *shaped(INPUT, 4),
        has_type(_NEW_SIZE, "INT32"),
        vector(_NEW_SIZE),
        stored(_NEW_SIZE),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        *shaped(OUTPUT, 4),
        check(OPERAND_VALUE, "a new height of at least 1", _empty_first_size),
    ),
}
