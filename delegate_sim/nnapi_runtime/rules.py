"""All rules of the runtime by code."""

from __future__ import annotations

from . import builder, compilation  # noqa: F401  # importing these modules defines all rules
from .refusal import RULES

__all__ = ["RULES"]
