"""The search for passes after which TensorFlow Lite Micro takes more of a model."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError
from delegate_sim.fixing.fix import fix
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.search import search
from delegate_sim.micro.delegate import micro_target
from fixtures.builder import ModelBuilder
from tests.support.micro_models import chain, hybrid
from tests.support.pages import MODELS

TARGET = micro_target()


def test_a_gelu_is_decomposed():
    plan = search(load(chain("RELU", "GELU").bytes()), [TARGET])
    assert plan.after[0].takes_nodes
    assert not plan.after[0].on_cpu
    assert [step.name.startswith("gelu") for step in plan.steps] == [True]


def test_a_model_that_runs_stays_as_it_is():
    plan = search(load(chain("RELU").bytes()), [TARGET])
    assert not plan.is_changed
    assert plan.simulations == 1


@pytest.mark.parametrize(("operator", "is_needed"), [("RELU", False), ("GELU", True), ("ATAN2", True)])
def test_a_fix_is_needed_if_the_model_does_not_run(operator, is_needed):
    assert search(load(chain(operator).bytes()), [TARGET]).is_needed == is_needed


def test_a_refused_node_is_rewritten_although_another_one_keeps_the_model_from_running():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, weights = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("w", "FLOAT32", [4, 4], data=[1.0] * 16)
    dense, middle, result = (graph.tensor(name, "FLOAT32", [1, 4]) for name in "abc")
    graph.node("FULLY_CONNECTED", [source, weights], [dense], 1, {})
    graph.node("GELU", [dense], [middle])
    graph.node("ATAN2", [middle, middle], [result])
    graph.outputs(result)
    plan = search(load(builder.bytes()), [TARGET])
    assert [step.name for step in plan.steps] == ["gelu-by-exponential"]
    assert [len(standing[0].on_cpu) for standing in (plan.before, plan.after)] == [2, 1]


def test_further_nodes_that_the_runtime_takes_are_no_gain():
    assert search(load(hybrid().bytes()), [TARGET]).steps == ()


def test_a_written_model_is_analyzed_as_predicted(tmp_path):
    plan = search(load(MODELS / "float16_weights.tflite"), [TARGET])
    path = str(tmp_path / "fixed.tflite")
    fix(plan, path, proves=False)
    assert plan.after[0].takes_nodes
    assert not plan.after[0].on_cpu


def test_a_file_that_is_not_as_predicted_is_refused(tmp_path):
    plan = search(load(MODELS / "float16_weights.tflite"), [TARGET])
    with pytest.raises(FixError, match="differs from the prediction for micro"):
        fix(replace(plan, after=plan.before), str(tmp_path / "fixed.tflite"), proves=False)


def run_in_the_runtime(plan, path, values):
    """Run the rewritten model of a plan in TensorFlow Lite Micro, and return the output."""
    runtime = pytest.importorskip(
        "tflite_micro.python.tflite_micro.runtime", reason="needs tflite-micro, which no extra installs"
    )
    fix(plan, str(path), proves=False)
    interpreter = runtime.Interpreter.from_file(str(path))
    interpreter.set_input(values, 0)
    interpreter.invoke()
    return interpreter.get_output(0)


def test_the_runtime_computes_a_decomposed_gelu(tmp_path):
    plan = search(load(chain("RELU", "GELU").bytes()), [TARGET])
    values = np.array([[-1.0, 0.5, 1.0, 3.0]], np.float32)
    expected = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in np.maximum(values[0], 0)]
    assert np.allclose(run_in_the_runtime(plan, tmp_path / "gelu.tflite", values), [expected], atol=2e-3)


def test_the_runtime_runs_a_model_whose_weights_are_widened(tmp_path):
    plan = search(load(hybrid().bytes()), [TARGET], Exactness.APPROXIMATE)
    assert plan.after[0].takes_nodes
    assert not plan.after[0].on_cpu
    (shape,) = [graph.tensors[graph.inputs[0]].shape for graph in plan.model.subgraphs]
    assert np.isfinite(run_in_the_runtime(plan, tmp_path / "widened.tflite", np.ones(shape, np.float32))).all()


def test_a_model_with_an_operator_of_the_application_is_not_proven(tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    middle, result = graph.tensor("middle", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("GELU", [graph.input("x", "FLOAT32", [1, 4])], [middle])
    graph.node("CUSTOM", [middle], [result], custom="MyOwnOp")
    graph.outputs(result)
    plan = search(load(builder.bytes()), [TARGET])
    with pytest.raises(FixError, match=r"does not run on the CPU.*MyOwnOp"):
        fix(plan, str(tmp_path / "fixed.tflite"), samples=1)
