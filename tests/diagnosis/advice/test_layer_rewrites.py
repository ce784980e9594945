"""Suggested rewrites against what TensorFlow's converter made of them (``tools/upstream/rewrites.py``)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.layer_rewrites import REWRITES, rewriting
from delegate_sim.graph.graph import file_graphs
from delegate_sim.rules.kinds import Problem
from tests.support.diagnoses import diagnosed, target
from tests.support.graphs import arena, constant, node_view

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "rewrites"
LAYERS = json.loads((FOLDER / "converted.json").read_text(encoding="utf-8"))["layers"]
NOT_QUITE_THE_SAME = 0.03


def operators(name):
    return [node.op for node in load(FOLDER / f"{name}.tflite").subgraphs[0].nodes]


def alternatives():
    return [(op, number) for op, ways in REWRITES.items() for number in range(len(ways))]


@pytest.mark.parametrize(("op", "number"), alternatives())
def test_the_converter_does_not_make_the_operator_of_it_again(op, number):
    layer = [layer for layer in LAYERS if layer["operator"] == op][number]
    found = operators(f"{layer['model']}.suggested")
    assert found == layer["suggested"]
    assert op not in found
    told = set(REWRITES[op][number].operators)
    assert told <= set(found) <= told.union(layer["usual"])
    assert layer["greatest_difference"] <= NOT_QUITE_THE_SAME


def test_every_layer_that_was_converted_is_suggested():
    assert sorted(layer["operator"] for layer in LAYERS) == sorted(op for op, _ in alternatives())


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer["model"])
@pytest.mark.parametrize("delegate", ["nnapi", "coreml"])
def test_where_it_is_suggested_the_rewritten_layer_is_taken_as_foretold(layer, delegate):
    before = diagnosed((FOLDER / f"{layer['model']}.usual.tflite").read_bytes(), delegate)
    causes = [finding for finding in before.findings if finding.cause.identity.subject == (layer["operator"],)]
    if not causes or "can be written as" not in causes[0].cause.change:
        pytest.skip("the delegate takes the operator, or lacks one of the others")
    way = next(way for way in REWRITES[layer["operator"]] if way.words in causes[0].cause.change)
    if set(way.operators) != set(layer["suggested"]):
        pytest.skip("another way to write it is told")
    after = diagnosed((FOLDER / f"{layer['model']}.suggested.tflite").read_bytes(), delegate)
    assert after.without_all.measures.outcome == "delegated"
    causes = [finding.cause for finding in after.findings if finding.cause.identity.problem is Problem.OPERATOR]
    refused = {op for cause in causes for op, _ in cause.operators}
    assert not refused, "the delegate has every operator of it"


def test_a_rewrite_of_floats_is_not_told_of_integers():
    model = load(FOLDER / "08-floor_mod.usual.tflite")
    (graph,) = file_graphs(model)
    assert rewriting(graph.view(graph.nodes[0]), target("xnnpack")).words == "DIV, FLOOR, MUL and SUB"
    assert rewriting(graph.view(graph.nodes[0]), target("hexagon")) is None, "it has no DIV"
    subgraph = model.subgraphs[0]
    integers = replace(subgraph, tensors=tuple(tensor._replace(type="INT64") for tensor in subgraph.tensors))
    (graph,) = file_graphs(replace(model, subgraphs=(integers,)))
    assert rewriting(graph.view(graph.nodes[0]), target("xnnpack")) is None


@pytest.mark.parametrize(("form", "nodes"), [("usual", 0), ("suggested", 3)])
def test_core_ml_takes_a_layer_over_a_sequence_as_a_convolution(form, nodes):
    (layer,) = [layer for layer in LAYERS if layer["operator"] == "FULLY_CONNECTED"]
    content = (FOLDER / f"{layer['model']}.{form}.tflite").read_bytes()
    found = diagnosed(content, "coreml", coreml_version=2, min_nodes_per_partition=1)
    assert found.now.measures.delegated_nodes == nodes
    if form == "usual":
        assert "CONV_2D with 1x1 filters" in found.findings[0].cause.change


@pytest.mark.parametrize(
    ("axes", "is_suggested"), [([1, 2], True), ([1], True), ([3], False), ([-1], False), ([2, 3], False), (None, True)]
)
def test_a_mean_over_the_last_axis_is_no_pooling(axes, is_suggested):
    which = arena("INT32", 1) if axes is None else constant(axes, "INT32")
    view = node_view("MEAN", [arena("FLOAT32", 1, 4, 4, 2), which], [arena("FLOAT32", 1, 2)])
    assert (rewriting(view, target()) is not None) == is_suggested
