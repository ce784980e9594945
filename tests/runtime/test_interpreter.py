"""The runtime with a delegate: outcomes, log lines, skipped subgraphs, and what is put back."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.model.reader import load
from delegate_sim.releases.catalogue import NEWEST as LATEST
from delegate_sim.runtime.interpreter import simulate_chain
from delegate_sim.runtime.target import Target
from fixtures.builder import ModelBuilder

NEWEST = {"feature_level": 31}


def run(builder, options=NEWEST, **arguments):
    return delegate_sim.analyze(builder.bytes(), "nnapi", options, **{"defaults": "api", **arguments}).to_dict()["runs"][0]


def chain(builder, ops, name="main", kind="FLOAT32"):
    """A subgraph of unary operators, one behind the other."""
    graph = builder.subgraph(name)
    tensor = graph.input("in", kind, (1, 4))
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", kind, (1, 4))
        graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return graph


def float16_model(*, refused_in_the_middle):
    """Two FULLY_CONNECTED with float16 weights behind DEQUANTIZE; a refused node between them splits the graph."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number in range(2):
        half = graph.tensor(f"half{number}", "FLOAT16", (4, 4), data=[0.0] * 16)
        weights = graph.tensor(f"weights{number}", "FLOAT32", (4, 4))
        graph.node("DEQUANTIZE", (half,), (weights,), version=3)
        result = graph.tensor(f"dense{number}", "FLOAT32", (1, 4))
        graph.node("FULLY_CONNECTED", (tensor, weights, -1), (result,), options={})
        tensor = result
        if number == 0:
            ops = ["CEIL"] if refused_in_the_middle else ["RELU"]
            for op in ops:
                after = graph.tensor("after", "FLOAT32", (1, 4))
                graph.node(op, (tensor,), (after,))
                tensor = after
    graph.outputs(tensor)
    return builder


def test_a_graph_that_is_taken_whole():
    builder = ModelBuilder()
    chain(builder, ["RELU", "TANH"])
    result = run(builder)
    assert result["outcome"] == "delegated"
    assert result["log_lines"] == [
        "Replacing 2 out of 2 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for subgraph 0 (main)."
    ]
    assert result["subgraphs"][0]["delegate_kernels"] == 1


def test_partitions_count_those_of_the_cpu():
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL", "TANH"])
    subgraph = run(builder)["subgraphs"][0]
    assert (subgraph["partitions"], subgraph["delegate_kernels"]) == (3, 2)
    assert [part["kind"] for part in subgraph["partition_list"]] == ["delegate", "cpu", "delegate"]
    assert [part["bytes_in"] for part in subgraph["partition_list"]] == [16, 16, 16]


def test_nothing_taken_is_none_without_a_line():
    builder = ModelBuilder()
    chain(builder, ["CEIL"])
    result = run(builder)
    assert (result["outcome"], result["log_lines"]) == ("none", [])
    assert result["subgraphs"][0]["partitions"] == 0


def test_benchmark_defaults_add_the_summary_of_benchmark_model():
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL"])
    assert run(builder, defaults="benchmark")["log_lines"][-1] == (
        "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate w/ 1 delegate kernels."
    )


def test_the_limit_keeps_the_largest_partitions_and_says_so_of_the_others():
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL", "RELU", "TANH", "CEIL", "LOGISTIC"])
    subgraph = run(builder, {**NEWEST, "max_number_delegated_partitions": 1})["subgraphs"][0]
    assert [node["index"] for node in subgraph["nodes"] if node["delegated"]] == [2, 3]
    dropped = [node for node in subgraph["nodes"] if node["supported"] and not node["delegated"]]
    assert [(node["index"], node["reasons"][0]["code"]) for node in dropped] == [(0, "partition-limit"), (5, "partition-limit")]
    assert subgraph["partitions_dropped"] == [1, 1]


def test_partitions_of_one_size_are_kept_in_order():
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL", "RELU", "CEIL", "RELU"])
    subgraph = run(builder, {**NEWEST, "max_number_delegated_partitions": 2})["subgraphs"][0]
    assert [node["index"] for node in subgraph["nodes"] if node["delegated"]] == [0, 2]


def test_many_partitions_of_one_size_warn_that_the_library_decides():
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL"] * 17)
    assert any("The runtime's C++ library decides" in warning for warning in run(builder)["warnings"])


def test_a_dynamic_tensor_refuses_the_delegate_and_names_what_would_have_to_be_constant():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    shape = graph.input("shape", "INT32", (2,))
    result = graph.tensor("reshaped", "FLOAT32", (2, 2))
    graph.node("RESHAPE", (source, shape), (result,), options={})
    graph.outputs(result)
    found = run(builder)
    assert found["outcome"] == "refused"
    assert {key: found["refusal"][key] for key in ("code", "subgraph", "node", "tensor", "cause")} == {
        "code": "dynamic-tensors",
        "subgraph": 0,
        "node": 0,
        "tensor": result,
        "cause": shape,
    }
    assert "reshaped" in found["refusal"]["message"]
    assert "shape" in found["refusal"]["hint"]
    assert found["log_lines"] == [
        "Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors "
        "(tensor#-1 is a dynamic-sized tensor)."
    ]
    assert run(builder, {**NEWEST, "allow_dynamic_dimensions": True})["outcome"] == "none"


