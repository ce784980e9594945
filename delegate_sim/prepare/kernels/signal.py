"""Prepare functions of Fourier transforms and complex numbers."""

from __future__ import annotations

from ...foundation.printable import counted
from ..kernel import KernelNode, kernel
from ..operands import first_unknown, only_operand

_COMPLEX_PARTS = {"COMPLEX64": "FLOAT32", "COMPLEX128": "FLOAT64"}


@kernel("REAL", "IMAG", "COMPLEX_ABS")
def prepare_complex_part(node: KernelNode) -> None:
    """``kernels/complex_support.cc: Prepare``."""
    source, result = only_operand(node)
    node.ensure_type(source, _COMPLEX_PARTS)
    node.ensure_type(result, _COMPLEX_PARTS[source.type])
    node.resize(result, source.shape)


@kernel("RFFT2D")
def prepare_rfft2d(node: KernelNode) -> None:
    """``kernels/rfft2d.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, length, result = node.input(0), node.input(1), node.output()
    node.ensure(source.rank >= 2, f"the input has {counted(source.rank, 'dimension')}, fewer than 2")
    node.ensure_type(source, "FLOAT32")
    node.ensure(length.shape == (2,), "the lengths are not a vector of two elements")
    node.ensure_type(length, "INT32")
    result.type = "COMPLEX64"
    if unknown := first_unknown(length):
        node.set_dynamic(result, unknown)
        return
    height, width = length.integers()[:2]
    for size in (height, width):
        node.ensure((size & 0xFFFFFFFF).bit_count() == 1, f"the length {size} is not a power of two")
    node.resize(result, (*source.shape[:-2], height, width // 2 + 1))
