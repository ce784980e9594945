"""Reductions (``NNAPIDelegateKernel::Validate``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

import numpy as np

from ....graph.graph import NodeView
from ....model import schema
from ....rules.rule import Check, OpRule, for_each
from ..target import NNAPI_1_1, NNAPI_1_2, Target
from .checks import (
    FLOAT_QUANT8,
    INPUT_TYPE,
    OPERAND_VALUE,
    OUTPUT_TYPE,
    at_most_rank,
    float_operand,
    float_quant8_operand,
    max_version,
    min_level,
    not_scalar_output,
    typed,
)

_INT32 = np.iinfo(np.int32)


def _axis(node: NodeView, _: Target) -> str | None:
    axis = node.input(1)
    if axis.type == "INT32":
        return None
    if axis.type == "INT64" and axis.is_constant:
        value = node.value(axis)
        if value is not None and len(value) and _INT32.min <= value[0] <= _INT32.max:
            return None
    return f"axis is {axis.type}, {'constant' if axis.is_constant else 'not constant'}"


def _output_type(node: NodeView, _: Target) -> str | None:
    name = schema.tensor_type_name(node.options.output_type)
    return None if name == "INT32" else f"output_type {name}"


RULES = {
    **for_each(
        ("ARG_MAX", "ARG_MIN"),
        max_version(2),
        min_level(NNAPI_1_2),
        typed(0, ("FLOAT16", "FLOAT32", "INT32", "UINT8", "INT8")),
        Check("nnapi-input-type", INPUT_TYPE, "an INT32 axis, or a constant INT64 one that fits INT32", _axis),
        Check("nnapi-output-type", OUTPUT_TYPE, "output_type INT32", _output_type, "ask for INT32 indices in the model"),
    ),
    "MEAN": OpRule(
        (
            max_version(2),
            min_level(NNAPI_1_1),
            float_quant8_operand().from_level(NNAPI_1_2),
            float_operand().below_level(NNAPI_1_2),
            not_scalar_output(),
            at_most_rank(4, 0, kind=OPERAND_VALUE),
        )
    ),
    "REDUCE_ANY": OpRule((max_version(2), min_level(NNAPI_1_2), not_scalar_output())),
    **for_each(
        ("REDUCE_MIN", "REDUCE_MAX"),
        max_version(2),
        min_level(NNAPI_1_2),
        typed(0, FLOAT_QUANT8),
        Check(
            "nnapi-rank",
            OUTPUT_TYPE,
            "an input with dimensions",
            lambda node, _: None if node.input(0).rank else "a scalar input",
        ),
    ),
    **for_each(("REDUCE_PROD", "SUM"), max_version(1), min_level(NNAPI_1_2), not_scalar_output(), float_operand()),
}
