"""Partitioning by LiteRT around the plugins: its limit, chosen subgraphs, and the causes of refusals."""

from __future__ import annotations

import delegate_sim
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import SHAPE, chain, groups, lines, run, selected


def test_more_partitions_than_allowed_are_an_error():
    builder = chain(["RELU", "SHAPE", "RELU"])
    entry = run(builder, "npu-google", max_partitions=1)
    assert (entry["outcome"], entry["refusal"]["stage"]) == ("refused", "partition")
    assert lines(entry)[-1] == "Partitioning yielded 2 NPU islands, which exceeds the maximum allowed (1)."
    assert not selected(entry)
    assert run(builder, "npu-google", max_partitions=2)["outcome"] == "delegated"
    assert run(builder, "npu-google", max_partitions=1, release="litert-2.1.5")["outcome"] == "delegated"


def several():
    builder = chain(["RELU", "RELU"])
    for name in ("second", "third"):
        graph = builder.subgraph(name)
        given, result = graph.input("in", "FLOAT32", SHAPE), graph.tensor("out", "FLOAT32", SHAPE)
        graph.node("TANH", (given,), (result,))
        graph.outputs(result)
    return builder


def test_only_chosen_subgraphs_are_asked_about():
    entry = run(several(), "npu-google", subgraphs="2,0")
    assert [selected(entry, index) for index in range(3)] == [[0, 1], [], [0]]
    assert next(line for line in lines(entry) if "subgraph<" in line).startswith("Partitioned subgraph<0>")
    assert lines(run(several(), "npu-google", subgraphs="99")) == []
    assert run(several(), "npu-google", subgraphs=99)["outcome"] == "none"


def test_an_empty_subgraph():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("in", "FLOAT32", SHAPE))
    assert lines(run(builder, "npu-google")) == [
        "Partition strategy: 0",
        "Found empty subgraph, skipping partitioning",
        "Partitioned subgraph<0>, selected 0 ops, from a total of 0 ops. resulted in 0 partitions.",
    ]


# Composites


# The loader


# Diagnosis


def test_what_keeps_the_whole_model_off_the_npu_is_one_cause():
    diagnosis = delegate_sim.diagnose(chain(["RELU", "SHAPE"], variable=True).bytes(), "npu-google", defaults="api")
    assert [finding.cause.name for finding in diagnosis.findings] == ["model:litert-variable-tensor", "operator:SHAPE"]
    assert diagnosis.without_all.measures.delegated_nodes == 2


def test_options_that_end_a_refusal_are_tried():
    options = {"soc": "mt1", "max_partitions": 1}
    diagnosis = delegate_sim.diagnose(chain(["RELU", "SHAPE", "RELU"]).bytes(), "npu-mediatek", options, defaults="api")
    names = {finding.cause.name for finding in diagnosis.findings}
    assert names == {"limit:max_partitions=0", "target-level:soc=mt6991", "operator:SHAPE"}
    assert diagnosis.without_all.measures.delegated_nodes == 3


def test_what_if_a_node_were_selected():
    comparison = delegate_sim.whatif(chain(["RELU", "SHAPE", "RELU"]).bytes(), "npu-google", accept=["SHAPE"], defaults="api")
    assert comparison.b.run.subgraphs[0].delegated == {0, 1, 2}


# Crashes of LiteRT


def test_groups_are_runs_of_consecutive_nodes():
    entry = run(chain(["RELU", "RELU", "SHAPE", "RELU"]), "npu-google")
    assert groups(entry) == [[(0, 0), (0, 1)], [(0, 3)]]
    assert lines(entry) == [
        "Partition strategy: 0",
        "Partitioned subgraph<0>, selected 3 ops, from a total of 4 ops. resulted in 2 partitions.",
    ]


def branches():
    """Two branches of one input, told apart by a node that no plugin but one takes; both end in a sum."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    names = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(4)]
    graph.node("RELU", (given,), (names[0],))
    graph.node("SHAPE", (given,), (names[1],))
    graph.node("TANH", (given,), (names[2],))
    graph.node("ADD", (names[0], names[2]), (names[3],))
    graph.outputs(names[1], names[3])
    return builder


def test_what_is_connected_is_grouped_across_other_nodes():
    assert groups(run(branches(), "npu-google")) == [[(0, 0)], [(0, 2), (0, 3)]]
    entry = run(branches(), "npu-google", partition_strategy="weakly_connected")
    assert groups(entry) == [[(0, 0), (0, 2), (0, 3)]]
    assert lines(entry)[0] == "Partition strategy: 1"
    assert run(branches(), "npu-google", partition_strategy=1)["options"]["partition_strategy"] == "weakly_connected"


def test_nodes_that_only_share_an_input_are_not_connected():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    results = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(2)]
    for result in results:
        graph.node("RELU", (given,), (result,))
    graph.outputs(*results)
    assert groups(run(builder, "npu-google")) == [[(0, 0), (0, 1)]]
    assert groups(run(builder, "npu-google", partition_strategy="weakly_connected")) == [[(0, 0)], [(0, 1)]]


def test_groups_that_wait_for_each_other():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    given = graph.input("in", "FLOAT32", SHAPE)
    first, shape, last = [graph.tensor(f"t{number}", "FLOAT32", SHAPE) for number in range(3)]
    graph.node("RELU", (given,), (first,))
    graph.node("SHAPE", (first,), (shape,))
    graph.node("ADD", (first, shape), (last,))
    graph.outputs(last)
    entry = run(builder, "npu-google", partition_strategy="weakly_connected")
    assert groups(entry) == [[(0, 0), (0, 2)]]
    assert "Failed to topologically sort subgraph after slicing!" in entry["log_lines"]
    assert any("cycle" in warning for warning in entry["warnings"])
