"""Rewrite operators that only move elements as other operators that only move elements."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...foundation.limits import element_count, is_above_limit
from ...model.model import Node, Tensor
from ..pass_workspace import Work
from .base import FINITE, IN_RANGE, Exactness, Pass, node_pass

_MOST_COPIES = 64
"""The largest number of copies to concatenate along a dimension."""


def _is_known(work: Work, node: Node) -> bool:
    return not work.is_open(*[work.tensor(index) for index in (*node.inputs, *node.outputs)])


def _as_reshape(work: Work, node: Node) -> Sequence[Node] | None:
    if not _is_known(work, node) or work.input(node, 0).is_constant:
        return None
    return [work.reshape(node.inputs[0], node.outputs[0])]


def _pack(work: Work, node: Node) -> Sequence[Node] | None:
    target = work.output(node)
    if not _is_known(work, node) or not node.inputs or not target.rank:
        return None
    axis = work.options(node).axis % target.rank
    shape = (*target.shape[:axis], 1, *target.shape[axis + 1 :])
    parts, nodes = [], []
    for number, index in enumerate(node.inputs):
        parts.append(work.result(target, f"part_{number}", shape))
        nodes.append(work.reshape(index, parts[-1]))
    return [*nodes, work.node("CONCATENATION", parts, node.outputs, axis=axis)]


def slices(
    work: Work, source: int, targets: Sequence[int], axis: int, sizes: Sequence[int], *, strided: bool, start: int = 0
) -> list[Node]:
    """Return nodes that cut consecutive slices of the given sizes along a dimension. The first slice begins at ``start``."""
    nodes = []
    shape = work.tensor(source).shape
    for target, size in zip(targets, sizes, strict=True):
        begin = np.zeros(len(shape), np.int64)
        begin[axis] = start
        extent = np.array(shape, np.int64)
        extent[axis] = size
        name = work.tensor(target).name
        first = work.constant(f"{name}/begin", "INT32", begin)
        if strided:
            last = work.constant(f"{name}/end", "INT32", begin + extent)
            ones = work.constant(f"{name}/strides", "INT32", np.ones(len(shape), np.int32))
            nodes.append(work.node("STRIDED_SLICE", [source, first, last, ones], [target]))
        else:
            nodes.append(work.node("SLICE", [source, first, work.constant(f"{name}/size", "INT32", extent)], [target]))
        start += size
    return nodes


def _unpack(work: Work, node: Node, *, as_split: bool) -> Sequence[Node] | None:
    source, name = work.input(node, 0), work.output(node).name
    if not _is_known(work, node) or not source.rank:
        return None
    axis = work.options(node).axis % source.rank
    shape = (*source.shape[:axis], 1, *source.shape[axis + 1 :])
    parts = [work.result(work.output(node, number), "kept", shape) for number in range(len(node.outputs))]
    if as_split:
        index = work.constant(f"{name}/axis", "INT32", axis)
        nodes = [work.node("SPLIT", [index, source.index], parts, num_splits=len(parts))]
    else:
        nodes = slices(work, source.index, parts, axis, [1] * len(parts), strided=True)
    return [*nodes, *[work.reshape(part, output) for part, output in zip(parts, node.outputs, strict=True)]]


def _split(work: Work, node: Node, *, strided: bool) -> Sequence[Node] | None:
    is_plain = node.op == "SPLIT"
    source = work.input(node, 1 if is_plain else 0).index
    axes = work.integers(work.input(node, 0 if is_plain else 2))
    rank = work.tensor(source).rank
    if source < 0 or axes is None or axes.size != 1 or not rank or not _is_known(work, node):
        return None
    axis = int(axes.reshape(-1)[0]) % rank
    if any(work.tensor(output).rank != rank for output in node.outputs):
        return None
    sizes = [work.tensor(output).shape[axis] for output in node.outputs]
    return slices(work, source, node.outputs, axis, sizes, strided=strided)


def _broadcast_shape(work: Work, node: Node) -> tuple[int, ...] | None:
    source, target = work.input(node, 0), work.output(node)
    if not _is_known(work, node) or source.is_constant or source.rank > target.rank or not target.rank:
        return None
    shape = (1,) * (target.rank - source.rank) + source.shape
    return shape if all(own in (1, size) for own, size in zip(shape, target.shape, strict=True)) else None


def _of_rank(work: Work, source: Tensor, shape: tuple[int, ...], nodes: list[Node]) -> int:
    if shape == source.shape:
        return source.index
    result = work.result(source, f"of_rank_{len(shape)}", shape)
    nodes.append(work.reshape(source.index, result))
    return result


def _broadcast_as_tile(work: Work, node: Node) -> Sequence[Node] | None:
    shape, target = _broadcast_shape(work, node), work.output(node)
    if shape is None:
        return None
    nodes: list[Node] = []
    operand = _of_rank(work, work.input(node, 0), shape, nodes)
    times = [size if own == 1 else 1 for own, size in zip(shape, target.shape, strict=True)]
    multiples = work.constant(f"{target.name}/multiples", "INT32", times)
    return [*nodes, work.node("TILE", [operand, multiples], node.outputs)]


def _broadcast_as_mul(work: Work, node: Node) -> Sequence[Node] | None:
    shape, target = _broadcast_shape(work, node), work.output(node)
    if shape is None or target.type != "FLOAT32":
        return None
    sizes = [size if own == 1 else 1 for own, size in zip(shape, target.shape, strict=True)]
    if is_above_limit(element_count(sizes)):
        return None
    # bounded: is_above_limit
    ones = work.computed(f"{target.name}/ones", target.type, sizes, lambda: np.ones(sizes, np.float32))
    return [work.node("MUL", [node.inputs[0], ones], node.outputs)]


def _broadcast_as_concatenation(work: Work, node: Node) -> Sequence[Node] | None:
    shape, target = _broadcast_shape(work, node), work.output(node)
    if shape is None or target.is_per_channel:
        return None
    nodes: list[Node] = []
    operand = _of_rank(work, work.input(node, 0), shape, nodes)
    axes = [axis for axis, (own, size) in enumerate(zip(shape, target.shape, strict=True)) if own != size]
    if not axes or any(target.shape[axis] > _MOST_COPIES for axis in axes):
        return None
    for axis in axes:
        shape = (*shape[:axis], target.shape[axis], *shape[axis + 1 :])
        result = target.index if axis == axes[-1] else work.result(target, f"along_{axis}", shape)
        # bounded: at most _MOST_COPIES
        nodes.append(work.node("CONCATENATION", [operand] * target.shape[axis], [result], axis=axis))
        operand = result
    return nodes


def _gather_without_batches(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a GATHER from one table that contains the rows of all batches.

    The position of a batch's first row is added to the indices of the batch.
    """
    source, indices, options = work.input(node, 0), work.input(node, 1), work.options(node)
    batches, axis = options.batch_dims, options.axis + (source.rank if options.axis < 0 else 0)
    batches += indices.rank if batches < 0 else 0
    if not batches or axis != batches or not _is_known(work, node) or indices.type != "INT32" or source.is_constant:
        return None
    if indices.shape[:batches] != source.shape[:batches] or not indices.element_count or source.is_per_channel:
        return None
    count, size, depth = element_count(source.shape[:batches]), source.shape[axis], element_count(source.shape[axis + 1 :])
    if is_above_limit(count):
        return None
    rows_per_batch = indices.element_count // count
    table, target = work.result(source, "rows", (count * size, depth)), work.output(node)
    rows, result = (
        work.result(indices, "rows", (count * rows_per_batch,)),
        work.result(target, "rows", (count * rows_per_batch, depth)),
    )
    nodes = [work.reshape(source.index, table)]
    operand = indices.index
    if count > 1:
        split, moved = (
            work.result(indices, "batches", (count, rows_per_batch)),
            work.result(indices, "moved", (count, rows_per_batch)),
        )
        # bounded: is_above_limit
        before = work.constant(f"{indices.name}/before", "INT32", np.arange(count, dtype=np.int64).reshape(-1, 1) * size)
        nodes += [work.reshape(operand, split), work.node("ADD", [split, before], [moved])]
        operand = moved
    nodes += [work.reshape(operand, rows), work.node("GATHER", [table, rows], [result], axis=0)]
    return [*nodes, work.reshape(result, target.index)]


