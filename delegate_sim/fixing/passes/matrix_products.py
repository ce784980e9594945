"""Rewrite a BATCH_MATMUL as one FULLY_CONNECTED for each matrix."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...foundation.late_numpy import np
from ...foundation.limits import element_count
from ...model.model import Node, Tensor
from ..pass_workspace import Work, WorkCount
from .base import Exactness, Pass, node_pass

if TYPE_CHECKING:
    import numpy.typing as npt

MOST_MATRICES = 128
"""Largest number of matrices of an operand, and of the result."""


def _matrix(read: WorkCount, sizes: tuple[int, int, int], place: int, is_transposed: bool) -> npt.NDArray[Any]:
    matrix: npt.NDArray[Any] = read().reshape(sizes)[place]
    return np.ascontiguousarray(matrix.T) if is_transposed else matrix


def _parts(work: Work, tensor: Tensor, is_transposed: bool) -> tuple[list[Node], list[int]]:
    rows, columns = tensor.shape[-2:]
    count = element_count(tensor.shape[:-2])
    sizes = (count, rows, columns)
    shape = (columns, rows) if is_transposed else (rows, columns)
    if tensor.is_constant:
        read = work.later(tensor)
        return [], [
            work.computed(
                f"{tensor.name}/matrix_{place}", "FLOAT32", shape, functools.partial(_matrix, read, sizes, place, is_transposed)
            )
            for place in range(min(count, MOST_MATRICES))
        ]
    nodes = []
    source = tensor.index
    if is_transposed:
        flat, turned = work.result(tensor, "matrices", sizes), work.result(tensor, "transposed", (count, *shape))
        order = work.constant(f"{tensor.name}/order", "INT32", [0, 2, 1])
        nodes = [work.reshape(source, flat), work.node("TRANSPOSE", [flat, order], [turned])]
        source = turned
    joined = work.result(tensor, "rows", (count * shape[0], shape[1]))
    nodes.append(work.reshape(source, joined))
    if count == 1:
        return nodes, [joined]
    parts = [work.result(tensor, f"matrix_{place}", shape) for place in range(min(count, MOST_MATRICES))]
    axis = work.constant(f"{tensor.name}/axis", "INT32", 0)
    return [*nodes, work.node("SPLIT", [axis, joined], parts, num_splits=count)], parts


def _by_matrix(work: Work, node: Node) -> Sequence[Node] | None:
    options, target = work.options(node), work.output(node)
    operands = work.input(node, 0), work.input(node, 1)
    if {tensor.type for tensor in (*operands, target)} != {"FLOAT32"} or work.is_open(*operands, target):
        return None
    if min(tensor.rank for tensor in (*operands, target)) < 2 or not target.element_count:
        return None
    if all(tensor.is_constant for tensor in operands):
        return None
    if any(tensor.is_constant and not work.has_elements(tensor) for tensor in operands):
        return None
    batches = [tensor.shape[:-2] for tensor in (*operands, target)]
    counts = [element_count(batch) for batch in batches]
    if max(counts) > MOST_MATRICES or (operands[1].is_constant and counts[1] == 1 and not options.adj_x):
        return None  # one FULLY_CONNECTED for all rows is better for a single constant matrix
    turned = bool(options.adj_x), not options.adj_y
    (rows, depth), (units, own_depth) = [
        tensor.shape[-2:][::-1] if is_turned else tensor.shape[-2:] for tensor, is_turned in zip(operands, turned, strict=True)
    ]
    if depth != own_depth or target.shape[-2:] != (rows, units):
        return None
    places = [_places(batch, batches[2]) for batch in batches[:2]]
    if places[0] is None or places[1] is None:
        return None
    first, ones = _parts(work, operands[0], turned[0])
    second, others = _parts(work, operands[1], turned[1])
    nodes, results = [*first, *second], []
    for number, (one, other) in enumerate(zip(places[0], places[1], strict=True)):
        results.append(work.result(target, f"product_{number}", (rows, units)))
        nodes.append(work.node("FULLY_CONNECTED", [ones[one], others[other], -1], [results[-1]]))
    joined = results[0]
    if len(results) > 1:
        joined = work.result(target, "products", (counts[2] * rows, units))
        nodes.append(work.node("CONCATENATION", results, [joined], axis=0))
    return [*nodes, work.reshape(joined, target.index)]


def _places(batch: Sequence[int], whole: Sequence[int]) -> list[int] | None:
    padded = (1,) * (len(whole) - len(batch)) + tuple(batch)
    if len(padded) != len(whole) or any(own not in (1, size) for own, size in zip(padded, whole, strict=True)):
        return None
    places = [0]
    for own, size in zip(padded, whole, strict=True):
        steps = [index if own > 1 else 0 for index in range(min(size, MOST_MATRICES))]
        places = [place * own + step for place in places for step in steps]
    return places


PASSES: tuple[Pass, ...] = (node_pass("matrix-product-unfolded", "BATCH_MATMUL", Exactness.ROUNDING, _by_matrix),)
