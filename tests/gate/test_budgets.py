from __future__ import annotations

from dataclasses import asdict

import pytest

from delegate_sim.gate.budgets import (
    Allowance,
    Budgets,
    Tolerance,
    compute_improvements,
    compute_regressions,
    exceeded,
    improvements,
    regressions,
)
from delegate_sim.results.report.measures import FAILS_LATER, Measures
from delegate_sim.results.report.multiply_adds import ComputeTotals

BASE = Measures("delegated", nodes=10, delegated_nodes=8, partitions=4, delegate_kernels=2, border_bytes=1000)
NOTHING = Measures("none", 10, 0, 0, 0, 0)


def measures(**changed):
    return Measures(**{**asdict(BASE), **changed})


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({}, []),
        ({"partitions": 5}, ["more-partitions"]),
        ({"delegate_kernels": 3}, ["more-delegate-kernels"]),
        ({"border_bytes": 1001}, ["more-border-bytes"]),
        ({"wrong_results": 1}, []),
        ({"delegated_nodes": 7}, ["more-fallback-nodes", "smaller-delegated-share"]),
        ({"nodes": 9, "delegated_nodes": 7}, []),
        ({"nodes": 20, "delegated_nodes": 17}, ["more-fallback-nodes"]),
        ({"outcome": FAILS_LATER}, ["worse-outcome"]),
        (asdict(NOTHING), ["worse-outcome", "more-fallback-nodes", "smaller-delegated-share"]),
    ],
)
def test_what_is_worse(changed, codes):
    found = list(regressions(BASE, measures(**changed)))
    assert [regression.code for regression in found] == codes
    assert not any(regression.is_allowed for regression in found)


@pytest.mark.parametrize(("before", "now", "codes"), [(0, 1, ["more-wrong-results"]), (1, 0, []), (1, None, []), (None, 1, [])])
def test_wrong_results_are_compared_if_both_are_known(before, now, codes):
    changed = regressions(measures(wrong_results=before), measures(wrong_results=now))
    assert [regression.code for regression in changed] == codes


def test_a_smaller_share_of_a_smaller_model_is_worse_only_if_a_node_fell_back():
    smaller = measures(nodes=9, delegated_nodes=7)
    assert [own.code for own in regressions(BASE, smaller, fell_back=True)] == ["smaller-delegated-share"]


@pytest.mark.parametrize("outcome", ["none", "refused", "restored"])
@pytest.mark.parametrize("nodes", [8, 12])
def test_without_a_delegated_node_the_size_of_the_model_is_no_result(nodes, outcome):
    now = Measures(outcome, nodes, 0, 0, 0, 0)
    assert (list(regressions(NOTHING, now)), improvements(NOTHING, now)) == ([], [])


def test_partitions_do_not_count_where_nothing_was_delegated():
    assert list(regressions(NOTHING, BASE)) == []
    assert improvements(NOTHING, BASE) == [
        "outcome none -> delegated",
        "CPU nodes 10 -> 2",
        "delegated share 0 % -> 80 %",
    ]


def test_what_is_better():
    better = measures(partitions=3, delegate_kernels=1, border_bytes=10, delegated_nodes=9)
    assert [word.rpartition(" -> ")[0] for word in improvements(BASE, better)] == [
        "partitions 4", "delegate kernels 2", "CPU nodes 2", "boundary bytes 1,000", "delegated share 80 %",
    ]  # fmt: skip
    assert improvements(BASE, BASE) == []


@pytest.mark.parametrize(
    ("tolerance", "changed", "is_allowed"),
    [
        (Tolerance(partitions=Allowance(1)), {"partitions": 5}, True),
        (Tolerance(partitions=Allowance(1)), {"partitions": 6}, False),
        (Tolerance(border_bytes=Allowance(share=0.1)), {"border_bytes": 1100}, True),
        (Tolerance(border_bytes=Allowance(share=0.1)), {"border_bytes": 1101}, False),
        (Tolerance(delegate_kernels=Allowance(share=0.5)), {"delegate_kernels": 3}, True),
        (Tolerance(delegate_kernels=Allowance(share=0.4)), {"delegate_kernels": 3}, False),
        (Tolerance(fallback_nodes=Allowance(1), delegated_share=0.1), {"delegated_nodes": 7}, True),
        (Tolerance(fallback_nodes=Allowance(1), delegated_share=0.09), {"delegated_nodes": 7}, False),
        (Tolerance(*[Allowance(9)] * 3, 1.0, Allowance(9)), {"outcome": "none"}, False),
    ],
)
def test_tolerances(tolerance, changed, is_allowed):
    found = list(regressions(BASE, measures(**changed), tolerance))
    assert found
    assert all(regression.is_allowed for regression in found) is is_allowed


