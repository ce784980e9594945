"""Delegates applied one after another."""

from __future__ import annotations

import struct

import pytest

import delegate_sim
from delegate_sim.runtime.interpreter import simulate_chain
from fixtures.builder import ModelBuilder


def chain_of(ops):
    """A model of unary float operators, one behind the other."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()


def places(report):
    return [node["runs_on"] for node in report["placement"][0]["nodes"]]


def test_the_second_delegate_sees_the_kernels_of_the_first_as_nodes():
    model = chain_of(["RELU", "CEIL", "TANH", "SIGN"])
    report = delegate_sim.simulate(model, [("nnapi", {"feature_level": 31}), ("xnnpack", {})], defaults="api").to_dict()
    first, second = report["runs"]
    assert first["log_lines"] == [
        "Replacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 4 partitions for subgraph 0 (main)."
    ]
    assert second["log_lines"] == [
        "Replacing 1 out of 4 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 3 partitions for subgraph 0 (main)."
    ]
    assert [node["op"] for node in second["subgraphs"][0]["nodes"]] == [
        "TfLiteNnapiDelegate",
        "CEIL",
        "TfLiteNnapiDelegate",
        "SIGN",
    ]
    assert places(report) == ["nnapi", "xnnpack", "nnapi", "cpu"]


def test_kernels_of_the_first_split_the_partitions_of_the_second():
    model = chain_of(["CEIL", "RELU", "CEIL"])
    both = delegate_sim.simulate(model, [("nnapi", {"feature_level": 31}), ("xnnpack", {})], defaults="api").to_dict()
    alone = delegate_sim.analyze(model, "xnnpack", defaults="api").to_dict()
    assert both["runs"][1]["subgraphs"][0]["delegate_kernels"] == 2
    assert alone["runs"][0]["subgraphs"][0]["delegate_kernels"] == 1


def test_a_delegate_that_is_refused_leaves_all_to_the_next():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    shape = graph.input("shape", "INT32", (2,))
    middle, result = graph.tensor("middle", "FLOAT32", (1, 4)), graph.tensor("out", "FLOAT32", (2, 2))
    graph.node("RELU", (source,), (middle,))
    graph.node("RESHAPE", (middle, shape), (result,), options={})
    graph.outputs(result)
    report = delegate_sim.simulate(builder.bytes(), [("nnapi", {}), ("xnnpack", {})], defaults="api").to_dict()
    assert [run["outcome"] for run in report["runs"]] == ["refused", "delegated"]
    assert places(report) == ["xnnpack", "cpu"]


def test_a_delegate_that_fails_takes_back_those_before_it():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    wide = graph.input("wide", "INT64", (2, 4))
    middle, turned = graph.tensor("middle", "FLOAT32", (1, 4)), graph.tensor("turned", "INT64", (4, 2))
    order = graph.tensor("order", "INT32", (2,), data=[1, 0])
    graph.node("GELU", (source,), (middle,), options={})
    graph.node("TRANSPOSE", (wide, order), (turned,))
    graph.outputs(middle, turned)
    report = delegate_sim.simulate(builder.bytes(), [("gpu", {}), ("nnapi", {})], defaults="api").to_dict()
    assert [run["outcome"] for run in report["runs"]] == ["restored", "restored"]
    assert places(report) == ["cpu", "cpu"]


def test_each_delegate_keeps_its_own_lines_where_the_rest_cannot_be_prepared():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("in", "FLOAT32", (1, 4)), *[graph.tensor(f"t{number}", "FLOAT32", (1, 4)) for number in range(3)]]
    graph.node("RELU", tensors[:1], tensors[1:2])
    graph.node("CEIL", tensors[1:2], tensors[2:3])
    graph.node("CUSTOM", tensors[2:3], tensors[3:], custom="MyOp")
    graph.outputs(tensors[-1])
    runs = delegate_sim.simulate(builder.bytes(), [("vx", {}), ("xnnpack", {})], defaults="api").to_dict()["runs"]
    assert [sum("Replacing" in line for line in run["log_lines"]) for run in runs] == [1, 1]
    assert "XNNPack" in runs[1]["log_lines"][0]
    assert "XNNPack" not in runs[0]["log_lines"][0]
    assert runs[1]["log_lines"][-1].endswith("(MyOp) failed to prepare.")


def test_one_delegate_alone_is_the_same_in_a_chain():
    model = chain_of(["RELU", "CEIL"])
    report = delegate_sim.simulate(model, [("nnapi", {})], defaults="api").to_dict()
    assert report.pop("placement")
    assert report == delegate_sim.analyze(model, "nnapi", defaults="api").to_dict()


def test_a_chain_needs_a_delegate():
    with pytest.raises(delegate_sim.OptionError, match="no delegate"):
        delegate_sim.simulate(chain_of(["RELU"]), [], defaults="api")


@pytest.mark.parametrize(("defaults", "is_told"), [("api", True), ("benchmark", False)])
def test_the_delegate_of_the_runtime_runs_a_custom_operator_without_a_kernel(defaults, is_told):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    operands = [graph.input(name, "FLOAT32", (1, 2, 2, 2)) for name in ("pooled", "places")]
    result = graph.tensor("result", "FLOAT32", (1, 4, 4, 2))
    graph.node("CUSTOM", operands, (result,), custom="MaxUnpooling2D", custom_options=struct.pack("<6i", 2, 2, 2, 2, 2, 0))
    graph.outputs(result)
    of = {name: delegate_sim.analyze(builder.bytes(), name, defaults=defaults).runs[0].target for name in ("gpu", "xnnpack")}
    run = simulate_chain(delegate_sim.load(builder.bytes()), [of["gpu"]], lambda: of["xnnpack"])[0]
    assert (run.outcome, run.refusal.code) == ("refused", "operator-not-registered")
    assert any("XNNPACK" in warning for warning in run.warnings) == is_told
