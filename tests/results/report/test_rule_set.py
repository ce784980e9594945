"""The version of a delegate's rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.results.report import rule_set
from delegate_sim.rules import kinds
from delegate_sim.rules.kinds import RANK
from delegate_sim.rules.operands import INPUT, OUTPUT, at_least, between, operand
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.vocabulary import (
    activation,
    check,
    constant,
    constants,
    given,
    has_elements,
    max_version,
    operand_count,
    option,
    rank,
    ranks_at_most,
    same_type,
    typed,
    unset,
    version,
    where,
    where_given,
)
from tests.support.delegates.tiny.delegate import RULES, TinyDelegate


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


def having(**rules):
    return replace(RULES, families=({**RULES.rules, **rules},))


def test_delegates_have_versions_of_their_own():
    versions = {rule_set.rule_set_version(find_delegate(name)) for name in DELEGATE_NAMES}
    assert len(versions) == len(DELEGATE_NAMES)


def test_the_same_rules_have_the_same_version(before):
    assert version_of(with_rules(having())) == before


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
    assert version_of(with_rules(having(RELU=rule))) != before


def test_a_new_operator_changes_the_version(before):
    assert version_of(with_rules(having(TANH=OpRule(())))) != before


def test_wording_does_not_change_the_version(before):
    kinds = tuple(kind.reworded(title="x", meaning="y", advice="z", hint="h") for kind in RULES.kinds)
    assert version_of(with_rules(replace(RULES, kinds=kinds))) == before


VOCABULARY = {
    "version": version(2),
    "greatest version": max_version(2),
    "operand count": operand_count(2, 1),
    "given": given(INPUT),
    "type": typed(INPUT, ("FLOAT32", "INT8")),
    "same type": same_type(INPUT, OUTPUT),
    "rank": rank(INPUT, between(1, 4)),
    "ranks": ranks_at_most(4),
    "elements": has_elements(INPUT),
    "constant": constant(INPUT),
    "constants": constants(INPUT, operand(1)),
    "activation": activation(("NONE", "RELU")),
    "option": option("axis", at_least(1)),
    "unset": unset("adj_x"),
    "where given": where_given(operand(2), rank(INPUT, 2))[0],
}
OTHER_VALUES = {
    "version": version(3),
    "greatest version": max_version(1),
    "operand count": operand_count(2, 2),
    "given": given(OUTPUT),
    "type": typed(INPUT, ("FLOAT32",)),
    "same type": same_type(INPUT, operand(1)),
    "rank": rank(INPUT, between(1, 5)),
    "ranks": ranks_at_most(4, results=True),
    "elements": has_elements(OUTPUT),
    "constant": constant(operand(1)),
    "constants": constants(INPUT, operand(2)),
    "activation": activation(("NONE", "RELU6")),
    "option": option("axis", at_least(2)),
    "unset": unset("adj_y"),
    "where given": where_given(operand(1), rank(INPUT, 2))[0],
}


def version_with(check):
    every_kind = tuple(kind for kind in vars(kinds).values() if isinstance(kind, kinds.Kind))
    return version_of(with_rules(replace(having(RELU=OpRule((check,))), kinds=every_kind)))


@pytest.mark.parametrize("name", VOCABULARY)
def test_rewording_a_check_of_the_vocabulary_does_not_change_the_version(name):
    check = VOCABULARY[name]
    reworded = replace(check, needed="other words", applies="other words")
    assert version_with(reworded) == version_with(check)


@pytest.mark.parametrize("name", VOCABULARY)
def test_another_value_of_a_check_of_the_vocabulary_changes_the_version(name):
    assert version_with(OTHER_VALUES[name]) != version_with(VOCABULARY[name])


def test_the_name_of_an_operand_is_wording():
    assert version_with(rank(operand(1, "weights"), 2)) == version_with(rank(operand(1, "filter"), 2))


def test_the_order_of_allowed_values_is_wording():
    assert version_with(typed(INPUT, ("INT8", "UINT8"))) == version_with(typed(INPUT, ("UINT8", "INT8")))


def test_a_check_with_a_function_of_its_own_counts_by_its_words():
    def finder(node):
        return None

    assert version_with(check(RANK, "one thing", finder)) != version_with(check(RANK, "another", finder))
    given_only, always = where(finder, "sometimes", rank(INPUT, 2))[0], rank(INPUT, 2)
    assert version_with(given_only) != version_with(always)


def test_looking_for_negative_sizes_too_changes_the_version():
    assert version_with(has_elements(INPUT, allows_negative=False)) != version_with(has_elements(INPUT))


def test_a_check_with_a_function_of_its_own_counts_by_its_limits_if_it_names_them():
    def limited(words, limit):
        return check(RANK, words, lambda node: None if node.input(0).rank <= limit else "more", data=("limit", limit))

    assert version_with(limited("one thing", 4)) == version_with(limited("another", 4))
    assert version_with(limited("one thing", 4)) != version_with(limited("one thing", 5))


def test_the_numbers_for_semantics_change_the_version(before, monkeypatch):
    delegate = TinyDelegate()
    delegate.semantics = 2
    assert version_of(delegate) != before
    monkeypatch.setattr(rule_set, "SEMANTICS", rule_set.SEMANTICS + 1)
    assert version_of(TinyDelegate()) != before
