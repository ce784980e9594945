"""The target that the acceptance rules depend on.

Source: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class GpuTarget(NamedTuple):
    """True if nodes quantized to 8 bits are accepted, which operators are left to the CPU, and the release of the runtime."""

    allow_quant_ops: bool
    excluded_ops: frozenset[str]
    release: Release = NEWEST
