"""Reshaping, transposing, moving blocks between dimensions, and SHAPE."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant
from ...simple_delegate import READS_BEYOND_OPERANDS
from .checks import SAME_COUNT, SAME_QUANTIZATION, ethosu_rule, int32_values, size, upstream

_PLAIN = ethosu_rule()
_SHAPE = operand(1, "shape")
_RESHAPE = upstream(
    "ConstraintReshapeShapeConstant",
    check(
        READS_BEYOND_OPERANDS,
        "a second input with the shape",
        lambda node: "1 input" if len(node.node.inputs) < 2 else None,
        "give the shape as a constant input",
    ),
    constant(_SHAPE),
)
_PERMUTATION = operand(1, "permutation")


def _other_length(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape == (node.input(0).rank,) else f"permutation of shape {list(shape)}"


def _outside(node: NodeView) -> str | None:
    values, rank = int32_values(node, _PERMUTATION), node.input(0).rank
    return None if all(0 <= value < rank for value in values) else f"permutation {values}"


def _other_order(node: NodeView) -> str | None:
    """Return the permutation unless the delegate supports it.

    For three dimensions, upstream compares the second position twice, so it refuses [1, 0, 2].
    """
    source, values = node.input(0), int32_values(node, _PERMUTATION)
    rank = source.rank
    patterns: dict[int, list[tuple[dict[int, int], int | None]]] = {
        2: [({}, None)],
        3: [({0: 1, 1: 1}, None), ({1: 2, 2: 1}, 0), ({0: 2, 2: 0}, 1)],
        4: [({0: 0, 1: 2, 2: 1}, None), ({0: 0, 2: 3, 3: 2}, 1), ({0: 0, 1: 3, 3: 1}, 2)],
    }
    for positions, single in patterns.get(rank, []):
        if (single is None or size(source, single) == 1) and all(values[at] == axis for at, axis in positions.items()):
            return None
    return f"permutation {values} of shape {list(source.shape)}"


_TRANSPOSE = upstream(
    "ConstraintTranspose",
    check(SHAPE, "a permutation with one element for each dimension", _other_length),
    constant(_PERMUTATION),
    check(OPERAND_VALUE, "a permutation of the dimensions", _outside),
    check(
        OPERAND_VALUE,
        "a swap of two of height, width and channels; if channels are swapped, the third dimension must have size 1",
        _other_order,
        "swap only two dimensions, and only if the third dimension has size 1",
    ),
)

RULES = {
    "BATCH_TO_SPACE_ND": _PLAIN,
    "EXPAND_DIMS": ethosu_rule(*SAME_QUANTIZATION, *SAME_COUNT, scalar_inputs=True),
    "RESHAPE": ethosu_rule(*_RESHAPE, *SAME_QUANTIZATION, *SAME_COUNT, batches=True),
    "SHAPE": ethosu_rule(int32=True, unquantized=True, batches=True),
    "SPACE_TO_BATCH_ND": _PLAIN,
    "SQUEEZE": ethosu_rule(*SAME_QUANTIZATION, *SAME_COUNT, batches=True),
    "TRANSPOSE": ethosu_rule(*_TRANSPOSE, operands=(0, 1), int32=True, unquantized=True),
}
