"""What of the runtime and of the delegate's options the acceptance rules depend on.

Source: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple

from ...releases.catalogue import NEWEST, Release


class Target(NamedTuple):
    """Whether 8-bit quantised nodes are taken, the operators that are left out, and the release of the runtime."""

    allow_quant_ops: bool
    excluded_ops: frozenset[str]
    release: Release = NEWEST
