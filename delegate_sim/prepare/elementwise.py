"""Prepare of elementwise operators: arithmetic, comparisons, activations, casts."""

from __future__ import annotations

from .kernel import KernelNode, broadcast_shape, kernel


@kernel("ABS")
def prepare_abs(node: KernelNode) -> None:
    """``kernels/elementwise.cc: AbsPrepare``."""
    node.ensure_counts(1, 1)
    source, result = node.input(0), node.output()
    node.ensure(source.type == result.type, "input and output have different types")
    node.resize(result, source.shape)


@kernel("FLOOR_DIV")
def prepare_floor_div(node: KernelNode) -> None:
    """``kernels/floor_div.cc: Prepare``."""
    node.ensure_counts(2, 1)
    first, second, result = node.input(0), node.input(1), node.output()
    node.ensure(first.type == second.type, "the operands have different types")
    node.ensure_type(first, ("INT8", "INT16", "INT32", "FLOAT32"))
    result.type = first.type
    node.resize(result, broadcast_shape(first.shape, second.shape))
