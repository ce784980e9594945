"""Reshaping and padding."""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation.limits import element_count
from ...model import schema
from ...model.numbers import StoredNumbers
from ..kernel import PERSISTENT_SINCE, KernelNode, kernel
from ..operands import INT32_MAX, check_int16, check_same_quantization, ensure_int32
from ..tensors import KernelTensor, as_int32, known_elements, wrapped

_REARRANGED_TYPES = ("FLOAT32", "UINT8", "INT8", "INT32", "INT64")


@kernel("DEPTH_TO_SPACE")
def prepare_depth_to_space(node: KernelNode) -> None:
    """``kernels/depth_to_space.cc: Prepare``."""
    block = _block_size(node)
    batches, height, width, channels = node.input(0).shape
    node.ensure(channels % block**2 == 0, "the channels cannot be divided evenly into blocks")
    ensure_int32(node, height, block)
    ensure_int32(node, width, block)
    node.resize(node.output(), (batches, height * block, width * block, channels // block**2))


@kernel("SPACE_TO_DEPTH")
def prepare_space_to_depth(node: KernelNode) -> None:
    """``kernels/space_to_depth.cc: Prepare``."""
    block = _block_size(node)
    batches, height, width, channels = node.input(0).shape
    node.ensure(height % block == 0 and width % block == 0, "height and width cannot be divided evenly into blocks")
    node.resize(node.output(), (batches, height // block, width // block, channels * block**2))


def _block_size(node: KernelNode) -> int:
    source, result = node.operands(1)
    node.ensure_rank(source, 4)
    node.ensure_type(result, _REARRANGED_TYPES)
    node.ensure(source.type == result.type, "input and output have different types")
    block: int = node.options.block_size
    node.ensure(block > 0, "the block size is not positive")
    return block


@kernel("SPACE_TO_BATCH_ND")
def prepare_space_to_batch_nd(node: KernelNode) -> None:
    """``kernels/space_to_batch_nd.cc: Prepare``."""
    blocks = _batch_blocks(node)
    if blocks is None:
        return
    source = node.input(0)
    paddings = as_int32(node.input(2))
    batches, sizes = source.shape[0], []
    for index, block in enumerate(blocks):
        padded = source.shape[index + 1] + paddings[2 * index] + paddings[2 * index + 1]
        node.ensure(block != 0, "a block size is 0")
        node.ensure(padded % block == 0, "a padded dimension cannot be divided evenly into blocks")
        sizes.append(padded // block)
        batches *= block
    node.resize(node.output(), (batches, *sizes, source.shape[-1]))


@kernel("BATCH_TO_SPACE_ND", changed_in=("litert-2.1.5",))
def prepare_batch_to_space_nd(node: KernelNode) -> None:
    """``kernels/batch_to_space_nd.cc: Prepare``."""
    blocks = _batch_blocks(node)
    if blocks is None:
        return
    source = node.input(0)
    crops = as_int32(node.input(2))
    node.ensure(min(crops[: 2 * len(blocks)]) >= 0, "a crop is negative")
    batches, sizes = source.shape[0], []
    for index, block in enumerate(blocks):
        node.ensure(block != 0, "a block size is 0")
        node.ensure(batches % block == 0, "the batches cannot be divided evenly into blocks")
        batches //= block
        sizes.append(source.shape[index + 1] * block - crops[2 * index] - crops[2 * index + 1])
    node.resize(node.output(), (batches, *sizes, source.shape[-1]), reads_unsigned=not node.since("litert-2.1.5"))


def _batch_blocks(node: KernelNode) -> list[int] | None:
    node.ensure_counts(3, 1)
    source, block_shape, result = node.input(0), node.input(1), node.output()
    node.ensure(source.rank in (3, 4), "the input does not have 3 or 4 dimensions")
    node.ensure(source.type == result.type, "input and output have different types")
    if source.type in ("UINT8", "INT8", "INT16"):
        check_same_quantization(node, source, result)
    check_int16(node, source, result)
    # If the block shape is unknown, the kernel does not read the paddings or crops. This operand may even be missing.
    for position in (1, 2):
        operand = node.input(position)
        if not operand.is_constant_or_persistent:
            node.set_dynamic(result, operand)
            return None
    spatial = source.rank - 2
    node.ensure_shape(block_shape, (spatial,))
    node.ensure_shape(node.input(2), (spatial, 2))
    blocks = as_int32(block_shape)
    return [blocks[index] for index in range(source.rank - 2)]


_LARGEST_COUNT = 2**64 - 1
_SQUEEZE_MAX_RANK = 8
_TRANSPOSE_MAX_RANK = 8
_TRANSPOSE_FORMER_MAX_RANK = 6


@kernel("RESHAPE", changed_in=(PERSISTENT_SINCE, "litert-1.1", "litert-2.2.0"))
def prepare_reshape(node: KernelNode) -> None:
    """``kernels/reshape.cc: Prepare``.

    Since LiteRT 1.1, a result of unknown size stays in the arena instead of becoming dynamic. If no tensor is dynamic, the
    runtime's message about dynamic tensors then names tensor -1.
    """
    node.ensure_counts((1, 2), 1)
    result = node.output()
    if result.type == "STRING":
        # The size of strings is known only at run time, even if the shape is known.
        return
    source = node.input(0)
    requested = node.input(1) if node.input_count == 2 else None
    if requested is not None and not requested.is_constant_or_persistent:
        if node.since("litert-1.1"):
            node.leave_open(requested)
        else:
            node.set_dynamic(result, requested)
        return
    shape = _resolved_shape(node, source.shape, _requested_shape(node, requested))
    if source.is_constant_or_persistent:
        node.set_persistent(result, shape, known_elements(source))
    else:
        node.resize(result, shape)


def _requested_shape(node: KernelNode, requested: KernelTensor | None) -> Sequence[int]:
    if requested is not None and requested.rank == 1 and requested.type == "INT32":
        return requested.integers()[: requested.shape[0]]
    new_shape: Sequence[int] = node.options.new_shape
    is_legacy_scalar = len(new_shape) == 1 and new_shape[0] == 0
    return () if is_legacy_scalar else new_shape


def _resolved_shape(node: KernelNode, source: Sequence[int], requested: Sequence[int]) -> list[int]:
    if min(source, default=0) < 0 and node.since("litert-2.2.0"):
        node.fail("the input has a negative size")
    shape = list(requested)
    node.ensure(shape.count(-1) <= 1, "the new shape has more than one size of -1")
    sizes = [size for size in shape if size != -1]
    node.ensure(not sizes or min(sizes) >= 0, "the new shape has a negative size")
    nonzero_source = element_count([size for size in source if size])
    nonzero_sizes = element_count([size for size in sizes if size])
    node.ensure(max(nonzero_source, nonzero_sizes) <= _LARGEST_COUNT, "the number of elements overflows")
    if -1 in shape:
        stretched = 0 if 0 in source and 0 not in sizes else nonzero_source // nonzero_sizes
        node.ensure(stretched <= INT32_MAX, "the size that replaces -1 overflows")
        shape[shape.index(-1)] = stretched
    node.ensure(element_count(source) == element_count(shape), "the new shape has a different number of elements than the input")
    return shape


@kernel("SQUEEZE")
def prepare_squeeze(node: KernelNode) -> None:
    """``kernels/squeeze.cc: Prepare``."""
    source, result = node.operands(1)
    node.ensure(source.rank <= _SQUEEZE_MAX_RANK, "the input has more than 8 dimensions")
    axes: Sequence[int] = node.options.squeeze_dims
    if axes:
        squeezed = {wrapped(axis, source.rank) for axis in axes}
        for axis in squeezed:
            node.ensure(0 <= axis < source.rank and source.shape[axis] == 1, "a dimension to remove does not exist or is not 1")
    else:
        squeezed = {axis for axis, size in enumerate(source.shape) if size == 1}
    node.resize(result, [size for axis, size in enumerate(source.shape) if axis not in squeezed])


@kernel("EXPAND_DIMS")
def prepare_expand_dims(node: KernelNode) -> None:
    """``kernels/expand_dims.cc: Prepare``."""
    source, axis, result = node.operands(2)
    result.type = source.type
    check_same_quantization(node, source, result)
    if source.type == "INT16":
        node.ensure(source.zero_point == 0, "the zero point of INT16 is not 0")
    if node.made_dynamic(result, axis):
        return
    node.ensure(axis.element_count == 1, "the axis is not a single number")
    node.ensure_type(axis, ("INT32", "INT64"))
    position = wrapped(axis.integers()[0], source.rank + 1)
    node.ensure(0 <= position <= source.rank, "the axis is out of range")
    node.resize(result, (*source.shape[:position], 1, *source.shape[position:]))


@kernel("SHAPE")
def prepare_shape(node: KernelNode) -> None:
    """``kernels/shape.cc: Prepare``."""
    source, result = node.operands(1)
    out_type = schema.tensor_type_name(node.options.out_type)
    node.ensure(out_type in ("INT32", "INT64"), "the type of the output is not INT32 or INT64")
    result.type = out_type
    node.set_persistent(result, (source.rank,), StoredNumbers.of(schema.NUMPY_TYPES[out_type], source.shape))


@kernel("RANK")
def prepare_rank(node: KernelNode) -> None:
    """``kernels/rank.cc: Prepare``."""
    source, result = node.operands(1)
    result.type = "INT32"
    node.set_persistent(result, (), StoredNumbers.of("<i4", [source.rank]))


@kernel("TRANSPOSE", changed_in=("litert-2.1.6",))
def prepare_transpose(node: KernelNode) -> None:
    """``kernels/transpose.cc: Prepare``."""
    source, permutation, result = node.operands(2)
    rank = source.rank
    limit = _TRANSPOSE_MAX_RANK if node.since("litert-2.1.6") else _TRANSPOSE_FORMER_MAX_RANK
    node.ensure(rank <= limit, f"the input has more than {limit} dimensions")
    node.ensure(source.type == result.type, "input and output have different types")
    if node.made_dynamic(result, permutation):
        return
    node.ensure(permutation.shape == (rank,), "the permutation does not have one number for each dimension")
    axes = as_int32(permutation)[:rank]
    node.ensure(all(-rank <= axis < rank for axis in axes), "an axis of the permutation is out of range")
    node.resize(result, [source.shape[axis] for axis in axes])


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
    if node.made_dynamic(result, paddings):
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
