"""LSTM cells. These rules only matter without variable tensors, because LiteRT's loader refuses variable tensors."""

from __future__ import annotations

from collections.abc import Callable

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_COUNT
from ....rules.vocabulary import check, operand_count, where
from ...gpu_compatibility import layers
from ...gpu_compatibility.checks import is_full_lstm
from .checks import (
    READABLE_RESULT,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    Checks,
    available,
    float_constant,
    parsed_by,
    readable,
    version_up_to,
)

_OUTPUT_STATE, _CELL_STATE = 18, 19
_INPUT_TO_INPUT, _CELL_TO_FORGET = 1, 10


def _has_operand(position: int) -> Callable[[NodeView], bool]:
    return lambda node: position < len(node.node.inputs) and node.node.input(position) >= 0


def _needs_floats(position: int) -> Callable[[NodeView], bool]:
    """Return a condition that is False for INT8 weights with one scale. ML Drift does not convert such weights to float."""
    return lambda node: node.input(position).type != "INT8" or node.input(position).is_per_channel


def _weights(position: int) -> Checks:
    words = "unless it is INT8 with one scale"
    return (available(position), *where(_needs_floats(position), words, *float_constant(position, "matrix")))


def _gate(source: int, recurrent_weights: int, bias: int, normalization: int, peephole: int | None) -> Checks:
    """Return the checks of a gate (``CheckBuildLstmGate``).

    The normalization coefficients are required even without layer normalization.
    """
    peephole_checks: Checks = ()
    if peephole is not None:
        peephole_checks = where(_has_operand(_CELL_TO_FORGET), "with peepholes", *float_constant(peephole, "linear"))
    return (
        *_weights(source),
        *_weights(recurrent_weights),
        *peephole_checks,
        *float_constant(normalization, "linear"),
        *float_constant(bias, "linear"),
    )


_FULL: Checks = (
    *readable(_CELL_STATE),
    *readable(_OUTPUT_STATE),
    *_gate(2, 6, 13, 21, 10),
    *where(_has_operand(_INPUT_TO_INPUT), "with an input gate", *_gate(1, 5, 12, 20, 9)),
    *_gate(3, 7, 14, 22, None),
    *_gate(4, 8, 15, 23, 11),
    *READABLE_RESULT,
)
_BASIC: Checks = (
    check(
        OPERAND_COUNT, "5 inputs", lambda node: None if len(node.node.inputs) == 5 else f"{len(node.node.inputs)} inputs"
    ).saying("LSTM should have 5 input tensors"),
    operand_count(outputs=4).saying("LSTM should have 4 output tensors"),
    *float_constant(2, "matrix"),
    *readable(0),
    *readable(1),
    *readable(4),
)

RULES = {
    "LSTM": parsed_by(
        "LSTMOperationParser",
        *version_up_to(4),
        *layers.LSTM,
        *RESULTS_FROM_2_1_5,
        *where(is_full_lstm, "in the full form", *_FULL),
        *where(layers.is_basic, "in the basic form", *_BASIC),
        *RESULTS_BEFORE_2_1_5,
    )
}
