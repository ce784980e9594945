"""Joining and splitting."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.each_tensor import inputs
from ....rules.kinds import ATTRIBUTE, OPERAND_VALUE, RANK, SHAPE, TENSOR_TYPE
from ....rules.number_sets import exactly
from ....rules.operands import operand
from ....rules.vocabulary import check, operand_count
from .checks import FUSED, ethosu_rule, int32_values, reads, size, upstream


def _concatenation_axis(node: NodeView) -> int:
    axis: int = node.options.axis
    rank = node.output(0).rank
    return axis if axis >= 0 else axis + rank


def _other_axis(node: NodeView) -> str | None:
    met = 0 <= _concatenation_axis(node) < node.output(0).rank
    return None if met else f"axis {node.options.axis} of {node.output(0).rank} dimensions"


def _other_rank(node: NodeView) -> str | None:
    rank = node.output(0).rank
    return next((f"{name} of rank {tensor.rank}" for name, tensor in inputs(node) if tensor.rank != rank), None)


def _other_sizes(node: NodeView) -> str | None:
    axis, result = _concatenation_axis(node), node.output(0).shape
    total = 0
    for name, tensor in inputs(node):
        if any(size != expected for at, (size, expected) in enumerate(zip(tensor.shape, result, strict=True)) if at != axis):
            return f"{name} of shape {list(tensor.shape)} and output {list(result)}"
        total += tensor.shape[axis]
    return None if total == result[axis] else f"inputs of {total} elements along the axis and output {list(result)}"


_CONCATENATION = upstream(
    "ConstraintConcatAxis",
    check(ATTRIBUTE, "an axis of the output", _other_axis),
    check(RANK, "inputs of the output's rank", _other_rank),
    check(
        SHAPE,
        "input sizes that add up to the output's size along the axis, and that equal the output's sizes in all other dimensions",
        _other_sizes,
    ),
)
_AXIS = operand(0, "axis")


def _outside(node: NodeView) -> str | None:
    axis, rank = _split_axis(node), node.input(1).rank
    return None if 0 <= axis < rank else f"axis {int32_values(node, _AXIS)[:1]} of {rank} dimensions"


def _split_axis(node: NodeView) -> int:
    axis = next(iter(int32_values(node, _AXIS)), 0)
    return axis + node.input(1).rank if axis < 0 else axis


def _uneven(node: NodeView) -> str | None:
    length, number = size(node.input(1), _split_axis(node)), node.options.num_splits
    return None if number and length % number == 0 else f"{length} elements in {number} parts"


_SPLIT = upstream(
    "ConstraintSplit",
    reads(_AXIS),
    check(OPERAND_VALUE, "an axis of the input", _outside),
    check(SHAPE, "parts of equal size", _uneven),
)
_SIZES = operand(1, "sizes")


def _inferred(node: NodeView) -> str | None:
    count = sum(value < 0 for value in int32_values(node, _SIZES))
    return None if count <= 1 else f"{count} sizes that are inferred"


_SPLIT_V = upstream(
    "ConstraintSplitVInferred",
    operand_count(inputs=exactly(3)),
    check(TENSOR_TYPE, "sizes that are not INT64", lambda node: "INT64 sizes" if _SIZES.tensor(node).type == "INT64" else None),
    reads(_SIZES),
    check(OPERAND_VALUE, "at most one inferred size", _inferred, "state the sizes"),
)

RULES = {
    "CONCATENATION": ethosu_rule(*FUSED, *_CONCATENATION, operands=(0, 1)),
    "PACK": ethosu_rule(),
    "SPLIT": ethosu_rule(*_SPLIT, operands=(1,), scalar_inputs=True, batches=True),
    "SPLIT_V": ethosu_rule(*_SPLIT_V, scalar_inputs=True, batches=True),
    "UNPACK": ethosu_rule(batches=True),
}
