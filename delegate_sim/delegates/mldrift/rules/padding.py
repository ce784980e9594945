"""Padding."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.vocabulary import where
from ...gpu_compatibility import copying
from ..build_problems import BuildProblems
from ..failures import CONSTANT_TYPE
from .checks import (
    ANY_NUMBERS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    Checks,
    float_constant,
    integer_constant,
    parsed_by,
    readable,
    tensors,
    version_up_to,
)

_PADDINGS: Checks = (*RESULTS_FROM_2_1_5, *readable(0), *integer_constant(1, "matrix"))
_ANY = tensors(*ANY_NUMBERS)


def _has_value(node: NodeView) -> bool:
    return len(node.node.inputs) == 3


_PAD = parsed_by("PadOperationParser", *version_up_to(5), *copying.PAD, *_PADDINGS, *RESULTS_BEFORE_2_1_5, all_tensors=_ANY)

RULES = {
    "MIRROR_PAD": parsed_by("PadOperationParser", *version_up_to(5), *copying.MIRROR_PAD, *_PADDINGS, *RESULTS_BEFORE_2_1_5),
    "PAD": _PAD,
    "PADV2": parsed_by(
        "PadOperationParser",
        *version_up_to(5),
        *copying.PAD,
        *_PADDINGS,
        *where(_has_value, "with a value", *float_constant(2, "scalar")),
        *RESULTS_BEFORE_2_1_5,
        all_tensors=_ANY,
    ),
}


# Building the model


def _unread_value(node: NodeView) -> Iterator[Refusal]:
    value = node.input(2)
    if value.is_constant and (value.type == "INT32" or (value.type == "INT8" and value.quantization is None)):
        yield CONSTANT_TYPE.failure(value)


BUILD_PROBLEMS: BuildProblems = {"PADV2": _unread_value}
