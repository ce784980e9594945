"""Rules of Arm NN's delegate: for each operator, the delegate's own demands and the layers that the backends are asked for.

Source: ``ArmnnSubgraph::VisitNode`` (``delegate/classic/src/armnn_delegate.cpp``) and the file of each operator. The demands of
the backends on layers are in ``reference.py`` and ``compute_library``. No rule looks at an operator's version.
"""

from __future__ import annotations

from ....rules.book import Policy, RuleBook, Unknown
from ....rules.families import family_rules, modules_of_families
from ..kinds import CLASSIC, KINDS
from ..steps import ArmnnTarget
from . import windows

RULES: RuleBook[ArmnnTarget] = RuleBook(
    "armnn",
    families=family_rules(
        __name__,
        modules_of_families(
            arithmetic="activation arithmetic conversion",
            windows="convolution pooling resizing matrix",
            shapes="reshaping reduction gathering filling padding",
            layers="slicing joining",
            recurrent="recurrent",
        ),
    ),
    custom=windows.CUSTOM_RULES,
    kinds=KINDS,
    source=CLASSIC,
    unknown=Unknown("an operator that the delegate visits"),
    policy=Policy.ALL_FAILURES,
)
