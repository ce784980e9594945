"""Changes of a model's source code."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.errors import LimitError
from delegate_sim.foundation.limits import VARIABLE
from delegate_sim.hypothetical import code_changes
from delegate_sim.hypothetical.code_changes import with_inlined_nodes, without_nodes
from delegate_sim.hypothetical.model_editing import NodeKey
from fixtures.builder import ModelBuilder


def conditional():
    """Return a model with an IF, whose branches have one node."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition, source = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1, 4])
    result = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    graph.outputs(result)
    for op in ("RELU", "TANH"):
        branch = builder.subgraph(op)
        source, result = branch.input("x", "FLOAT32", [1, 4]), branch.tensor("y", "FLOAT32", [1, 4])
        branch.node(op, [source], [result])
        branch.outputs(result)
    return load(builder.bytes())


def test_no_more_nodes_are_inlined_than_a_limit(monkeypatch):
    model = conditional()
    assert [node.op for node in with_inlined_nodes(model, [NodeKey(0, 0)]).model.subgraphs[0].nodes] == [
        "RELU",
        "TANH",
        "SELECT_V2",
    ]
    monkeypatch.setattr(code_changes, "_MOST_NODES_OF_BODIES", 1)
    with pytest.raises(LimitError, match=f"2 nodes and operands, above the limit of 1; {VARIABLE}=10 raises every limit tenfold"):
        with_inlined_nodes(model, [NodeKey(0, 0)])


def test_operands_and_tensors_are_limited_like_nodes(monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("CALL", [source], [result], options={"subgraph": 1})
    graph.outputs(result)
    body = builder.subgraph("body")
    operands = [body.input("x", "FLOAT32", [1, 4]), *[body.tensor("z", "FLOAT32", [1, 4], data=[0] * 4) for _ in range(20)]]
    result = body.tensor("y", "FLOAT32", [1, 4])
    body.node("ADD_N", operands, [result])
    body.outputs(result)
    monkeypatch.setattr(code_changes, "_MOST_NODES_OF_BODIES", 20)
    with pytest.raises(LimitError, match="29 nodes and operands, above the limit of 20"):
        with_inlined_nodes(load(builder.bytes()), [NodeKey(0, 0)])


def made(nodes, inputs, outputs, *, second=False):
    """A graph of named tensors: (operator, operands, results), None for one left out."""
    builder = ModelBuilder()
    if second:
        main = builder.subgraph("main")
        x = main.input("x", "FLOAT32", (1,))
        y = main.tensor("y", "FLOAT32", (1,))
        main.node("ABS", [x], [y])
        main.outputs(y)
    graph, index = builder.subgraph("graph"), {None: -1}
    for _, operands, results in nodes:
        for name in (*operands, *results):
            if name not in index:
                index[name] = graph.tensor(name, "FLOAT32", (1,))
    for op, operands, results in nodes:
        graph.node(op, [index[name] for name in operands], [index[name] for name in results])
    graph.inputs(*[index[name] for name in inputs])
    graph.outputs(*[index[name] for name in outputs])
    return load(builder.bytes())


def left(model, *removed, subgraph=0):
    graph = without_nodes(model, [NodeKey(subgraph, node) for node in removed]).model.subgraphs[subgraph]
    names = [["-" if index < 0 else graph.tensors[index].name for index in side] for side in (graph.inputs, graph.outputs)]
    return [node.op for node in graph.nodes], *names


CHAIN = [("ABS", ["a"], ["b"]), ("NEG", ["b"], ["c"]), ("EXP", ["c"], ["d"])]


@pytest.mark.parametrize(
    ("removed", "expected"),
    [
        ((), (["ABS", "NEG", "EXP"], ["a"], ["d"])),
        ((0,), (["NEG", "EXP"], ["b"], ["d"])),
        ((1,), (["ABS", "EXP"], ["a", "c"], ["d"])),
        ((2,), (["ABS", "NEG"], ["a"], [])),
        ((0, 1), (["EXP"], ["c"], ["d"])),
    ],
)
def test_what_others_read_becomes_an_input(removed, expected):
    assert left(made(CHAIN, ["a"], ["d"]), *removed) == expected


def test_the_first_tensor_becomes_an_input_too():
    model = made([("EXP", ["c"], ["d"]), ("ABS", ["a"], ["c"])], ["a"], ["d"])
    assert left(model, 1) == (["EXP"], ["c"], ["d"])


def test_an_input_that_is_read_or_returned_stays():
    model = made([("ABS", ["a"], ["b"]), ("ADD", ["a", "b"], ["c"]), ("NEG", ["x"], ["y"])], ["a", "x"], ["c", "x"])
    assert left(model, 0, 2) == (["ADD"], ["a", "x", "b"], ["c", "x"])


def test_operands_and_results_that_are_left_out_become_no_inputs():
    model = made([("SPLIT", ["a"], ["b", None]), ("ADD", ["b", None], ["c"])], ["a"], ["c"])
    assert left(model, 0) == (["ADD"], ["b"], ["c"])


def test_a_subgraph_that_others_run_keeps_its_interface():
    model = made(CHAIN, ["a"], ["d"], second=True)
    assert left(model, 0, 2, subgraph=1) == (["ABS", "NEG", "EXP"], ["a"], ["d"])
    assert left(made([*CHAIN, ("ABS", ["b"], ["e"])], ["a"], ["d"], second=True), 3, subgraph=1)[0] == ["ABS", "NEG", "EXP"]
