"""UNIDIRECTIONAL_SEQUENCE_LSTM."""

from __future__ import annotations

from collections.abc import Iterable

from ....graph.graph import NodeView
from ....model.model import OPTIONAL_TENSOR
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, OPTIONAL_OPERAND, RANK
from ....rules.number_sets import exactly
from ....rules.rule import Check
from ....rules.vocabulary import check, operand_count
from ...simple_delegate import READS_BEYOND_OPERANDS
from .checks import SAME_TYPE, SIGNED, ethosu_rule, upstream

_STATE = 18


def _other_rank(node: NodeView) -> str | None:
    ranks = node.input(0).rank, node.output(0).rank
    return None if ranks == (3, 3) else f"input of rank {ranks[0]} and output of rank {ranks[1]}"


def _intermediates(node: NodeView) -> str | None:
    count = len(node.node.intermediates)
    return None if count == 5 else f"{count} intermediate tensors"


def _state(node: NodeView) -> str | None:
    return None if node.input(_STATE).is_variable else f"input {_STATE} is not a variable"


def _present(node: NodeView, positions: Iterable[int]) -> list[int]:
    return [position for position in positions if node.node.input(position) != OPTIONAL_TENSOR]


def _left_out(positions: range, words: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        present = _present(node, positions)
        return f"input {present[0]}" if present else None

    return check(OPTIONAL_OPERAND, f"no {words} (inputs {positions[0]} to {positions[-1]})", find)


def _cifg(node: NodeView) -> str | None:
    missing = sorted({*range(1, 9)} - {*_present(node, range(1, 9))})
    return f"no input {missing[0]}" if missing else None


_LSTM = upstream(
    "ConstraintLstm",
    check(RANK, "input and output of rank 3", _other_rank),
    operand_count(inputs=exactly(24)),
    check(OPERAND_COUNT, "5 intermediate tensors", _intermediates),
    check(ATTRIBUTE, f"a variable as state (input {_STATE})", _state),
    check(OPTIONAL_OPERAND, "all weights (inputs 1 to 8), that is, no CIFG", _cifg),
    _left_out(range(9, 12), "peepholes"),
    _left_out(range(16, 18), "projection"),
    _left_out(range(20, 24), "layer normalization"),
)
_WEIGHTS = upstream(
    "ConstraintLstmWeightDimensions",
    check(
        READS_BEYOND_OPERANDS,
        "at least 9 results, because the delegate reads the shapes of results 5 to 8 as those of the recurrent weights",
        lambda node: f"{len(node.node.outputs)} results" if len(node.node.outputs) <= 8 else None,
        "build the layer from other operators",
    ),
)

RULES = {"UNIDIRECTIONAL_SEQUENCE_LSTM": ethosu_rule(*SIGNED, *SAME_TYPE, *_LSTM, *_WEIGHTS, weights=(1,))}
