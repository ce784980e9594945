"""Convolutions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, OPTIONAL_OPERAND
from ....rules.operands import operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, constants, operand_count, refused_if
from ..kinds import PER_CHANNEL
from ..node_predicates import hybrid_with_weights
from ..target import NNAPI_1_2, NnapiTarget, below_level
from .checks import FLOAT_UINT8_OPERAND, RESTRICTED_SCALES_ONLY, max_op_version, min_level, not_hybrid


def _dilation(node: NodeView) -> str | None:
    width, height = node.options.dilation_w_factor, node.options.dilation_h_factor
    return None if width == 1 and height == 1 else f"dilation {height} x {width}"


def _groups(node: NodeView) -> str | None:
    source, weights = node.input(0).shape[3:4], node.input(1).shape[3:4]
    return None if source == weights else f"{source} input and {weights} filter channels"


_NO_DILATION = check(OPERAND_VALUE, "dilation 1", _dilation, "use NNAPI 1.2").when(below_level(NNAPI_1_2))

RULES: Rules[NnapiTarget] = {
    "CONV_2D": OpRule(
        (
            max_op_version(5),
            not_hybrid(hybrid_with_weights(1)).when(below_level(NNAPI_1_2)),
            FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
            refused_if(
                PER_CHANNEL,
                "weights with one scale",
                lambda node: node.input(1).is_per_channel,
                "weights with one scale per channel",
            ).when(below_level(NNAPI_1_2)),
            RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
            operand_count(3).of_kind(OPTIONAL_OPERAND),
            _NO_DILATION,
            check(
                OPERAND_VALUE,
                "the same number of input channels and filter channels",
                _groups,
                "use NNAPI 1.2 for grouped convolutions",
            ).when(below_level(NNAPI_1_2)),
        )
    ),
    "DEPTHWISE_CONV_2D": OpRule(
        (
            max_op_version(3),
            FLOAT_UINT8_OPERAND.when(below_level(NNAPI_1_2)),
            RESTRICTED_SCALES_ONLY.when(below_level(NNAPI_1_2)),
            _NO_DILATION,
        )
    ),
    "TRANSPOSE_CONV": OpRule(
        (
            max_op_version(3).before_release("litert-1.1.0"),
            max_op_version(4).from_release("litert-1.1.0"),
            min_level(NNAPI_1_2),
            constants(operand(0, "output shape"), operand(1, "filter")),
        )
    ),
}
