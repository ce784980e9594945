"""Padding."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import OPERAND_COUNT, OPERAND_VALUE
from ....rules.number_sets import at_least
from ....rules.operands import INPUT
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import has_elements, operand_count, refused_if, typed, where
from ..target import FEATURE_LEVEL_7, NNAPI_1_1, NNAPI_1_2, NnapiTarget, below_level
from .checks import FLOAT, FLOAT_QUANT8_INT32_OPERAND, FLOAT_QUANT8_OPERAND, SOURCE, max_op_version, min_level

_REFLECT, _SYMMETRIC = 0, 1


def _unknown_mirror_mode(node: NodeView) -> bool:
    return not (node.options.table and node.options.mode in (_REFLECT, _SYMMETRIC))


_HAS_ELEMENTS = has_elements(INPUT).from_source(SOURCE.with_symbol("HasZeroes"))
_PAD: OpRule[NnapiTarget] = OpRule(
    (
        max_op_version(2),
        FLOAT_QUANT8_OPERAND,
        min_level(NNAPI_1_1),
        _HAS_ELEMENTS,
        operand_count(at_least(2)),
        refused_if(
            OPERAND_COUNT,
            "2 inputs before NNAPI 1.2",
            lambda node: len(node.inputs) == 3,
            "3 inputs",
            "pad with zeros and omit the padding value, or use NNAPI 1.2",
        ).when(below_level(NNAPI_1_2)),
        *where(
            lambda node: len(node.inputs) != 3,
            "without a padding value",
            typed(INPUT, FLOAT, hint=in_code("pad float tensors, or use NNAPI 1.2")).when(below_level(NNAPI_1_2)),
        ),
    )
)

RULES: Rules[NnapiTarget] = {
    "MIRROR_PAD": OpRule(
        (
            max_op_version(2),
            min_level(FEATURE_LEVEL_7),
            FLOAT_QUANT8_INT32_OPERAND,
            refused_if(
                OPERAND_VALUE, "mode REFLECT or SYMMETRIC", _unknown_mirror_mode, "an unknown mode", "pad with a known mode"
            ),
            _HAS_ELEMENTS,
            operand_count(2),
        )
    ),
    "PAD": _PAD,
    "PADV2": _PAD,
}
