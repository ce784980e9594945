"""Filling, also with random numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ...foundation.float32 import float32, quotient
from ...foundation.limits import element_count
from ...model import schema
from ...model.numbers import StoredNumbers, picked
from ..kernel import PERSISTENT_SINCE, KernelNode, kernel
from ..operands import INT32_MAX
from ..tensors import KernelTensor, as_int32, first_unknown, known_elements, positions_in

_BROADCAST_MAX_RANK = 8

_ONE_HOT_TYPES = frozenset({"FLOAT32", "INT16", "INT32", "INT64", "INT8", "UINT8", "BOOL"})
_TILED_TYPES = frozenset({"INT8", "UINT8", "FLOAT32", "INT32", "INT64", "BOOL"})
_COPIED_WIDTHS = frozenset({8, 16, 32, 64})
"""The widths of elements, in bits, that TILE can copy."""


@kernel("BROADCAST_TO", changed_in=("litert-2.1.6",))
def prepare_broadcast_to(node: KernelNode) -> None:
    """``kernels/broadcast_to.cc: Prepare``."""
    source, shape, result = node.operands(2)
    has_limit = not node.since("litert-2.1.6")
    node.ensure(source.rank <= _BROADCAST_MAX_RANK or not has_limit, "the input has more than 8 dimensions")
    node.ensure_type(shape, ("INT32", "INT64"))
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure(source.type != "STRING", "strings cannot be broadcast")
    if node.made_dynamic(result, shape):
        return
    node.ensure(shape.rank == 1, "the shape is not a vector")
    node.ensure(source.rank <= shape.shape[0], "the shape has fewer dimensions than the input")
    node.ensure(shape.shape[0] <= _BROADCAST_MAX_RANK or not has_limit, "the result has more than 8 dimensions")
    sizes = shape.integers()[: shape.shape[0]]
    extended = (1,) * (len(sizes) - source.rank) + source.shape
    node.ensure(
        all(size in (1, wanted) for size, wanted in zip(extended, sizes, strict=True)),
        "the input cannot be broadcast to the shape",
    )
    node.resize(result, sizes)


@kernel("BROADCAST_ARGS", changed_in=(PERSISTENT_SINCE,))
def prepare_broadcast_args(node: KernelNode) -> None:
    """``kernels/broadcast_args.cc: Prepare``."""
    first, second, result = node.operands(2)
    node.ensure_type(first, ("INT32", "INT64"))
    node.ensure(first.type == second.type, "the shapes have different types")
    node.ensure(first.type == result.type, "input and output have different types")
    node.ensure(first.rank == 1 and second.rank == 1, "the shapes are not vectors")
    rank = max(first.shape[0], second.shape[0])
    if first_unknown(first, second) is None:
        sizes = _broadcast_sizes(node, first.integers()[: first.shape[0]], second.integers()[: second.shape[0]])
        node.set_persistent(result, (rank,), StoredNumbers.of(schema.NUMPY_TYPES[result.type], sizes))
    else:
        node.resize(result, (rank,))


def _broadcast_sizes(node: KernelNode, first: list[int], second: list[int]) -> list[int]:
    rank = max(len(first), len(second))
    left, right = [1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second
    for one, other in zip(left, right, strict=True):
        node.ensure(one == other or 1 in (one, other), "the shapes cannot be broadcast together")
    return [other if one == 1 else one for one, other in zip(left, right, strict=True)]


@kernel("TILE", changed_in=(PERSISTENT_SINCE, "litert-2.1.3", "litert-2.1.6"))
def prepare_tile(node: KernelNode) -> None:
    """``kernels/tile.cc: Prepare``."""
    node.ensure_counts(2, 1)
    source, result, multiples = node.input(0), node.output(), node.input(1)
    node.ensure(source.type == result.type, "input and output have different types")
    node.ensure_type(multiples, ("INT32", "INT64"))
    if node.made_dynamic(result, multiples):
        return
    node.ensure(multiples.element_count == source.rank, "the number of multiples differs from the number of dimensions")
    factors = multiples.integers()[: source.rank]
    shape = [size * factor for size, factor in zip(source.shape, factors, strict=True)]
    if node.since("litert-2.1.6"):
        node.ensure(not factors or min(factors) >= 0, "a multiple is negative")
        node.ensure(not shape or min(shape) >= 0, "the result has a negative size")
    node.ensure(not shape or max(shape) <= INT32_MAX, "a size of the result overflows")
    if not source.is_constant_or_persistent:
        node.resize(result, shape)
    elif result.type == "STRING":
        # The kernel writes strings during Prepare, which makes the result dynamic.
        node.set_dynamic(result)
        node.resize(result, shape)
    else:
        takes_widths = node.since("litert-2.1.3")
        is_copied = schema.BITS_PER_ELEMENT.get(result.type) in _COPIED_WIDTHS if takes_widths else result.type in _TILED_TYPES
        node.ensure(is_copied or 0 in shape, "elements of this type cannot be tiled")
        node.set_persistent(result, shape, _tiled(node, source, factors, shape))


def _tiled(node: KernelNode, source: KernelTensor, factors: Sequence[int], shape: Sequence[int]) -> StoredNumbers | None:
    elements = known_elements(source)
    if elements is None or not node.elements.take(element_count(shape)):
        return None
    if min(shape, default=1) <= 0:
        return picked(elements, ())
    # bounded: no more elements than the result, which are counted above
    axes = [(size, [*range(size)] * factor) for size, factor in zip(source.shape, factors, strict=True)]
    return picked(elements, positions_in(axes))


@kernel("FILL")
def prepare_fill(node: KernelNode) -> None:
    """``kernels/fill.cc: Prepare``."""
    node.ensure_counts(2, 1)
    shape, value = node.input(0), node.input(1)
    node.ensure(shape.rank == 1, "the shape is not a vector")
    node.ensure_type(shape, ("INT32", "INT64"))
    node.ensure(value.rank == 0, "the value is not a scalar")
    result = node.output()
    result.type = value.type
    node.ensure(result.scale == value.scale, "value and output have different scales")
    node.ensure(result.zero_point == value.zero_point, "value and output have different zero points")
    if value.type == "INT16":
        node.ensure(value.zero_point == 0, "the zero point of INT16 is not 0")
    if shape.is_constant_or_persistent:
        node.resize(result, shape.integers()[: shape.shape[0]])
    else:
        node.set_dynamic(result, shape)


@kernel("RANGE", changed_in=(PERSISTENT_SINCE,))
def prepare_range(node: KernelNode) -> None:
    """``kernels/range.cc: Prepare``."""
    node.ensure_counts(3, 1)
    start, limit, delta = node.input(0), node.input(1), node.input(2)
    node.ensure(start.rank == limit.rank == delta.rank == 0, "an operand is not a scalar")
    node.ensure_type(start, ("FLOAT32", "INT32", "INT64"))
    node.ensure(start.type == limit.type == delta.type, "the operands have different types")
    result = node.output()
    result.type = start.type
    if node.made_dynamic(result, start, limit, delta):
        return
    first, last, step = [operand.value()[:1].tolist()[0] for operand in (start, limit, delta)]
    size = _range_size(node, first, last, step)
    is_computed = node.elements.take(size)
    value = _range(schema.NUMPY_TYPES[start.type], first, step, size) if is_computed else None
    node.set_persistent(result, (size,), value)


def _range_size(node: KernelNode, start: float, limit: float, delta: float) -> int:
    node.ensure(delta != 0, "the step is 0")
    leads_to_limit = (start >= limit and delta < 0) or (start <= limit and delta > 0)
    node.ensure(leads_to_limit, "the step leads away from the limit")
    if isinstance(start, float):
        return math.ceil(abs(quotient(limit - start, delta)))
    distance, step = abs(int(limit) - int(start)), abs(int(delta))
    return (distance + step - 1) // step


def _range(kind: str, start: float, delta: float, size: int) -> StoredNumbers:
    """Return the elements of a range.

    As in the runtime, the step is added repeatedly, so rounding errors are the same.
    """
    steps = [start, *[delta] * (size - 1)][:size]  # bounded: the caller counts the elements
    rounded = float32 if isinstance(start, float) else int
    return StoredNumbers.of(kind, itertools.accumulate(steps, lambda sum_so_far, step: rounded(sum_so_far + step)))


@kernel("ONE_HOT")
def prepare_one_hot(node: KernelNode) -> None:
    """``kernels/one_hot.cc: Prepare``."""
    node.ensure_counts(4, 1)
    indices, depth, on_value, off_value = (node.input(position) for position in range(4))
    result = node.output()
    axis = indices.rank if node.options.axis == -1 else node.options.axis
    node.ensure_type(on_value, _ONE_HOT_TYPES)
    result.type = on_value.type
    node.ensure_type(indices, ("INT32", "INT64"))
    node.ensure(0 <= axis <= indices.rank, "the axis is out of range")
    node.ensure(depth.element_count == 1, "the depth is not a single number")
    node.ensure(on_value.element_count == 1 and off_value.element_count == 1, "a value is not a single number")
    node.ensure(off_value.type == on_value.type, "the values have different types")
    if node.made_dynamic(result, depth):
        return
    size = as_int32(depth)[0]
    node.ensure(size >= 0, "the depth is negative")
    node.resize(result, (*indices.shape[:axis], size, *indices.shape[axis:]))


@kernel("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
def prepare_random(node: KernelNode) -> None:
    """``kernels/random_ops.cc: Prepare``."""
    shape, result = node.operands(1)
    node.ensure_type(shape, "INT32")
    node.ensure(shape.rank == 1, "the shape is not a vector")
    if node.made_dynamic(result, shape):
        return
    node.resize(result, shape.integers()[: shape.element_count])


@kernel("MULTINOMIAL")
def prepare_multinomial(node: KernelNode) -> None:
    """``kernels/random_ops.cc: PrepareMultinomial``."""
    logits, sample_count, result = node.operands(2)
    node.ensure_type(logits, "FLOAT32")
    node.ensure_type(sample_count, "INT32")
    if node.made_dynamic(result, logits, sample_count):
        return
    node.resize(result, (logits.shape[0], sample_count.integers()[0]))
