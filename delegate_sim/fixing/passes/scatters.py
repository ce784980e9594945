"""Rewrite STABLEHLO_SCATTER as simpler operators, if the scatter replaces one slice of a tensor.

The converter writes PyTorch's ``index_copy`` and ``index_put`` as STABLEHLO_SCATTER. Language models use these functions to
write into their caches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ...model.model import Node, Tensor
from ..pass_workspace import Work
from .base import IN_RANGE, Exactness, Pass, node_pass
from .shapes import slices

if TYPE_CHECKING:
    import numpy.typing as npt

_OP = "STABLEHLO_SCATTER"


@dataclass(frozen=True, slots=True)
class _Window:
    sizes: tuple[int, ...]
    starts: tuple[int, ...] | None
    """The slice's first position along each dimension. None if the positions are not constants."""
    scattered: tuple[int, ...]
    """The dimensions whose first position is in the indices, in the order of the indices."""
    order: tuple[int, ...]
    """The dimensions of the updates, in the order of the tensor's dimensions."""


@dataclass(frozen=True, slots=True)
class _Dimensions:
    kept: dict[int, int]
    """For each window dimension of the updates, the dimension of the tensor."""
    batches: tuple[int, ...]
    """The dimensions of the updates that correspond to index vectors."""
    scattered: tuple[int, ...]
    """The dimensions of the tensor for which an index vector has positions."""
    vectors: tuple[int, ...]
    """The shape of the indices. One dimension has the numbers of an index vector."""
    axis: int
    """The dimension of ``vectors`` that has the numbers of an index vector."""


def _dimensions(work: Work, node: Node) -> _Dimensions | None:
    source, indices, updates = [work.input(node, position) for position in range(3)]
    options, rank = work.options(node), source.rank
    window, inserted, scattered = [
        tuple(map(int, dims))
        for dims in (options.update_window_dims, options.inserted_window_dims, options.scatter_dims_to_operand_dims)
    ]
    kept = [axis for axis in range(rank) if axis not in inserted]
    axis = int(options.index_vector_dim)
    is_valid = (
        _are_rising(window, updates.rank)
        and _are_rising(inserted, rank)
        and len(window) == len(kept)
        and len(set(scattered)) == len(scattered)
        and all(0 <= place < rank for place in scattered)
        and 0 <= axis <= indices.rank
    )
    if not is_valid:
        return None
    batches = tuple([place for place in range(updates.rank) if place not in window])
    vectors = (*indices.shape, 1) if axis == indices.rank else indices.shape
    if vectors[axis] != len(scattered) or (*vectors[:axis], *vectors[axis + 1 :]) != tuple([updates.shape[b] for b in batches]):
        return None
    return _Dimensions(dict(zip(window, kept, strict=True)), batches, scattered, vectors, axis)


def _window(work: Work, node: Node) -> _Window | None:
    """Return the slice that a scatter replaces. Return None if the positions may form several slices."""
    source, indices, updates, target = work.input(node, 0), work.input(node, 1), work.input(node, 2), work.output(node)
    if work.is_open(source, indices, updates, target) or not updates.element_count or not _replaces(work, node):
        return None
    if not source.type == updates.type == target.type or source.shape != target.shape or indices.type not in ("INT32", "INT64"):
        return None
    if max(source.rank, indices.rank, updates.rank) > MOST_ARRAY_DIMENSIONS:
        return None
    dimensions = _dimensions(work, node)
    if dimensions is None:
        return None
    scattered, places = dimensions.scattered, dict(dimensions.kept)
    sizes = [1] * source.rank
    for place, own in places.items():
        sizes[own] = updates.shape[place]
    positions = work.integers(indices)
    rows = None
    if positions is not None:
        rows = np.moveaxis(positions.reshape(dimensions.vectors), dimensions.axis, -1).reshape(-1, len(scattered))
    long = [place for place in dimensions.batches if updates.shape[place] != 1]
    if long:
        moving = _moving(rows)
        if len(long) > 1 or moving is None or sizes[scattered[moving]] != 1:
            return None
        sizes[scattered[moving]] = updates.shape[long[0]]
        places[long[0]] = scattered[moving]
    starts = None
    if rows is not None:
        first = dict(zip(scattered, rows[0].tolist(), strict=True))
        starts = tuple([first.get(own, 0) for own in range(source.rank)])
    if any(size > most for size, most in zip(sizes, source.shape, strict=True)) or not _is_inside(starts, sizes, source):
        return None
    order = sorted(range(updates.rank), key=lambda place: places.get(place, -1))
    return _Window(tuple(sizes), starts, scattered, tuple(order))


def _replaces(work: Work, node: Node) -> bool:
    index = work.options(node).update_computation_subgraph_index
    if not 0 <= index < len(work.model.subgraphs):
        return False
    computation = work.model.subgraphs[index]
    return not computation.nodes and len(computation.inputs) == 2 and tuple(computation.outputs) == (computation.inputs[1],)


