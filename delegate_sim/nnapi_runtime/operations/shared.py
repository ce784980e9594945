"""Checks that several families of operations share."""

from __future__ import annotations

from ...foundation.float32 import float32
from ..refusal import Concern, OperandPart, Violation
from ..types import AndroidRelease
from .signature import INT32, SAME, OperationRule, OperationView, SignatureCheck, Slot, T, form, operation_rule

RANK_LIMIT = operation_rule(
    "rank",
    Concern.RANK,
    "The number of dimensions, if known, must not be above the limit of the operation.",
    "*.cpp: validate",
    AndroidRelease.ANDROID_11,
)
QUANTIZATION_EQUAL = operation_rule(
    "quantization-equal",
    Concern.SCALES,
    "A quantized input must have the same scale and zero point as the output.",
    "MirrorPad.cpp, Pack.cpp, Reverse.cpp: validate",
)

MAX_RANK = 4


def max_rank(*inputs: int) -> SignatureCheck:
    """Return a check that the inputs at these positions have at most 4 dimensions."""

    def find(view: OperationView) -> Violation | None:
        for index in inputs:
            rank = view.inputs[index].rank
            if rank > MAX_RANK:
                return OperandPart("input", index, "rank"), rank, f"at most {MAX_RANK}"
        return None

    return SignatureCheck(RANK_LIMIT, find)


def unequal_quantization(view: OperationView, index: int) -> Violation | None:
    """Return a violation if a quantized input differs from the first output in scale or zero point."""
    operand, output = view.inputs[index], view.outputs[0]
    if output.type not in {T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED}:
        return None
    if (operand.scale, operand.zero_point) == (output.scale, output.zero_point):
        return None
    return (
        OperandPart("input", index, "scale and zero point"),
        f"{operand.scale}, {operand.zero_point}",
        f"the scale and zero point of the output, {output.scale}, {output.zero_point}",
    )


EQUAL_QUANTIZATION = SignatureCheck(QUANTIZATION_EQUAL, lambda view: unequal_quantization(view, 0))


def unary(table: dict[int, int], source: str, *checks: SignatureCheck) -> OperationRule:
    """Return the rule for an operation with one input and an output of the same type.

    ``table`` has the feature level of each type. ``source`` names the runtime's function with the rule.
    """
    return OperationRule(source, table, (form(SAME),), checks=checks)


def binary(table: dict[int, int], source: str, output: Slot = SAME) -> OperationRule:
    """Return the rule for an operation with two inputs of the same type. By default, the output has this type too."""
    return OperationRule(source, table, (form(SAME, SAME),), (form(output),))


def integers(count: int) -> tuple[Slot, ...]:
    """Return slots for ``count`` INT32 scalars."""
    return (INT32,) * count  # bounded: callers pass constants


def product_level(view: OperationView, scale: float) -> int:
    """Return the feature level that ``scale`` needs.

    Below level 3, ``scale`` must exceed the product of input and filter scale.
    """
    if view.inputs[0].type != T.TENSOR_QUANT8_ASYMM:
        return 1
    return 1 if scale > float32(view.inputs[0].scale * view.inputs[1].scale) else 3


def unequal_rank(view: OperationView) -> Violation | None:
    """Return a violation if the known ranks of input and output differ."""
    rank, output_rank = view.inputs[0].rank, view.outputs[0].rank
    if rank and output_rank and rank != output_rank:
        return OperandPart("output", 0, "rank"), output_rank, f"{rank}, the rank of the input"
    return None


def zero_point_level(view: OperationView) -> int:
    """Return the feature level that the input's zero point needs. Below level 3, the zero point must be 0."""
    return 3 if view.inputs[0].type == T.TENSOR_QUANT8_ASYMM and view.inputs[0].zero_point != 0 else 1
