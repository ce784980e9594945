"""Rules of the Hexagon delegate: the checks of each operator, in the delegate's order.

Source: ``IsNodeSupportedByHexagon`` and ``CheckOpVersion`` (``delegates/hexagon/utils.cc``).
"""

from __future__ import annotations

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules
from ..kinds import KINDS
from ..target import HexagonTarget
from .checks import SOURCE

RULES: RuleBook[HexagonTarget] = RuleBook(
    "hexagon",
    families=family_rules(__name__),
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the Hexagon delegate has"),
)
