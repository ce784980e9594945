"""Wrong numbers of padding, and of operators with which ML Drift merges a padding."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.graph import NodeView
from ....model import schema
from ....releases.catalogue import parse_release
from ..shapes import bhwc
from .rule import Affected, GraphPart, is_never_negative, number_rule, pad_value, paddings

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