def test_subgraphs_that_hold_validations_are_skipped():
    builder = ModelBuilder()
    chain(builder, ["RELU"])
    chain(builder, ["RELU"], name="VALIDATION:main")
    result = run(builder)
    assert len(result["log_lines"]) == 1
    assert [subgraph["nodes_delegated"] for subgraph in result["subgraphs"]] == [1, 0]


def test_every_subgraph_has_its_own_line():
    builder = ModelBuilder()
    chain(builder, ["RELU"])
    chain(builder, ["RELU", "CEIL"], name="body")
    assert run(builder)["log_lines"][1] == (
        "Replacing 1 out of 2 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 1 (body)."
    )


def test_a_kernel_that_cannot_be_built_restores_every_subgraph():
    builder = ModelBuilder()
    chain(builder, ["RELU"])
    graph = builder.subgraph("wide")
    source = graph.input("wide", "INT64", (2, 4))
    result = graph.tensor("result", "INT64", (4, 2))
    order = graph.tensor("order", "INT32", (2,), data=[1, 0])
    graph.node("TRANSPOSE", (source, order), (result,))
    graph.outputs(result)
    found = run(builder)
    assert found["outcome"] == "restored"
    assert (found["refusal"]["code"], found["refusal"]["subgraph"], found["refusal"]["node"]) == ("nnapi-tensor-type", 1, 0)
    assert [subgraph["nodes_delegated"] for subgraph in found["subgraphs"]] == [0, 0]
    assert found["log_lines"][-1] == "Restored original execution plan after delegate application failure."
    assert found["subgraphs"][0]["nodes"][0]["supported"]
    assert found["subgraphs"][0]["nodes"][0]["reasons"][0]["code"] == "nnapi-tensor-type"


def test_float16_weights_go_along_when_everything_else_is_taken():
    subgraph = run(float16_model(refused_in_the_middle=False))["subgraphs"][0]
    assert subgraph["nodes_delegated"] == subgraph["nodes_total"] == 5
    assert subgraph["nodes_supported"] == 3
    widening = [node for node in subgraph["nodes"] if node["op"] == "DEQUANTIZE"]
    assert [(node["supported"], node["delegated"]) for node in widening] == [(False, True)] * 2


def test_float16_weights_stay_when_something_is_refused():
    result = run(float16_model(refused_in_the_middle=True))
    assert result["log_lines"] == [
        "Replacing 2 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 4 partitions for subgraph 0 (main)."
    ]


def test_a_limit_that_drops_float16_nodes_breaks_their_cpu_kernels():
    result = run(float16_model(refused_in_the_middle=True), {**NEWEST, "max_number_delegated_partitions": 1})
    assert result["outcome"] == "restored"
    assert result["refusal"]["code"] == "cpu-kernel-after-remapping"
    words = "the CPU kernel of FULLY_CONNECTED does not support the float16 constants from the delegate: "
    assert words in result["refusal"]["message"]


def test_without_an_allocation_the_broken_kernel_is_a_warning():
    options = {**NEWEST, "max_number_delegated_partitions": 1, "allow_dynamic_dimensions": True}
    result = run(float16_model(refused_in_the_middle=True), options)
    assert result["outcome"] == "delegated"
    assert result["refusal"]["code"] == "cpu-kernel-after-remapping"
    assert any("AllocateTensors will fail" in warning for warning in result["warnings"])


def test_a_driver_rejection_leaves_other_nodes_delegated():
    builder = ModelBuilder()
    chain(builder, ["RELU", "TANH"])
    result = run(builder, {**NEWEST, "driver_rejects": ["TANH"]})
    nodes = result["subgraphs"][0]["nodes"]
    assert [node["delegated"] for node in nodes] == [True, False]
    assert nodes[1]["supported"]
    assert nodes[1]["reasons"][0]["code"] == "nnapi-driver"


def test_a_driver_rejection_in_a_float16_model_leaves_nothing():
    result = run(float16_model(refused_in_the_middle=False), {**NEWEST, "driver_rejects": ["RELU"]})
    assert result["outcome"] == "none"
    assert result["subgraphs"][0]["nodes_delegated"] == 0


