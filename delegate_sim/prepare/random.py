"""Prepare of operators that generate random numbers."""

from __future__ import annotations

from .kernel import KernelNode, kernel
from .operands import first_unknown


@kernel("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def prepare_random(node: KernelNode) -> None:
    """``kernels/random_ops.cc: Prepare``."""
    node.ensure_counts(1, 1)
    shape, result = node.input(0), node.output()
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


@kernel("STABLEHLO_RNG_BIT_GENERATOR")
def prepare_rng_bit_generator(node: KernelNode) -> None:
    """``kernels/rng_bit_generator.cc: Prepare``. The shape of the numbers is that of the file."""
    node.ensure_counts(1, 2)
    state, next_state, numbers = node.input(0), node.output(0), node.output(1)
    node.ensure_type(state, "UINT64")
    node.ensure(state.rank == 1, "the state is not a vector")
    node.ensure_type(next_state, "UINT64")
    node.ensure(next_state.shape == state.shape, "the state changes its shape")
    node.resize(next_state, next_state.shape)
    node.ensure_type(numbers, ("INT32", "INT64", "UINT32", "UINT64"))
    node.resize(numbers, numbers.shape)
