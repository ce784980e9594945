"""Rewrite nodes whose first dimensions ML Drift misreads as nodes with a batch of 1.

ML Drift takes the first dimension of every tensor as the batch. A node of rank 1 to 3 then gets other numbers than on the CPU.
With sizes of 1 in front, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundation.late_numpy import np
from ...model.model import Node
from ..pass_workspace import Work
from .base import Exactness, Pass, cure, node_pass
from .ranks import lowered
from .slices import MOST

BROADCASTING = """
ADD ATAN2 DIV EQUAL FLOOR_DIV FLOOR_MOD GREATER GREATER_EQUAL LESS LESS_EQUAL LOGICAL_AND LOGICAL_OR MAXIMUM MINIMUM MUL
NOT_EQUAL POW SQUARED_DIFFERENCE SUB
"""

_MOST_CHANNELS = 4096
"""The largest number of slopes in a constant."""


def _as_image(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1, 1, 1, 1)[len(shape) :], *shape)


def _is_known(work: Work, node: Node) -> bool:
    tensors = [work.tensor(index) for index in (*node.inputs, *node.outputs) if index >= 0]
    return not work.is_open(*tensors) and all(tensor.rank <= MOST for tensor in tensors)


def _with_constant(work: Work, node: Node) -> Sequence[Node] | None:
    constants = [work.tensor(index).is_constant for index in node.inputs]
    if sorted(constants) != [False, True] or not _is_known(work, node):
        return None
    position = constants.index(False)
    source, target = work.input(node, position), work.output(node)
    if source.rank == target.rank == MOST:
        return None
    operands = {position: _as_image(source.shape)}
    return lowered(work, node, operands, [_as_image(target.shape)], keeps_rank=True)


def _padding(work: Work, node: Node) -> Sequence[Node] | None:
    source, target, pads = work.input(node, 0), work.output(node), work.integers(work.input(node, 1))
    if source.rank != 3 or pads is None or pads.shape != (3, 2) or not _is_known(work, node):
        return None
    operands = {0: (1, *source.shape)}
    return lowered(work, node, operands, [(1, *target.shape)], {1: np.pad(pads, [(1, 0), (0, 0)])}, keeps_rank=True)


def _layer(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    if weights.rank != 2 or not weights.shape[1] or target.rank < 1 or not _is_known(work, node):
        return None
    rows, rest = divmod(source.element_count, weights.shape[1])
    if rest or source.shape == (rows, weights.shape[1]) or source.is_constant:
        return None
    return lowered(work, node, {0: (rows, weights.shape[1])}, [(rows, weights.shape[0])], keeps_rank=True, keep_num_dims=False)


def _layer_with_rows(work: Work, node: Node) -> Sequence[Node] | None:
    source, weights, target = work.input(node, 0), work.input(node, 1), work.output(node)
    is_matrix = weights.rank == 2 and target.rank == 2 and 2 <= source.rank < MOST and source.shape[-1] == weights.shape[1]
    if not is_matrix or source.is_constant or work.options(node).keep_num_dims or not _is_known(work, node):
        return None
    shape = source.shape if source.rank > target.rank else (1, *source.shape)
    result = (*shape[:-1], weights.shape[0])
    return lowered(work, node, {0: shape}, [result], keeps_rank=True, keep_num_dims=True)


def _axis_from_front(work: Work, node: Node) -> Sequence[Node] | None:
    source, axes = work.input(node, 0), work.integers(work.input(node, 1))
    if axes is None or axes.size != 1 or not -source.rank <= int(axes.reshape(-1)[0]) < 0:
        return None
    return lowered(work, node, {}, [], {1: int(axes.reshape(-1)[0]) + source.rank})


def _softmax(work: Work, node: Node) -> Sequence[Node] | None:
    source = work.input(node, 0)
    if source.rank != 1 or not _is_known(work, node):
        return None
    return lowered(work, node, {0: (1, *source.shape)}, [(1, *source.shape)], keeps_rank=True)


def _sums(work: Work, node: Node) -> Sequence[Node] | None:
    source, axes = work.input(node, 0), work.integers(work.input(node, 1))
    if not 1 <= source.rank < MOST or axes is None or axes.size != 1 or not _is_known(work, node):
        return None
    axis = int(axes.reshape(-1)[0]) % source.rank + MOST - source.rank
    shape = _as_image(source.shape)
    return lowered(work, node, {0: shape}, [shape], {1: axis}, keeps_rank=True)


def _ones(work: Work, node: Node) -> Sequence[Node] | None:
    indices, target = work.input(node, 0), work.output(node)
    is_last = work.options(node).axis in (-1, indices.rank)
    if indices.rank < 2 or not is_last or not _is_known(work, node):
        return None
    count = indices.element_count
    return lowered(work, node, {0: (count,)}, [(count, target.shape[-1])], keeps_rank=True, axis=-1)


def _slope(work: Work, node: Node) -> Sequence[Node] | None:
    source = work.input(node, 0)
    if source.type != "FLOAT32" or source.rank < 2 or source.shape[-1] > _MOST_CHANNELS or not _is_known(work, node):
        return None
    shape = (*(1, 1)[: source.rank - 2], source.shape[-1])
    alpha = work.options(node).alpha
    values = [alpha for _ in range(min(source.shape[-1], _MOST_CHANNELS))]
    slopes = work.constant(f"{work.output(node).name}/slopes", "FLOAT32", np.reshape(values, shape))
    return [work.node("PRELU", [source.index, slopes], node.outputs)]


PASSES: tuple[Pass, ...] = (
    cure("constant-operand-of-image", BROADCASTING, Exactness.EXACT, _with_constant),
    cure("padding-of-image", "MIRROR_PAD PAD PADV2", Exactness.EXACT, _padding),
    cure("layer-of-matrix", "FULLY_CONNECTED", Exactness.EXACT, _layer),
    node_pass("layer-with-rows", "FULLY_CONNECTED", Exactness.EXACT, _layer_with_rows),
    node_pass("axis-from-front", "CUMSUM", Exactness.EXACT, _axis_from_front),
    cure("softmax-of-row", "SOFTMAX", Exactness.EXACT, _softmax),
    cure("sums-of-image", "CUMSUM", Exactness.EXACT, _sums),
    cure("ones-of-vector", "ONE_HOT", Exactness.EXACT, _ones),
    cure("leaky-relu-as-prelu", "LEAKY_RELU", Exactness.ROUNDING, _slope),
)
"""The passes in the order in which the search tries them."""
