"""The partitions that the delegate takes, the kernels that fail, and the lines that it prints."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.coreml import DELEGATE, KINDS
from delegate_sim.errors import OptionError
from delegate_sim.results.report.measures import FAILS_LATER, PREDICTED, measure
from delegate_sim.results.report.placement import code_of, on_cpu, placements
from fixtures.builder import ModelBuilder


def analyze(builder, options=None, **arguments):
    return delegate_sim.analyze(builder.bytes(), "coreml", options or {}, **{"defaults": "api", **arguments}).to_dict()["runs"][0]


def chain(*ops, shape=(1, 4), subgraphs=1):
    """Unary operators, one after the other; CEIL is refused."""
    builder = ModelBuilder()
    for number in range(subgraphs):
        graph = builder.subgraph(f"g{number}")
        tensor = graph.input("in", "FLOAT32", shape)
        for op in ops:
            result = graph.tensor(op, "FLOAT32", shape)
            graph.node(op, (tensor,), (result,))
            tensor = result
        graph.outputs(tensor)
    return builder


def float16_model(*ops):
    """Operators on a chain; each ADD adds a float16 constant through a DEQUANTIZE."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, op in enumerate(ops):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        if op == "ADD":
            half = graph.tensor(f"half{number}", "FLOAT16", (1, 4), data=[0.0] * 4)
            widened = graph.tensor(f"widened{number}", "FLOAT32", (1, 4))
            graph.node("DEQUANTIZE", (half,), (widened,), version=3)
            graph.node("ADD", (tensor, widened), (result,), options={})
        else:
            graph.node(op, (tensor,), (result,))
        tensor = result
    graph.outputs(tensor)
    return builder


def kept(result):
    return [len(part["nodes"]) for part in result["subgraphs"][0]["partition_list"] if part["kind"] == "delegate"]


RUNS_OF_1_2_3 = ("RELU", "CEIL", *["RELU"] * 2, "CEIL", *["RELU"] * 3)


@pytest.mark.parametrize(("minimum", "expected"), [(0, [2, 3]), (1, [1, 2, 3]), (2, [2, 3]), (3, [3]), (4, [])])
def test_minimum_of_nodes(minimum, expected):
    assert kept(analyze(chain(*RUNS_OF_1_2_3), {"min_nodes_per_partition": minimum})) == expected


@pytest.mark.parametrize(("limit", "expected"), [(-1, [2, 3]), (0, [2, 3]), (1, [3]), (2, [2, 3])])
def test_limit_on_partitions(limit, expected):
    assert kept(analyze(chain(*RUNS_OF_1_2_3), {"max_delegated_partitions": limit})) == expected


def test_own_line_counts_partitions_before_limits():
    assert analyze(chain(*RUNS_OF_1_2_3))["log_lines"] == [
        "CoreML delegate: 5 nodes delegated out of 8 nodes, with 3 partitions.",
        "Replacing 5 out of 8 node(s) with delegate (TfLiteCoreMlDelegate) node, yielding 4 partitions for subgraph 0 (g0).",
    ]


def test_own_line_is_printed_for_each_subgraph_even_if_nothing_is_taken():
    line = "CoreML delegate: 0 nodes delegated out of 1 nodes, with 0 partitions."
    assert analyze(chain("CEIL", subgraphs=2))["log_lines"] == [line, line]


def test_float16_constants_are_taken_along_with_everything_whatever_the_limits():
    result = analyze(float16_model("ADD"), {"min_nodes_per_partition": 5})
    assert kept(result) == [2]
    assert result["log_lines"][0] == "CoreML delegate: 2 nodes delegated out of 2 nodes, with 1 partitions."


def test_float16_constants_stay_when_a_node_is_refused():
    result = analyze(float16_model("ADD", "RELU", "CEIL"))
    assert kept(result) == [2]
    assert result["log_lines"][0] == "CoreML delegate: 2 nodes delegated out of 4 nodes, with 1 partitions."


