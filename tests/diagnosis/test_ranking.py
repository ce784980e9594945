"""The order of causes, and with what else one must go."""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delegate_sim import load
from delegate_sim.diagnosis import ranking
from delegate_sim.diagnosis.causes.cause import Cause, Identity
from delegate_sim.diagnosis.causes.change import Advice, Remedy
from delegate_sim.diagnosis.examiner import Cost
from delegate_sim.diagnosis.ranking import NO_GAIN, Fix, gain, rank, rank_causes
from delegate_sim.graph.effort import Effort, Tries
from delegate_sim.hypothetical.hypothetical_changes import NodeKey
from delegate_sim.results.report.measures import measure
from delegate_sim.rules.kinds import Problem
from tests.support.diagnoses import cost_without, diagnosed
from tests.support.models import chain_model


def cause(name, problem=Problem.OPERATOR):
    return Cause(Identity(problem, (name,)), name, (NodeKey(0, 0),), ((name, 1),), ("code",), "", "", Advice("", ()), Remedy())


@functools.cache
def usual():
    return measure(diagnosed(chain_model(["ADD"])).run)


def cost(*, multiply_adds=0, kernels=4, partitions=9, border_bytes=100, outcome="delegated", total=100, nodes=10, delegated=5):
    changed = {
        "outcome": outcome, "nodes": nodes, "delegated_nodes": delegated,
        "partitions": partitions, "delegate_kernels": kernels, "border_bytes": border_bytes,
    }  # fmt: skip
    return Cost(replace(usual(), **changed), multiply_adds, total)


def order(found):
    return [each.cause.title for each in found]


def needs(found):
    """Return the other causes that each cause needs, if fixing it alone brings nothing."""
    return {each.cause.identity: each.needs for each in found if each.needs != ()}


def ranked(causes, cost_of):
    """Rank causes by what ``cost_of`` returns for the names of those that are removed."""
    return rank_causes(
        causes,
        {each.identity: 0 for each in causes},
        cost_of(frozenset()),
        lambda removed: cost_of(frozenset([each.title for each in removed])),
        Effort(load(chain_model(["ADD"]).bytes())),
    )


def test_multiply_adds_come_before_kernels_and_these_before_bytes():
    ends = {
        "bytes": cost(border_bytes=1),
        "kernels": cost(kernels=3, border_bytes=99),
        "multiply-adds": cost(multiply_adds=50, kernels=8, border_bytes=900),
        "nothing": cost(),
    }
    found = ranked([cause(name) for name in ends], lambda gone: ends[next(iter(gone))] if len(gone) == 1 else cost())
    assert order(found) == ["multiply-adds", "kernels", "bytes", "nothing"]


def test_without_multiply_adds_the_share_of_nodes_counts():
    assert gain(cost(total=0), cost(total=0, delegated=6)) > gain(cost(total=0), cost(total=0, kernels=3))


def test_fewer_bytes_with_more_nodes_on_the_cpu_are_no_gain():
    assert gain(cost(), cost(border_bytes=1, delegated=4)) < NO_GAIN < gain(cost(), cost(border_bytes=1))


def test_a_release_that_does_not_load_the_model_comes_first_whatever_it_brings():
    release = cause("release", Problem.RELEASE)
    found = ranked([cause("a"), release], lambda gone: cost(multiply_adds=50 if "a" in gone else 0))
    assert found[0].cause is release


def test_what_has_no_effect_with_all_others_gone_needs_nothing_known():
    found = ranked([cause("a"), cause("b")], lambda gone: cost(multiply_adds=50 if "a" in gone else 0))
    assert needs(found) == {cause("b").identity: None}


def test_causes_too_many_to_be_simulated_alone_are_still_among_those_needed():
    many = [cause(f"cause {number:02}") for number in range(20)]
    found = ranked(many, lambda gone: cost(multiply_adds=50 if {"cause 00", "cause 19"} <= gone else 0))
    assert needs(found)[many[0].identity] == (many[19].identity,)
    assert order(found).index("cause 19") < order(found).index("cause 01")


def test_once_no_more_may_be_tried_no_others_are_put_back(monkeypatch):
    asked = []
    monkeypatch.setattr(ranking, "_TRIED_AT_MOST", 5)
    take = Tries.take
    monkeypatch.setattr(Tries, "take", lambda tries: asked.append(tries) or take(tries))
    names = [f"op{number}" for number in range(100)]
    causes = [cause(name) for name in names]
    found = rank_causes(
        causes,
        {each.identity: 0 for each in causes},
        cost(),
        lambda removed: cost(multiply_adds=50 if len(list(removed)) == len(names) else 0),
        Effort(load(chain_model(["ADD"]).bytes())),
    )
    assert len(asked) == 5
    assert len(found) == len(names)


