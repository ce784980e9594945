"""The graph of one subgraph before anything is prepared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim import simulate
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.graph.forms import node_forms
from delegate_sim.graph.graph import Inspected, file_graph, file_graphs, index_in_graph
from delegate_sim.model.reader import load
from delegate_sim.rules.book import RuleBook
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


MODELS = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))


def test_only_names_and_indices_are_no_part_of_a_form():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", (2, 3))
    axes = [graph.tensor(f"axis{number}", "INT32", (1,), [value]) for number, value in enumerate((0, 0, 1))]
    large = [graph.tensor(f"large{number}", "FLOAT32", (2, 3, 9), [0.0] * 54) for number in range(2)]
    wide = graph.input("wide", "FLOAT32", (2, 9))

    def result(name="y", kind="FLOAT32"):
        return graph.tensor(name, kind, (2, 3))

    nodes = {
        "add": ("ADD", [x, wide], {}),
        "add again": ("ADD", [x, wide], {}),
        "add with itself": ("ADD", [x, x], {}),
        "add with relu": ("ADD", [x, wide], {"fused_activation_function": 1}),
        "add of an omitted input": ("ADD", [x, -1], {}),
        "sum over 0": ("SUM", [x, axes[0]], {}),
        "sum over 0 again": ("SUM", [x, axes[1]], {}),
        "sum over 1": ("SUM", [x, axes[2]], {}),
        "multiply by a large constant": ("MUL", [x, large[0]], {}),
        "multiply by another large constant": ("MUL", [x, large[1]], {}),
    }
    for name, (op, inputs, options) in nodes.items():
        graph.node(op, inputs, [result(name)], 1, options)
    graph.node("ADD", [x, wide], [result("of version 2")], 2, {})
    graph.node("ADD", [x, wide], [result("of another type", "INT32")], 1, {})
    graph.outputs(x)
    forms = node_forms(file_graphs(load(builder.bytes()))[0])
    named = dict(zip([*nodes, "version", "type"], forms, strict=True))
    assert named.pop("add again") == named["add"]
    assert named.pop("sum over 0 again") == named["sum over 0"]
    assert len(set(named.values())) == len(named)


def verdicts_of(model, name):
    (run,) = simulate(model, [(name, {})], defaults="benchmark").runs
    return [None if one.decision is None else one.decision.verdicts for one in run.subgraphs]


@pytest.mark.parametrize("name", DELEGATE_NAMES)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_verdicts_are_the_same_as_without_forms(path, name, monkeypatch):
    model = load(path)
    shared = verdicts_of(model, name)

    def one_by_one(self, graph, nodes, target):
        return {index: self.validate(graph.view(graph.nodes[index]), target) for index in nodes}

    monkeypatch.setattr(RuleBook, "verdicts", one_by_one)
    assert verdicts_of(model, name) == shared
