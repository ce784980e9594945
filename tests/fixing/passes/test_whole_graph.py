"""Passes over a whole graph: what they read and compute is counted."""

from __future__ import annotations

import numpy as np

from delegate_sim import load
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes import whole_graph
from delegate_sim.fixing.passes.catalogue import PASSES
from fixtures.builder import ModelBuilder


def test_results_that_are_thrown_away_are_counted(monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    x = graph.input("x", "FLOAT32", [1])
    column, row = (graph.tensor(str(shape), "FLOAT32", shape, data=np.ones(shape)) for shape in ([64, 1], [1, 64]))
    for number in range(4):
        total, result = (graph.tensor(f"{name}{number}", "FLOAT32", [1]) for name in ("total", "result"))
        graph.node("ADD", [column, row], [total], options={})
        graph.node("ADD", [x, total], [result], options={})
        x = result
    graph.outputs(x)
    computed = []
    evaluate = whole_graph.evaluate
    monkeypatch.setattr(whole_graph, "evaluate", lambda op, *given: computed.append(op) or evaluate(op, *given))
    monkeypatch.setattr(whole_graph, "_MOST_COMPUTED", 2 * 64 * 64)
    assert apply_pass(start(load(builder.bytes())), PASSES["nodes-of-constants"]) is None
    assert len(computed) == 2
