"""Filling tensors with repeated or constant values."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import BROADCAST, SHAPE
from ...rules.number_sets import at_most
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, rank, same_type
from ..checks import ONE_TO_ONE, SAME_TYPES, TWO_TO_ONE, dimension, fixed, integers, takes
from ..kernel import MicroKernel, in_source
from ..kinds import TENSOR_TYPE

_SECOND, _SHAPE = operand(1), operand(1, "shape")
_DIMS, _VALUE = operand(0, "dims"), operand(1, "value")
_SHAPE_TYPES = ("INT32", "INT64")
_MOST_DIMENSIONS = 5


def _shape_length(node: NodeView) -> str | None:
    count, dims = dimension(node.input(1), 0), node.output(0).rank
    return None if count == dims else f"shape with {count} elements and output of rank {dims}"


def _ranks(node: NodeView) -> str | None:
    source, result = node.input(0).rank, node.output(0).rank
    return None if source <= result <= _MOST_DIMENSIONS else f"input of rank {source} and output of rank {result}"


def _broadcast(node: NodeView) -> str | None:
    wanted, source, result = integers(node, node.input(1)), node.input(0).shape, node.output(0).shape
    if wanted is None:
        return None
    wanted = wanted[: len(result)]
    tail = wanted[len(result) - len(source) :]
    if tuple(wanted) == result and all(size in (1, other) for size, other in zip(source, tail, strict=False)):
        return None
    return f"input of shape {list(source)} to {wanted}, output of shape {list(result)}"


def _filled_shape(node: NodeView) -> str | None:
    values, result = integers(node, node.input(0)), node.output(0).shape
    if values is None or tuple(values) == result:
        return None
    return f"dims {values} and output of shape {list(result)}"


KERNELS = {
    "BROADCAST_ARGS": MicroKernel(
        in_source(
            "broadcast_args.cc",
            "BroadcastArgsPrepare",
            TWO_TO_ONE,
            takes(INPUT, _SHAPE_TYPES),
            same_type(INPUT, _SECOND, kind=TENSOR_TYPE),
            SAME_TYPES,
            rank(INPUT, 1),
            rank(_SECOND, 1),
            rank(OUTPUT, 1),
        ),
        in_source("broadcast_args.cc", "BroadcastArgsEval"),
    ),
    "BROADCAST_TO": MicroKernel(
        in_source(
            "broadcast_to.cc",
            "BroadcastToPrepare",
            TWO_TO_ONE,
            rank(INPUT, at_most(_MOST_DIMENSIONS)),
            takes(_SHAPE, _SHAPE_TYPES),
            SAME_TYPES,
            fixed(_SHAPE),
            rank(_SHAPE, 1),
            check(SHAPE, "one element of shape for each dimension of output", _shape_length),
            check(SHAPE, f"an output rank from the input rank to {_MOST_DIMENSIONS}", _ranks),
            check(BROADCAST, "an output of the given shape, and an input that can be broadcast to this shape", _broadcast),
        ),
        in_source("broadcast_to.cc", "BroadcastToEval"),
    ),
    "FILL": MicroKernel(
        in_source(
            "fill.cc",
            "FillPrepare",
            rank(_VALUE, 0),
            same_type(_VALUE, OUTPUT, kind=TENSOR_TYPE),
            fixed(_DIMS),
            rank(_DIMS, 1),
            takes(_DIMS, ("INT8", "INT16", "INT32", "INT64")),
            check(SHAPE, "an output with the shape in dims", _filled_shape),
        ),
        in_source("fill.cc", "FillEval", takes(_VALUE, ("FLOAT32", "INT32", "INT8"))),
    ),
    "ZEROS_LIKE": MicroKernel(
        in_source("zeros_like.cc", "ZerosLikePrepare", ONE_TO_ONE),
        in_source("zeros_like.cc", "ZerosLikeEval", takes(INPUT, ("INT64", "INT32", "INT8", "FLOAT32"))),
    ),
}