@given(st.sets(st.integers(0, 9), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_fewest_others_are_found_where_all_of_a_set_must_go(needed):
    causes = [cause(str(number)) for number in range(10)]
    names = {str(number) for number in needed}
    found = ranked(causes, lambda gone: cost(multiply_adds=80 if names <= gone else 0))
    for each in causes:
        if each.identity in needs(found) and each.title in names:
            assert {other.subject[0] for other in needs(found)[each.identity]} == names - {each.title}


@pytest.mark.parametrize("ops", [["ADD", "GELU", "ROUND", "ADD"], ["ADD", "GELU", "ROUND", "CEIL", "ADD", "SIGN", "ADD"]])
def test_what_a_cause_needs_is_needed_and_enough(ops):
    """Without it and what it needs something is won, and without any fewer of these nothing by this cause."""
    diagnosis = diagnosed(chain_model(ops))
    causes = {finding.cause.identity: finding.cause for finding in diagnosis.findings}
    for finding in diagnosis.findings:
        others = [causes[identity] for identity in finding.needs or ()]
        if not others:
            continue
        assert gain(diagnosis.now, cost_without(diagnosis, [finding.cause, *others])) > NO_GAIN
        for fewer in combinations(others, len(others) - 1):
            before, after = cost_without(diagnosis, fewer), cost_without(diagnosis, [*fewer, finding.cause])
            assert not fewer or gain(before, after) <= NO_GAIN


def test_of_two_causes_that_are_each_enough_the_first_is_needed_and_the_other_is_named():
    names = [cause(name) for name in ("a", "b", "tail")]

    def cost_of(gone):
        kernels = 4 - len(gone & {"a"}) - 2 * len(gone & {"b"}) - bool(gone & {"a", "b"} and "tail" in gone)
        return cost(multiply_adds=50 if gone & {"a", "b"} else 0, kernels=kernels)

    found = ranked(names, cost_of)
    assert order(found) == ["b", "a", "tail"]
    assert needs(found) == {names[2].identity: (names[1].identity,)}
    assert [each.needs_instead for each in found] == [(), (), (names[0].identity,)]


def test_a_single_cause_takes_the_place_of_a_set_of_several():
    names = [cause(name) for name in ("a", "b", "other", "single", "tail")]

    def cost_of(gone):
        is_open = {"a", "b"} <= gone or "single" in gone
        return cost(multiply_adds=50, kernels=4 - ("single" in gone) - (is_open and "tail" in gone))

    found = ranked(names, cost_of)
    assert needs(found)[names[4].identity] == (names[3].identity,)


def test_a_cause_that_another_fix_also_fixes_is_not_needed():
    """A fix of "conversion" also fixes "also fixed". No other fix helps before a fix of "shapes"."""
    also_fixed, shapes, conversion = (cause(name) for name in ("also fixed", "shapes", "conversion"))

    def cost_of(gone):
        share = 50 if "conversion" in gone else 20 if "also fixed" in gone else 0
        return cost(multiply_adds=share if "shapes" in gone else 0)

    found = ranked([also_fixed, shapes, conversion], cost_of)
    assert order(found) == ["conversion", "shapes", "also fixed"]
    assert needs(found)[also_fixed.identity] is None
    assert needs(found)[shapes.identity] == (conversion.identity,)
    assert needs(found)[conversion.identity] == (shapes.identity,)


def test_the_gain_counts_for_each_of_the_causes_that_must_be_fixed_together():
    alone, together, unknown = (cause(name) for name in ("alone", "together", "unknown"))
    causes = [unknown, together, alone]
    fixes = {
        alone.identity: Fix(cost(), (30, 0, 0, 0, 0)),
        together.identity: Fix(cost(), (40, 0, 0, 0, 0), needs=(unknown.identity,)),
    }
    weights = {each.identity: 7 for each in causes}
    assert order(rank(causes, weights, fixes, {})) == ["alone", "unknown", "together"]
    assert order(rank(causes, weights, fixes, {unknown.identity: 0.5})) == ["unknown", "alone", "together"]


def test_causes_that_appear_only_later_come_last():
    ends = {"later": cost(multiply_adds=90), "now": cost(kernels=3)}
    causes = [cause(name) for name in ends]
    found = rank_causes(
        causes,
        {own.identity: 0 for own in causes},
        cost(),
        lambda removed: ends[next(own.title for own in removed)],
        Effort(load(chain_model(["ADD"]).bytes())),
        later=[causes[0].identity],
    )
    assert [(own.cause.title, own.appears_later) for own in found] == [("now", False), ("later", True)]


def test_a_loop_comes_before_the_causes_inside_the_loop():
    ends = {"inside": cost(multiply_adds=90), "other": cost(multiply_adds=50), "loop": cost()}
    causes = [cause(name) for name in ends]
    found = rank_causes(
        causes,
        {own.identity: 0 for own in causes},
        cost(),
        lambda removed: ends[next(own.title for own in removed)],
        Effort(load(chain_model(["ADD"]).bytes())),
        loops={causes[0].identity: causes[2].identity},
    )
    assert order(found) == ["loop", "inside", "other"]


def test_a_feature_that_is_rewritten_is_one_cause_and_no_circle():
    """NNAPI's runtime refuses a grouped convolution of a lower version. But the change of the version removes the groups."""
    diagnosis = diagnosed(Path("fixtures/models/mobilenet_block.tflite").read_bytes())
    first = diagnosis.findings[0]
    assert first.cause.name == "operator-version:grouped-convolution"
    assert (first.needs, [key.node for key in first.cause.nodes], first.alone.measures.delegated_nodes) == ((), [9], 13)
    assert not any(finding.cause.name.startswith("operands:") for finding in diagnosis.findings)
