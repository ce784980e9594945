"""Scales of 8-bit tensors in the rules (``delegates/xnnpack/xnnpack_delegate.cc``)."""

from __future__ import annotations

from ...foundation.float32 import quotient
from ...model.model import Tensor

EIGHT_BIT_TYPES = ("INT8", "UINT8")


def has_one_scale(tensor: Tensor) -> bool:
    """Return whether a tensor is affinely quantized with a single scale, along dimension 0."""
    quantization = tensor.quantization
    return quantization is not None and quantization.is_affine and quantization.dimension == 0 and len(quantization.scales) == 1


def scales_of(tensor: Tensor) -> str:
    """Describe a tensor's quantization: the number and dimension of the scales or, without scales, the kind of quantization."""
    quantization = tensor.quantization
    if quantization is None:
        return "no quantization parameters"
    if not quantization.is_affine:
        return f"{quantization.kind} quantization"
    count = len(quantization.scales)
    return f"{count} scale{'' if count == 1 else 's'} along dimension {quantization.dimension}"


def only_scale(tensor: Tensor) -> float | None:
    """Return the scale of an 8-bit tensor with one scale, or None for all other tensors (``GetTensorScaleOrDefault``)."""
    return tensor.scale if tensor.type in EIGHT_BIT_TYPES and has_one_scale(tensor) else None


def float32_ratio(numerator: float, denominator: float) -> float:
    """Return the quotient of two numbers, computed in float32."""
    return quotient(numerator, denominator)


def other_parameters(tensor: Tensor, output: Tensor) -> str | None:
    """Describe the scales and zero points of a tensor and an output. If scales and zero points are equal, return None."""
    if (tensor.zero_point, tensor.scale) == (output.zero_point, output.scale):
        return None
    return (
        f"scale {tensor.scale:g} and zero point {tensor.zero_point}, but output scale {output.scale:g} and zero point "
        f"{output.zero_point}"
    )
