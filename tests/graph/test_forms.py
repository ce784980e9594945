"""Nodes of one form differ only in what a check of a node and its operands does not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim import load, simulate
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.graph.graph import file_graphs, node_forms
from delegate_sim.rules.book import RuleBook
from fixtures.builder import ModelBuilder

MODELS = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))
WITH_FORMS = [name for name in DELEGATE_NAMES if find_delegate(name).rules.reads_only_nodes]


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


@pytest.mark.parametrize("name", WITH_FORMS)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_the_verdicts_are_the_same_as_without_forms(path, name, monkeypatch):
    model = load(path)
    shared = verdicts_of(model, name)

    def one_by_one(self, graph, nodes, target):
        return {index: self.validate(graph.view(graph.nodes[index]), target) for index in nodes}

    monkeypatch.setattr(RuleBook, "verdicts", one_by_one)
    assert verdicts_of(model, name) == shared
