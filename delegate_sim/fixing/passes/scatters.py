"""Rewrite STABLEHLO_SCATTER, which replaces one slice of a tensor, with simpler operators.

PyTorch's ``index_copy`` and ``index_put`` become STABLEHLO_SCATTER, for example where a language model writes into its caches.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ...model.model import Node, Tensor
from ..pass_workspace import Work
from .base import IN_RANGE, Exactness, Pass
from .elementwise import _pass
from .shapes import slices

if TYPE_CHECKING:
    import numpy.typing as npt

_OP = "STABLEHLO_SCATTER"


@dataclass(frozen=True, slots=True)
class _Window:
    """The slice that a scatter replaces."""

    sizes: tuple[int, ...]
    starts: tuple[int, ...] | None
    """The first position along each dimension; None if the positions are not constants."""
    scattered: tuple[int, ...]
    """The dimensions whose first positions are in the indices, in the order of the indices."""
    order: tuple[int, ...]
    """The dimensions of the updates, in the order of the tensor's dimensions."""


def _window(work: Work, node: Node) -> _Window | None:
    """Return the slice that a scatter replaces, or None if the positions may form several slices."""
    source, indices, updates, target = work.input(node, 0), work.input(node, 1), work.input(node, 2), work.output(node)
    if work.is_open(source, indices, updates, target) or not updates.element_count or not _replaces(work, node):
        return None
    if not source.type == updates.type == target.type or source.shape != target.shape or indices.type not in ("INT32", "INT64"):
        return None
    options, rank = work.options(node), source.rank
    if max(rank, indices.rank, updates.rank) > MOST_ARRAY_DIMENSIONS:
        return None
    window, inserted, scattered = [
        tuple(map(int, dims))
        for dims in (options.update_window_dims, options.inserted_window_dims, options.scatter_dims_to_operand_dims)
    ]
    kept = [axis for axis in range(rank) if axis not in inserted]
    batches = [axis for axis in range(updates.rank) if axis not in window]
    axis = int(options.index_vector_dim)
    is_plain = (
        _are_rising(window, updates.rank)
        and _are_rising(inserted, rank)
        and len(window) == len(kept)
        and len(set(scattered)) == len(scattered)
        and all(0 <= place < rank for place in scattered)
        and 0 <= axis <= indices.rank
    )
    if not is_plain:
        return None
    vectors = (*indices.shape, 1) if axis == indices.rank else indices.shape
    if vectors[axis] != len(scattered) or tuple(np.delete(vectors, axis)) != tuple([updates.shape[batch] for batch in batches]):
        return None
    sizes = [1] * rank
    for own, place in zip(kept, window, strict=True):
        sizes[own] = updates.shape[place]
    positions = work.integers(indices)
    rows = None if positions is None else np.moveaxis(positions.reshape(vectors), axis, -1).reshape(-1, len(scattered))
    places = {place: own for own, place in zip(kept, window, strict=True)}
    long = [batch for batch in batches if updates.shape[batch] != 1]
    if long:
        moving = _moving(rows)
        if len(long) > 1 or moving is None or sizes[scattered[moving]] != 1:
            return None
        sizes[scattered[moving]] = updates.shape[long[0]]
        places[long[0]] = scattered[moving]
    starts = None
    if rows is not None:
        first = [0] * rank
        for place, start in zip(scattered, rows[0].tolist(), strict=True):
            first[place] = start
        starts = tuple(first)
    if any(size > most for size, most in zip(sizes, source.shape, strict=True)) or not _is_inside(starts, sizes, source):
        return None
    order = sorted(range(updates.rank), key=lambda place: places.get(place, -1))
    return _Window(tuple(sizes), starts, scattered, tuple(order))


def _replaces(work: Work, node: Node) -> bool:
    """Return whether a scatter replaces elements, instead of adding to them, for example."""
    index = work.options(node).update_computation_subgraph_index
    if not 0 <= index < len(work.model.subgraphs):
        return False
    computation = work.model.subgraphs[index]
    return not computation.nodes and len(computation.inputs) == 2 and tuple(computation.outputs) == (computation.inputs[1],)


def _are_rising(axes: Sequence[int], rank: int) -> bool:
    return list(axes) == sorted(set(axes)) and all(0 <= axis < rank for axis in axes)


def _moving(rows: npt.NDArray[Any] | None) -> int | None:
    """Return the only column of ``rows`` that counts up by one; all other columns must be constant. Otherwise return None."""
    if rows is None:
        return None
    steps = np.diff(rows.astype(np.int64), axis=0)
    moving = [column for column, own in enumerate(steps.T) if own.any()]
    return moving[0] if len(moving) == 1 and (steps[:, moving[0]] == 1).all() else None


def _is_inside(starts: Sequence[int] | None, sizes: Sequence[int], source: Tensor) -> bool:
    numbers = zip(starts or (), sizes, source.shape, strict=False)
    return all(0 <= start <= start + size <= most for start, size, most in numbers)


def _update(work: Work, node: Node, window: _Window, nodes: list[Node]) -> int:
    """Return the updates with the sizes of the slice. Append the nodes that this needs."""
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
    """Return the first positions along all dimensions as a vector. Append the nodes that this needs."""
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
    """Return a CONCATENATION of the elements before the slice, the updates and the elements after the slice."""
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
    sizes = [start, end - start, most - end]
    outer = [work.result(source, label, (*source.shape[:axis], size, *source.shape[axis + 1 :])) for label, size in
             (("before", sizes[0]), ("after", sizes[2])) if size]  # fmt: skip
    if start:
        nodes += slices(work, source.index, outer[:1], axis, sizes[:1], strided=False)
    if sizes[2]:
        nodes += slices(work, source.index, outer[-1:], axis, sizes[2:], strided=False, start=end)
    parts = [*(outer[:1] if start else ()), update, *(outer[-1:] if sizes[2] else ())]
    return [*nodes, work.node("CONCATENATION", parts, node.outputs, axis=axis)]


_NEEDS = "a known shape, updates that replace elements (no sum, for example), and positions that form one slice"

PASSES: tuple[Pass, ...] = (
    _pass(
        "scatter-as-update-slice",
        _OP,
        "DYNAMIC_UPDATE_SLICE",
        f"{_NEEDS}: a single position, or constant consecutive positions along one dimension",
        Exactness.EXACT,
        _as_update_slice,
        IN_RANGE,
    ),
    _pass(
        "scatter-as-concatenation",
        _OP,
        "CONCATENATION of the SLICE before, the updates and the SLICE after",
        f"{_NEEDS}: constant consecutive positions, and all elements along all other dimensions",
        Exactness.EXACT,
        _as_concatenation,
    ),
)
