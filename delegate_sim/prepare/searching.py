"""Prepare of operators whose results depend on which elements they find: TOPK_V2, WHERE, UNIQUE."""

from __future__ import annotations

from ..late_numpy import np
from ..model import schema
from ..releases.catalogue import parse_release
from .kernel import KernelNode, kernel
from .operands import has_unspecified_dimension

_LARGEST_COUNT = 2**31 - 1
_TOPK_CHECKS_COUNT = parse_release("litert-2.2.0")
"""Since when TOPK_V2 refuses every k of another type than INT32 or INT16; before, only a k that is known."""
_COUNT_TYPES = ("INT32", "INT16")
_WHERE_TYPES = frozenset({"BOOL", "FLOAT32", "INT64", "INT32", "INT8", "UINT8", "UINT32"})


@kernel("TOPK_V2")
def prepare_topk_v2(node: KernelNode) -> None:
    """``kernels/topk_v2.cc: Prepare``."""
    node.ensure_counts(2, 2)
    source, k, values = node.input(0), node.input(1), node.output(0)
    node.ensure(source.type == values.type, "input and output have different types")
    if node.release.is_at_least(_TOPK_CHECKS_COUNT):
        node.ensure_type(k, _COUNT_TYPES)
    indices = node.output(1)
    is_known = k.is_constant_or_persistent
    if not is_known or has_unspecified_dimension(source):
        cause = None if is_known else k
        node.set_dynamic(indices, cause)
        node.set_dynamic(values, cause)
        return
    node.ensure_type(k, _COUNT_TYPES)
    node.ensure(k.element_count == 1, "k is not a single number")
    count = k.integers()[0]
    node.ensure(source.rank >= 1, "the input is a scalar")
    node.ensure(source.element_count <= _LARGEST_COUNT, "the number of elements overflows")
    node.ensure(count <= source.shape[-1], "k is larger than the last dimension")
    shape = (*source.shape[:-1], max(count, 0))
    node.resize(indices, shape)
    node.resize(values, shape)


@kernel("WHERE")
def prepare_where(node: KernelNode) -> None:
    """``kernels/where.cc: Prepare``."""
    node.ensure_counts(1, 1)
    condition, result = node.input(0), node.output()
    node.ensure_type(condition, _WHERE_TYPES)
    result.type = "INT64"
    if not condition.is_constant_or_persistent:
        node.set_dynamic(result, condition)
        return
    found = int(np.count_nonzero(condition.value()[: condition.element_count]))
    node.resize(result, (found, condition.rank))


@kernel("UNIQUE")
def prepare_unique(node: KernelNode) -> None:
    """``kernels/unique.cc: Prepare``."""
    node.ensure_counts(1, 2)
    source, values, indices = node.input(0), node.output(0), node.output(1)
    node.ensure(node.options.table is not None, "there are no options")
    index_type = "INT64" if schema.tensor_type_name(node.options.idx_out_type) == "INT64" else "INT32"
    node.ensure(values.type == source.type, "input and output have different types")
    node.ensure_type(indices, index_type)
    node.ensure(source.rank == 1, "the input is not a vector")
    node.set_dynamic(values)
    node.resize(indices, source.shape)
