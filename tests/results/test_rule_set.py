"""The version of a delegate's rules."""

from __future__ import annotations

import dataclasses

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.results import rule_set
from delegate_sim.rules.kinds import RANK
from delegate_sim.rules.operands import INPUT
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.vocabulary import rank, typed
from tests.delegates.tiny.delegate import RULES, TinyDelegate


def version_of(delegate):
    rule_set._digest.cache_clear()
    return rule_set.rule_set_version(delegate)


def with_rules(book):
    class Changed(TinyDelegate):
        rules = book

    return Changed()


@pytest.fixture
def before():
    return version_of(TinyDelegate())


def changed(**rules):
    return dataclasses.replace(RULES, families=({**RULES.rules, **rules},))


def test_delegates_have_versions_of_their_own():
    versions = {rule_set.rule_set_version(find_delegate(name)) for name in DELEGATE_NAMES}
    assert len(versions) == len(DELEGATE_NAMES)


def test_the_same_rules_have_the_same_version(before):
    assert version_of(with_rules(changed())) == before


@pytest.mark.parametrize(
    "rule",
    [
        OpRule((typed(INPUT, ("FLOAT32", "FLOAT16")),)),
        OpRule((typed(INPUT, ("FLOAT32",)), rank(INPUT, 2))),
        OpRule((typed(INPUT, ("FLOAT32",)).from_release("litert-2.0.2"),)),
        OpRule((typed(INPUT, ("FLOAT32",)).of_kind(RANK),)),
        OpRule((typed(INPUT, ("FLOAT32",)),)).from_release("litert-2.0.2"),
    ],
    ids=["demand", "check", "release of a check", "kind", "release of the operator"],
)
def test_a_changed_rule_changes_the_version(before, rule):
    assert version_of(with_rules(changed(RELU=rule))) != before


def test_a_new_operator_changes_the_version(before):
    assert version_of(with_rules(changed(TANH=OpRule(())))) != before


def test_wording_does_not_change_the_version(before):
    kinds = tuple(kind.reworded(title="x", meaning="y", advice="z", hint="h") for kind in RULES.kinds)
    assert version_of(with_rules(dataclasses.replace(RULES, kinds=kinds))) == before


def test_the_numbers_for_semantics_change_the_version(before, monkeypatch):
    delegate = TinyDelegate()
    delegate.semantics = 2
    assert version_of(delegate) != before
    monkeypatch.setattr(rule_set, "SEMANTICS", rule_set.SEMANTICS + 1)
    assert version_of(TinyDelegate()) != before
