"""Prepare of operators that move blocks of space into depth or batches, and back."""

from __future__ import annotations

import pytest

from delegate_sim.prepare.kernel import PrepareError


def rearrange(kernels, op, source, block, kind="INT8"):
    return kernels.prepare(op, [kernels.arena(kind, *source)], [kernels.arena(kind)], block_size=block)


def test_space_and_depth(kernels):
    kernels.assert_static(rearrange(kernels, "DEPTH_TO_SPACE", (1, 2, 3, 8), 2), (1, 4, 6, 2))
    kernels.assert_static(rearrange(kernels, "SPACE_TO_DEPTH", (1, 4, 6, 2), 2), (1, 2, 3, 8))


@pytest.mark.parametrize(("op", "source"), [("DEPTH_TO_SPACE", (1, 2, 3, 6)), ("SPACE_TO_DEPTH", (1, 4, 5, 2))])
def test_space_and_depth_must_divide(kernels, op, source):
    with pytest.raises(PrepareError, match="divide"):
        rearrange(kernels, op, source, 2)


@pytest.mark.parametrize("op", ["DEPTH_TO_SPACE", "SPACE_TO_DEPTH"])
def test_space_and_depth_refuses(kernels, op):
    with pytest.raises(PrepareError, match="FLOAT16"):
        rearrange(kernels, op, (1, 4, 4, 4), 2, "FLOAT16")
    with pytest.raises(PrepareError, match="positive"):
        rearrange(kernels, op, (1, 4, 4, 4), 0)
    with pytest.raises(PrepareError, match="dimensions"):
        rearrange(kernels, op, (4, 4, 4), 2)


def batches(kernels, op, source, blocks, margins, kind="FLOAT32"):
    return kernels.prepare(op, [kernels.arena(kind, *source), blocks, margins], [kernels.arena(kind)])


def test_space_to_batch(kernels):
    op = "SPACE_TO_BATCH_ND"
    node = batches(kernels, op, (1, 4, 5, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [1, 0]]))
    kernels.assert_static(node, (6, 2, 2, 3))
    node = batches(kernels, op, (1, 4, 3), kernels.constant([2]), kernels.persistent([[1, 1]]))
    kernels.assert_static(node, (2, 3, 3))
    with pytest.raises(PrepareError, match="divide"):
        batches(kernels, op, (1, 4, 5, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [0, 0]]))


def test_batch_to_space(kernels):
    op = "BATCH_TO_SPACE_ND"
    node = batches(kernels, op, (6, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [1, 0]]))
    kernels.assert_static(node, (1, 4, 5, 3))
    with pytest.raises(PrepareError, match="divide"):
        batches(kernels, op, (5, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [0, 0]]))
    with pytest.raises(PrepareError, match="negative"):
        batches(kernels, op, (6, 2, 2, 3), kernels.constant([2, 3]), kernels.constant([[0, 0], [-1, 0]]))


@pytest.mark.parametrize("op", ["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"])
def test_batches_unknown_block_or_margins(kernels, op):
    blocks, margins = kernels.constant([2, 2]), kernels.constant([[0, 0], [0, 0]])
    source = (4, 4, 4, 1)
    kernels.assert_dynamic(batches(kernels, op, source, kernels.arena("INT32", 2), margins), cause=1)
    kernels.assert_dynamic(batches(kernels, op, source, kernels.arena("INT32", 2), None), cause=1)
    kernels.assert_dynamic(batches(kernels, op, source, blocks, kernels.arena("INT32", 2, 2)), cause=2)
    with pytest.raises(PrepareError, match="missing"):
        batches(kernels, op, source, blocks, None)


@pytest.mark.parametrize("op", ["SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"])
def test_batches_refuses(kernels, op):
    blocks, margins = kernels.constant([2, 2]), kernels.constant([[0, 0], [0, 0]])
    with pytest.raises(PrepareError, match="neither"):
        batches(kernels, op, (4, 4), blocks, margins)
    with pytest.raises(PrepareError, match="shape"):
        batches(kernels, op, (4, 4, 1), blocks, margins)
    with pytest.raises(PrepareError, match="empty"):
        batches(kernels, op, (4, 4, 4, 1), kernels.constant([2, 0]), margins)
    source, result = kernels.arena("INT8", 4, 4, 4, 1, scale=0.5), kernels.arena("INT8", scale=0.25)
    with pytest.raises(PrepareError, match="scales"):
        kernels.prepare(op, [source, blocks, margins], [result])


def test_block_shape_is_read_as_int32_whatever_its_type(kernels):
    margins = kernels.constant([[0, 0], [0, 0]])
    with pytest.raises(PrepareError, match="empty"):
        batches(kernels, "SPACE_TO_BATCH_ND", (1, 4, 4, 1), kernels.constant([2, 2], "INT64"), margins)
