"""Cases of the rules of the family ``recurrent``."""

from __future__ import annotations

from delegate_sim.model.model import Tensor
from tests.support.delegates.nnapi_rule_cases import (
    COMPUTED_PAIR,
    CONSTANT,
    COUNT,
    FLOAT,
    FLOAT_RANK_2,
    FLOAT_RANK_3,
    HYBRID,
    INPUT_TYPE,
    INT8,
    LEVEL,
    QUANTIZATION,
    RANK,
    VERSION,
    RuleCases,
)
from tests.support.graphs import arena, constant, quantized

CASES = RuleCases()
accepted, variant, without_options = CASES.accepted, CASES.variant, CASES.without_options

_WEIGHTS = arena("FLOAT32", 2, 2)
_INT8_WEIGHTS = arena("INT8", 2, 2)
_UINT8_WEIGHTS = arena("UINT8", 2, 2)


def _full_lstm(*weights: Tensor, count: int = 20) -> list[Tensor]:
    """The operands of the full kernel: the input, its three or four weights, and others that are not looked at."""
    return [FLOAT_RANK_2, *weights, *[_WEIGHTS] * (count - 1 - len(weights))]


accepted("LSTM", _full_lstm(), [FLOAT_RANK_2], LEVEL.below(28), version=3)
variant("LSTM", LEVEL.below(28), LEVEL.below(29), inputs=_full_lstm(count=24))
variant("LSTM", LEVEL.below(28), HYBRID.below(29), inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS))
variant("LSTM", LEVEL.below(28), INPUT_TYPE.below(30), inputs=_full_lstm(_WEIGHTS, _WEIGHTS, _WEIGHTS, _INT8_WEIGHTS))
variant("LSTM", LEVEL.below(28), INPUT_TYPE, inputs=_full_lstm(_WEIGHTS, _WEIGHTS, _WEIGHTS, arena("INT16", 2, 2)))
# Neither kernel: not hybrid either, and its fifth operand counts as weights.
variant("LSTM", LEVEL.below(28), inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS, count=18))
variant("LSTM", VERSION, LEVEL.below(28), HYBRID.below(29), LEVEL.below(29), INPUT_TYPE.below(30),
        inputs=_full_lstm(*[_INT8_WEIGHTS] * 4, count=24), version=4)  # fmt: skip

_UNIT = quantized(arena("UINT8", 1, 2), 1 / 128, zero_point=128)
_STATE = quantized(arena("INT16", 1, 2), 16 / 32768)
_BASIC_INPUTS = [_UNIT, _UNIT, constant([[1, 1]], "UINT8"), constant([1]), _STATE]
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE])
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(zero_point=5)])
variant("LSTM", LEVEL.below(28), inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(scale=1.0)])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=_BASIC_INPUTS, outputs=[_UNIT, _STATE._replace(scale=1.0, zero_point=5)])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=_BASIC_INPUTS, outputs=[_UNIT._replace(zero_point=0), _STATE])
variant("LSTM", LEVEL.below(28), QUANTIZATION, inputs=[_UNIT._replace(scale=0.5), *_BASIC_INPUTS[1:]], outputs=[_UNIT, _STATE])
variant("LSTM", LEVEL.below(28), CONSTANT, inputs=[*_BASIC_INPUTS[:3], COMPUTED_PAIR, _STATE], outputs=[_UNIT, _STATE])
variant(
    "LSTM", VERSION, LEVEL.below(28), INPUT_TYPE, QUANTIZATION, QUANTIZATION, QUANTIZATION, CONSTANT, CONSTANT,
    inputs=[FLOAT, FLOAT, _INT8_WEIGHTS, COMPUTED_PAIR, INT8],
    outputs=[FLOAT, _STATE._replace(scale=1.0, zero_point=5)], version=4,
)  # fmt: skip

accepted("UNIDIRECTIONAL_SEQUENCE_LSTM", _full_lstm(), [FLOAT_RANK_3], LEVEL.below(29), version=2)
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", LEVEL.below(29), inputs=_full_lstm(count=24))
variant("UNIDIRECTIONAL_SEQUENCE_LSTM", VERSION, LEVEL.below(29), HYBRID, COUNT,
        inputs=_full_lstm(_WEIGHTS, _INT8_WEIGHTS, count=21), version=3)  # fmt: skip

accepted("BIDIRECTIONAL_SEQUENCE_LSTM", _full_lstm(count=48), [FLOAT_RANK_3, FLOAT_RANK_3], LEVEL.below(29))
variant("BIDIRECTIONAL_SEQUENCE_LSTM", VERSION, LEVEL.below(29), HYBRID, inputs=_full_lstm(_WEIGHTS, _UINT8_WEIGHTS), version=2)

accepted("UNIDIRECTIONAL_SEQUENCE_RNN", [FLOAT, *[_WEIGHTS] * 4], [FLOAT], LEVEL.below(29))
variant("UNIDIRECTIONAL_SEQUENCE_RNN", LEVEL.below(29), inputs={0: INT8, 1: _INT8_WEIGHTS})
variant("UNIDIRECTIONAL_SEQUENCE_RNN", VERSION, LEVEL.below(29), HYBRID, inputs={1: _INT8_WEIGHTS}, version=2)

accepted("RNN", [INT8, *[_WEIGHTS] * 4], [FLOAT])
variant("RNN", COUNT, inputs=[FLOAT])
variant("RNN", VERSION, COUNT, INPUT_TYPE, inputs=[FLOAT, _INT8_WEIGHTS], version=2)

_RANK_LEVEL = RANK._replace(code="nnapi-feature-level").below(28)
_RANK_COUNT = RANK._replace(code="nnapi-operand-count")
accepted("SVDF", [INT8, *[_WEIGHTS] * 4], [FLOAT], _RANK_LEVEL)
variant("SVDF", INPUT_TYPE, _RANK_LEVEL, INPUT_TYPE, inputs={1: _INT8_WEIGHTS})
variant("SVDF", VERSION, _RANK_COUNT, INPUT_TYPE, _RANK_LEVEL, INPUT_TYPE, inputs=[FLOAT, _INT8_WEIGHTS], version=2)
