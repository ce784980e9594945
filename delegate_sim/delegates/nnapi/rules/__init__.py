"""Rules of the NNAPI delegate: the checks of each operator, in the delegate's order.

Source: ``NNAPIDelegateKernel::Validate`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

from ....rules.book import Policy, RuleBook, Unknown
from ....rules.rule import family_rules, modules_of_families
from ..target import KINDS, SOURCE, NnapiTarget

RULES: RuleBook[NnapiTarget] = RuleBook(
    "nnapi",
    families=family_rules(
        __name__,
        modules_of_families(
            arithmetic="activation arithmetic conversion reduction",
            layers="convolution pooling resizing matrix recurrent",
            shapes="joining reshaping slicing padding gathering filling",
        ),
    ),
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that NNAPI has", problem="is not mapped"),
    policy=Policy.ALL_FAILURES,
)
