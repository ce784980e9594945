"""Wrong numbers of padding and of operators with which ML Drift merges a padding, and of operators that work along one axis."""

from __future__ import annotations

from collections.abc import Sequence

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....releases.catalogue import parse_release
from ...gpu_compatibility import axes_of, bhwc
from ..rules.checks import integers
from .rule import Affected, GraphPart, is_never_negative, number_rule, pad_value, paddings, vector

_ALL = ("PAD", "PADV2", "MIRROR_PAD")
_FILLING = ("PAD", "PADV2")
_POOLS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")
_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")
_LOWEST = -10000
"""A value below all values that a maximum is likely to see."""
_NONE = (0, 0)


def _rank3(node: NodeView, part: GraphPart) -> Affected | None:
    shape, pads = node.input(0).shape, paddings(node)
    if len(shape) != 3 or (shape[0] == 1 and pads[:1] in ([], [_NONE])):
        return None
    return Affected(node.input(0))


def _batch(node: NodeView, part: GraphPart) -> Affected | None:
    shape, pads = node.input(0).shape, paddings(node)
    if len(shape) != 4 or shape[0] != 1 or pads[:1] in ([], [_NONE]):
        return None
    return Affected(node.output(0), {"rows": sum(pads[0])})


def _pads_only(pads: Sequence[tuple[int, int]], *axes: int) -> bool:
    padded = [axis for axis, pair in enumerate(pads) if pair != _NONE]
    return len(pads) == 4 and bool(padded) and set(padded) <= set(axes)


def _merged_padding(reader: NodeView, part: GraphPart) -> NodeView | None:
    source = reader.input(0)
    writer = part.writer(source)
    if writer is not None and reader.op in _POOLS and writer.op == "RESHAPE" and writer.input(0).shape == source.shape:
        is_free = part.only_reader(source) is not None and not part.is_output(source)
        source, writer = writer.input(0), part.writer(writer.input(0)) if is_free else None
    is_padding = writer is not None and writer.op in _FILLING and part.only_reader(source) is not None
    return writer if is_padding else None


def _padding_of_image(reader: NodeView, part: GraphPart) -> NodeView | None:
    padding = _merged_padding(reader, part)
    return padding if padding is not None and _pads_only(paddings(padding), 1, 2) else None


def _padding_of_channels(total: NodeView, part: GraphPart) -> NodeView | None:
    if len(total.inputs) != 2 or any(tensor.is_constant for tensor in total.inputs):
        return None
    for source in total.inputs:
        padding = part.writer(source)
        if padding is not None and padding.op in _FILLING and part.only_reader(source) is not None:
            pads = paddings(padding)
            if _pads_only(pads, 3) and pads[3][0] == 0 and padding.input(0).shape[3] % 4 == 0:
                return padding
    return None


def _covers_padding(padding: NodeView, pool: NodeView) -> bool:
    options, shape, pads, counts = pool.options, pool.input(0).shape, paddings(padding), pool.output(0).shape
    windows = ((1, options.filter_height, options.stride_h), (2, options.filter_width, options.stride_w))
    if len(counts) != 4:
        return False
    is_same = schema.enum_names("Padding").get(options.padding) == "SAME"
    for axis, window, stride in windows:
        before, after = pads[axis]
        reach = (counts[axis] - 1) * stride + window
        start = -(max(0, reach - shape[axis]) // 2) if is_same else 0
        if (before and start < before) or (after and start + reach > shape[axis] - after):
            return True
    return False


def _pool(pool: NodeView, part: GraphPart) -> Affected | None:
    padding = _padding_of_image(pool, part)
    if padding is None or not _covers_padding(padding, pool):
        return None
    value = pad_value(padding)
    if pool.op == "MAX_POOL_2D" and (value <= _LOWEST or (value <= 0 and is_never_negative(part, padding.input(0)))):
        return None
    return Affected(pool.output(0), {"padding": padding.node.index}, is_certain=pool.op != "MAX_POOL_2D")


def _value_lost(reader: NodeView, padding: NodeView | None) -> Affected | None:
    value = 0.0 if padding is None else pad_value(padding)
    if padding is None or value == 0:
        return None
    return Affected(reader.output(0), {"value": value, "padding": padding.node.index})


def _unwritten(node: NodeView, part: GraphPart) -> Affected | None:
    padding = _padding_of_channels(node, part) if node.op == "ADD" else _padding_of_image(node, part)
    if padding is None or not part.is_output(padding.output(0)):
        return None
    return Affected(padding.output(0), {"padding": padding.node.index})


def appended_channels(node: NodeView, part: GraphPart) -> Affected | None:
    """Find a padding that appends channels to a number of channels that is not a multiple of 4."""
    shape, pads = node.input(0).shape, paddings(node)
    if len(pads) != 4 or pads[3][0] or not pads[3][1] or shape[3] % 4 == 0:
        return None
    return Affected(node.output(0), {"channels": bhwc(shape).c}, is_certain=pad_value(node) != 0)


RULES = (
    number_rule("pad-rank3", _ALL, _rank3, is_before_backend=True),
    number_rule("pad-batch", _ALL, _batch),
    number_rule("pad-then-pool", _POOLS, _pool, is_before_backend=True),
    number_rule(
        "pad-value-then-conv",
        _CONVOLUTIONS,
        lambda node, part: _value_lost(node, _padding_of_image(node, part)),
        is_before_backend=True,
    ),
    number_rule(
        "pad-value-then-add",
        ("ADD",),
        lambda node, part: _value_lost(node, _padding_of_channels(node, part)),
        is_before_backend=True,
    ),
    number_rule("pad-output", (*_POOLS, *_CONVOLUTIONS, "ADD"), _unwritten, is_before_backend=True),
    number_rule("pad-channel-tail", _FILLING, appended_channels, fixed_in=parse_release("litert-2.3.0")),
)


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


AXES = (
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
