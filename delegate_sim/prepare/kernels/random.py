"""Prepare functions of operators that generate random numbers."""

from __future__ import annotations

from ..kernel import KernelNode, kernel
from ..operands import first_unknown, only_operand


@kernel("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def prepare_random(node: KernelNode) -> None:
    """``kernels/random_ops.cc: Prepare``."""
    shape, result = only_operand(node)
    node.ensure_type(shape, "INT32")
    node.ensure(shape.rank == 1, "the shape is not a vector")
    if unknown := first_unknown(shape):
        node.set_dynamic(result, unknown)
        return
    node.resize(result, shape.integers()[: shape.element_count])


@kernel("MULTINOMIAL")
def prepare_multinomial(node: KernelNode) -> None:
    """``kernels/random_ops.cc: PrepareMultinomial``."""
    node.ensure_counts(2, 1)
    logits, sample_count, result = node.input(0), node.input(1), node.output()
    node.ensure_type(logits, "FLOAT32")
    node.ensure_type(sample_count, "INT32")
    if unknown := first_unknown(logits, sample_count):
        node.set_dynamic(result, unknown)
        return
    node.resize(result, (logits.shape[0], sample_count.integers()[0]))
