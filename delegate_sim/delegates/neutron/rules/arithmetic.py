"""ADD."""

from __future__ import annotations

from ....rules.operands import INPUT, operand
from ....rules.vocabulary import typed
from .checks import EIGHT_BITS, INPUT_TYPE, OUTPUT_TYPE, neutron_rule, not_constant

_SECOND = operand(1)

RULES = {"ADD": neutron_rule(INPUT_TYPE, typed(_SECOND, EIGHT_BITS), OUTPUT_TYPE, not_constant(INPUT), not_constant(_SECOND))}
