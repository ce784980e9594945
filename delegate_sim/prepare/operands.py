"""Helpers that read the values of operands during Prepare."""

from __future__ import annotations

from collections.abc import Sequence

from ..foundation.limits import element_count
from ..graph.graph import ACTIVATION_BOUNDS, fused_activation
from ..model import schema
from ..model.model import Quantization
from .kernel import KernelNode
from .tensors import KernelTensor, affine_quantization

HALF_TYPES_LATER = {"litert-1.3.0": ("FLOAT16", "BFLOAT16")}
"""The types that several kernels accept since a release, by the name of that release (see ``KernelNode.ensure_type``)."""


INT16_MAX = 2**15 - 1
UINT16_MAX = 2**16 - 1
INT32_MAX = 2**31 - 1
_UNKNOWN_PADDING = "UNKNOWN"


def padding_of(node: KernelNode) -> str:
    """Return the padding mode of a node (``ConvertPadding``), or UNKNOWN if the node has no options."""
    if node.options.table is None:
        return _UNKNOWN_PADDING
    return schema.enum_names("Padding").get(node.options.padding, _UNKNOWN_PADDING)


def output_size(padding: str, size: int, window: int, stride: int, dilation: int = 1) -> int | None:
    """Return the number of windows that fit along one dimension, or None if the kernel refuses the sizes.

    Upstream: ``kernels/padding.h: ComputeOutSizeChecked``.
    """
    if size < 0 or window <= 0 or stride <= 0 or dilation <= 0 or padding not in ("SAME", "VALID"):
        return None
    count = unchecked_output_size(padding, size, window, stride, dilation)
    return count if count >= 0 else None


def unchecked_output_size(padding: str, size: int, window: int, stride: int, dilation: int = 1) -> int:
    """Return the number of windows along one dimension without any check. The number may be negative.

    Releases before LiteRT 2.2 compute the number in this way. Upstream: ``kernels/padding.h: ComputeOutSize``.
    """
    if stride == 0 or padding not in ("SAME", "VALID"):
        return 0
    reach = size + stride - (1 if padding == "SAME" else dilated(window, dilation))
    count = abs(reach) // abs(stride)  # The division in the kernels rounds toward 0.
    return count if (reach < 0) == (stride < 0) else -count


def dilated(window: int, dilation: int) -> int:
    """Return the size of a window with dilation (``kernels/padding.h: ComputeEffectiveFilterSize``)."""
    return (window - 1) * dilation + 1


