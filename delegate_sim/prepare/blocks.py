"""Prepare of operators that move blocks of space into depth or batches, and back."""

from __future__ import annotations

from .kernel import KernelNode, kernel
from .operands import as_int32
from .quantization import check_symmetric
from .windows import ensure_int32

_REARRANGED_TYPES = ("FLOAT32", "UINT8", "INT8", "INT32", "INT64")


@kernel("DEPTH_TO_SPACE")
def prepare_depth_to_space(node: KernelNode) -> None:
    """``kernels/depth_to_space.cc: Prepare``."""
    block = _block_size(node)
    batches, height, width, channels = node.input(0).shape
    node.ensure(channels % block**2 == 0, "the channels do not divide into blocks")
    ensure_int32(node, height, block)
    ensure_int32(node, width, block)
    node.resize(node.output(), (batches, height * block, width * block, channels // block**2))


@kernel("SPACE_TO_DEPTH")
def prepare_space_to_depth(node: KernelNode) -> None:
    """``kernels/space_to_depth.cc: Prepare``."""
    block = _block_size(node)
    batches, height, width, channels = node.input(0).shape
    node.ensure(height % block == 0 and width % block == 0, "height and width do not divide into blocks")
    node.resize(node.output(), (batches, height // block, width // block, channels * block**2))


def _block_size(node: KernelNode) -> int:
    """What DEPTH_TO_SPACE and SPACE_TO_DEPTH both demand; return the length of a block's side."""
    node.ensure_counts(1, 1)
    source, result = node.input(0), node.output()
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
        node.ensure(block != 0, "a block is empty")
        node.ensure(padded % block == 0, "a padded dimension does not divide into blocks")
        sizes.append(padded // block)
        batches *= block
    node.resize(node.output(), (batches, *sizes, source.shape[-1]))


@kernel("BATCH_TO_SPACE_ND")
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
        node.ensure(block != 0, "a block is empty")
        node.ensure(batches % block == 0, "the batches do not divide into blocks")
        batches //= block
        sizes.append(source.shape[index + 1] * block - crops[2 * index] - crops[2 * index + 1])
    node.resize(node.output(), (batches, *sizes, source.shape[-1]))


def _batch_blocks(node: KernelNode) -> list[int] | None:
    """What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND both demand; return the block shape, None if it is not known yet."""
    node.ensure_counts(3, 1)
    source, block_shape, result = node.input(0), node.input(1), node.output()
    node.ensure(source.rank in (3, 4), "the input has neither 3 nor 4 dimensions")
    node.ensure(source.type == result.type, "input and output have different types")
    if source.type in ("UINT8", "INT8", "INT16"):
        node.ensure(source.scale == result.scale, "input and output have different scales")
        node.ensure(source.zero_point == result.zero_point, "input and output have different zero points")
    if source.type == "INT16":
        check_symmetric(node, source, result)
    # The margins are not read, and may even be missing, where the block shape is unknown.
    for position in (1, 2):
        operand = node.input(position)
        if not operand.is_constant_or_persistent:
            node.set_dynamic(result, operand)
            return None
    spatial = source.rank - 2
    node.ensure_shape(block_shape, (spatial,))
    node.ensure_shape(node.input(2), (spatial, 2))
    blocks = as_int32(block_shape)
    return [blocks[index] for index in range(spatial)]
