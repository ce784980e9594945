"""Operators of the NNAPI delegate: the checks of each operator, in the delegate's order, and its lowering.

Source: ``NNAPIDelegateKernel::Validate`` and ``Map`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ....rules.book import Policy, RuleBook, Unknown
from ....rules.rule import family_rules, modules_of_families
from ..lowering.operator import NnapiOperator
from ..target import KINDS, SOURCE, NnapiTarget

RULES: RuleBook[NnapiTarget] = RuleBook(
    "nnapi",
    families=family_rules(
        __name__,
        modules_of_families(
            activation="activation conversion",
            arithmetic="arithmetic reduction",
            layers="convolution pooling resizing matrix",
            shapes="reshaping padding filling",
            slicing="joining slicing gathering",
        ),
    ),
    kinds=KINDS,
    source=SOURCE,
    unknown=Unknown("an operator that NNAPI has", problem="is not mapped"),
    policy=Policy.ALL_FAILURES,
)


def find_operator(op: str) -> NnapiOperator | None:
    """Return an operator with its rule and its lowering, or None if the delegate does not have the operator."""
    rule = RULES.rule_of(op)
    return rule if isinstance(rule, NnapiOperator) else None


@functools.cache
def driver_operations() -> Mapping[str, str]:
    """Return the NNAPI operation of each operator. Omit operators that always become several operations."""
    return {op: name for op in RULES.rules if (row := find_operator(op)) is not None and (name := row.operation_of(op))}