PASSES: tuple[Pass, ...] = (
    node_pass("expand-dims-as-reshape", "EXPAND_DIMS", Exactness.EXACT, _as_reshape),
    node_pass("squeeze-as-reshape", "SQUEEZE", Exactness.EXACT, _as_reshape),
    node_pass("pack-as-concatenation", "PACK", Exactness.EXACT, _pack),
    node_pass("unpack-as-split", "UNPACK", Exactness.EXACT, functools.partial(_unpack, as_split=True)),
    node_pass("unpack-as-slices", "UNPACK", Exactness.EXACT, functools.partial(_unpack, as_split=False)),
    node_pass("split-as-slices", "SPLIT SPLIT_V", Exactness.EXACT, functools.partial(_split, strided=False)),
    node_pass("broadcast-as-tile", "BROADCAST_TO", Exactness.EXACT, _broadcast_as_tile),
    node_pass("broadcast-as-mul", "BROADCAST_TO", Exactness.EXACT, _broadcast_as_mul, FINITE),
    node_pass("broadcast-as-concatenation", "BROADCAST_TO", Exactness.EXACT, _broadcast_as_concatenation),
    node_pass("gather-without-batches", "GATHER", Exactness.EXACT, _gather_without_batches, IN_RANGE),
    node_pass("split-as-strided-slices", "SPLIT SPLIT_V", Exactness.EXACT, functools.partial(_split, strided=True)),
)
