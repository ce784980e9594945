"""All rules by their codes: each module that checks some lists them when it is imported."""

from __future__ import annotations

from . import builder, compilation  # noqa: F401  # with all that they import
from .refusal import RULES

__all__ = ["RULES"]
