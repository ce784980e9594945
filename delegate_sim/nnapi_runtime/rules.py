"""All rules of the runtime by code, collected from the modules that check them."""

from __future__ import annotations

from . import builder, compilation  # noqa: F401  # with all that they import
from .refusal import RULES

__all__ = ["RULES"]
