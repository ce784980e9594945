"""The outcome of a run, told apart by whether the model then runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.results.report.measures import NOT_RUNNING, measure
from delegate_sim.results.report.tables import runs_table
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model, unprepared_model
from tests.support.pages import MODELS


def simulated(builder, delegate, options=None):
    return delegate_sim.analyze(builder.bytes(), delegate, options, defaults="api").runs[0]


@pytest.mark.parametrize(
    ("builder", "delegate", "reported", "measured"),
    [
        (chain_model(["RELU"]), "nnapi", "delegated", "delegated"),
        (chain_model(["SIGN"]), "nnapi", "none", "none"),
        (chain_model(["RELU", "LOGISTIC 9"]), "nnapi", "refused", "refused, not loaded"),
        (unprepared_model(), "nnapi", "refused", "refused, not prepared"),
        (unprepared_model(), "xnnpack", "delegated", "delegated, then fails"),
        (unprepared_model(first="SIGN"), "xnnpack", "none", "none, then fails"),
    ],
)
def test_outcomes(builder, delegate, reported, measured):
    run = simulated(builder, delegate, {"flags": 0} if delegate == "xnnpack" else {})
    found = measure(run).outcome
    assert (run.outcome, found) == (reported, measured)
    assert (found in NOT_RUNNING) == (run.refusal is not None)


def test_a_plugin_does_not_hide_that_the_cpu_refuses_the_other_nodes():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    between, result = graph.tensor("y", "FLOAT32", [1, 4]), graph.tensor("z", "FLOAT32", [1, 4])
    graph.node("RELU", [source], [between])
    graph.node("CUSTOM", [between], [result], custom="Landmarks")
    graph.outputs(result)
    run = simulated(builder, "npu-google")
    found = measure(run)
    assert (found.outcome, found.delegated_nodes, run.refusal.code) == ("delegated, then fails", 1, "operator-not-registered")
    assert len(run.log_lines) == 2


def test_a_prediction_is_that_all_is_undone():
    run = simulated(unprepared_model(), "xnnpack")
    predicted = replace(run, refusal=replace(run.refusal, code="mldrift-build", is_predicted=True))
    found = measure(predicted)
    assert (found.outcome, found.delegated_nodes) == ("restored, as predicted", 0)


@pytest.mark.parametrize(
    ("model", "delegate", "share"),
    [("mobilenet_block", "nnapi", 0.951651), ("mobilenet_block", "edgetpu", 0.0), ("many_partitions", "nnapi", None)],
)
def test_the_share_of_multiply_adds_in_tables(model, delegate, share):
    table = runs_table(delegate_sim.analyze(MODELS / f"{model}.tflite", delegate).runs)
    assert dict(zip(table.columns, table.rows[0], strict=True))["multiply_add_share"] == share
