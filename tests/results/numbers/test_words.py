"""Verdicts and findings about nodes that compute other numbers than the CPU."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.results.report.coverage import coverage_verdict
from delegate_sim.results.report.findings import risk_findings
from delegate_sim.results.report.measures import measure
from delegate_sim.results.report.verdict import verdict, verdict_summary
from tests.support.delegates.mldrift_numbers import ints, model_of, zeros

NEG = ("NEG", "x", "q", {})
ADD = ("ADD", "q c", "y", {})
REVERSED = ("REVERSE_V2", "y a", "z", {})
TENSORS = {"x": (3, 6), "q": (3, 6), "c": zeros(3, 6), "a": ints(1), "y": (3, 6), "z": (3, 6)}


def run_of(steps, outputs="", runtime="litert-2.3.0", backend="opencl"):
    model = model_of(TENSORS, steps, outputs)
    return delegate_sim.analyze(model, "mldrift", {"backend": backend}, runtime=runtime, defaults="benchmark").runs[0]


WORDS = [
    ([NEG], "", "ML Drift runs all nodes (1) in 1 kernel"),
    ([NEG, ADD], "", "ML Drift runs all nodes (2) in 1 kernel, but computes 1 of them wrongly: ADD 1"),
    (
        [NEG, ADD, REVERSED],
        "",
        "ML Drift runs all nodes (3) in 1 kernel, but computes 1 of them wrongly: ADD 1, and may compute 1 of them wrongly: "
        "REVERSE_V2 2",
    ),
    ([NEG], "q q", "ML Drift runs all nodes (1) in 1 kernel, but does not write 1 output"),
    (
        [NEG, ADD, ("LOG_SOFTMAX", "y", "z", {})],
        "",
        "ML Drift runs 66.6 % of nodes, but computes 1 of them wrongly: ADD 1; 1 LOG_SOFTMAX stays on the CPU",
    ),
]


@pytest.mark.parametrize(("steps", "outputs", "text"), WORDS)
def test_a_verdict_names_wrong_nodes(steps, outputs, text):
    run = run_of(steps, outputs)
    assert verdict(run) == text
    shared = coverage_verdict([run, run])
    assert ("wrongly" in shared, "does not write" in shared) == ("wrongly" in text, "does not write" in text)


def test_the_summary_of_a_table_names_wrong_nodes():
    assert verdict_summary(run_of([NEG, ADD])) == "all nodes in 1 kernel, but computes 1 of them wrongly: ADD 1"
    assert verdict_summary(run_of([NEG, ADD, ("LOG_SOFTMAX", "y", "z", {})])) == (
        "1 LOG_SOFTMAX (operator that the delegate does not support) stays on the CPU; the delegate computes 1 of its nodes "
        "wrongly: ADD 1"
    )


COUNTS = [
    ([NEG], "", "mldrift", (0, 0)),
    ([NEG, ADD, REVERSED], "", "mldrift", (1, 1)),
    ([NEG], "q q", "mldrift", (1, 0)),
    ([NEG, ADD], "", "gpu", (0, 1)),
    ([NEG, ADD], "", "nnapi", (None, None)),
]


@pytest.mark.parametrize(("steps", "outputs", "delegate", "counts"), COUNTS)
def test_the_measures_of_numbers(steps, outputs, delegate, counts):
    run = delegate_sim.analyze(model_of(TENSORS, steps, outputs), delegate).runs[0]
    measures = measure(run)
    assert (measures.wrong_results, measures.possibly_wrong_results) == counts
    table = delegate_sim.analyze(model_of(TENSORS, steps, outputs), delegate).table("runs")
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["wrong_results"], row["possibly_wrong_results"]) == counts


def test_a_release_without_measured_numbers_is_not_checked():
    wrong, outputs = run_of([NEG, ADD], runtime="litert-2.1.5"), run_of([NEG], "q q", runtime="litert-2.1.5")
    unchecked = "(not checked for litert-2.1.5: the numbers)"
    assert verdict(wrong).endswith(f", but may compute 1 of them wrongly: ADD 1 {unchecked}")
    assert verdict(outputs).endswith(f", but may not write 1 output {unchecked}")
    assert verdict(run_of([NEG], runtime="litert-2.1.5")) == "ML Drift runs all nodes (1) in 1 kernel"


def test_findings():
    first, second, third = risk_findings(run_of([NEG, ADD, REVERSED], "y z z"))
    assert (first.code, first.level, first.location.node) == ("mldrift-numbers-elementwise-const-layout", "warning", 1)
    assert first.message.startswith("ADD (node 1, y) computes wrong numbers: the GPU reads other elements of the constant")
    assert (second.code, second.level) == ("mldrift-numbers-reverse-channels", "note")
    assert (third.code, third.level, third.location.node) == ("mldrift-numbers-output-twice", "warning", None)
