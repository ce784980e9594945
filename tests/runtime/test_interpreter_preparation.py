"""Models with a node that a CPU kernel refuses: before the delegate is asked, or in what it left to the CPU."""

from __future__ import annotations

import importlib.util

import pytest

import delegate_sim
from fixtures.builder import ModelBuilder
from tests.support.dynamic_cases import behind_dynamic, kernel_behind_dynamic
from tests.support.models import unprepared_model

REASON = "ai-edge-litert is not installed"


def run(builder, delegate, options=None, **arguments):
    return delegate_sim.analyze(builder.bytes(), delegate, options, **{"defaults": "api", **arguments}).to_dict()["runs"][0]


@pytest.mark.parametrize("delegate", ["nnapi", "gpu", "hexagon", "coreml"])
def test_a_static_delegate_is_never_asked(delegate):
    found = run(unprepared_model(), delegate)
    assert found["outcome"] == "refused"
    assert found["log_lines"] == ["Node number 2 (CEIL) failed to prepare."]
    refusal = found["refusal"]
    assert (refusal["code"], refusal["subgraph"], refusal["node"]) == ("cpu-kernel-not-prepared", 0, 2)
    assert not any(node["delegated"] for node in found["subgraphs"][0]["nodes"])


@pytest.mark.parametrize(("delegate", "outcome", "lines"), [("nnapi", "refused", 1), ("xnnpack", "delegated", 2)])
def test_a_graph_with_a_node_that_reads_its_result_is_not_allocated(delegate, outcome, lines):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [2]), graph.tensor("y", "FLOAT32", [2])
    graph.node("ADD", [source, source], [source], 1, {})
    graph.node("ADD", [source, source], [result], 1, {})
    graph.outputs(result)
    found = run(builder, delegate)
    assert (found["outcome"], len(found["log_lines"])) == (outcome, lines)
    assert found["log_lines"][-1] == "AllocateTensors() called on inconsistent model."
    assert found["refusal"]["code"] == "cpu-kernel-not-prepared"
    assert len(found["subgraphs"][0]["nodes"]) == 1


def test_verdicts_stay_in_the_report():
    assert run(unprepared_model(), "nnapi", {"feature_level": 31})["subgraphs"][0]["nodes"][0]["supported"]


def test_benchmark_model_cannot_apply_the_delegate():
    assert run(unprepared_model(), "nnapi", defaults="benchmark")["log_lines"][-1] == "Failed to apply NNAPI delegate."


def test_a_dynamic_delegate_is_asked_and_the_rest_then_fails():
    found = run(unprepared_model(), "xnnpack", defaults="benchmark")
    assert (found["outcome"], found["refusal"]["code"]) == ("delegated", "cpu-kernel-not-prepared")
    assert found["log_lines"][-2:] == ["Node number 2 (CEIL) failed to prepare.", "Failed to allocate tensors!"]
    assert found["subgraphs"][0]["nodes"][0]["delegated"]


def test_a_node_that_the_delegate_takes_is_not_asked_of_the_cpu():
    found = run(unprepared_model(broken="ABS"), "vx")
    assert found["outcome"] == "delegated"
    assert found["refusal"] is None
    assert run(unprepared_model(broken="ABS"), "xnnpack")["refusal"]["code"] == "cpu-kernel-not-prepared"


def test_a_chain_is_prepared_once_all_are_applied():
    runs = delegate_sim.simulate(unprepared_model(broken="ABS").bytes(), [("xnnpack", {}), ("vx", {})], defaults="api").to_dict()[
        "runs"
    ]
    assert [one["outcome"] for one in runs] == ["delegated", "delegated"]
    runs = delegate_sim.simulate(
        unprepared_model(broken="ABS").bytes(), [("xnnpack", {}), ("xnnpack", {})], defaults="api"
    ).to_dict()["runs"]
    assert [one["refusal"]["code"] for one in runs] == ["cpu-kernel-not-prepared"] * 2


@pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason=REASON)
@pytest.mark.parametrize("broken", ["CEIL", "ABS"])
def test_the_runtime_says_so_too(broken):
    interpreter = importlib.import_module("ai_edge_litert.interpreter")
    for resolver in (interpreter.OpResolverType.AUTO, interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
        made = interpreter.Interpreter(
            model_content=unprepared_model(broken=broken).bytes(), experimental_op_resolver_type=resolver
        )
        with pytest.raises(RuntimeError, match=rf"Node number 2 \({broken}\) failed to prepare"):
            made.allocate_tensors()


def test_what_partitioning_moves_in_front_of_a_dynamic_tensor_is_prepared():
    found = delegate_sim.analyze(behind_dynamic(moves=True), "xnnpack", defaults="benchmark").to_dict()["runs"][0]
    assert (found["refusal"]["code"], found["refusal"]["node"]) == ("cpu-kernel-not-prepared", 3)
    assert found["log_lines"][-2:] == ["Node number 3 (FLOOR_DIV) failed to prepare.", "Failed to allocate tensors!"]
    assert delegate_sim.analyze(behind_dynamic(moves=False), "xnnpack", defaults="api").runs[0].refusal is None


def test_a_delegate_s_kernel_behind_a_dynamic_tensor_fails_when_the_model_runs():
    found = delegate_sim.analyze(kernel_behind_dynamic(), "xnnpack", defaults="api").to_dict()["runs"][0]
    assert (found["refusal"]["is_at_invoke"], found["refusal"]["node"]) == (True, 1)
    assert not any("failed to prepare" in line for line in found["log_lines"])
