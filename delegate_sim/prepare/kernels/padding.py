"""Prepare functions of operators that pad a tensor: PAD, PADV2, MIRROR_PAD."""

from __future__ import annotations

from ...foundation.limits import element_count
from ...releases.catalogue import parse_release
from ..kernel import KernelNode, KernelTensor, kernel

_LARGEST_INT32 = 2**31 - 1
_PAD_MAX_RANK = 5

_PADDING_TYPES = frozenset({"INT64", "INT32", "INT8", "INT16", "BOOL"})
_MIRROR_PAD_OFFSETS = {0: 1, 1: 0}
"""Smallest allowed difference between a dimension and its padding, by ``MirrorPadMode``: 1 for REFLECT, 0 for SYMMETRIC."""

_PAD_TAKES_PERSISTENT = parse_release("litert-2.2.0")
"""Since this release, PAD treats paddings as constant if another kernel computed them during Prepare."""
_MIRROR_PAD_HAS_LIMITS = parse_release("litert-2.2.0")
"""Since this release, MIRROR_PAD refuses paddings that are negative or too wide."""


@kernel("PAD", "PADV2", changed_in=(_PAD_TAKES_PERSISTENT,))
def prepare_pad(node: KernelNode) -> None:
    """``kernels/pad.cc: Prepare``."""
    node.ensure_counts((2, 3), 1)
    source, paddings, result = node.input(0), node.input(1), node.output()
    fill = node.optional_input(2)
    node.ensure_type(paddings, _PADDING_TYPES)
    node.ensure(paddings.rank == 2 and paddings.shape[1] == 2, "the paddings are not pairs")
    takes_persistent = node.release.is_at_least(_PAD_TAKES_PERSISTENT)
    is_known = paddings.is_constant_or_persistent if takes_persistent else paddings.is_constant
    if source.rank != 0 and not is_known:
        node.ensure(paddings.shape[0] == source.rank, "the paddings do not have one pair for each dimension")
    node.ensure(source.type == result.type, "input and output have different types")
    if fill is not None:
        node.ensure(source.type == fill.type, "input and fill value have different types")
        node.ensure(fill.element_count == 1, "the fill value is not a single number")
    node.ensure(source.rank <= _PAD_MAX_RANK, "the input has more than 5 dimensions")
    if source.rank == 0 or not is_known:
        node.set_dynamic(result, None if is_known else paddings)
        return
    node.ensure(paddings.shape[0] == source.rank, "the paddings do not have one pair for each dimension")
    pairs = _pairs(paddings)
    node.ensure(all(0 <= padding <= _LARGEST_INT32 for pair in pairs for padding in pair), "a padding is negative or too large")
    shape = _padded(node, source, pairs)
    node.ensure(element_count(shape) <= _LARGEST_INT32, "the number of elements of the result overflows")
    node.resize(result, shape)


@kernel("MIRROR_PAD", changed_in=(_MIRROR_PAD_HAS_LIMITS,))
def prepare_mirror_pad(node: KernelNode) -> None:
    """``kernels/mirror_pad.cc: Prepare``."""
    source, paddings, result = node.input(0), node.input(1), node.output()
    node.ensure(source.type == result.type, "input and output have different types")
    has_mode = node.options.table is not None and node.options.mode in _MIRROR_PAD_OFFSETS
    node.ensure(has_mode, "the options give no padding mode")
    node.ensure_type(paddings, ("INT32", "INT64"))
    node.ensure(paddings.shape == (source.rank, 2), "the paddings do not have one pair for each dimension")
    if source.type in ("UINT8", "INT8", "INT16"):
        node.ensure(source.scale == result.scale, "input and output have different scales")
        node.ensure(source.zero_point == result.zero_point, "input and output have different zero points")
    if source.type == "INT16":
        node.ensure(source.zero_point == 0, "the zero point of INT16 is not 0")
    if not paddings.is_constant_or_persistent:
        node.set_dynamic(result, paddings)
        return
    offset = _MIRROR_PAD_OFFSETS[node.options.mode]
    pairs = _pairs(paddings)
    if node.release.is_at_least(_MIRROR_PAD_HAS_LIMITS):
        for size, pair in zip(source.shape, pairs, strict=True):
            node.ensure(min(pair) >= 0, "a padding is negative")
            node.ensure(max(pair) <= size - offset, "a padding is too wide for the input")
    node.resize(result, _padded(node, source, pairs))


def _pairs(paddings: KernelTensor) -> list[tuple[int, int]]:
    flat = paddings.integers()[: paddings.element_count]
    return list(zip(flat[::2], flat[1::2], strict=True))


def _padded(node: KernelNode, source: KernelTensor, pairs: list[tuple[int, int]]) -> list[int]:
    shape = [before + size + after for size, (before, after) in zip(source.shape, pairs, strict=True)]
    node.ensure(max(shape, default=0) <= _LARGEST_INT32, "a size of the result overflows")
    return shape
