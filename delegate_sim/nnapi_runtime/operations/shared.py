"""Checks that several families of operations share."""

from __future__ import annotations

from ..refusal import Violation
from ..types import AndroidRelease
from .signature import OperationView, SignatureCheck, T, operation_rule

RANK_LIMIT = operation_rule(
    "rank",
    "A tensor of known rank has no more dimensions than the operation allows.",
    "*.cpp: validate",
    AndroidRelease.ANDROID_11,
)
QUANTIZATION_EQUAL = operation_rule(
    "quantization-equal",
    "Quantised input and output have the same scale and zero point.",
    "MirrorPad.cpp, Pack.cpp, Reverse.cpp: validate",
)

MAX_RANK = 4


def max_rank(*inputs: int) -> SignatureCheck:
    """Return the check that the rank of each of these inputs is at most 4."""

    def find(view: OperationView) -> Violation | None:
        for index in inputs:
            rank = view.inputs[index].rank
            if rank > MAX_RANK:
                return Violation(f"rank of input {index}", str(rank), f"at most {MAX_RANK}")
        return None

    return SignatureCheck(RANK_LIMIT, find)


def unequal_quantization(view: OperationView, index: int) -> Violation | None:
    """Compare scale and zero point of an input with the first output's, if they are quantised."""
    operand, output = view.inputs[index], view.outputs[0]
    if output.type not in {T.TENSOR_QUANT8_ASYMM, T.TENSOR_QUANT8_ASYMM_SIGNED}:
        return None
    if (operand.scale, operand.zero_point) == (output.scale, output.zero_point):
        return None
    return Violation(
        f"scale and zero point of input {index}",
        f"{operand.scale}, {operand.zero_point}",
        f"those of the output, {output.scale}, {output.zero_point}",
    )


EQUAL_QUANTIZATION = SignatureCheck(QUANTIZATION_EQUAL, lambda view: unequal_quantization(view, 0))
