"""The graph of one subgraph before anything is prepared."""

from __future__ import annotations

from delegate_sim.graph.graph import file_graph
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


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