def _are_rising(axes: Sequence[int], rank: int) -> bool:
    return list(axes) == sorted(set(axes)) and all(0 <= axis < rank for axis in axes)


def _moving(rows: npt.NDArray[Any] | None) -> int | None:
    """Return the only column of ``rows`` that is not constant, if it counts up by one. Otherwise, return None."""
    if rows is None:
        return None
    steps = np.diff(rows.astype(np.int64), axis=0)
    moving = [column for column, own in enumerate(steps.T) if own.any()]
    return moving[0] if len(moving) == 1 and (steps[:, moving[0]] == 1).all() else None


def _is_inside(starts: Sequence[int] | None, sizes: Sequence[int], source: Tensor) -> bool:
    numbers = zip(starts or (), sizes, source.shape, strict=False)
    return all(0 <= start <= start + size <= most for start, size, most in numbers)


def _update(work: Work, node: Node, window: _Window, nodes: list[Node]) -> int:
    updates = work.input(node, 2)
    moved = [place for place in window.order if updates.shape[place] != 1]
    operand = updates.index
    if moved != sorted(moved):
        order = work.constant(f"{updates.name}/order", "INT32", window.order)
        operand = work.result(updates, "in_order", [updates.shape[place] for place in window.order])
        nodes.append(work.node("TRANSPOSE", [updates.index, order], [operand]))
    if work.tensor(operand).shape == window.sizes:
        return operand
    result = work.result(updates, "slice", window.sizes)
    nodes.append(work.reshape(operand, result))
    return result


def _starts(work: Work, node: Node, window: _Window, nodes: list[Node]) -> int:
    indices, rank = work.input(node, 1), len(window.sizes)
    if window.starts is not None:
        return work.constant(f"{indices.name}/starts", indices.type, window.starts)
    count = len(window.scattered)
    vector = indices.index
    if indices.shape != (count,):
        vector = work.result(indices, "vector", (count,))
        nodes.append(work.reshape(indices.index, vector))
    first = window.scattered[0]
    if all(after == before + 1 for before, after in itertools.pairwise(window.scattered)):
        groups = [(first, count, vector)]
    else:
        singles = [work.result(indices, f"position_{place}", (1,)) for place in window.scattered]
        nodes += slices(work, vector, singles, 0, [1 for _ in singles], strided=False)
        groups = sorted([(place, 1, single) for place, single in zip(window.scattered, singles, strict=True)])
    parts, end = [], 0
    for place, size, part in [*groups, (rank, 0, -1)]:
        if place > end:
            zeros = [0 for _ in window.sizes[end:place]]
            parts.append(work.constant(f"{indices.name}/zeros_{end}", indices.type, zeros))
        parts += [part] if size else []
        end = place + size
    if len(parts) == 1:
        return parts[0]
    result = work.result(indices, "starts", (rank,))
    nodes.append(work.node("CONCATENATION", parts, [result], axis=0))
    return result


def _as_update_slice(work: Work, node: Node) -> Sequence[Node] | None:
    window = _window(work, node)
    if window is None or not window.scattered:
        return None
    nodes: list[Node] = []
    operands = [node.inputs[0], _update(work, node, window, nodes), _starts(work, node, window, nodes)]
    return [*nodes, work.node("DYNAMIC_UPDATE_SLICE", operands, node.outputs)]


def _as_concatenation(work: Work, node: Node) -> Sequence[Node] | None:
    window, source = _window(work, node), work.input(node, 0)
    if window is None or window.starts is None or source.is_per_channel:
        return None
    cut = [axis for axis, (size, most) in enumerate(zip(window.sizes, source.shape, strict=True)) if size != most]
    if len(cut) != 1:
        return None
    (axis,) = cut
    nodes: list[Node] = []
    update = _update(work, node, window, nodes)
    start, end, most = window.starts[axis], window.starts[axis] + window.sizes[axis], source.shape[axis]
    parts = []
    if start:
        parts.append(work.result(source, "before", (*source.shape[:axis], start, *source.shape[axis + 1 :])))
        nodes += slices(work, source.index, parts, axis, [start], strided=False)
    parts.append(update)
    if end < most:
        parts.append(work.result(source, "after", (*source.shape[:axis], most - end, *source.shape[axis + 1 :])))
        nodes += slices(work, source.index, parts[-1:], axis, [most - end], strided=False, start=end)
    return [*nodes, work.node("CONCATENATION", parts, node.outputs, axis=axis)]


PASSES: tuple[Pass, ...] = (
    node_pass("scatter-as-update-slice", _OP, Exactness.EXACT, _as_update_slice, IN_RANGE),
    node_pass("scatter-as-concatenation", _OP, Exactness.EXACT, _as_concatenation),
)
