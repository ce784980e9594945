"""The engine that asks a delegate's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from delegate_sim.releases.catalogue import NEWEST, Release, parse_release
from delegate_sim.rules import kinds
from delegate_sim.rules.book import Policy, RuleBook, Unknown
from delegate_sim.rules.operands import INPUT, OUTPUT
from delegate_sim.rules.rule import ACCEPTED, Condition, OpRule, Reason, Repository, Source
from delegate_sim.rules.vocabulary import check, max_version, rank, typed
from tests.support.graphs import arena, node_view

FLOAT, INT8 = arena("FLOAT32", 1, 2), arena("INT8", 1, 2)
SOURCE = Source(Repository("example/x", "0" * 40), "x.cc", "IsSupported")
TYPE_OF_INPUT, TYPE_OF_OUTPUT = typed(INPUT, ("FLOAT32",)), typed(OUTPUT, ("FLOAT32",))


class Target(NamedTuple):
    level: int = 30
    release: Release = NEWEST


FROM_29 = Condition("from level 29", lambda target: target.level >= 29)


def book(*checks, **changes):
    made = RuleBook(
        "x",
        families=({"ABS": OpRule(checks)},),
        kinds=(kinds.OPERATOR, kinds.VERSION, kinds.TENSOR_TYPE, kinds.RANK),
        source=SOURCE,
        unknown=Unknown("an operator that x has", problem="(op {builtin_code}) has no mapper"),
    )
    return replace(made, **changes)


def verdict(rules, *, inputs=(INT8,), outputs=(INT8,), target=Target(), op="ABS", **node):  # noqa: B008
    return rules.validate(node_view(op, list(inputs), list(outputs), **node), target)


def test_a_node_that_meets_everything_is_accepted():
    assert verdict(book(TYPE_OF_INPUT, TYPE_OF_OUTPUT), inputs=[FLOAT], outputs=[FLOAT]) == ACCEPTED


@pytest.mark.parametrize(
    ("policy", "found"),
    [(Policy.FIRST_FAILURE, ["input 0 is INT8"]), (Policy.ALL_FAILURES, ["input 0 is INT8", "output is INT8"])],
)
def test_failures_are_in_order_and_as_many_as_the_delegate_looks_for(policy, found):
    refused = verdict(book(TYPE_OF_INPUT, TYPE_OF_OUTPUT, policy=policy))
    assert not refused.is_supported
    assert [reason.found for reason in refused.reasons] == found


def test_a_reason_has_the_words_of_its_check_and_its_kind():
    (reason,) = verdict(book(TYPE_OF_INPUT)).reasons
    assert reason == Reason(
        "x-tensor-type",
        "tensor-type",
        "input 0 is INT8; needs input 0 of type FLOAT32",
        "input 0 is INT8",
        "input 0 of type FLOAT32",
        kinds.TENSOR_TYPE.hint,
    )


def test_a_delegate_words_kinds_its_own_way():
    worded = kinds.TENSOR_TYPE.reworded(suffix="input-type", native="kUnsupportedInputType", hint="cast")
    rules = book(TYPE_OF_INPUT, TYPE_OF_OUTPUT.reported_as("kUnsupportedOutputType"), kinds=(worded,), policy=Policy.ALL_FAILURES)
    first, second = verdict(rules).reasons
    assert (first.code, first.kind, first.hint) == ("x-input-type", "kUnsupportedInputType", "cast")
    assert second.kind == "kUnsupportedOutputType"


def test_a_kind_without_words_is_a_mistake_of_the_delegate():
    with pytest.raises(ValueError, match="x has no words for the kind shape"):
        verdict(book(check(kinds.SHAPE, "a shape", lambda node: "none")))


@pytest.mark.parametrize(("level", "is_supported"), [(28, True), (29, False)])
def test_checks_count_where_their_conditions_hold(level, is_supported):
    assert verdict(book(TYPE_OF_INPUT.when(FROM_29)), target=Target(level)).is_supported == is_supported


@pytest.mark.parametrize(("release", "found"), [("litert-2.0.3", "input 0 is INT8"), ("litert-2.1.0", "output is INT8")])
def test_checks_count_in_their_releases(release, found):
    rules = book(TYPE_OF_INPUT.before_release("litert-2.1.0"), TYPE_OF_OUTPUT.from_release("litert-2.1.0"))
    (reason,) = verdict(rules, target=Target(release=parse_release(release))).reasons
    assert reason.found == found


@pytest.mark.parametrize(("release", "is_supported"), [("litert-2.1.5", False), ("litert-2.1.6", True)])
def test_an_operator_is_known_from_its_release_on(release, is_supported):
    rules = book(families=({"ABS": OpRule(()).from_release("litert-2.1.6")},))
    assert verdict(rules, target=Target(release=parse_release(release))).is_supported == is_supported


def test_a_check_that_accepts_early_lets_the_node_pass():
    rule = OpRule((max_version(1),), accepted_early=TYPE_OF_INPUT)
    rules = book(families=({"ABS": rule},))
    assert verdict(rules, inputs=[FLOAT], version=2).is_supported
    assert not verdict(rules, version=2).is_supported


def test_what_is_excluded_is_refused_before_its_rule_is_looked_at():
    reason = Reason("x-rank", "rank", "excluded", "excluded", "", "")
    rules = book(TYPE_OF_INPUT, excluded=lambda node, target: reason if target.level == 27 else None)
    assert verdict(rules, target=Target(27)).reasons == (reason,)
    assert [each.code for each in verdict(rules).reasons] == ["x-tensor-type"]


def test_an_operator_without_a_rule():
    (reason,) = verdict(book(), op="SIN").reasons
    assert (reason.code, reason.found) == ("x-unsupported-operator", "SIN")
    assert "op 66" in reason.message


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ({}, "", "unsupported-operator"),
        ({"suffix": "op"}, "", "op"),
        ({"suffix": "op", "native": "kUnsupportedOp"}, "", "kUnsupportedOp"),
        ({"suffix": "op", "native": "kUnsupportedOp"}, "{op} is not known.", "SIN is not known."),
    ],
)
def test_an_operator_without_a_rule_has_the_delegates_own_name_for_it_if_any(kind, said, expected):
    unknown = Unknown("an operator that x has", said=said)
    (reason,) = verdict(book(kinds=(kinds.OPERATOR.reworded(**kind),), unknown=unknown), op="SIN").reasons
    assert reason.kind == expected


@pytest.mark.parametrize(("own", "expected"), [("", kinds.OPERATOR.hint), ("use ADD", "use ADD")])
def test_an_operator_without_a_rule_has_the_hint_of_its_kind_unless_the_delegate_gives_one(own, expected):
    (reason,) = verdict(book(unknown=Unknown("an operator that x has", hint=own)), op="SIN").reasons
    assert reason.hint == expected


def test_which_checks_apply_is_asked_once_for_a_target():
    asked = []
    condition = Condition("always", lambda target: asked.append(target.level) or True)
    rules = book(TYPE_OF_INPUT.when(condition))
    for level in (30, 31, 30, 31):
        verdict(rules, target=Target(level))
    assert asked == [30, 31]


def test_no_more_targets_are_kept_than_a_limit(monkeypatch):
    monkeypatch.setattr("delegate_sim.rules.book._MOST_KEPT", 2)
    rules = book(TYPE_OF_INPUT.when(FROM_29))
    for level in (27, 28, 29, 30, 31):
        assert verdict(rules, target=Target(level)).is_supported == (level < 29)
        assert len(rules._kept) <= 2


def test_custom_operators_have_rules_of_their_own():
    rules = book(custom={"Pool": OpRule(())}, unknown_custom=Unknown("the custom operator Pool"))
    assert verdict(rules, op="Pool", custom=True).is_supported
    (reason,) = verdict(rules, op="ABS", custom=True).reasons
    assert reason.found == "custom operator ABS"


def test_nodes_that_are_assumed_to_be_accepted_are():
    view = node_view("ABS", [INT8], [INT8])
    graph = view.graph.assuming(frozenset({view.node.index}))
    assert book(TYPE_OF_INPUT).validate(graph.view(view.node), Target()).is_supported


def test_an_operator_stands_in_one_family():
    rules = book(families=({"ABS": OpRule(())}, {"ABS": OpRule(())}))
    with pytest.raises(ValueError, match="two rules for ABS"):
        _ = rules.rules


def test_sources_are_the_checks_own_or_the_rules_or_the_books():
    other = SOURCE.with_symbol("Other")
    mine = TYPE_OF_INPUT.from_source(SOURCE.with_symbol("Mine"))
    rule = OpRule((mine, TYPE_OF_OUTPUT)).from_source(other)
    rules = book()
    assert rules.source_of(mine, rule).symbol == "Mine"
    assert rules.source_of(TYPE_OF_OUTPUT, rule) == other
    assert rules.source_of(TYPE_OF_OUTPUT, OpRule((TYPE_OF_OUTPUT,))) == SOURCE


def test_the_most_recent_targets_are_kept_and_no_more(monkeypatch):
    monkeypatch.setattr("delegate_sim.rules.book._MOST_KEPT", 2)
    rules = book(rank(INPUT, 2))
    for level in range(5):
        assert verdict(rules, target=Target(level)).is_supported
    assert len(rules._kept) <= 2


def test_an_operator_is_a_builtin_one_unless_told_otherwise():
    own, custom = OpRule(()), OpRule(())
    rules = book(families=({"ADD": own},), custom={"ADD": custom})
    assert rules.rule_of("ADD") is own
    assert rules.rule_of("ADD", is_custom=True) is custom


@pytest.mark.parametrize(("changes", "expected"), [({}, "tensor-type"), ({"has_native_messages": True}, "not a float")])
def test_what_a_delegate_says_is_its_name_for_a_refusal_only_if_it_has_native_messages(changes, expected):
    (reason,) = verdict(book(TYPE_OF_INPUT.saying("not a float"), **changes)).reasons
    assert reason.kind == expected
