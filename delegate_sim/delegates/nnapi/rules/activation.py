"""Activations and normalisations (``NNAPIDelegateKernel::Validate``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from ....rules.rule import OpRule, for_each
from ..target import NNAPI_1_2, NNAPI_1_3
from .checks import (
    FLOAT_QUANT8,
    OPERATOR_VARIANT,
    at_most_rank,
    float_operand,
    float_quant8_operand,
    max_version,
    min_level,
    no_activation,
    output_typed,
    ranked,
    typed,
)

RULES = {
    **for_each(("RELU", "RELU_N1_TO_1", "RELU6", "LOGISTIC"), max_version(2), float_quant8_operand()),
    "TANH": OpRule(
        (
            max_version(2),
            float_operand().below_level(NNAPI_1_2),
            float_quant8_operand().from_level(NNAPI_1_2),
        )
    ),
    "HARD_SWISH": OpRule((float_quant8_operand(),)),
    "ELU": OpRule((max_version(1), min_level(NNAPI_1_3), float_operand())),
    **for_each(("LEAKY_RELU", "PRELU"), max_version(1), min_level(NNAPI_1_2), typed(0, FLOAT_QUANT8)),
    "SOFTMAX": OpRule(
        (
            max_version(2),
            float_quant8_operand(),
            output_typed(0, FLOAT_QUANT8),
            at_most_rank(4, 0),
            ranked((2, 4)).below_level(NNAPI_1_2),
        )
    ),
    "LOG_SOFTMAX": OpRule((max_version(1), min_level(NNAPI_1_2), float_operand())),
    "L2_NORMALIZATION": OpRule(
        (
            max_version(2),
            float_operand().below_level(NNAPI_1_2),
            ranked((4,), OPERATOR_VARIANT).below_level(NNAPI_1_2),
            no_activation(),
        )
    ),
    "LOCAL_RESPONSE_NORMALIZATION": OpRule((max_version(1),)),
}
