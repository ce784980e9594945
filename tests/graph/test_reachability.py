"""Tests for the warning about files that were converted without their weights."""

from __future__ import annotations

import pytest

from delegate_sim import analyze_micro, diagnose, load
from delegate_sim.graph.reachability import no_weights, unassigned_variables
from fixtures.builder import ModelBuilder


def variables(*names, assigned=(), in_loop=False):
    """Return a model that reads the variables ``names`` in its first subgraph and assigns others in its second subgraph."""
    builder = ModelBuilder()
    graph, second = builder.subgraph("main"), builder.subgraph("second")

    def add(of, op, operands, kind="FLOAT32", **arguments):
        result = of.tensor(op, kind, [2] if kind == "FLOAT32" else [1])
        of.node(op, operands, [result], **arguments)
        return result

    def handle(of, name):
        return add(of, "VAR_HANDLE", [], "RESOURCE", options={"container": "", "shared_name": name})

    result = graph.input("x", "FLOAT32", [2])
    for name in names:
        result = add(graph, "ADD", [result, add(graph, "READ_VARIABLE", [handle(graph, name)])])
    graph.outputs(result)
    value = second.input("x", "FLOAT32", [2])
    handles = [handle(second, name) for name in assigned]
    for operand in [*handles, *([second.input("handle", "RESOURCE", [1])] if in_loop else [])]:
        second.node("ASSIGN_VARIABLE", [operand, value], [])
    return load(builder.bytes())


@pytest.mark.parametrize(
    ("model", "number"),
    [
        (variables(), 0),
        (variables("a", "b"), 2),
        (variables("a", "a"), 1),
        (variables("a", "b", assigned=("a",)), 1),
        (variables("a", "b", assigned=("a", "b")), 0),
        (variables("a", in_loop=True), 0),
    ],
    ids=["no variables", "never assigned", "read twice", "one assigned", "streaming state", "assigned through an operand"],
)
def test_variables_that_no_node_assigns(model, number):
    assert unassigned_variables(model) == number
    assert bool(no_weights(model)) == bool(number)


def test_tensorflow_lite_micro_computes_nothing_from_a_file_without_weights():
    report = analyze_micro(bytes(variables("a", "b").content))
    assert (report.unassigned_variables, report.computes) == (2, False)


def test_a_file_without_weights_says_so_in_the_diagnosis():
    diagnosis = diagnose(variables("a", "b"), "nnapi", defaults="benchmark")
    assert no_weights(diagnosis.model) in diagnosis.run.warnings
    advice = {finding.cause.operators[0][0]: finding.cause.change for finding in diagnosis.findings}
    assert all("2 variables" in advice[op] for op in ("VAR_HANDLE", "READ_VARIABLE"))
