"""What ML Drift accepts on its second path, over a graph representation of its own (``IrModel``), which no public option takes.

Source: ``IsNodeSupported`` (``ml_drift_delegate/tflite/support/support.cc``) and the function of each operator beside it. The
rules were read, and no record of a run was there to compare them with. They are those of one commit, whatever the release.
"""

from __future__ import annotations

from typing import Any

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules
from ..kinds import KINDS
from .checks import SOURCE
from .custom import CUSTOM_RULES

IR_RULES: RuleBook[Any] = RuleBook(
    "mldrift",
    families=family_rules(
        __name__, "activation", "arithmetic", "conversion", "convolution", "custom", "matrix", "reduction", "shape"
    ),
    custom=CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that ML Drift has on its second path"),
    unknown_custom=Unknown("a custom operator that ML Drift has on its second path"),
    speaks=True,
)
