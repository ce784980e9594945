"""Failures of the Ethos-U delegate's kernels: problem codes and wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Kind, Problem
from .. import decision
from ..decision import FailureWording

MIXED = "ethosu-imx93-mixed-partition"
NO_OFFSETS = "ethosu-imx93-no-memory-offsets"

WORDINGS: Mapping[str, FailureWording] = {
    MIXED: FailureWording(
        "the partition mixes {compiled} ethos-u nodes with {others} other nodes",
        Kind(
            MIXED,
            Problem.NEIGHBORS,
            "ethos-u nodes and further nodes in one partition",
            "Vela compiled ethos-u nodes beforehand. The delegate compiles all other nodes on the device. The kernel of a "
            "partition with both kinds of nodes fails to initialize.",
            "Compile the whole model with Vela, or use a model without ethos-u nodes.",
            "compile the whole model with Vela, or use a model without ethos-u nodes",
            is_shared=True,
        ),
    ),
    NO_OFFSETS: FailureWording(
        "the model has no metadata {metadata}, which the kernel of a compiled network reads",
        Kind(
            NO_OFFSETS,
            Problem.MODEL,
            "compiled network without memory offsets",
            "The kernel of a network that Vela compiled beforehand reads the memory offset of each tensor from the model's "
            "metadata OfflineMemoryAllocation. If this metadata is missing, the kernel fails to prepare.",
            "Compile the model with Vela again, and keep the metadata of its output.",
            "keep the metadata that Vela writes",
            is_shared=True,
        ),
    ),
}
"""The wording of each failure, by problem code."""

kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
