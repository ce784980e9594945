"""The target of the rules.

Source: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class GpuTarget(NamedTuple):
    """A target: whether 8-bit nodes are supported, the operators to leave to the CPU, and the runtime's release."""

    allow_quant_ops: bool
    excluded_ops: frozenset[str]
    release: Release = NEWEST
