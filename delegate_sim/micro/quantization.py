"""Quantization parameters as TensorFlow Lite Micro reads them.

Source: ``InitializeTfLiteTensorFromFlatbuffer`` (``micro_allocator.cc``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..foundation.float32 import quotient
from ..model.model import Quantization, Tensor

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def affine(tensor: Tensor) -> Quantization | None:
    """Return the quantization of a tensor, or None if the tensor has no scales or no zero points."""
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine or not len(quantization.zero_points):
        return None
    return quantization


def scales(tensor: Tensor) -> Sequence[float]:
    """Return the scales of a tensor, or an empty sequence if the tensor is not quantized."""
    quantization = affine(tensor)
    return () if quantization is None else quantization.scales.tolist()


def scale(tensor: Tensor) -> float:
    """Return the first scale of a tensor, or 0 if the tensor is not quantized."""
    quantization = affine(tensor)
    return 0.0 if quantization is None else quantization.scale


def zero_point(tensor: Tensor) -> int:
    """Return the first zero point of a tensor as a 32-bit integer, or 0 if the tensor is not quantized."""
    quantization = affine(tensor)
    return 0 if quantization is None else (quantization.zero_point + (1 << 31)) % (1 << 32) - (1 << 31)


def is_quantizable(value: float, tensor: Tensor) -> bool:
    """Return whether a number divided by the tensor's scale fits into a 32-bit integer (``Quantize`` in ``kernel_util.cc``)."""
    steps = quotient(value, scale(tensor))
    return not math.isnan(steps) and INT32_MIN <= steps <= INT32_MAX


def binary_exponent(tensor: Tensor) -> int | None:
    """Return the exponent of a scale that is a power of two, or None for other scales (``CheckedLog2``)."""
    first = scale(tensor)
    if first <= 0 or math.isinf(first) or math.isnan(first):
        return None
    exponent = math.log2(first)
    return round(exponent) if abs(exponent - round(exponent)) < 1e-3 else None
