"""Recurrent layers."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.hints import in_code
from ....rules.number_sets import exactly
from ....rules.operands import OUTPUT, Operand, operand, result
from ....rules.rule import Check, OpRule, Rules
from ....rules.vocabulary import check_for_target, constant, operand_count, typed, where
from ..kinds import FEATURE_LEVEL, UNSUPPORTED_OPERAND_RANK
from ..node_predicates import hybrid_with_weights, is_basic_lstm, is_hybrid_lstm
from ..target import NNAPI_1_1, NNAPI_1_2, NNAPI_1_3, NnapiTarget, below_level, from_level
from .checks import (
    FLOAT,
    FLOAT_QUANT8,
    FLOAT_UINT8,
    SOURCE,
    level_demand,
    max_op_version,
    min_level,
    not_hybrid,
    op_version,
    quantized_as,
)


def _is_unit_range(tensor: Tensor) -> bool:
    return tensor.scale == 1 / 128 and tensor.zero_point == 128


def _is_state_range(tensor: Tensor) -> bool:
    return tensor.scale == 16 / 32768 or tensor.zero_point == 0


def _unit_range(which: Operand) -> Check[object]:
    hint = f"quantize the {which.name} to the range from -1 to 127/128"
    return quantized_as(which, "a scale of 1/128 and a zero point of 128", _is_unit_range, hint)


def _normalized_layer(node: NodeView, target: NnapiTarget) -> str | None:
    return f"24 inputs at feature level {target.level}" if len(node.inputs) == 24 else None


_BASIC_KERNEL = where(
    is_basic_lstm,
    "basic kernel",
    typed(operand(2, "weight tensor"), ("UINT8",)),
    _unit_range(operand(0, "input")),
    _unit_range(OUTPUT),
    quantized_as(
        result(1, "cell state"),
        "a scale of 16/32768 or a zero point of 0",
        _is_state_range,
        "quantize the cell state symmetrically",
    ),
    constant(operand(2, "weight tensor"), hint="store the weights in the model file"),
    constant(operand(3, "bias"), hint="store the biases in the model file"),
)
_FULL_KERNEL = where(
    lambda node: not is_basic_lstm(node),
    "full kernel",
    typed(operand(4, "weight tensor"), FLOAT_QUANT8).when(from_level(NNAPI_1_3)),
    typed(operand(4, "weight tensor"), FLOAT_UINT8).when(below_level(NNAPI_1_3)),
)
_FLOAT_WEIGHTS = typed(operand(1, "weight tensor"), FLOAT, hint=in_code("keep the weights in float"))
(_FLOAT_WEIGHTS_IF_ANY,) = where(lambda node: len(node.inputs) >= 2, "if there is one", _FLOAT_WEIGHTS)
_SEQUENCE_LSTM = (min_level(NNAPI_1_2), not_hybrid(hybrid_with_weights(2)))

RULES: Rules[NnapiTarget] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": OpRule((op_version(1), *_SEQUENCE_LSTM)),
    "LSTM": OpRule(
        (
            max_op_version(3),
            level_demand(NNAPI_1_1),
            not_hybrid(is_hybrid_lstm).when(below_level(NNAPI_1_2)),
            *_BASIC_KERNEL,
            check_for_target(
                FEATURE_LEVEL,
                "feature level 29 for layer normalization",
                _normalized_layer,
                "use feature level 29, or do not use layer normalization",
            )
            .from_source(SOURCE.with_symbol("ExpectMinAndroidSdkVersion"))
            .when(below_level(NNAPI_1_2)),
            *_FULL_KERNEL,
        )
    ),
    "RNN": OpRule((op_version(1), operand_count(5), _FLOAT_WEIGHTS_IF_ANY)),
    "SVDF": OpRule(
        (
            op_version(1),
            operand_count(5).reported_as(UNSUPPORTED_OPERAND_RANK),
            _FLOAT_WEIGHTS_IF_ANY,
            level_demand(NNAPI_1_1).reported_as(UNSUPPORTED_OPERAND_RANK),
            # The delegate checks the weights twice.
            _FLOAT_WEIGHTS,
        )
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": OpRule((max_op_version(2), *_SEQUENCE_LSTM, operand_count(exactly(20, 24)))),
    "UNIDIRECTIONAL_SEQUENCE_RNN": OpRule((op_version(1), min_level(NNAPI_1_2), not_hybrid(hybrid_with_weights(1)))),
}
