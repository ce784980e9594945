"""The results of a command, as data."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.gate.results import (
    BETTER,
    FAILED,
    PASSED,
    UNREADABLE,
    Case,
    Results,
    analysis_cases,
    fingerprints,
    unreadable_case,
)
from delegate_sim.results.report.findings import ERROR, WHOLE_MODEL, Finding
from delegate_sim.results.report.measures import Measures
from delegate_sim.results.report.multiply_adds import ComputeTotals
from fixtures.builder import ModelBuilder

CASE = Case("m.tflite", "sub/m.tflite", "phone", "nnapi", "litert-2.3", {"feature_level": 31}, PASSED)
PLACE = replace(WHOLE_MODEL, subgraph=0, subgraph_name="main", node=3, op="ADD", name="sum")
FINDING = Finding("nnapi-operator-version", ERROR, "fell back", "convert it", PLACE)


def with_findings(*findings, **changes):
    return replace(CASE, findings=findings, **changes)


def test_a_fingerprint_is_for_ever():
    """Services know findings by it from one upload to the next."""
    assert fingerprints(with_findings(FINDING)) == ["6d56c437ff01682d673976af87d672e6"]


@pytest.mark.parametrize(
    "other",
    [
        with_findings(replace(FINDING, statement="stays", hint="")),
        with_findings(replace(FINDING, level="warning")),
        with_findings(replace(FINDING, location=replace(PLACE, node=7, subgraph_name="other"))),
        with_findings(FINDING, path="m.tflite", status=FAILED, runtime="tf-2.15"),
    ],
    ids=["wording", "level", "renumbered", "path"],
)
def test_it_stays_whatever_else_changes(other):
    assert fingerprints(other) == fingerprints(with_findings(FINDING))


@pytest.mark.parametrize(
    "other",
    [
        with_findings(FINDING, model="n.tflite"),
        with_findings(FINDING, target="tablet"),
        with_findings(replace(FINDING, code="nnapi-rank")),
        with_findings(replace(FINDING, location=replace(PLACE, op="MUL"))),
        with_findings(replace(FINDING, location=replace(PLACE, name="other"))),
        with_findings(replace(FINDING, location=replace(PLACE, subgraph=1))),
    ],
    ids=["model", "target", "code", "operator", "name", "subgraph"],
)
def test_it_is_another_for_another_problem(other):
    assert fingerprints(other) != fingerprints(with_findings(FINDING))


def test_findings_that_agree_are_told_apart_by_their_order():
    one, two, three = fingerprints(with_findings(FINDING, FINDING, FINDING))
    assert len({one, two, three}) == 3
    assert fingerprints(with_findings(FINDING, FINDING)) == [one, two]


@pytest.mark.parametrize(
    ("statuses", "passed"),
    [
        ([], True), ([PASSED, BETTER], True), ([PASSED, FAILED], False), ([UNREADABLE], False),
    ],
)  # fmt: skip
def test_results_pass_if_all_cases_do(statuses, passed):
    found = Results("check", tuple(replace(CASE, status=status) for status in statuses)).to_dict()
    assert found["passed"] is passed
    assert found["counts"] == {status: statuses.count(status) for status in (PASSED, BETTER, FAILED, UNREADABLE)}


def test_measures_have_what_follows_from_them():
    measures = Measures("delegated", nodes=3, delegated_nodes=2, partitions=1, delegate_kernels=1, border_bytes=64)
    (entry,) = Results("check", (replace(CASE, measures=measures),)).to_dict()["cases"]
    assert (entry["measures"]["fallback_nodes"], entry["measures"]["delegated_share"]) == (1, 0.666667)
    assert (entry["measures"]["nodes"], entry["baseline"]) == (3, None)


def test_a_model_that_gets_no_answer():
    case = unreadable_case("m.tflite", "sub/m.tflite", "phone", "nnapi", "litert-2.3", {}, "no model")
    assert (case.status, case.measures) == (UNREADABLE, None)
    assert [(finding.code, finding.level, finding.message) for finding in case.findings] == [
        ("unreadable-model", ERROR, "no model")
    ]


def test_tables_have_a_row_for_each_case_and_each_finding():
    measures = Measures("delegated", nodes=4, delegated_nodes=3, partitions=2, delegate_kernels=1, border_bytes=64)
    found = Results("check", (with_findings(FINDING, measures=measures, compute=ComputeTotals(8, 4), notes=("one", "two")), CASE))
    cases, findings = found.table("cases"), found.table("findings")
    place = ("m.tflite", "phone", "nnapi", "litert-2.3", "passed")
    assert list(cases.rows) == [
        (*place, 1, "delegated", 4, 3, 0.75, 0.5, 2, 1, 64, None, None, "one; two"),
        (*place, 0, *[None] * 10, ""),
    ]
    assert len(cases.columns) == len(cases.rows[0])
    assert list(findings.rows) == [
        ("m.tflite", "phone", ERROR, "nnapi-operator-version", 0, 3, "ADD", "sum", "fell back", "convert it", None)
    ]
    assert len(findings.columns) == len(findings.rows[0])


def test_results_in_one_line():
    failed = replace(CASE, status=FAILED)
    assert repr(Results("check", (failed, CASE, failed))) == "<Results check: 2 failed, 1 passed>"
    assert repr(Results("analyze", ())) == "<Results analyze: no case>"


def test_a_finding_in_full():
    (entry,) = Results("check", (with_findings(FINDING),)).to_dict()["cases"]
    (found,) = entry["findings"]
    assert found["fingerprint"] == fingerprints(with_findings(FINDING))[0]
    assert found["location"] == {"subgraph": 0, "subgraph_name": "main", "node": 3, "op": "ADD", "name": "sum"}


@pytest.mark.parametrize(("outcome", "shares"), [("delegated", (0.75, 0.5)), ("delegated, then fails", (0, 0))])
def test_both_shares_are_0_if_the_model_does_not_run(outcome, shares):
    measures = Measures(outcome, nodes=4, delegated_nodes=3, partitions=2, delegate_kernels=1, border_bytes=8)
    results = Results("check", (replace(CASE, measures=measures, compute=ComputeTotals(100, 50)),))
    entry = results.to_dict()["cases"][0]["measures"]
    assert (entry["delegated_share"], entry["multiply_add_share"]) == shares
    pytest.importorskip("pandas")
    (row,) = results.to_pandas("cases").to_dict("records")
    assert (row["delegated_share"], row["multiply_add_share"]) == shares


@pytest.mark.parametrize(("op", "status"), [("ADD", PASSED), ("CUSTOM", FAILED)])
def test_an_analysis_fails_where_the_delegate_is_not_applied(op, status):
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, result = graph.input("x", "FLOAT32", (1, 4)), graph.tensor("y", "FLOAT32", (1, 4))
    graph.node(op, [source, source], [result], **({"custom": "Own"} if op == "CUSTOM" else {}))
    graph.outputs(result)
    (case,) = analysis_cases(delegate_sim.analyze(load(builder.bytes()), "gpu", defaults="api"))
    assert case.status == status
