"""Wrong numbers of operators that work along one axis, and of operators that move elements."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ..rules.checks import integers
from ..shapes import axes_of, bhwc
from .rule import Affected, GraphPart, number_rule, vector

_LANES = 4
"""The number of channels that a kernel reads at once."""


def _has_incomplete_lanes(tensor: Tensor) -> bool:
    return tensor.rank > 0 and tensor.shape[-1] % _LANES != 0


def _axis(node: NodeView, tensor: Tensor) -> int | None:
    axes = integers(node, 1)
    return axes[0] % tensor.rank if axes and tensor.rank else None


def _is_only_batch(tensor: Tensor, axis: int) -> bool:
    return tensor.rank == 4 and axis == 0 and tensor.shape[0] == 1


def _unordered(node: NodeView, part: GraphPart) -> Affected | None:
    source, options = node.input(0), node.options
    axis = _axis(node, source)
    if axis is None or _is_only_batch(source, axis) or not (options.exclusive or (options.reverse and source.shape[axis] > 1)):
        return None
    return Affected(source, {"ignored": "exclusive" if options.exclusive else "reverse"})


def _other_axis(node: NodeView, part: GraphPart) -> Affected | None:
    source, axes = node.input(0), integers(node, 1)
    if not axes or not 1 <= source.rank <= 4:
        return None
    taken, meant, sizes = axes[0] + 4 - source.rank, axes_of(source.rank)[axes[0] % source.rank], bhwc(source.shape)
    if taken == meant or not 0 <= taken < 4 or (sizes[taken] == 1 and sizes[meant] == 1):
        return None
    return Affected(source, {"axis": axes[0]})


def _sum_of_batches(node: NodeView, part: GraphPart) -> Affected | None:
    source, axis = node.input(0), _axis(node, node.input(0))
    is_zero = axis is None or not _is_only_batch(source, axis) or node.options.exclusive
    return None if is_zero else Affected(source)


def _one_hot(node: NodeView, part: GraphPart) -> Affected | None:
    source, result = node.input(0), node.output(0)
    is_wrong = source.rank == 3 and source.shape[1] > 1 and result.rank == 4 and result.shape[3] > 1
    return Affected(source) if is_wrong else None


def _reversed_channels(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    axes = {axis % source.rank for axis in integers(node, 1)} if source.rank > 1 else set()
    is_last = source.rank - 1 in axes
    return Affected(source) if is_last and source.shape[-1] > _LANES and _has_incomplete_lanes(source) else None


def _negative_maximum(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    is_last = source.rank > 1 and _axis(node, source) == source.rank - 1
    return Affected(source) if is_last and _has_incomplete_lanes(source) else None


def _largest(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    if not _has_incomplete_lanes(source):
        return None
    return Affected(source, is_certain=element_count(source.shape[:-1]) > 1)


def _blocks(node: NodeView, part: GraphPart) -> Affected | None:
    source = node.input(0)
    return Affected(source) if source.rank == 4 and source.shape[0] > 1 else None


def _update(node: NodeView, part: GraphPart) -> Affected | None:
    operand, update = node.input(0), node.input(1)
    return Affected(operand) if 1 <= operand.rank <= 3 and update.shape[:1] < operand.shape[:1] else None


def _bits(node: NodeView, part: GraphPart) -> Affected | None:
    sizes = [schema.BITS_PER_ELEMENT.get(tensor.type) for tensor in (node.input(0), node.output(0))]
    return Affected(node.input(0), {"result": node.output(0).type}) if sizes[0] != sizes[1] else None


RULES = (
    number_rule("softmax-rank1", ("SOFTMAX",), vector),
    number_rule("cumsum-exclusive-reverse", ("CUMSUM",), _unordered, is_before_backend=True),
    number_rule("cumsum-axis", ("CUMSUM",), _other_axis, is_before_backend=True),
    number_rule("cumsum-batch1", ("CUMSUM",), _sum_of_batches),
    number_rule("one-hot-rank3", ("ONE_HOT",), _one_hot),
    number_rule("reverse-channels", ("REVERSE_V2",), _reversed_channels),
    number_rule("argmax-negative", ("ARG_MAX",), _negative_maximum, depends_on_values=True),
    number_rule("topk-channels", ("TOPK_V2",), _largest),
    number_rule("depth-space-batch", ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"), _blocks),
    number_rule("dus-first-axis", ("DYNAMIC_UPDATE_SLICE",), _update, depends_on_values=True),
    number_rule("bitcast-size", ("BITCAST",), _bits),
)
