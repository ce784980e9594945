"""Activation functions and normalization."""

from __future__ import annotations

from ..optional_inputs import MINUS_ONE, OptionalInputs
from ..types import OperationType
from .levels import FLOAT_1, FLOAT_3, FLOAT_4, QUANT8_1, QUANT8_3, REAL_1, REAL_3, levels
from .shared import binary, max_rank, unary
from .signature import BOOL, INT32, SAME, SCALAR, OperationRule, OperationView, form

_O = OperationType


def _activation(quantized: dict[int, int]) -> OperationRule:
    return OperationRule("Activation.cpp: activation::validate", {**FLOAT_1, **quantized}, (form(SAME),), checks=(max_rank(0),))


def _rank_4_level(view: OperationView) -> int:
    """Return the feature level that the input's rank needs. Below level 3, the rank must be 4."""
    return 1 if view.inputs[0].rank == 4 else 3


def _softmax_rank_level(view: OperationView) -> int:
    """Return the feature level that the input's rank needs. Below level 3, the rank must be 2, 4 or unknown."""
    return 1 if view.inputs[0].rank in {0, 2, 4} else 3


RULES: dict[int, OperationRule] = {
    _O.RELU: _activation(QUANT8_1),
    _O.RELU1: _activation(QUANT8_1),
    _O.RELU6: _activation(QUANT8_1),
    _O.LOGISTIC: _activation(QUANT8_1),
    _O.TANH: _activation(QUANT8_3),
    _O.HARD_SWISH: unary(
        {**FLOAT_4, **levels(QUANT8_ASYMM=4, QUANT8_ASYMM_SIGNED=4)},
        "Activation.cpp: activation::validateHardSwish",
    ),
    _O.ELU: OperationRule("Elu.cpp: elu::validate", FLOAT_4, (form(SAME, SCALAR),)),
    _O.PRELU: binary(REAL_3, "PRelu.cpp: prelu::validate"),
    _O.L2_NORMALIZATION: OperationRule(
        "L2Normalization.cpp: l2_norm::validate",
        {**FLOAT_1, **QUANT8_3},
        (form(SAME), form(SAME, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(_rank_4_level,),
        optional=(OptionalInputs(1, (MINUS_ONE,)),),
    ),
    _O.LOCAL_RESPONSE_NORMALIZATION: OperationRule(
        "LocalResponseNormalization.cpp: local_response_norm::validate",
        FLOAT_1,
        (form(SAME, INT32, SCALAR, SCALAR, SCALAR), form(SAME, INT32, SCALAR, SCALAR, SCALAR, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(_rank_4_level,),
        optional=(OptionalInputs(5, (MINUS_ONE,)),),
    ),
    _O.INSTANCE_NORMALIZATION: OperationRule(
        "InstanceNormalization.cpp: instance_normalization::validate", FLOAT_3, (form(SAME, SCALAR, SCALAR, SCALAR, BOOL),)
    ),
    _O.SOFTMAX: OperationRule(
        "Softmax.cpp: softmax::validate",
        REAL_1,
        (form(SAME, SCALAR), form(SAME, SCALAR, INT32, level=3)),
        checks=(max_rank(0),),
        raises=(_softmax_rank_level,),
        optional=(OptionalInputs(2, (MINUS_ONE,)),),
    ),
    _O.LOG_SOFTMAX: OperationRule("LogSoftmax.cpp: log_softmax::validate", FLOAT_3, (form(SAME, SCALAR, INT32),)),
}
