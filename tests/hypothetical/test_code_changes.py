"""Changes of a model's source code."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.errors import LimitError
from delegate_sim.foundation.limits import VARIABLE
from delegate_sim.hypothetical import code_changes
from delegate_sim.hypothetical.code_changes import with_inlined_nodes
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
