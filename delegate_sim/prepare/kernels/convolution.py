"""Prepare functions of convolutions and transposed convolutions, in two and three dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.numbers import FlatNumbers, RepeatedNumber, distinct, fact_of
from ..kernel import KernelNode, kernel
from ..operands import (
    INT16_MAX,
    INT32_MAX,
    UINT16_MAX,
    check_convolution_quantization,
    check_int16,
    check_quantized_bias_type,
    check_symmetric,
    checked_output_sizes,
    ensure_int32,
    ensure_positive,
    ensure_steps,
    output_size,
    padding_of,
    unchecked_output_size,
    weights_quantization,
)
from ..tensors import KernelTensor, affine_quantization

_CONVOLVED_TYPES = ("FLOAT32", "UINT8", "INT8", "INT16")


@kernel("CONV_2D", changed_in=("litert-1.4.0", "litert-2.1.4", "litert-2.1.5", "litert-2.2.0", "litert-2.3.0"))
def prepare_conv_2d(node: KernelNode) -> None:
    """``kernels/conv.cc: Prepare``."""
    node.ensure_counts((2, 3), 1)
    result, source, weights = node.output(), node.input(0), node.input(1)
    node.ensure_rank(source, 4)
    node.ensure_rank(weights, 4)
    _, height, width, input_channels = source.shape
    output_channels, window_height, window_width, window_channels = weights.shape
    if node.since("litert-2.2.0"):
        ensure_positive(node, source.shape[1:], "the input is empty")
        ensure_positive(node, weights.shape, "the weights are empty")
    node.ensure(window_channels > 0, "the weights are empty")
    node.ensure(
        input_channels % window_channels == 0,
        "the number of input channels is not a multiple of the input channels of the weights",
    )
    if node.since("litert-2.2.0"):
        groups = input_channels // window_channels
        node.ensure(output_channels % groups == 0, "the output channels cannot be divided evenly into groups")
    _check_conv_2d_types(node, source, weights, result)

    options = node.options
    strides = (options.stride_h, options.stride_w)
    dilations = (options.dilation_h_factor, options.dilation_w_factor)
    if node.since("litert-1.4.0"):
        ensure_steps(node, *strides, *dilations, largest=INT16_MAX if node.since("litert-2.3.0") else INT32_MAX)
    node.ensure(node.input_count == 3, "there is no bias")
    bias = node.input(2)
    _check_conv_2d_bias(node, source, weights, bias)
    if source.type == "INT16":
        check_symmetric(node, source, result)
        check_quantized_bias_type(node, bias)

    sizes = checked_output_sizes(node, (height, width), (window_height, window_width), strides, dilations)
    _check_conv_2d_buffers(node, source, weights, sizes, (*strides, *dilations))
    if source.type != "FLOAT32":
        check_convolution_quantization(node, source, weights, bias, result, output_channels)
    node.resize(result, (source.shape[0], *sizes, output_channels))


def _check_conv_2d_types(node: KernelNode, source: KernelTensor, weights: KernelTensor, result: KernelTensor) -> None:
    node.ensure_type(source, _CONVOLVED_TYPES)
    node.ensure(result.type == source.type, "input and output have different types")
    if source.type in ("INT8", "INT16"):
        node.ensure(not weights_quantization(node, weights).zero_points.any(), "a zero point of the weights is not 0")


def _check_conv_2d_bias(node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor) -> None:
    if source.type == "FLOAT32":
        node.ensure_type(bias, "FLOAT32")
    else:
        node.ensure_type(bias, ("INT32", "INT64") if source.type == "INT16" else "INT32")
        check_symmetric(node, bias)
    node.ensure(bias.element_count == weights.shape[0], "the bias does not have one element for each output channel")


def _check_conv_2d_buffers(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, sizes: Sequence[int], steps: Sequence[int]
) -> None:
    """Refuse the node if the size of a scratch tensor overflows.

    The sizes are those of a runtime with one thread (the default) and without the memory limits of mobile platforms.
    """
    batches, height, width, input_channels = source.shape
    output_channels, window_height, window_width, window_channels = weights.shape
    if node.since("litert-2.2.0"):
        ensure_int32(node, *sizes)
    if max(*steps, window_height, window_width) > 1 and node.since("litert-2.1.4"):
        ensure_int32(node, batches, *sizes, window_height, window_width, window_channels)
    if source.type == "FLOAT32" and weights.type in ("UINT8", "INT8", "INT4"):
        groups = input_channels // window_channels
        if node.since("litert-2.1.5"):
            ensure_int32(node, batches, height, width, groups)
            ensure_int32(node, batches, *sizes, output_channels)
        _check_hybrid_scales(node, weights, is_grouped=groups > 1)


def _check_hybrid_scales(node: KernelNode, weights: KernelTensor, is_grouped: bool) -> None:
    """Check the scales of a hybrid convolution.

    If a convolution is grouped or its scales differ from each other, it needs one scale for each output channel. In releases
    before LiteRT 2.3, it needs one scale for each slice of the weights, and only if its scales differ from each other.
    """
    quantization = affine_quantization(weights)
    is_signed = weights.type != "UINT8"
    if not node.since("litert-2.3.0"):
        if quantization is not None and is_signed and _have_different(quantization.scales):
            slices = weights.shape[quantization.dimension]
            node.ensure(len(quantization.scales) == slices, "the weights do not have one scale for each slice")
        return
    node.ensure(is_signed or not is_grouped, "a hybrid grouped convolution needs signed weights")
    if quantization is None:
        node.ensure(not is_grouped, "the weights have no affine quantization")
    elif is_grouped or (is_signed and _have_different(quantization.scales)):
        node.ensure(quantization.dimension == 0, "the scales are not along the output channels")
        node.ensure(len(quantization.scales) == weights.shape[0], "the weights do not have one scale for each output channel")


def _have_different(scales: FlatNumbers) -> bool:
    return fact_of(scales, _differ)


def _differ(scales: FlatNumbers) -> bool:
    numbers = distinct(scales)
    return any(number != numbers[0] for number in numbers)


@kernel("DEPTHWISE_CONV_2D", changed_in=("litert-1.4.0", "litert-2.1.5", "litert-2.2.0", "litert-2.3.0"))
def prepare_depthwise_conv_2d(node: KernelNode) -> None:
    """``kernels/depthwise_conv.cc: Prepare``."""
    node.ensure_counts((2, 3), 1)
    source, weights, result = node.input(0), node.input(1), node.output()
    node.ensure_rank(source, 4)
    node.ensure_rank(weights, 4)
    options = node.options
    strides = (options.stride_h, options.stride_w)
    dilations = (options.dilation_h_factor, options.dilation_w_factor)
    checks_sizes = node.since("litert-2.2.0")
    ensure_steps(node, *dilations, largest=INT16_MAX if checks_sizes else INT32_MAX)
    if node.since("litert-1.4.0"):
        ensure_steps(node, *strides, largest=INT16_MAX if checks_sizes else UINT16_MAX)
    if checks_sizes:
        ensure_positive(node, source.shape[1:], "the input is empty")
        ensure_positive(node, weights.shape[1:], "the weights are empty")
    is_hybrid = source.type == "FLOAT32" and weights.type == "INT8"
    _check_depthwise_types(node, source, weights, result, is_hybrid)

    batches, height, width, input_channels = source.shape
    _, window_height, window_width, output_channels = weights.shape
    node.ensure(weights.shape[0] == 1, "the first dimension of the weights is not 1")
    if checks_sizes:
        node.ensure(output_channels % input_channels == 0, "the output channels are not a multiple of the input channels")
    if node.since("litert-2.3.0"):
        node.ensure(output_channels // input_channels <= INT16_MAX, "the depth multiplier is out of range")
    bias = node.input(2) if node.input_count == 3 else None
    if bias is not None:
        _check_depthwise_bias(node, source, bias, output_channels)

    sizes = checked_output_sizes(node, (height, width), (window_height, window_width), strides, dilations)
    if source.type != "FLOAT32":
        check_convolution_quantization(node, source, weights, bias, result, output_channels)
    if is_hybrid:
        quantization = weights_quantization(node, weights)
        slices = weights.shape[quantization.dimension]
        node.ensure(len(quantization.scales) == slices, "the weights do not have one scale for each slice")
        if node.since("litert-2.1.5"):
            ensure_int32(node, *source.shape)
    node.resize(result, (batches, *sizes, output_channels))


def _check_depthwise_types(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, result: KernelTensor, is_hybrid: bool
) -> None:
    node.ensure_type(source, _CONVOLVED_TYPES)
    node.ensure(result.type == source.type, "input and output have different types")
    node.ensure(
        is_hybrid or source.type in (weights.type, "INT16") or weights.type == "INT4",
        "the type of the weights does not fit the type of the input",
    )
    if weights.type == "INT4" and node.since("litert-2.1.5"):
        ensure_int32(node, *weights.shape)
    check_int16(node, source, result)


def _check_depthwise_bias(node: KernelNode, source: KernelTensor, bias: KernelTensor, output_channels: int) -> None:
    if source.type == "FLOAT32":
        node.ensure_type(bias, "FLOAT32")
    else:
        node.ensure_type(bias, "INT64" if source.type == "INT16" else "INT32")
        check_symmetric(node, bias)
    node.ensure_shape(bias, (output_channels,))


@kernel("TRANSPOSE_CONV", changed_in=("tf-2.17", "litert-2.1.5", "litert-2.2.0", "litert-2.3.0"))
def prepare_transpose_conv(node: KernelNode) -> None:
    """``kernels/transpose_conv.cc: Prepare``."""
    node.ensure_counts((3, 4), 1)
    output_shape, weights, source, result = node.input(0), node.input(1), node.input(2), node.output()
    node.ensure_shape(output_shape, (4,))
    node.ensure_rank(source, 4)
    node.ensure_rank(weights, 4)
    strides = (node.options.stride_h, node.options.stride_w)
    if node.since("litert-2.2.0"):
        ensure_steps(node, *strides)
        ensure_positive(node, source.shape[1:], "the input is empty")
        ensure_positive(node, weights.shape[:3], "the weights are empty")
    bias = node.optional_input(3)
    _check_transpose_conv_types(node, source, weights, bias, result)
    if bias is not None:
        node.ensure(bias.element_count == weights.shape[0], "the bias does not have one element for each output channel")
    node.ensure(source.shape[3] == weights.shape[3], "input and weights have different numbers of channels")

    # This kernel makes its result dynamic even if Prepare computed the output shape.
    if not output_shape.is_constant:
        node.set_dynamic(result, output_shape)
    else:
        node.ensure_type(output_shape, "INT32")
        shape = output_shape.integers()
        node.resize(result, shape)
        if node.since("litert-2.3.0"):
            ensure_positive(node, shape[1:3], "the output is empty")
            sizes = checked_output_sizes(node, shape[1:3], weights.shape[1:3], strides, (1, 1))
            node.ensure(tuple(sizes) == source.shape[1:3], "the output shape does not match the shape of the input")
        if node.since("litert-2.1.5"):
            ensure_int32(node, *source.shape[1:3])
            ensure_int32(node, *weights.shape[:3])
    if source.type != "FLOAT32":
        check_convolution_quantization(node, source, weights, bias, result, weights.shape[0])
    elif weights.type == "INT8":
        _check_transpose_conv_hybrid(node, source, weights)


def _check_transpose_conv_types(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor | None, result: KernelTensor
) -> None:
    node.ensure_type(source, _CONVOLVED_TYPES)
    weight_types = {"FLOAT32": ("FLOAT32", "INT8"), "UINT8": ("UINT8",), "INT8": ("INT8",), "INT16": ("INT8",)}
    bias_types = {"FLOAT32": ("FLOAT32",), "UINT8": ("INT32",), "INT8": ("INT32",), "INT16": ("INT64", "INT32")}
    if not node.since("tf-2.17"):
        weight_types["FLOAT32"] = ("FLOAT32",)
        node.ensure_type(weights, weight_types[source.type])
    elif source.type == "INT16" or node.since("litert-2.2.0"):
        node.ensure_type(weights, weight_types[source.type])
    if bias is not None:
        node.ensure_type(bias, bias_types[source.type])
        if source.type in ("INT8", "INT16"):
            check_symmetric(node, bias)
    if source.type == "INT16":
        check_symmetric(node, source, result)
        check_quantized_bias_type(node, bias)
    node.ensure(result.type == source.type, "input and output have different types")


def _check_transpose_conv_hybrid(node: KernelNode, source: KernelTensor, weights: KernelTensor) -> None:
    if node.since("litert-2.1.5"):
        ensure_int32(node, *source.shape)
    quantization = weights_quantization(node, weights)
    slices = weights.shape[quantization.dimension]
    node.ensure(len(quantization.scales) in (1, slices), "the weights do not have one scale for each slice")
    if len(quantization.scales) != slices:
        # The kernel repeats a single scale, so delegates see one scale for each slice.
        scales = RepeatedNumber("<f4", quantization.scale, max(slices, 0))
        weights.source = weights.source._replace(quantization=quantization._replace(scales=scales))


@kernel("CONV_3D", changed_in=("litert-2.1.5", "litert-2.2.0", "litert-2.3.0"))
def prepare_conv_3d(node: KernelNode) -> None:
    """``kernels/conv3d.cc: Prepare``."""
    node.ensure_counts((2, 3), 1)
    result, source, weights = node.output(), node.input(0), node.input(1)
    node.ensure_rank(source, 5)
    node.ensure_rank(weights, 5)
    node.ensure(source.shape[4] == weights.shape[3], "input and weights have different numbers of channels")
    checks_sizes = node.since("litert-2.2.0")
    if checks_sizes:
        ensure_positive(node, source.shape[1:], "the input is empty")
        ensure_positive(node, weights.shape, "the weights are empty")
    for tensor in (source, weights, result):
        node.ensure_type(tensor, "FLOAT32")
    output_channels = weights.shape[4]
    _check_conv_3d_bias(node, node.optional_input(2), output_channels)

    if checks_sizes:
        _ensure_steps_3d(node)
    sizes = _output_sizes_3d(node, source.shape[1:4], weights.shape[:3])
    if checks_sizes:
        ensure_int32(node, *sizes)
    node.resize(result, (source.shape[0], *sizes, output_channels))
    strides, dilations = _steps_3d(node)
    if max(*strides, *dilations, *weights.shape[:3]) > 1 and node.since("litert-2.1.5"):
        ensure_int32(node, source.shape[0], *sizes, *weights.shape[:4])


def _steps_3d(node: KernelNode) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    options = node.options
    return (
        (options.stride_d, options.stride_h, options.stride_w),
        (options.dilation_d_factor, options.dilation_h_factor, options.dilation_w_factor),
    )


def _ensure_steps_3d(node: KernelNode) -> None:
    strides, dilations = _steps_3d(node)
    ensure_positive(node, strides, "a stride is not positive")
    ensure_positive(node, dilations, "a dilation is not positive")


def _output_sizes_3d(node: KernelNode, sizes: Sequence[int], windows: Sequence[int]) -> list[int]:
    """Return the output depth, height and width. Refuse the node if the window does not fit.

    LiteRT 2.2 instead returns 0 for a size if the window does not fit. Earlier releases do not check the sizes. A size may then
    be negative.

    Upstream: ``kernels/padding.h: ComputePadding3DValues``.
    """
    padding = padding_of(node)
    strides, dilations = _steps_3d(node)
    count = output_size if node.since("litert-2.2.0") else unchecked_output_size
    counts = [count(padding, *along) for along in zip(sizes, windows, strides, dilations, strict=True)]
    if node.since("litert-2.3.0"):
        node.ensure(None not in counts, "the window does not fit into the input")
    return [size or 0 for size in counts]


def _check_conv_3d_bias(node: KernelNode, bias: KernelTensor | None, output_channels: int) -> None:
    if bias is not None:
        node.ensure_type(bias, "FLOAT32")
        node.ensure(bias.element_count == output_channels, "the bias does not have one element for each output channel")


@kernel("CONV_3D_TRANSPOSE", changed_in=("litert-2.1.5", "litert-2.2.0", "litert-2.3.0"))
def prepare_conv_3d_transpose(node: KernelNode) -> None:
    """``kernels/conv3d_transpose.cc: Prepare``."""
    node.ensure_counts((3, 4), 1)
    result, output_shape, weights, source = node.output(), node.input(0), node.input(1), node.input(2)
    node.ensure_shape(output_shape, (5,))
    node.ensure_rank(source, 5)
    node.ensure_rank(weights, 5)
    node.ensure(source.shape[4] == weights.shape[4], "input and weights have different numbers of channels")
    if node.since("litert-2.3.0"):
        ensure_positive(node, source.shape[1:], "the input is empty")
        ensure_positive(node, weights.shape, "the weights are empty")
        _ensure_steps_3d(node)
    for tensor in (source, weights, result):
        node.ensure_type(tensor, "FLOAT32")
    node.ensure_type(output_shape, "INT32")
    _check_conv_3d_bias(node, node.optional_input(3), weights.shape[3])
    if node.made_dynamic(result, output_shape):
        return

    shape = output_shape.integers()
    if node.since("litert-2.1.5"):
        node.ensure(min(shape) >= 0, "the output shape has a negative size")
    node.ensure(shape[0] == source.shape[0], "input and output shape have different batch sizes")
    is_multiple = shape[4] == weights.shape[3] if node.since("litert-2.2.0") else shape[4] % weights.shape[3] == 0
    node.ensure(is_multiple, "weights and output shape have different numbers of channels")
    expected = _output_sizes_3d(node, shape[1:4], weights.shape[:3])
    node.ensure(tuple(expected) == source.shape[1:4], "the output shape does not match the shape of the input")
    node.resize(result, shape)
    if max(_steps_3d(node)[1]) <= 1 and node.since("litert-2.1.5"):
        ensure_int32(node, *source.shape[1:4])
        ensure_int32(node, *weights.shape[:4])
