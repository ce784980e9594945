"""QUANTIZE."""

from __future__ import annotations

from .checks import ethosu_rule

RULES = {"QUANTIZE": ethosu_rule(scalar_inputs=True, scalar_outputs=True, strings=True)}
