"""Divisions that fill the unused lanes of the last four channels with NaN, which sums over the channels then read.

The GPU stores channels in groups of four. Lanes without a channel hold 0, and 0 / 0 is NaN there. A convolution multiplies them
by weights of 0, and NaN * 0 is NaN.
"""

from __future__ import annotations

from collections import deque

from ....graph.graph import NodeView, fused_activation
from ....model.model import Tensor
from ..rules.checks import integers
from .rule import Affected, GraphPart, number_rule

_LANES = 4
_DIVISIONS = ("DIV", "FLOOR_DIV", "FLOOR_MOD", "RSQRT")
_SUMMED = {"BATCH_MATMUL": 0, "CONV_2D": 0, "FULLY_CONNECTED": 0, "MEAN": 0, "SUM": 0, "TRANSPOSE_CONV": 2}
"""Operators that sum over the channels of an operand, and its position."""
_KEEP_NAN = frozenset(
    {"ABS", "ADD", "AVERAGE_POOL_2D", "DEPTHWISE_CONV_2D", "EXP", "MUL", "NEG", "PAD", "RESIZE_BILINEAR", "SLICE", "SQRT"}
    | {"SQUARE", "SUB", "TRANSPOSE"}
)
"""Operators behind which the lanes still hold NaN."""
_KEEP_ZERO = frozenset(
    {"ABS", "ADD", "LEAKY_RELU", "MAXIMUM", "MAX_POOL_2D", "RELU", "SIN", "SQRT", "SQUARE", "SQUARED_DIFFERENCE", "SUB", "TANH"}
)
"""Operators behind which the lanes hold 0 if those of all operands do."""
_MOST_STEPS = 64
"""Nodes that are followed at most, before and behind a division."""


def _unused_lanes(node: NodeView, part: GraphPart) -> Affected | None:
    result, divisor = node.output(0), node.input(0 if node.op == "RSQRT" else 1)
    channels = result.shape[-1] if result.rank > 1 else 0
    if channels % _LANES == 0 or not result.type.startswith("FLOAT") or not _ends_plainly(node):
        return None
    if not _is_zero_in_lanes(part, divisor, channels):
        return None
    reader = _summing_reader(part, result, channels)
    return None if reader is None else Affected(result, {"needed": channels, "op": reader.op, "other": reader.node.index})


def _ends_plainly(node: NodeView) -> bool:
    """Return whether a node has no activation. Activations turn NaN into a number."""
    return fused_activation(node) in (None, "", "NONE")


def _is_zero_in_lanes(part: GraphPart, divisor: Tensor, channels: int) -> bool:
    """Return whether the unused lanes of a tensor hold 0. A single channel is broadcast to all lanes."""
    waiting, steps = deque([divisor]), 0
    while waiting:
        tensor, steps = waiting.popleft(), steps + 1
        if tensor.shape[-1:] != (channels,) or (tensor.is_constant and channels == 1) or steps > _MOST_STEPS:
            return False
        writer = None if tensor.is_constant else part.writer(tensor)
        if writer is None or writer.op in ("CONV_2D", "MUL"):
            continue
        if writer.op == "MEAN" and not _has_channel_axis(writer):
            waiting.append(writer.input(0))
        elif writer.op in _KEEP_ZERO:
            waiting.extend(writer.inputs)
        else:
            return False
    return True


def _summing_reader(part: GraphPart, result: Tensor, channels: int) -> NodeView | None:
    """Return the first node that sums over the channels of a tensor, also behind nodes that keep NaN."""
    waiting, seen = deque([result]), {result.index}
    while waiting and len(seen) <= _MOST_STEPS:
        tensor = waiting.popleft()
        for node in part.readers(tensor):
            reader = part.graph.view(node)
            place = _SUMMED.get(node.op)
            if place is not None and reader.input(place).index == tensor.index and _sums_channels(reader):
                return reader
            after = reader.output(0)
            if node.op in _KEEP_NAN and _ends_plainly(reader) and after.shape[-1:] == (channels,) and after.index not in seen:
                seen.add(after.index)
                waiting.append(after)
    return None


def _sums_channels(reader: NodeView) -> bool:
    if reader.op in ("MEAN", "SUM"):
        return _has_channel_axis(reader)
    return reader.op != "BATCH_MATMUL" or not reader.options.adj_x


def _has_channel_axis(node: NodeView) -> bool:
    rank = node.input(0).rank
    return any(axis % rank == rank - 1 for axis in integers(node, 1)) if rank else False


RULES = (number_rule("unused-lanes", _DIVISIONS, _unused_lanes),)
