"""Wrong numbers of padding, and of operators with which ML Drift merges a padding."""

from __future__ import annotations

from collections.abc import Sequence

from ....graph.graph import NodeView
from ....model import schema
from ....releases.catalogue import parse_release
from ....rules.kinds import Problem
from ..shapes import bhwc
from .rule import Affected, GraphPart, NumberRule
from .values import is_never_negative, pad_value, paddings

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


def _channels_behind(node: NodeView, part: GraphPart) -> Affected | None:
    shape, pads = node.input(0).shape, paddings(node)
    if len(pads) != 4 or pads[3][0] or not pads[3][1] or shape[3] % 4 == 0:
        return None
    return Affected(node.output(0), {"channels": bhwc(shape).c}, is_certain=pad_value(node) != 0)


RULES = (
    NumberRule(
        "pad-rank3",
        Problem.RANK,
        "padding of a tensor of rank 3",
        _ALL,
        "A tensor of rank 3 is padded, and its first dimension is above 1 or is padded. ML Drift reads the paddings as if the "
        "tensor had rank 4, so even paddings of 0 give wrong numbers.",
        "Everything is shifted by one row of the first dimension, which then has only the padding value.",
        "Reshape to rank 4 with a first dimension of 1, pad with one more row of zeros, and reshape back.",
        "reshape to rank 4 with a first dimension of 1, pad, and reshape back",
        "the GPU reads the paddings of {tensor} of shape {shape} as if it had rank 4, so everything is shifted",
        _rank3,
        is_before_backend=True,
    ),
    NumberRule(
        "pad-batch",
        Problem.SHAPE,
        "padding of the batch",
        _ALL,
        "The first dimension of a tensor of rank 4 is padded, and its size is 1. A size above 1 gives right numbers.",
        "The GPU repeats the input in every batch instead of padding.",
        "Transpose the first dimension away, pad, and transpose back. Or use CONCATENATION with constants of zeros.",
        "transpose the first dimension away before the padding, or use CONCATENATION",
        "the GPU repeats the input in the {rows} padded batches",
        _batch,
    ),
    NumberRule(
        "pad-then-pool",
        Problem.NEIGHBORS,
        "padding that is merged into a pool",
        _POOLS,
        "A padding of only height and width has one reader, and this reader is AVERAGE_POOL_2D or MAX_POOL_2D. ML Drift merges "
        "the padding into the pool, whose own padding does not count as values. A RESHAPE to the same shape between them does "
        "not help. MAX_POOL_2D gives wrong numbers only where values are negative or the padding value is not 0.",
        "The average is divided by fewer elements. The maximum ignores the padding.",
        "Before MAX_POOL_2D, pad with PADV2 and the value -60000 if the padding must not count. In place of AVERAGE_POOL_2D, use "
        "a depthwise convolution with weights of 1/n. Or pad with CONCATENATION and zeros.",
        "pad with CONCATENATION and zeros, or use a depthwise convolution for the average",
        "the GPU merges the padding of node {padding} into the pool, so that padded elements do not count",
        _pool,
        is_before_backend=True,
    ),
    NumberRule(
        "pad-value-then-conv",
        Problem.NEIGHBORS,
        "padding value that is lost in a convolution",
        _CONVOLUTIONS,
        "A PADV2 of only height and width has a value other than 0, and its only reader is CONV_2D or DEPTHWISE_CONV_2D. ML "
        "Drift merges the padding into the convolution.",
        "The GPU pads with 0.",
        "Pad with CONCATENATION and constants of the value.",
        "pad with CONCATENATION and constants of the value",
        "the GPU merges the padding of node {padding} into the convolution, and pads with 0 in place of {value:g}",
        lambda node, part: _value_lost(node, _padding_of_image(node, part)),
        is_before_backend=True,
    ),
    NumberRule(
        "pad-value-then-add",
        Problem.NEIGHBORS,
        "padding value that is lost in an addition",
        ("ADD",),
        "A PADV2 appends only channels, with a value other than 0, the number of input channels is a multiple of 4, and its only "
        "reader is an ADD of two runtime tensors. ML Drift merges the padding into the addition.",
        "The GPU adds 0 in place of the value.",
        "Pad with CONCATENATION and constants of the value.",
        "pad with CONCATENATION and constants of the value",
        "the GPU merges the padding of node {padding} into the addition, and takes the value {value:g} as 0",
        lambda node, part: _value_lost(node, _padding_of_channels(node, part)),
        is_before_backend=True,
    ),
    NumberRule(
        "pad-output",
        Problem.NEIGHBORS,
        "output of a padding that is merged away",
        (*_POOLS, *_CONVOLUTIONS, "ADD"),
        "A padding is merged into the pool, convolution or addition that reads it, and the padded tensor is also an output.",
        "The GPU never writes this output.",
        "Give a RESHAPE (to the same shape) of the padded tensor as the output.",
        "give a RESHAPE of the tensor as the output",
        "the GPU merges the padding of node {padding} into this node, and never writes the output {tensor}",
        _unwritten,
        is_before_backend=True,
    ),
    NumberRule(
        "pad-channel-tail",
        Problem.SHAPE,
        "appended channels",
        _FILLING,
        "A padding of rank 4 appends channels and puts none in front, and the number of input channels is not a multiple of 4.",
        "The first appended channels are 0 in place of the value. With the value 0, they may have other values.",
        "Use release 2.3.0, or pad with CONCATENATION.",
        "use release 2.3.0, or pad with CONCATENATION",
        "the GPU does not write the padding value into the first channels after channel {channels}",
        _channels_behind,
        fixed_in=parse_release("litert-2.3.0"),
    ),
)