def reshaped():
    """A RESHAPE and an operator that reads its result."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4, 4, 2))
    shape = graph.tensor("shape", "INT32", (3,), data=[1, 16, 2])
    reshaped, result = graph.tensor("reshaped", "FLOAT32", (1, 16, 2)), graph.tensor("out", "FLOAT32", (1, 16, 2))
    graph.node("RESHAPE", (source, shape), (reshaped,), options={})
    graph.node("RELU", (reshaped,), (result,))
    graph.outputs(result)
    return builder


@pytest.mark.parametrize(("version", "taken"), [(2, [0, 1]), (3, []), (0, []), (7, [])])
def test_version_of_coreml(version, taken):
    nodes = analyze(reshaped(), {"coreml_version": version})["subgraphs"][0]["nodes"]
    assert [node["index"] for node in nodes if node["delegated"]] == taken


@pytest.mark.parametrize(("version", "expected"), [(0, [{"coreml_version": 2}]), (3, [{"coreml_version": 2}]), (2, [])])
def test_version_2_of_coreml_remedies_its_refusal(version, expected):
    options = {option.name: option.default for option in DELEGATE.options} | {"coreml_version": version}
    assert list(DELEGATE.remedies("coreml-coreml-version", options)) == expected


def test_the_remedy_of_the_version_ends_the_refusal():
    node = analyze(reshaped())["subgraphs"][0]["nodes"][0]
    assert [reason["code"] for reason in node["reasons"]] == ["coreml-coreml-version"]
    (remedy,) = DELEGATE.remedies("coreml-coreml-version", {"coreml_version": 0})
    assert kept(analyze(reshaped(), remedy)) == [2]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [("partition-limit", {"max_delegated_partitions": 0}), ("partition-minimum", {"min_nodes_per_partition": 1})],
)
def test_remedies_of_limits(code, remedy):
    assert list(DELEGATE.remedies(code, {"coreml_version": 0})) == [remedy]


@pytest.mark.parametrize("value", [0, 1, "1", "all_devices", "devices_with_neural_engine", "TfLiteCoreMlDelegateAllDevices"])
def test_enabled_devices(value):
    assert kept(analyze(chain("RELU", "RELU"), {"enabled_devices": value})) == [2]


@pytest.mark.parametrize("value", [2, True, "gpu"])
def test_unknown_devices(value):
    with pytest.raises(OptionError, match="enabled_devices"):
        analyze(chain("RELU"), {"enabled_devices": value})


def test_kernel_with_rank_5_at_its_border_is_restored():
    result = analyze(chain("RELU", "TANH", shape=(1, 1, 1, 1, 4)))
    assert (result["outcome"], result["refusal"]["code"]) == ("restored", "coreml-kernel-rank")
    assert result["refusal"]["tensor"] == 2
    assert "5 dimensions" in result["refusal"]["message"]
    assert result["log_lines"][2:] == [
        "Node number 2 (TfLiteCoreMlDelegate) failed to prepare.",
        "Restored original execution plan after delegate application failure.",
    ]


@pytest.mark.parametrize(("release", "outcome"), [("litert-2.1.6", FAILS_LATER), ("litert-2.2.0", "restored")])
def test_rank_at_the_border_fails_at_invoke_before_a_release(release, outcome):
    """LiteRT issue 1268: "MultiArray shape (15 x 3 x 224 x 126) does not match the shape (0 x 0 x 0 x 0)"."""
    model = chain("RELU", "TANH", shape=(1, 1, 1, 1, 4)).bytes()
    (run,) = delegate_sim.analyze(model, "coreml", runtime=release, defaults="api").runs
    assert (measure(run).outcome, run.refusal.code) == (outcome, "coreml-kernel-rank")
    assert run.refusal.is_at_invoke == (outcome == FAILS_LATER)


def test_rank_5_of_a_constant_that_no_layer_reads_does_no_harm():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    half = graph.tensor("half", "FLOAT16", (1, 1, 1, 1, 1), data=[0.0])
    unused = graph.tensor("unused", "FLOAT32", (1, 1, 1, 1, 1))
    source, result = graph.input("in", "FLOAT32", (1, 4)), graph.tensor("out", "FLOAT32", (1, 4))
    graph.node("DEQUANTIZE", (half,), (unused,), version=3)
    graph.node("RELU", (source,), (result,))
    graph.outputs(result)
    assert kept(analyze(builder)) == [2]


def transpose_conv(with_bias):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 2, 2, 1))
    size = graph.tensor("size", "INT32", (4,), data=[1, 2, 2, 1])
    weights = graph.tensor("weights", "FLOAT32", (1, 1, 1, 1), data=[0.0])
    bias = graph.tensor("bias", "FLOAT32", (1,), data=[0.0])
    convolved, result = graph.tensor("convolved", "FLOAT32", (1, 2, 2, 1)), graph.tensor("out", "FLOAT32", (1, 2, 2, 1))
    operands = (size, weights, source, bias) if with_bias else (size, weights, source)
    graph.node("TRANSPOSE_CONV", operands, (convolved,), options={"stride_h": 1, "stride_w": 1})
    graph.node("RELU", (convolved,), (result,))
    graph.outputs(result)
    return builder


def test_kernel_of_transpose_conv_with_bias_is_restored():
    assert analyze(transpose_conv(with_bias=False))["outcome"] == "delegated"
    result = analyze(transpose_conv(with_bias=True))
    assert (result["outcome"], result["refusal"]["code"]) == ("restored", "coreml-kernel-operands")
    assert result["refusal"]["node"] == 0
    assert "4 inputs" in result["refusal"]["message"]


def test_every_failure_is_tested():
    assert set(KINDS) == {
        *("coreml-kernel-bias", "coreml-kernel-rank", "coreml-kernel-operands", "coreml-kernel-pooling", "coreml-kernel-value"),
    }


def padding(op, value):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4, 4, 2))
    rectified, result = graph.tensor("rectified", "FLOAT32", (1, 4, 4, 2)), graph.tensor("out", "FLOAT32", (1, 6, 4, 2))
    operands = [rectified, graph.tensor("paddings", "INT32", (4, 2), data=[0, 0, 1, 1, 0, 0, 0, 0])]
    operands += {
        "left out": lambda: [-1],
        "computed": lambda: [graph.input("value", "FLOAT32", ())],
        "constant": lambda: [graph.tensor("value", "FLOAT32", (), data=[1.0])],
        "none": list,
    }[value]()
    graph.node("RELU", (source,), (rectified,))
    graph.node(op, operands, (result,))
    graph.outputs(result)
    return analyze(builder)


@pytest.mark.parametrize(
    ("op", "value", "refusal", "warning"),
    [
        ("PAD", "none", None, None),
        ("PADV2", "constant", None, None),
        ("PADV2", "computed", None, "computed at run time"),
        ("PADV2", "left out", "coreml-kernel-value", "will crash the process"),
    ],
)
def test_value_of_a_padding(op, value, refusal, warning):
    result = padding(op, value)
    assert result["outcome"] == "delegated"
    assert (result["refusal"] and result["refusal"]["code"]) == refusal
    assert warning in result["warnings"][0] if warning else not result["warnings"]


def dense_layers(has_bias):
    """FULLY_CONNECTED -> RELU -> EXP -> RELU -> RELU; the delegate does not have EXP."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "FLOAT32", (1, 4))
    weights = graph.tensor("weights", "FLOAT32", (4, 4), data=[0.0] * 16)
    bias = graph.tensor("bias", "FLOAT32", (4,), data=[1.0] * 4) if has_bias else -1
    results = [graph.tensor(f"out{number}", "FLOAT32", (1, 4)) for number in range(5)]
    graph.node("FULLY_CONNECTED", (source, weights, bias), (results[0],), options={})
    for number, op in enumerate(("RELU", "EXP", "RELU", "RELU")):
        graph.node(op, (results[number],), (results[number + 1],))
    graph.outputs(results[-1])
    return builder


