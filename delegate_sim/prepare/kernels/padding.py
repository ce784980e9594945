"""Prepare functions of operators that pad a tensor: PAD, PADV2, MIRROR_PAD."""

from __future__ import annotations

from ...foundation.limits import element_count
from ..kernel import KernelNode, KernelTensor, kernel
from ..quantization import check_same_quantization
from ..windows import INT32_MAX

_PAD_MAX_RANK = 5

_PADDING_TYPES = frozenset({"INT64", "INT32", "INT8", "INT16", "BOOL"})
_MIRROR_PAD_OFFSETS = {0: 1, 1: 0}
"""Smallest allowed difference between a dimension and its padding, by ``MirrorPadMode``: 1 for REFLECT, 0 for SYMMETRIC."""


@kernel("PAD", "PADV2", changed_in=("litert-1.3.0", "litert-2.2.0"))
def prepare_pad(node: KernelNode) -> None:
    """``kernels/pad.cc: Prepare``. Releases before LiteRT 2.2 check the paddings only if they know the paddings."""
    node.ensure_counts((2, 3), 1)
    source, paddings, result = node.input(0), node.input(1), node.output()
    fill = node.optional_input(2)
    is_known, checks_more = paddings.is_constant_or_persistent, node.since("litert-2.2.0")
    if checks_more:
        node.ensure_type(paddings, _PADDING_TYPES)
        node.ensure(paddings.rank == 2 and paddings.shape[1] == 2, "the paddings are not pairs")
        if source.rank != 0 and not is_known:
            node.ensure(paddings.shape[0] == source.rank, "the paddings do not have one pair for each dimension")
    node.ensure(source.type == result.type, "input and output have different types")
    if fill is not None:
        node.ensure(source.type == fill.type, "input and fill value have different types")
        node.ensure(fill.element_count == 1 or not checks_more, "the fill value is not a single number")
    node.ensure(source.rank <= _PAD_MAX_RANK, "the input has more than 5 dimensions")
    if source.rank == 0 or not is_known:
        node.set_dynamic(result, None if is_known else paddings)
        return
    if not checks_more:
        node.ensure_type(paddings, ("INT64", "INT32"), {"litert-1.3.0": ("INT8", "INT16")})
    node.ensure(paddings.shape[:2] == (source.rank, 2), "the paddings do not have one pair for each dimension")
    pairs = _pairs(paddings, source.rank)
    node.ensure(all(0 <= padding <= INT32_MAX for pair in pairs for padding in pair), "a padding is negative or too large")
    shape = _padded(node, source, pairs)
    node.ensure(element_count(shape) <= INT32_MAX, "the number of elements of the result overflows")
    node.resize(result, shape)


@kernel("MIRROR_PAD", changed_in=("litert-2.2.0",))
def prepare_mirror_pad(node: KernelNode) -> None:
    """``kernels/mirror_pad.cc: Prepare``. Releases before LiteRT 2.2 treat paddings of other types as 0."""
    source, paddings, result = node.input(0), node.input(1), node.output()
    checks_more = node.since("litert-2.2.0")
    if checks_more:
        node.ensure(source.type == result.type, "input and output have different types")
        has_mode = node.options.table is not None and node.options.mode in _MIRROR_PAD_OFFSETS
        node.ensure(has_mode, "the options give no padding mode")
        node.ensure_type(paddings, ("INT32", "INT64"))
        node.ensure(paddings.shape == (source.rank, 2), "the paddings do not have one pair for each dimension")
    node.ensure_rank(paddings, 2)
    node.ensure(paddings.shape[0] == source.rank, "the paddings do not have one pair for each dimension")
    if source.type in ("UINT8", "INT8", "INT16"):
        check_same_quantization(node, source, result)
    if source.type == "INT16":
        node.ensure(source.zero_point == 0, "the zero point of INT16 is not 0")
    if not paddings.is_constant_or_persistent:
        node.set_dynamic(result, paddings)
        return
    pairs = _pairs(paddings, source.rank) if paddings.type in ("INT32", "INT64") else [(0, 0) for _ in source.shape]
    if checks_more:
        offset = _MIRROR_PAD_OFFSETS[node.options.mode]
        for size, pair in zip(source.shape, pairs, strict=True):
            node.ensure(min(pair) >= 0, "a padding is negative")
            node.ensure(max(pair) <= size - offset, "a padding is too wide for the input")
    node.resize(result, _padded(node, source, pairs))


def _pairs(paddings: KernelTensor, rank: int) -> list[tuple[int, int]]:
    flat = paddings.integers()[: 2 * rank]
    return list(zip(flat[::2], flat[1::2], strict=True))


def _padded(node: KernelNode, source: KernelTensor, pairs: list[tuple[int, int]]) -> list[int]:
    shape = [before + size + after for size, (before, after) in zip(source.shape, pairs, strict=True)]
    node.ensure(max(shape, default=0) <= INT32_MAX, "a size of the result overflows")
    return shape
