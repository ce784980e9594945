"""Rules of the Core ML delegate: the checks of each operator, in the delegate's order.

Source: ``IsNodeSupportedByDelegate`` (``delegates/coreml/coreml_delegate.mm``) and the functions of
``delegates/coreml/builders/op_validator.h``.
"""

from __future__ import annotations

from ....rules.book import RuleBook, Unknown
from ....rules.families import family_rules
from ..kinds import KINDS
from ..target import CoreMlTarget
from .checks import SOURCE

RULES: RuleBook[CoreMlTarget] = RuleBook(
    "coreml",
    families=family_rules(__name__),
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that the Core ML delegate has"),
)
