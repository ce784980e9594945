"""Pooling."""

from __future__ import annotations

from .checks import vx_rule

_POOL = vx_rule("Pool2dMapper::IsOpSupported")

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "MAX_POOL_2D": _POOL,
}
