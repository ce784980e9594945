"""Pooling."""

from __future__ import annotations

from ....rules.vocabulary import activation
from .checks import coreml_rule

RULES = {
    "AVERAGE_POOL_2D": coreml_rule(activation(("NONE",))),
    "MAX_POOL_2D": coreml_rule(activation(("NONE",))),
}
