"""Generated elements that replace the weights of a model. They depend only on the type, the size and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..foundation.late_numpy import np
from ..model.model import Tensor
from ..model.schema import NUMPY_TYPES

if TYPE_CHECKING:
    import numpy.typing as npt

_SMALL = 8
"""Limit for elements of quantized 32-bit and 64-bit integers, which are biases."""
_ONE_BFLOAT16, _ONE_FLOAT8 = 0x3F80, 0x38
"""The bits of 1.0, or of a number near 1.0. Smaller bits are smaller numbers that are not negative."""


def can_generate(tensor: Tensor) -> bool:
    """Return whether ``generated_bytes`` supports the type of a constant."""
    return tensor.type in NUMPY_TYPES or tensor.type in _PACKED


_PACKED = frozenset({"INT4", "INT2", "UINT4", "BFLOAT16", "FLOAT8_E4M3FN", "FLOAT8_E5M2"})


def generated_bytes(tensor: Tensor, size: int, seed: int) -> bytes:
    """Return ``size`` bytes of elements for a constant.

    Floats are between -1 and 1. Small integers are of any value but the smallest one. Large integers without quantization are 0,
    because such constants are axes, indices or sizes.
    """
    return _elements(tensor, size, np.random.default_rng(seed)).tobytes().ljust(size, b"\0")


def _elements(tensor: Tensor, size: int, random: np.random.Generator) -> npt.NDArray[Any]:
    if tensor.type == "BFLOAT16":
        return random.integers(0, _ONE_BFLOAT16, size // 2, np.uint16, endpoint=True)
    if tensor.type in _PACKED:
        most = _ONE_FLOAT8 if tensor.type.startswith("FLOAT8") else 255
        return random.integers(0, most, size, np.uint8, endpoint=True)
    kind = np.dtype(NUMPY_TYPES[tensor.type])
    count = size // kind.itemsize
    if kind.kind in "fc":
        return random.uniform(-1, 1, count).astype(kind)
    if tensor.type == "BOOL":
        return random.integers(0, 2, count).astype(kind)
    if kind.itemsize > 2:
        values = random.integers(0 if kind.kind == "u" else -_SMALL, _SMALL, count)
        return (values if tensor.quantization is not None else values * 0).astype(kind)
    limits = np.iinfo(kind)
    return random.integers(limits.min + 1, limits.max, count, kind, endpoint=True)
