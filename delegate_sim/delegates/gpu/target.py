"""What of the delegate's options the acceptance rules depend on.

Source: ``GetOpsToReplace`` (``delegates/gpu/common/model_builder.cc``).
"""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """Whether 8-bit quantised nodes are taken, and the operators that are left out."""

    allow_quant_ops: bool
    excluded_ops: frozenset[str]
