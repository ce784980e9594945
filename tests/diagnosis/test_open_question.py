from __future__ import annotations

import pytest

from delegate_sim.api.arguments import target_of
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.diagnosis.diagnose import Choice, find_open_question
from delegate_sim.graph.effort import Effort
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model


def targets(*names):
    return [target_of(name, None, None, "benchmark") for name in names or DELEGATE_NAMES]


def question(builder, *names):
    model = load(builder.bytes())
    return find_open_question(model, targets(*names), Effort(model))


def open_batch():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4], signature=[-1, 4])
    shape = graph.input("shape", "INT32", [2])
    graph.node("RESHAPE", [source, shape], [result])
    graph.outputs(result)
    return builder


@pytest.mark.parametrize(
    ("ops", "delegate", "choice"),
    [
        (["ADD", "ROUND", "ADD", "ADD"], "vx-nxp", Choice.LARGEST_SHARE),
        (["ADD", "ADD"], "mldrift", Choice.NOTHING_OPEN),
        (["ADD", "CUMSUM", "SIN"], "mldrift", Choice.LARGEST_SHARE),
    ],
)
def test_the_accelerator_that_is_the_closest_to_the_whole_model(ops, delegate, choice):
    found = question(chain_model(ops))
    assert (found.target.delegate.name, found.choice) == (delegate, choice)


def test_inputs_of_unknown_size_come_first():
    found = question(open_batch())
    assert (found.target.delegate.name, found.choice) == ("mldrift", Choice.NOT_STARTED)


def test_the_cpu_plugins_and_deprecated_delegates_are_taken_only_alone():
    ops = ["ADD", "ROUND", "ADD"]
    assert question(chain_model(ops), "nnapi", "xnnpack", "npu-intel", "vx").target.delegate.name == "vx"
    assert question(chain_model(ops), "nnapi").target.delegate.name == "nnapi"


def test_a_target_with_wrong_results_is_not_taken_before_a_right_one():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1, 2, 2, 8])
    a, b, c = [graph.tensor(name, "FLOAT32", [1, 2, 2, 8]) for name in "abc"]
    for op, sources, result in (("ADD", [x, x], a), ("ADD", [a, x], b), ("CUMSUM", [b], c)):
        graph.node(op, sources, [result], 1, {} if op == "ADD" else None)
    graph.outputs(c)
    assert question(builder, "teflon", "coreml").target.delegate.name == "coreml"
    assert question(builder, "teflon").target.delegate.name == "teflon"
