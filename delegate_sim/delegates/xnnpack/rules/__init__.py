"""Rules of the XNNPACK delegate: the checks of each operator, in the delegate's order.

Source: ``Subgraph::VisitNode`` and the function of each operator (``delegates/xnnpack/xnnpack_delegate.cc``). The delegate
calls these functions before it creates kernels. EXPAND_DIMS has no rule, because its upstream function refuses every node.
"""

from __future__ import annotations

from ....rules.book import RuleBook, Unknown
from ....rules.rule import family_rules, modules_of_families
from ..target import KINDS, Visit
from . import layers
from .checks import SOURCE

RULES: RuleBook[Visit] = RuleBook(
    "xnnpack",
    families=family_rules(
        __name__,
        modules_of_families(
            arithmetic="activation arithmetic conversion reduction",
            layers="convolution pooling resizing",
            calls="control_flow stablehlo",
            shapes="reshaping slicing joining padding",
        ),
    ),
    custom=layers.CUSTOM_RULES,
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that XNNPACK runs"),
    key=lambda visit: visit.target,
    has_native_messages=True,
)