@pytest.mark.parametrize(
    ("base", "now", "tolerance", "allowed"),
    [
        ((100, 80), (100, 79), None, [False]),
        ((100, 80), (100, 79), 0.01, [True]),
        ((100, 80), (100, 78), 0.01, [False]),
        ((100, 80), (50, 40), None, []),
        ((100, 80), (100, 90), None, []),
        ((0, 0), (100, 0), None, []),
        ((100, 80), (0, 0), None, []),
        (None, (100, 0), None, []),
    ],
)
def test_a_smaller_share_of_multiply_adds_is_worse(base, now, tolerance, allowed):
    then = None if base is None else ComputeTotals(*base)
    found = list(compute_regressions(then, ComputeTotals(*now), Tolerance(multiply_add_share=tolerance)))
    assert [(regression.code, regression.is_allowed) for regression in found] == [
        ("smaller-multiply-add-share", is_allowed) for is_allowed in allowed
    ]


def test_a_larger_share_of_multiply_adds_is_better():
    better = compute_improvements(ComputeTotals(100, 80), ComputeTotals(100, 90))
    assert [text.partition("multiply-adds ")[2] for text in better] == ["80 % -> 90 %"]
    assert compute_improvements(None, ComputeTotals(100, 90)) == []
    assert compute_improvements(ComputeTotals(100, 80), ComputeTotals(0, 0)) == []


@pytest.mark.parametrize(
    ("budgets", "codes"),
    [
        (Budgets(), []),
        (Budgets(4, 0.8, 2), []),
        (Budgets(9, 0.1, 9), []),
        (Budgets(max_partitions=3), ["budget-partitions"]),
        (Budgets(max_fallback=1), ["budget-fallback"]),
        (Budgets(min_delegated_share=0.81), ["budget-delegated-share"]),
        (Budgets(min_multiply_add_share=0.8), []),
        (Budgets(min_multiply_add_share=0.81), ["budget-multiply-add-share"]),
        (Budgets(0, 1.0, 0), ["budget-partitions", "budget-fallback", "budget-delegated-share"]),
    ],
)
def test_budgets(budgets, codes):
    assert [code for code, _ in exceeded(BASE, ComputeTotals(100, 80), budgets)] == codes


@pytest.mark.parametrize(
    ("outcome", "nodes", "share"),
    [("none", 0, 1), ("delegated", 4, 0.75), ("delegated, then fails", 4, 0), ("refused, not loaded", 0, 0)],
)
def test_the_delegated_share_of_a_model_without_nodes_or_that_does_not_run(outcome, nodes, share):
    assert Measures(outcome, nodes, 3 if nodes else 0, 0, 0, 0).delegated_share == share


@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        (Budgets(min_delegated_share=0.6), "the model does not run, which counts as 0 % of nodes; min-delegated-share is 60 %"),
        (
            Budgets(min_multiply_add_share=0.6),
            "the model does not run, which counts as 0 % of multiply-adds; min-multiply-add-share is 60 %",
        ),
    ],
)
def test_a_model_that_does_not_run_meets_no_budget_of_a_share(budgets, message):
    assert [text for _, text in exceeded(measures(outcome=FAILS_LATER), ComputeTotals(100, 100), budgets)] == [message]


def test_without_multiply_adds_a_model_that_does_not_run_has_no_share_of_them():
    budgets = Budgets(min_multiply_add_share=0.6)
    assert list(exceeded(measures(outcome=FAILS_LATER), ComputeTotals(0, 0), budgets)) == []


@pytest.mark.parametrize(("delegated", "text"), [(9, "1 node stays on the CPU"), (8, "2 nodes stay on the CPU")])
def test_the_number_of_the_nodes_in_a_message(delegated, text):
    now = measures(delegated_nodes=delegated)
    ((_, message),) = exceeded(now, ComputeTotals(100, 80), Budgets(max_fallback=0))
    assert message == f"{text}; max-fallback is 0"
