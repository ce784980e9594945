"""The parts of nodes that are compared, and those that are not."""

from __future__ import annotations

from delegate_sim import load
from delegate_sim.fixing.fix import corresponding
from fixtures.builder import ModelBuilder


def test_what_nothing_reads_is_not_compared():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    read, unread, last = (graph.tensor(name, "FLOAT32", [1, 2]) for name in ("read", "unread", "last"))
    axis = graph.tensor("axis", "INT32", [], data=[1])
    graph.node("SPLIT", [axis, source], [read, unread], 1, {"num_splits": 2})
    graph.node("ABS", [read], [last])
    graph.outputs(last)
    model = load(builder.bytes())
    assert list(corresponding(model, model).values()) == ["read", "last"]
