"""Parts of models as models of their own."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.verification.cuts import Cutter
from fixtures.builder import ModelBuilder


@pytest.fixture
def residual():
    """Return x -> ABS -> NEG -> ADD (of ABS and NEG) -> y, with an output after ABS too if it is asked for."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [2, 3])
    size, opposite, y = (graph.tensor(name, "FLOAT32", [2, 3]) for name in ("size", "opposite", "y"))
    graph.node("ABS", [x], [size], 1, {})
    graph.node("NEG", [size], [opposite], 1, {})
    graph.node("ADD", [size, opposite], [y], 1, {})
    graph.outputs(y)
    return load(builder.bytes())


def ops(model, subgraph=0):
    return [node.op for node in model.subgraphs[subgraph].nodes]


@pytest.mark.parametrize(
    ("start", "stop", "inputs", "outputs", "nodes"),
    [
        (0, 1, [0], [1], ["ABS"]),
        # A later node also reads the result of ABS. A copy leaves the part, so that NEG stays the only other reader.
        (0, 2, [0], [1, 2], ["ABS", "NEG", "RESHAPE"]),
        (0, 3, [0], [3], ["ABS", "NEG", "ADD"]),
        (1, 2, [1], [2], ["NEG"]),
        (1, 3, [1], [3], ["NEG", "ADD"]),
        (2, 3, [1, 2], [3], ["ADD"]),
    ],
)
def test_a_part_has_the_tensors_that_enter_and_leave_it(residual, start, stop, inputs, outputs, nodes):
    cut = Cutter(residual, 0).cut(start, stop)
    assert (list(cut.inputs), list(cut.outputs)) == (inputs, outputs)
    assert ops(cut.model) == nodes
    (signature,) = cut.model.signatures
    graph = cut.model.subgraphs[0]
    assert list(signature.inputs.values()) == list(graph.inputs) == inputs
    assert list(signature.outputs.values()) == list(graph.outputs) == list(cut.entry.output_tensors)


def test_nodes_of_constants_belong_to_every_part_that_reads_them():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x, half = graph.input("x", "FLOAT32", [4]), graph.tensor("half", "FLOAT16", [4], data=np.ones(4))
    wide, first, y = (graph.tensor(name, "FLOAT32", [4]) for name in ("wide", "first", "y"))
    graph.node("DEQUANTIZE", [half], [wide], 3, {})
    graph.node("MUL", [x, wide], [first], 1, {})
    graph.node("ADD", [first, wide], [y], 1, {})
    graph.outputs(y)
    cutter = Cutter(load(builder.bytes()), 0)
    assert [node.op for node in cutter.steps] == ["MUL", "ADD"]
    assert [ops(cutter.cut(*part).model) for part in ((0, 1), (1, 2))] == [["DEQUANTIZE", "MUL"], ["DEQUANTIZE", "ADD"]]
    assert list(cutter.cut(1, 2).inputs) == [3]


def test_another_subgraph_is_cut_and_the_others_stay():
    builder = ModelBuilder()
    for name in ("first", "second"):
        graph = builder.subgraph(name)
        x, middle, y = graph.input("x", "FLOAT32", [4]), graph.tensor("m", "FLOAT32", [4]), graph.tensor("y", "FLOAT32", [4])
        graph.node("ABS", [x], [middle], 1, {})
        graph.node("NEG", [middle], [y], 1, {})
        graph.outputs(y)
        builder.signature(name, graph, {"x": x}, {"y": y})
    cut = Cutter(load(builder.bytes()), 1).cut(0, 1)
    assert (ops(cut.model, 0), ops(cut.model, 1)) == (["ABS", "NEG"], ["ABS"])
    assert {signature.key: signature.subgraph for signature in cut.model.signatures} == {cut.entry.key: 1, "first": 0}
