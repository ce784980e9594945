"""Rewrite nodes as nodes with at most four dimensions, or with exactly four.

Of more than four dimensions, neighbors are joined. If there are fewer, dimensions of size 1 are added.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ...foundation.limits import element_count
from ...model.model import Node
from ..pass_workspace import Work
from .base import Exactness, NodeRewrite, Pass, node_pass
from .elementwise import axes_of
from .slices import (
    BROADCASTING,
    MOST,
    CutAxis,
    PaddedAxis,
    RoleAxis,
    SharedAxis,
    TiledAxis,
    around,
    cuts,
    joined,
    lowered,
    shared_axes,
    with_shape,
)

_ELEMENT_WISE = """
ABS ADD ATAN2 CAST CEIL COS DEQUANTIZE DIV ELU EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD GELU GREATER GREATER_EQUAL HARD_SWISH
LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC MAXIMUM MINIMUM MUL NEG NOT_EQUAL POW PRELU
QUANTIZE RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 ROUND RSQRT SELECT SELECT_V2 SIGN SIN SQRT SQUARE SQUARED_DIFFERENCE SUB TANH
"""
_SUMS = "MEAN REDUCE_PROD SUM"
_LIMITS = "REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN"

_Shape = tuple[int, ...]
_Axis = TypeVar("_Axis")


def _is_lowered(work: Work, node: Node) -> bool:
    tensors = [work.tensor(index) for index in (*node.inputs, *node.outputs)]
    return max(tensor.rank for tensor in tensors) > MOST and not work.is_open(*tensors) and min(node.inputs) >= 0


def _element_wise(work: Work, node: Node) -> Sequence[Node] | None:
    shape = work.output(node).shape
    operands = [work.tensor(index).shape for index in node.inputs]
    if node.op == "SELECT" and set(operands) != {shape}:
        return None
    return _with_shared_axes(work, node, shape, operands) or _with_broadcast_first(work, node, shape)


def _same_rank(work: Work, node: Node) -> Sequence[Node] | None:
    target = work.output(node)
    nodes: list[Node] = []
    inputs: list[int] = []
    for index in node.inputs:
        tensor = work.tensor(index)
        if not 1 < tensor.rank < target.rank <= MOST:
            inputs.append(index)
            continue
        shape = (1,) * (target.rank - tensor.rank) + tensor.shape
        operand = None if work.is_open(tensor, target) else with_shape(work, tensor, shape, nodes, keeps_rank=True)
        if operand is None:
            return None
        inputs.append(operand)
    return None if tuple(inputs) == node.inputs else [*nodes, node._replace(index=-1, inputs=tuple(inputs))]


def _with_broadcast_first(work: Work, node: Node, shape: _Shape) -> Sequence[Node] | None:
    target = work.output(node)
    nodes: list[Node] = []
    inputs: list[int] = []
    count = element_count(shape)
    for index in node.inputs:
        tensor = work.tensor(index)
        whole = (1,) * (len(shape) - tensor.rank) + tensor.shape
        fits = len(whole) == len(shape) and all(own in (1, size) for own, size in zip(whole, shape, strict=True))
        if tensor.is_constant or tensor.is_per_channel or target.is_per_channel or not fits:
            return None
        operand = index
        for axis, size in enumerate(shape):
            if whole[axis] == size:
                continue
            before, behind = element_count(whole[:axis]), element_count(whole[axis + 1 :])
            narrow, wide = (work.result(tensor, f"tile_{axis}", (before, times, behind)) for times in (1, size))
            multiples = work.constant(f"{tensor.name}/multiples", "INT32", (1, size, 1))
            nodes += [work.reshape(operand, narrow), work.node("TILE", [narrow, multiples], [wide])]
            operand, whole = wide, (*whole[:axis], size, *whole[axis + 1 :])
        flat = work.result(tensor, "flat", (count,))
        nodes.append(work.reshape(operand, flat))
        inputs.append(flat)
    flat = work.result(target, "flat", (count,))
    same = node._replace(index=-1, inputs=tuple(inputs), outputs=(flat,))
    return [*nodes, same, work.reshape(flat, target.index)]


def _with_shared_axes(
    work: Work, node: Node, shape: _Shape, operands: Sequence[_Shape], *, names_shape: bool = False
) -> Sequence[Node] | None:
    axes = shared_axes(shape, operands)
    joined_axes = None if axes is None else joined(axes, SharedAxis.joined)
    if joined_axes is None:
        return None
    forms = {position: [axis.of(position) for axis in joined_axes] for position in range(len(operands))}
    wide = [axis.size for axis in joined_axes]
    return lowered(work, node, forms, [wide], {1: wide} if names_shape else {})


def _broadcast_to(work: Work, node: Node) -> Sequence[Node] | None:
    return _with_shared_axes(work, node, work.output(node).shape, [work.input(node, 0).shape], names_shape=True)


def _reduction(work: Work, node: Node) -> Sequence[Node] | None:
    axes, source = axes_of(work, node), work.input(node, 0)
    if axes is None or source.rank <= MOST:
        return None
    roles = [RoleAxis(size, axis in axes) for axis, size in enumerate(source.shape)]
    joined_axes = joined(roles, RoleAxis.joined, RoleAxis.joined_if_single)
    if joined_axes is None:
        return _one_axis_at_a_time(work, node, axes)
    if not any(axis.role for axis in joined_axes):
        return None
    dims = [1 if axis.role else axis.size for axis in joined_axes]
    places = [place for place, axis in enumerate(joined_axes) if axis.role]
    return lowered(work, node, {0: [axis.size for axis in joined_axes]}, [dims], {1: places}, keep_dims=True)


def _one_axis_at_a_time(work: Work, node: Node, axes: Sequence[int]) -> Sequence[Node] | None:
    source, target = work.input(node, 0), work.output(node)
    if source.is_constant or (source.type != "FLOAT32" and node.op not in _LIMITS.split()):
        return None
    nodes: list[Node] = []
    shape, operand = list(source.shape), source.index
    for axis in axes:
        before, size, behind = element_count(shape[:axis]), shape[axis], element_count(shape[axis + 1 :])
        wide = work.result(source, f"around_{axis}", (before, size, behind))
        narrow = work.result(target, f"over_{axis}", (before, 1, behind))
        place = work.constant(f"{target.name}/axis_{axis}", "INT32", [1])
        reduced = work.editor.with_options(node._replace(index=-1, inputs=(wide, place), outputs=(narrow,)), keep_dims=True)
        nodes += [work.reshape(operand, wide), reduced]
        shape[axis], operand = 1, narrow
    return [*nodes, work.reshape(operand, target.index)]


def _arg_max(work: Work, node: Node) -> Sequence[Node] | None:
    axes, source = axes_of(work, node), work.input(node, 0)
    if axes is None or len(axes) != 1 or source.rank <= MOST:
        return None
    joined_shape = around(source.shape, axes[0])
    if joined_shape is None:
        return None
    shape, axis = joined_shape
    return lowered(work, node, {0: shape}, [(*shape[:axis], *shape[axis + 1 :])], {1: axis})


def _softmax(work: Work, node: Node) -> Sequence[Node] | None:
    shape = work.output(node).shape
    form = (element_count(shape[: 1 - MOST]), *shape[1 - MOST :])
    return lowered(work, node, {0: form}, [form])


def _concatenation(work: Work, node: Node) -> Sequence[Node] | None:
    target = work.output(node)
    joined_shape = around(target.shape, work.options(node).axis % target.rank) if target.rank else None
    if joined_shape is None or any(work.tensor(index).rank != target.rank for index in node.inputs):
        return None
    forms = {place: _resized(joined_shape, work.tensor(index).shape) for place, index in enumerate(node.inputs)}
    return lowered(work, node, forms, [joined_shape[0]], axis=joined_shape[1])


def _resized(joined_shape: tuple[_Shape, int], shape: _Shape) -> _Shape:
    """Return a joined shape with another size of its axis, so that it has as many elements as ``shape``."""
    sizes, axis = joined_shape
    others = element_count([size for place, size in enumerate(sizes) if place != axis])
    return (*sizes[:axis], element_count(shape) // max(others, 1), *sizes[axis + 1 :])


def _split(work: Work, node: Node) -> Sequence[Node] | None:
    place, axis_place = (1, 0) if node.op == "SPLIT" else (0, 2)
    source, values = work.input(node, place), work.integers(work.input(node, axis_place))
    if values is None or values.size != 1 or source.rank <= MOST:
        return None
    joined_shape = around(source.shape, int(values.reshape(-1)[0]) % source.rank)
    if joined_shape is None:
        return None
    results = [_resized(joined_shape, work.tensor(index).shape) for index in node.outputs]
    return lowered(work, node, {place: joined_shape[0]}, results, {axis_place: joined_shape[1]})


def _gather_of_flat_indices(work: Work, node: Node) -> Sequence[Node] | None:
    tensors = [work.tensor(index) for index in (*node.inputs, *node.outputs)]
    is_kept = work.input(node, 1).rank == 1 or work.is_open(*tensors) or min(node.inputs) < 0
    return None if is_kept else _gather_of_rows(work, node, keeps_rank=True)


def _gather_of_rows(work: Work, node: Node, *, keeps_rank: bool = False) -> Sequence[Node] | None:
    source, indices, options = work.input(node, 0), work.input(node, 1), work.options(node)
    if options.batch_dims or not source.rank:
        return None
    axis = options.axis % source.rank
    before, behind = [element_count(sizes) for sizes in (source.shape[:axis], source.shape[axis + 1 :])]
    first = () if before == 1 else (before,)
    count = indices.element_count
    operands = {0: (*first, source.shape[axis], behind), 1: (count,)}
    return lowered(work, node, operands, [(*first, count, behind)], keeps_rank=keeps_rank, axis=len(first))


def _slice(work: Work, node: Node) -> Sequence[Node] | None:
    axes = cuts(work, node)
    joined_axes = None if axes is None else joined(axes, CutAxis.joined, CutAxis.joined_with_inner)
    return None if joined_axes is None or work.input(node, 0).rank <= MOST else _cut(work, node, joined_axes)


def _cut(work: Work, node: Node, axes: Sequence[CutAxis]) -> Sequence[Node] | None:
    cut = [axis.taken for axis in axes]
    if element_count(cut) != work.output(node).element_count:
        return None
    starts = [axis.start for axis in axes]
    shapes = {0: [axis.size for axis in axes]}
    if node.op == "SLICE":
        return lowered(work, node, shapes, [cut], {1: starts, 2: cut}, keeps_rank=True)
    ends = [axis.start + (axis.taken - 1) * axis.stride + 1 for axis in axes]
    constants = {1: starts, 2: ends, 3: [axis.stride for axis in axes]}
    masks = dict.fromkeys(["begin_mask", "end_mask", "shrink_axis_mask", "ellipsis_mask", "new_axis_mask"], 0)
    return lowered(work, node, shapes, [cut], constants, keeps_rank=True, **masks)


def _slice_of_rank_4(work: Work, node: Node) -> Sequence[Node] | None:
    source, target = work.input(node, 0), work.output(node)
    if not 0 < source.rank < MOST or work.is_open(source, target) or min(node.inputs) < 0:
        return None
    axes = cuts(work, node)
    return None if axes is None else _cut(work, node, _as_image(axes, CutAxis(1, 0, 1, 1)))


def _select_of_rank_4(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a selection of elements with two or three dimensions as one with four dimensions.

    Scalars keep their rank. A condition of SELECT_V2 with a first dimension of size 1 keeps its rank too: it broadcasts, and the
    RESHAPE of GPU delegates rejects BOOL.
    """
    operands = [work.tensor(index) for index in node.inputs]
    target = work.output(node)
    if not 1 < target.rank < MOST or work.is_open(*operands, target) or min(node.inputs) < 0:
        return None
    if node.op == "SELECT" and {operand.shape for operand in operands} != {target.shape}:
        return None
    shapes = {}
    for place, operand in enumerate(operands):
        if operand.rank > target.rank:
            return None
        if operand.rank and not (node.op == "SELECT_V2" and place == 0 and operand.rank == target.rank and operand.shape[0] == 1):
            shapes[place] = _as_image((1,) * (target.rank - operand.rank) + operand.shape, 1)
    return lowered(work, node, shapes, [_as_image(target.shape, 1)], keeps_rank=True)


