"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import as_list
from ....rules.kinds import OPERAND_VALUE, RANK
from ....rules.number_sets import at_most
from ....rules.operands import INPUT, OUTPUT, operand
from ....rules.rule import OpRule, Rules
from ....rules.vocabulary import check, constant, rank, refused_if, where
from ..target import FEATURE_LEVEL_6, NNAPI_1_1, NNAPI_1_2, NnapiTarget, below_level, from_level
from .checks import (
    FLOAT16_QUANT8_INT32,
    FLOAT_QUANT8,
    FLOAT_QUANT8_INT32_OPERAND,
    FLOAT_QUANT8_OPERAND,
    constant_int32,
    max_op_version,
    min_level,
    op_version,
    type_in,
)

_NO_CROPS_SIZE = 16


def _reshapes_to_scalar(node: NodeView) -> str | None:
    if len(node.inputs) != 1:
        return None
    shape = node.options.new_shape or ()
    # In old models, the shape [0] means a scalar.
    return None if shape and shape != (0,) else f"new shape {list(shape)}"


def _nonzero_crops(node: NodeView) -> str | None:
    crops = node.input(2)
    value = node.value(crops)
    if value is None:
        return "crops that are not constant"
    size = crops.data[1] if crops.data else value.nbytes
    return None if size == _NO_CROPS_SIZE and not value.tobytes().strip(b"\0") else f"crops {as_list(value)}"


RULES: Rules[NnapiTarget] = {
    "BATCH_TO_SPACE_ND": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_1),
            check(
                OPERAND_VALUE,
                "two pairs of constant crops that are all 0",
                _nonzero_crops,
                "crop with a SLICE after the node instead",
            ),
        )
    ),
    "DEPTH_TO_SPACE": OpRule((type_in(INPUT, FLOAT_QUANT8),)),
    "EXPAND_DIMS": OpRule(
        (op_version(1), min_level(NNAPI_1_2), type_in(INPUT, FLOAT16_QUANT8_INT32), constant_int32(operand(1, "axis")))
    ),
    "RESHAPE": OpRule(
        (
            op_version(1),
            FLOAT_QUANT8_OPERAND.when(below_level(FEATURE_LEVEL_6)),
            FLOAT_QUANT8_INT32_OPERAND.when(from_level(FEATURE_LEVEL_6)),
            rank(INPUT, at_most(4)),
            rank(OUTPUT, at_most(4)),
            *where(lambda node: len(node.inputs) > 1, "if there is one", constant(operand(1, "shape"))),
            check(RANK, "a new shape with at least one dimension", _reshapes_to_scalar, "do not reshape to a scalar"),
        )
    ),
    "SPACE_TO_BATCH_ND": OpRule((max_op_version(2), min_level(NNAPI_1_1))),
    "SPACE_TO_DEPTH": OpRule((max_op_version(2), type_in(INPUT, FLOAT_QUANT8))),
    "SQUEEZE": OpRule(
        (
            op_version(1),
            min_level(NNAPI_1_1),
            refused_if(
                OPERAND_VALUE,
                "given squeeze_dims",
                lambda node: not node.options.squeeze_dims,
                "no squeeze_dims",
                "list the dimensions to squeeze, or use NNAPI 1.2",
            )
            .when(from_level(NNAPI_1_1))
            .when(below_level(NNAPI_1_2)),
        )
    ),
    "TRANSPOSE": OpRule(
        (
            max_op_version(2),
            min_level(NNAPI_1_1),
            constant(operand(1, "permutation"), hint="fix the permutation before converting"),
        )
    ),
}
