"""How kernels read the values of their operands while they are prepared."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from .kernel import KernelTensor

MAXIMUM_COMPUTED_ELEMENTS = 1 << 20
"""Results larger than this are not computed: what later kernels read are shapes, axes and the like."""


def first_unknown(*tensors: KernelTensor) -> KernelTensor | None:
    """Return the first of these operands that is neither constant nor persistent, None if all their values are known."""
    for tensor in tensors:
        if not tensor.is_constant_or_persistent:
            return tensor
    return None


def known_array(tensor: KernelTensor) -> npt.NDArray[Any] | None:
    """Return a constant or persistent tensor as an array of its shape; None where its elements cannot be read."""
    flat = tensor.known_value()
    if flat is None or flat.size < tensor.element_count:
        return None
    return flat[: tensor.element_count].reshape(tensor.shape)


def as_int32(tensor: KernelTensor) -> list[int]:
    """Return the data as 32-bit integers whatever the type says, as kernels that ignore the type read it."""
    elements: list[int] = tensor.value().view("<i4").tolist()
    return elements


def has_unspecified_dimension(tensor: KernelTensor) -> bool:
    """``kernels/kernel_util.cc: HasUnspecifiedDimension``. The runtime keeps no signature for constants."""
    return tensor.source.has_unspecified_dimension and not tensor.source.is_constant


def wrapped(axis: int, rank: int) -> int:
    """Return an axis counted from the front; one counted from the back is negative."""
    return axis + rank if axis < 0 else axis
