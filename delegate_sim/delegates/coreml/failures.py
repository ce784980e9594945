"""Why the kernel of a partition cannot be initialised: the codes, and all wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.rule import Explanation
from .. import base
from ..base import FailureWording

_WORDINGS: Mapping[str, FailureWording] = {
    "coreml-kernel-operands": FailureWording(
        "{op} has {found}; its layer takes {needed}",
        "give the node the operands that its layer takes",
        Explanation(
            "number of operands of a layer",
            "The acceptance rules do not count all operands. An accepted node with another number of operands or results than "
            "its Core ML layer takes makes the kernel of the whole partition fail, and the runtime takes all delegation back.",
            "Give the node the operands that its layer takes; a TRANSPOSE_CONV with a bias becomes one without and an ADD.",
        ),
    ),
    "coreml-kernel-rank": FailureWording(
        "{tensor} goes into or out of the partition and has {found} dimensions; needs at most 4",
        "fold dimensions with RESHAPE",
        Explanation(
            "more than four dimensions at the border of a partition",
            "The acceptance rules of many operators do not look at ranks, but the delegate hands tensors over to Core ML with at "
            "most four dimensions. From LiteRT 2.2.0 on a tensor with more makes the kernel fail, and the runtime takes all "
            "delegation back.",
            "Fold dimensions with a RESHAPE, at least in front of and behind what is delegated.",
        ),
    ),
}

EXPLANATIONS: Mapping[str, Explanation] = {code: wording.explanation for code, wording in _WORDINGS.items()}
"""What stands behind each code."""

kernel_failure = functools.partial(base.kernel_failure, _WORDINGS)
