"""Failures of the Ethos-U delegate's kernels: problem codes and wording."""

from __future__ import annotations

import functools

from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import kinds_by_code

MIXED = "ethosu-imx93-mixed-partition"
NO_OFFSETS = "ethosu-imx93-no-memory-offsets"

KINDS = kinds_by_code(
    shared_kind(
        MIXED,
        Problem.NEIGHBORS,
        "ethos-u nodes and further nodes in one partition",
        "Vela compiled ethos-u nodes beforehand. The delegate compiles all other nodes on the device. The kernel of a "
        "partition with both kinds of nodes fails to initialize.",
        "Compile the whole model with Vela, or use a model without ethos-u nodes.",
        "compile the whole model with Vela, or use a model without ethos-u nodes",
        template="the partition mixes {compiled} ethos-u nodes with {others} other nodes",
    ),
    shared_kind(
        NO_OFFSETS,
        Problem.MODEL,
        "compiled network without memory offsets",
        "The kernel of a network that Vela compiled beforehand reads the memory offset of each tensor from the model's "
        "metadata OfflineMemoryAllocation. If this metadata is missing, the kernel fails to prepare.",
        "Compile the model with Vela again, and keep the metadata of its output.",
        "keep the metadata that Vela writes",
        template="the model has no metadata {metadata}, which the kernel of a compiled network reads",
    ),
)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)
