"""Properties of all acceptance rules together."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.xnnpack.rules import RULES
from delegate_sim.releases.catalogue import NEWEST
from tests.support.delegates.cases import assert_explained
from tests.support.delegates.xnnpack_rule_cases import DEFAULT, FLOAT, OPERATOR
from tests.support.graphs import node_view


@pytest.mark.parametrize("op", ["EXPAND_DIMS", "GATHER", "POW"])
def test_operators_without_a_visit_are_refused(op):
    (reason,) = RULES.validate(node_view(op, [FLOAT], [FLOAT]), DEFAULT).reasons
    assert (reason.code, reason.kind) == (OPERATOR, "unsupported-operator")


def test_a_custom_operator_named_like_a_builtin_one_is_refused():
    (reason,) = RULES.validate(node_view("ABS", [FLOAT], [FLOAT], custom=True), DEFAULT).reasons
    assert (reason.code, reason.found) == (OPERATOR, "custom operator ABS")


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES)


def test_the_newest_release_is_the_default():
    assert DEFAULT.release is NEWEST
