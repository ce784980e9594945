"""Checks of the quantization parameters of operands (``kernels/kernel_util.cc``)."""

from __future__ import annotations

import math

from ..graph.graph import ACTIVATION_BOUNDS, fused_activation
from ..model import schema
from ..model.model import Quantization
from .kernel import KernelNode, KernelTensor

_QUANTIZED_TYPES = ("UINT8", "INT8", "INT16")

_GREATEST_QUANTIZED_BOUND = 2.0**31 + 128.0
"""Largest quotient of bound and scale that fits into int32. Kernels round the quotient to float32."""

_GREATEST_BIAS_SCALE_ERROR = 0.02
_GREATEST_LOGARITHM_ERROR = 1e-3

HYBRID_WEIGHT_TYPES = ("UINT8", "INT8", "INT4", "INT2")


def affine_quantization(tensor: KernelTensor) -> Quantization | None:
    """Return a tensor's affine quantization parameters, or None if the tensor has none."""
    quantization = tensor.quantization
    return quantization if quantization is not None and quantization.is_affine else None


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
    node: KernelNode,
    source: KernelTensor,
    weights: KernelTensor,
    bias: KernelTensor | None,
    result: KernelTensor,
    channels: int,
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


def power_of_two_exponent(tensor: KernelTensor) -> int | None:
    """Return the exponent of the power of two that is close to a tensor's scale.

    Return None if no power of two is close. Upstream: ``internal/quantization_util.cc: CheckedLog2``.
    """
    if tensor.scale <= 0:
        return None
    logarithm = math.log2(tensor.scale)
    exponent = round(logarithm)
    return exponent if abs(logarithm - exponent) < _GREATEST_LOGARITHM_ERROR else None
