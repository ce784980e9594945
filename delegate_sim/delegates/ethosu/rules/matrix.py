"""FULLY_CONNECTED."""

from __future__ import annotations

from ....foundation.limits import element_count
from ....graph.graph import NodeView
from ....rules.kinds import RANK, SHAPE
from ....rules.vocabulary import check
from .bias import bias
from .checks import FUSED, ethosu_rule, size, upstream
from .convolution import CONSTANT_WEIGHTS


def _vector(node: NodeView) -> str | None:
    return "input of rank 1" if node.input(0).rank == 1 else None


def _uneven(node: NodeView) -> str | None:
    source, columns = node.input(0), size(node.input(1), 1)
    met = columns and element_count(source.shape) % columns == 0
    return None if met else f"input of shape {list(source.shape)} and weights of shape {list(node.input(1).shape)}"


def _other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    met = not node.options.keep_num_dims or ranks[0] == ranks[1]
    return None if met else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


_OPERANDS = upstream(
    "ConstraintFullyConnected",
    check(RANK, "an input of a rank other than 1", _vector, "add a batch dimension"),
    check(SHAPE, "an input with a number of elements that is a multiple of the weights' columns", _uneven),
    check(RANK, "input and output of the same rank if keep_num_dims is set", _other_rank),
)

RULES = {"FULLY_CONNECTED": ethosu_rule(*FUSED, *_OPERANDS, *CONSTANT_WEIGHTS, *bias(2), weights=(1,), batches=True)}
