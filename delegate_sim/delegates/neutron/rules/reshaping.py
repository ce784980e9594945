"""RESHAPE."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant, typed
from .checks import INPUT_TYPE, neutron_rule

_SHAPE = operand(1, "shape")

RULES = {"RESHAPE": neutron_rule(INPUT_TYPE, typed(_SHAPE, ("INT32",)), constant(_SHAPE))}
