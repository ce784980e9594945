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
            "a layer's number of operands",
            "The acceptance rules do not count all operands. If an accepted node has more or fewer operands or results than "
            "its Core ML layer takes, the kernel of the whole partition fails, and the runtime undoes all delegation.",
            "Give the node the operands that its layer takes. Replace a TRANSPOSE_CONV that has a bias by a TRANSPOSE_CONV "
            "without a bias and an ADD.",
            "give the node the operands that its layer takes",
            is_shared=True,
        ),
    ),
    "coreml-kernel-rank": FailureWording(
        "{tensor} is an input or output of the partition and has {found} dimensions; needs at most 4",
        Kind(
            "coreml-kernel-rank",
            Problem.RANK,
            "more than four dimensions at the boundary of a partition",
            "The acceptance rules of many operators do not check ranks, but the delegate passes only tensors of at most four "
            "dimensions to Core ML. From LiteRT 2.2.0 on, the kernel fails if a tensor has more dimensions, and the runtime "
            "undoes all delegation.",
            "Fold dimensions with a RESHAPE, at least before and after the delegated part.",
            "fold dimensions with RESHAPE",
            is_shared=True,
        ),
    ),
    "coreml-kernel-value": FailureWording(
        "{op} has no padding value, but the delegate's kernel reads it",
        Kind(
            "coreml-kernel-value",
            Problem.OPERANDS,
            "padding without its value",
            "If a padding operator has three operands, the kernel reads the third one, the padding value. If the node leaves "
            "it out, the process crashes.",
            "Use PAD, which has no such operand, or give the node a padding value.",
            "use PAD, or give the node a padding value",
            is_shared=True,
        ),
        is_crash=True,
    ),
}
"""The wording of each failure, by problem code."""

kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
