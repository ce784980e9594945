"""Groups of selected nodes."""

from __future__ import annotations

from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import SHAPE, chain, groups, lines, run


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