def _concatenation_of_rank_4(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a CONCATENATION with constants of two or three dimensions, such as a class token, as one with four dimensions."""
    operands = [work.tensor(index) for index in node.inputs]
    target = work.output(node)
    if not 1 < target.rank < MOST or work.is_open(*operands, target) or not any(operand.is_constant for operand in operands):
        return None
    axis = work.options(node).axis
    if any(operand.rank != target.rank for operand in operands) or not -target.rank <= axis < target.rank:
        return None
    axis %= target.rank
    shapes = {place: _as_image(operand.shape, 1) for place, operand in enumerate(operands)}
    moved = axis + MOST - target.rank if axis else 0
    return lowered(work, node, shapes, [_as_image(target.shape, 1)], keeps_rank=True, axis=moved)


def _as_image(axes: Sequence[_Axis], single: _Axis) -> list[_Axis]:
    """Return dimensions with dimensions of size 1, ``single``, after the first. GPU delegates arrange dimensions in this way."""
    return [axes[0], *[single] * (MOST - len(axes)), *axes[1:]]


def _pad(work: Work, node: Node) -> Sequence[Node] | None:
    source, values = work.input(node, 0), work.integers(work.input(node, 1))
    if values is None or values.shape != (source.rank, 2) or (values < 0).any():
        return None
    axes = [PaddedAxis(size, int(before), int(behind)) for size, (before, behind) in zip(source.shape, values, strict=True)]
    ways = [PaddedAxis.joined] if node.op == "MIRROR_PAD" else [PaddedAxis.joined, PaddedAxis.joined_with_inner]
    joined_axes = joined(axes, *ways)
    if joined_axes is None:
        return None
    sums = [sum(axis) for axis in joined_axes]
    return lowered(work, node, {0: [axis.size for axis in joined_axes]}, [sums], {1: [axis[1:] for axis in joined_axes]})


def _tile(work: Work, node: Node) -> Sequence[Node] | None:
    source, values = work.input(node, 0), work.integers(work.input(node, 1))
    if values is None or values.shape != (source.rank,):
        return None
    axes = [TiledAxis(size, int(multiple)) for size, multiple in zip(source.shape, values, strict=True)]
    joined_axes = joined(axes, TiledAxis.joined)
    if joined_axes is None:
        return None
    sizes, multiples = [list(numbers) for numbers in zip(*joined_axes, strict=True)]
    result = [size * multiple for size, multiple in zip(sizes, multiples, strict=True)]
    return lowered(work, node, {0: sizes}, [result], {1: multiples})


def _batch_matmul(work: Work, node: Node) -> Sequence[Node] | None:
    target = work.output(node)
    shapes = [work.tensor(index).shape for index in node.inputs]
    if min(map(len, shapes)) < 2:
        return None
    axes = shared_axes(target.shape[:-2], [shape[:-2] for shape in shapes])
    joined_axes = None if axes is None else joined(axes, SharedAxis.joined, most=MOST - 2)
    if joined_axes is None:
        return None
    forms = {place: [*[axis.of(place) for axis in joined_axes], *shape[-2:]] for place, shape in enumerate(shapes)}
    return lowered(work, node, forms, [[*[axis.size for axis in joined_axes], *target.shape[-2:]]])


def _transpose(work: Work, node: Node) -> Sequence[Node] | None:
    """Return a TRANSPOSE with at most four dimensions. If one TRANSPOSE does not suffice, return several.

    Dimensions that stay neighbors are joined, and dimensions of size 1 are removed. If there are several TRANSPOSEs, each moves
    one group of dimensions to its final place.
    """
    source, order = work.input(node, 0), work.integers(work.input(node, 1))
    if order is None or order.size != source.rank or source.is_constant:
        return None
    if work.input(node, 1).type != "INT32":  # the kernel reads the order as INT32
        return None
    shape = source.shape
    goal = tuple([axis for axis in (order.reshape(-1) % source.rank).tolist() if shape[axis] != 1])
    now = tuple(sorted(goal))
    nodes: list[Node] = []
    operand = source.index
    while now != goal:
        groups = _next_order(now, goal)
        ordered = sorted(groups, key=lambda group: now.index(group[0]))
        sizes = [element_count([shape[axis] for axis in group]) for group in ordered]
        steps = [ordered.index(group) for group in groups]
        first = work.result(source, "joined", sizes)
        last = work.result(work.output(node), "joined", [sizes[step] for step in steps])
        permutation = work.constant(f"{work.output(node).name}/order", "INT32", steps)
        nodes += [work.reshape(operand, first), work.node("TRANSPOSE", [first, permutation], [last])]
        operand = last
        now = tuple(itertools.chain(*groups))
    return [*nodes, work.reshape(operand, node.outputs[0])]


def _next_order(now: _Shape, goal: _Shape) -> list[_Shape]:
    """Return the order of dimensions after the next TRANSPOSE towards ``goal``.

    The order is split into at most four groups of neighboring dimensions.
    """
    following = dict(itertools.pairwise(now))
    groups: list[_Shape] = []
    for axis in goal:
        if groups and following.get(groups[-1][-1]) == axis:
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    if len(groups) <= MOST:
        return groups
    head = groups[:1] if groups[0][0] == now[0] else []
    brought = groups[len(head)]
    start, first = now.index(brought[0]), sum(map(len, head))
    rest = [now[first:start], now[start + len(brought) :]]
    return [*head, brought, *[group for group in rest if group]]


_MOVES: Mapping[str, NodeRewrite] = {
    "BROADCAST_TO": _broadcast_to,
    "CONCATENATION": _concatenation,
    "GATHER": _gather_of_rows,
    "MIRROR_PAD": _pad,
    "PAD": _pad,
    "PADV2": _pad,
    "SLICE": _slice,
    "SPLIT": _split,
    "SPLIT_V": _split,
    "STRIDED_SLICE": _slice,
    "TILE": _tile,
}
_ROWS: Mapping[str, NodeRewrite] = {
    "ARG_MAX": _arg_max,
    "ARG_MIN": _arg_max,
    "BATCH_MATMUL": _batch_matmul,
    "LOG_SOFTMAX": _softmax,
    "SOFTMAX": _softmax,
}

_RAISED: Mapping[str, NodeRewrite] = {
    "CONCATENATION": _concatenation_of_rank_4,
    "SELECT": _select_of_rank_4,
    "SELECT_V2": _select_of_rank_4,
    "SLICE": _slice_of_rank_4,
    "STRIDED_SLICE": _slice_of_rank_4,
}


_lowered_pass = functools.partial(node_pass, requires=_is_lowered)

PASSES: tuple[Pass, ...] = (
    _lowered_pass("transpose-of-lower-rank", "TRANSPOSE", Exactness.EXACT, _transpose),
    node_pass("operands-of-same-rank", BROADCASTING, Exactness.EXACT, _same_rank),
    node_pass("raised-to-rank-4", " ".join(_RAISED), Exactness.EXACT, lambda work, node: _RAISED[node.op](work, node)),
    _lowered_pass("element-wise-of-rank-4", _ELEMENT_WISE, Exactness.EXACT, _element_wise),
    _lowered_pass("move-of-rank-4", " ".join(_MOVES), Exactness.EXACT, lambda work, node: _MOVES[node.op](work, node)),
    _lowered_pass("limit-of-rank-4", _LIMITS, Exactness.EXACT, _reduction),
    _lowered_pass("sum-of-rank-4", _SUMS, Exactness.ROUNDING, _reduction),
    _lowered_pass("rows-of-rank-4", " ".join(_ROWS), Exactness.EXACT, lambda work, node: _ROWS[node.op](work, node)),
    node_pass("gather-of-flat-indices", "GATHER", Exactness.EXACT, _gather_of_flat_indices),
)
