"""Failures to initialize the kernel of a partition: problem codes and wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Kind, Problem
from .. import decision
from ..decision import FailureWording

WORDINGS: Mapping[str, FailureWording] = {
    "coreml-kernel-operands": FailureWording(
        "{op} has {found}; its layer takes {needed}",
        Kind(
            "coreml-kernel-operands",
            Problem.OPERANDS,
            "number of operands of a layer",
            "The acceptance rules do not count all operands. An accepted node with another number of operands or results than "
            "its Core ML layer takes makes the kernel of the whole partition fail, and the runtime undoes all delegation.",
            "Give the node the operands that its layer takes; split a TRANSPOSE_CONV with a bias into one without and an ADD.",
            "give the node the operands that its layer takes",
            is_shared=True,
        ),
    ),
    "coreml-kernel-rank": FailureWording(
        "{tensor} goes into or out of the partition and has {found} dimensions; needs at most 4",
        Kind(
            "coreml-kernel-rank",
            Problem.RANK,
            "more than four dimensions at the boundary of a partition",
            "The acceptance rules of many operators do not look at ranks, but the delegate hands tensors over to Core ML with at "
            "most four dimensions. From LiteRT 2.2.0 on a tensor with more makes the kernel fail, and the runtime undoes all "
            "delegation.",
            "Fold dimensions with a RESHAPE, at least before and after the delegated part.",
            "fold dimensions with RESHAPE",
            is_shared=True,
        ),
    ),
    "coreml-kernel-value": FailureWording(
        "{op} leaves the value of the padding out, which the delegate's kernel reads",
        Kind(
            "coreml-kernel-value",
            Problem.OPERANDS,
            "padding without its value",
            "The kernel of a padding with three operands reads the third one. If it is left out, the process crashes.",
            "Use PAD, which has no such operand, or give the value.",
            "use PAD, or give the value",
            is_shared=True,
        ),
        is_crash=True,
    ),
}
"""The wording of each failure, by problem code."""

kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