def test_missing_bias_is_a_predicted_failure_coreml_kernel_bias():
    """TensorFlow issue 51626: "Size of bias = 0 is not equal to the output channels = 7"."""
    builder = dense_layers(has_bias=False)
    refusal = analyze(builder)["refusal"]
    assert (refusal["code"], refusal["node"]) == ("coreml-kernel-bias", 0)
    (run,) = delegate_sim.analyze(builder.bytes(), "coreml", defaults="api").runs
    assert measure(run).outcome == PREDICTED
    bias, operator = "coreml-kernel-bias", "coreml-unsupported-operator"
    assert [code_of(reasons) for _, _, reasons in on_cpu(run)] == [bias, bias, operator, bias, bias]


def test_mean_is_a_predicted_failure_coreml_kernel_pooling():
    """TensorFlow issue 51180: "Padding type for the pooling layer 'PoolingLayerBuilder (MEAN)_0' is not set"."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, axes = graph.input("in", "FLOAT32", (1, 4, 4, 2)), graph.tensor("axes", "INT32", (2,), data=[1, 2])
    mean, result = [graph.tensor(name, "FLOAT32", (1, 1, 1, 2)) for name in ("mean", "out")]
    graph.node("MEAN", (source, axes), (mean,), options={"keep_dims": True})
    graph.node("RELU", (mean,), (result,))
    graph.outputs(result)
    (run,) = delegate_sim.analyze(builder.bytes(), "coreml", defaults="api").runs
    assert (measure(run).outcome, run.refusal.code, run.refusal.node) == (PREDICTED, "coreml-kernel-pooling", 0)


def test_a_predicted_failure_stays_if_other_nodes_are_assumed_to_be_accepted():
    changed = delegate_sim.whatif(dense_layers(has_bias=False).bytes(), "coreml", accept=["EXP"], defaults="api")
    assert measure(changed.b.run).outcome == PREDICTED
    changed = delegate_sim.whatif(dense_layers(has_bias=False).bytes(), "coreml", accept=[0], defaults="api")
    assert measure(changed.b.run).outcome == "delegated"


def test_a_predicted_failure_undoes_all_delegation():
    without_bias = dense_layers(has_bias=False).bytes()
    chained = delegate_sim.simulate(without_bias, [("coreml", {}), ("xnnpack", {})], defaults="api")
    assert {place for _, place in placements(chained.runs)[0]} == {"xnnpack"}
    compared = delegate_sim.compare(dense_layers(has_bias=True).bytes(), without_bias, "coreml", defaults="api")
    assert [node.b.node for node in compared.to_cpu] == [0, 1, 3, 4]


def test_benchmark_line():
    assert analyze(chain("RELU", "RELU"), defaults="benchmark")["log_lines"][-1].startswith("Explicitly applied COREML delegate")
