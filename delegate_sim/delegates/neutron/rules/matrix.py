"""FULLY_CONNECTED."""

from __future__ import annotations

from ....rules.operands import operand
from .checks import filtered, neutron_rule

RULES = {"FULLY_CONNECTED": neutron_rule(*filtered(operand(1, "weights")))}