def test_the_driver_is_not_asked_without_an_accelerator():
    builder = ModelBuilder()
    chain(builder, ["TANH"])
    options = {**NEWEST, "driver_rejects": ["TANH"], "disallow_nnapi_cpu": False}
    assert run(builder, options)["outcome"] == "delegated"
    reference = {**NEWEST, "driver_rejects": ["TANH"], "accelerator_name": "nnapi-reference"}
    assert run(builder, reference)["outcome"] == "delegated"


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({"feature_level": 1000007}, True),
        ({"feature_level": 1000007, "device_feature_level": 30}, False),
        ({"feature_level": 1000007, "disallow_nnapi_cpu": False}, False),
        ({"feature_level": 31}, False),
    ],
    ids=["newest", "older device", "validated at Android's level", "older runtime"],
)
def test_the_level_that_counts(options, accepted):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "INT8", (1, 4), scale=0.5, zero_point=0)
    result = graph.tensor("out", "INT8", (1, 4), scale=0.5, zero_point=0)
    graph.node("RSQRT", (source,), (result,), version=2)
    graph.outputs(result)
    assert (run(builder, options)["outcome"] == "delegated") == accepted


def test_a_node_that_feeds_itself_is_dropped_and_shifts_the_indices():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    result = graph.tensor("out", "FLOAT32", (1, 4))
    graph.node("ADD", (source, source), (source,), options={})
    graph.node("RELU", (source,), (result,))
    graph.outputs(result)
    assert [(node["index"], node["op"]) for node in run(builder)["subgraphs"][0]["nodes"]] == [(0, "RELU")]


def test_nodes_that_wait_for_each_other_end_in_a_clean_refusal():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    first, second = graph.tensor("first", "FLOAT32", (1, 4)), graph.tensor("second", "FLOAT32", (1, 4))
    graph.node("ADD", (source, second), (first,), options={})
    graph.node("ADD", (source, first), (second,), options={})
    graph.outputs(second)
    result = run(builder)
    assert (result["outcome"], result["refusal"]["code"]) == ("restored", "cyclic-graph")


def test_a_crash_in_one_subgraph_ends_what_would_befall_the_next():
    """The first subgraph has a PRELU that crashes GPU's kernel, the second a node whose build fails."""
    builder = ModelBuilder()
    for name, op in (("main", "PRELU"), ("second", "DIV")):
        graph = builder.subgraph(name)
        source, result = graph.input("x", "FLOAT32", [1, 2, 2, 2]), graph.tensor("y", "FLOAT32", [1, 2, 2, 2])
        other = graph.input("slopes", "FLOAT32", [1, 1, 2]) if op == "PRELU" else source
        graph.node(op, [source, other], [result])
        graph.outputs(result)
    found = delegate_sim.analyze(builder.bytes(), "gpu", defaults="api").to_dict()["runs"][0]
    assert (found["outcome"], found["refusal"]["subgraph"]) == ("delegated", 0)
    assert [subgraph["nodes_delegated"] for subgraph in found["subgraphs"]] == [1, 0]
    assert len(found["log_lines"]) == 1


def test_subgraphs_that_are_not_reached_are_judged_unless_they_are_dynamic():
    """The first subgraph has nodes that wait for each other's results."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    first, second = graph.tensor("first", "FLOAT32", (1, 4)), graph.tensor("second", "FLOAT32", (1, 4))
    graph.node("ADD", (source, second), (first,), options={})
    graph.node("ADD", (source, first), (second,), options={})
    graph.outputs(second)
    dynamic = builder.subgraph("dynamic")
    source, shape = dynamic.input("in", "FLOAT32", (1, 4)), dynamic.input("shape", "INT32", (2,))
    result = dynamic.tensor("reshaped", "FLOAT32", (2, 2))
    dynamic.node("RESHAPE", (source, shape), (result,), options={})
    dynamic.outputs(result)
    chain(builder, ["RELU"], name="last")
    runs = delegate_sim.analyze(builder.bytes(), "nnapi", NEWEST, defaults="api").runs
    assert runs[0].outcome == "restored"
    assert [subgraph.decision is not None for subgraph in runs[0].subgraphs] == [False, False, True]


@pytest.mark.parametrize("is_broken", [True, False])
def test_benchmark_model_goes_no_further_where_a_later_subgraph_cannot_be_prepared(is_broken):
    """NNAPI keeps what it has of the first subgraph, but benchmark_model ends before the runtime applies XNNPACK."""
    builder = ModelBuilder()
    chain(builder, ["RELU", "CEIL"])
    graph = builder.subgraph("later")
    kind = "UINT8" if is_broken else "FLOAT32"
    source, result = graph.input("x", kind, [1, 4]), graph.tensor("y", kind, [1, 4])
    graph.node("CEIL", [source], [result])
    graph.outputs(result)
    model = load(builder.bytes())
    for defaults, goes_on in (("benchmark", not is_broken), ("api", True)):
        found = simulate_chain(model, [target("nnapi", NEWEST, defaults)], lambda: target("xnnpack", {}, "api"))
        assert found[0].outcome == "delegated"
        assert [one.delegate.name for one in found] == ["nnapi", *(["xnnpack"] if goes_on else [])], defaults


def target(name, options, defaults):
    delegate = find_delegate(name)
    return Target(delegate, parse_options(name, delegate.options, options, "api"), LATEST, defaults)