def checked_output_sizes(
    node: KernelNode, sizes: Sequence[int], windows: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """Return the number of windows along height and width. Refuse the node if the window does not fit.

    Releases before LiteRT 2.2 do not check the sizes. A number of windows may then be negative.

    Upstream: ``kernels/padding.h: ComputePaddingHeightWidthChecked``.
    """
    padding = padding_of(node)
    if not node.since("litert-2.2.0"):
        return [unchecked_output_size(padding, *along) for along in zip(sizes, windows, strides, dilations, strict=True)]
    counts = []
    for size, window, stride, dilation in zip(sizes, windows, strides, dilations, strict=True):
        count = output_size(padding, size, window, stride, dilation)
        if count is None:
            node.fail("the window does not fit into the input")
        total_padding = max(0, (count - 1) * stride + dilated(window, dilation) - size)
        ensure_int32(node, total_padding // 2)
        counts.append(count)
    return counts


def ensure_int32(node: KernelNode, *factors: int) -> None:
    """Refuse the node if the product of the factors overflows the kernel's 32-bit arithmetic."""
    node.ensure(element_count(factors) <= INT32_MAX, "a size exceeds the range of int32")


def ensure_positive(node: KernelNode, sizes: Sequence[int], what: str) -> None:
    """Refuse the node with the message ``what`` if one of the sizes is 0 or negative."""
    node.ensure(min(sizes) > 0, what)


def ensure_steps(node: KernelNode, *steps: int, largest: int = INT16_MAX) -> None:
    """Check that all strides and dilations are positive and at most ``largest``."""
    node.ensure(min(steps) > 0 and max(steps) <= largest, "a stride or dilation is out of range")


_QUANTIZED_TYPES = ("UINT8", "INT8", "INT16")

_GREATEST_QUANTIZED_BOUND = 2.0**31 + 128.0
"""Largest quotient of bound and scale that fits into int32. Kernels round the quotient to float32."""

_GREATEST_BIAS_SCALE_ERROR = 0.02

HYBRID_WEIGHT_TYPES = ("UINT8", "INT8", "INT4", "INT2")


def weights_quantization(node: KernelNode, weights: KernelTensor) -> Quantization:
    """Return the affine quantization parameters of the weights. Refuse the node if there are none."""
    quantization = affine_quantization(weights)
    if quantization is None:
        node.fail("the weights have no affine quantization")
    return quantization


def check_same_quantization(node: KernelNode, source: KernelTensor, result: KernelTensor) -> None:
    """Check that input and output have the same scale and the same zero point."""
    node.ensure(source.scale == result.scale, "input and output have different scales")
    node.ensure(source.zero_point == result.zero_point, "input and output have different zero points")


def check_activation_range(node: KernelNode, result: KernelTensor) -> None:
    """Check that the result can represent the bounds of the fused activation (``CalculateActivationRangeQuantized``)."""
    node.ensure_type(result, _QUANTIZED_TYPES)
    for bound in ACTIVATION_BOUNDS.get(fused_activation(node), ()):
        node.ensure(
            result.scale != 0 and abs(bound / result.scale) <= _GREATEST_QUANTIZED_BOUND,
            "the output scale is missing, or too small for the bounds of the fused activation",
        )


def check_product_scale(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor | None, result: KernelTensor
) -> None:
    """Check that the bias scale is close to input scale times weight scale (``GetQuantizedConvolutionMultipler``)."""
    product_scale = source.scale * weights.scale
    if bias is not None:
        node.ensure(
            result.scale != 0 and abs(product_scale - bias.scale) / result.scale <= _GREATEST_BIAS_SCALE_ERROR,
            "the bias scale is not the product of the input scale and the weight scale",
        )
    node.ensure(product_scale >= 0, "the product of the input scale and the weight scale is negative")


def check_convolution_quantization(
    node: KernelNode, source: KernelTensor, weights: KernelTensor, bias: KernelTensor | None, result: KernelTensor, channels: int
) -> None:
    """Check the quantization of a convolution (``PopulateConvolutionQuantizationParams``).

    Also check the number of scales, as upstream does before the call.
    """
    quantization = weights_quantization(node, weights)
    scale_count = len(quantization.scales)
    node.ensure(scale_count in (1, channels), "the weights do not have one scale for each output channel")
    node.ensure(affine_quantization(source) is not None, "the input has no affine quantization")
    if scale_count > 1:
        node.ensure_type(source, ("INT8", "INT16"))
        node.ensure_type(weights, ("INT8", "INT4"))
        node.ensure(weights.shape[quantization.dimension] == channels, "the scales are not along the output channels")
    if source.type == "UINT8":
        check_product_scale(node, source, weights, bias, result)
    check_activation_range(node, result)


def check_quantized_bias_type(node: KernelNode, bias: KernelTensor | None) -> None:
    """Check that the bias of an INT16 kernel has the type in the option ``quantized_bias_type``.

    If the option is FLOAT32, the bias may have any type.
    """
    if node.options.table is None:
        node.fail("there are no options with the type of the bias")
    kind = schema.tensor_type_name(node.options.quantized_bias_type)
    if kind == "FLOAT32":
        return
    node.ensure(kind in ("INT32", "INT64"), "the bias type in the options is not supported")
    node.ensure(bias is None or bias.type == kind, "the bias does not have the type in the options")


def check_symmetric(node: KernelNode, *tensors: KernelTensor) -> None:
    """Check that the zero points of all tensors are 0."""
    for tensor in tensors:
        node.ensure(tensor.zero_point == 0, "a zero point is not 0")


def check_int16(node: KernelNode, *tensors: KernelTensor) -> None:
    """Check that the zero points of all tensors are 0 if the first tensor is INT16."""
    if tensors[0].type == "INT16":
        check_symmetric(node, *tensors)
