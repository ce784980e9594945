"""The graph of one subgraph before anything is prepared."""

from __future__ import annotations

from dataclasses import replace

import delegate_sim
from delegate_sim.graph.graph import Inspected, file_graph, file_graphs, index_in_graph
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model


def ops_of_graph(*ops, custom=None):
    """Return the operators of a graph whose nodes all write what they read, and the indices of its nodes."""
    builder = ModelBuilder()
    main = builder.subgraph()
    tensor = main.input("x", "FLOAT32", [2])
    for op in ops:
        main.node(op, [tensor, tensor], [tensor], custom=custom if op == "CUSTOM" else None)
    main.outputs(tensor)
    model = load(builder.bytes())
    graph = file_graph(model, model.subgraphs[0])
    assert graph.execution_plan == tuple(range(len(graph.nodes)))
    return [(node.index, node.op) for node in graph.nodes]


def test_builtin_nodes_with_parameters_cannot_write_what_they_read():
    assert ops_of_graph("MAXIMUM", "ADD", "PRELU") == [(0, "MAXIMUM"), (1, "PRELU")]


def test_custom_nodes_can_write_what_they_read():
    assert ops_of_graph("ADD", "CUSTOM", custom="MyOp") == [(0, "MyOp")]


def test_a_node_is_linked_with_the_last_before_it_that_writes_what_it_reads():
    builder = ModelBuilder()
    main = builder.subgraph()
    first, second = main.input("x", "FLOAT32", [2]), main.tensor("y", "FLOAT32", [2])
    for source, target in ((first, second), (second, second), (first, second), (second, first), (first, first)):
        main.node("CUSTOM", [source, source, -1], [target], custom="MyOp")
    main.outputs(first)
    model = load(builder.bytes())
    links = file_graph(model, model.subgraphs[0]).links
    assert links == ((0, 1, second), (2, 3, second), (3, 4, first))


def test_a_node_with_many_operands_and_results_is_added_in_linear_time():
    class Results(tuple):
        """Results that must not be searched for each operand."""

        def __contains__(self, item):
            raise AssertionError("searched")

    builder = ModelBuilder()
    subgraph = builder.subgraph("main")
    x, y = subgraph.input("x", "FLOAT32", [1]), subgraph.tensor("y", "FLOAT32", [1])
    subgraph.node("ADD", [x, x], [y], 1, {})
    subgraph.outputs(y)
    model = load(builder.bytes())
    (main,) = model.subgraphs
    nodes = tuple([node._replace(inputs=Results(node.inputs), outputs=Results(node.outputs)) for node in main.nodes])
    assert file_graph(model, replace(main, nodes=nodes)).nodes == nodes


def test_the_place_of_a_node_behind_one_that_the_runtime_does_not_add():
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, result = graph.input("x", "FLOAT32", [2]), graph.tensor("y", "FLOAT32", [2])
    for inputs, output in (([source, source], result), ([result, source], result), ([result, source], source)):
        graph.node("ADD", inputs, [output], 1, {})
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    (subgraph,) = load(builder.bytes()).subgraphs
    assert [index_in_graph(subgraph, node) for node in subgraph.nodes] == [0, None, None, 1]


def test_a_model_with_its_nodes_and_tensors():
    model = delegate_sim.load(chain_model(["ADD", "MEAN"]).bytes())
    found = Inspected(model, tuple(file_graphs(model)), "file").to_dict()
    assert found["model"] == model.to_dict()
    assert (found["schema"], found["shapes"], found["signatures"]) == ("delegate-sim/inspect/1", "file", [])
    (graph,) = found["subgraphs"]
    assert [node["op"] for node in graph["nodes"]] == ["ADD", "MEAN"]
    assert len(graph["tensors"]) == len(model.subgraphs[0].tensors)
