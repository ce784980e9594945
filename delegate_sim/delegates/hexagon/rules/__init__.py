"""What the Hexagon delegate accepts: for each operator its conditions, in the delegate's order.

Source: ``IsNodeSupportedByHexagon`` and ``CheckOpVersion`` (``delegates/hexagon/utils.cc``).
"""

from __future__ import annotations

from ....rules.book import RuleBook, Unknown
from ..kinds import KINDS
from ..target import HexagonTarget
from . import activation, arithmetic, conversion, convolution, matrix, reduction, shape
from .checks import SOURCE

RULES: RuleBook[HexagonTarget] = RuleBook(
    "hexagon",
    families=(
        activation.RULES,
        arithmetic.RULES,
        conversion.RULES,
        convolution.RULES,
        matrix.RULES,
        reduction.RULES,
        shape.RULES,
    ),
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the Hexagon delegate has"),
)
