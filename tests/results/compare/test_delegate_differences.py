"""Delegates side by side."""

from __future__ import annotations

import delegate_sim
from delegate_sim.results.compare.comparison_verdict import OperatorRow, disagreements, operator_rows
from fixtures.builder import ModelBuilder


def runs():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("in", "FLOAT32", (1, 4))
    for number, (op, version) in enumerate([("RELU", 1), ("RELU", 3), ("GELU", 1)]):
        result = graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        graph.node(op, (tensor,), (result,), version=version)
        tensor = result
    graph.outputs(tensor)
    model = delegate_sim.load(builder.bytes())
    return [delegate_sim.analyze(model, name, defaults="api").runs[0] for name in ("nnapi", "vx")]


def test_operators_are_counted_for_each_delegate():
    assert operator_rows(runs()) == [OperatorRow("RELU", 2, (1, 2)), OperatorRow("GELU", 1, (0, 1))]


def test_nodes_on_which_they_disagree_come_with_reasons():
    found = disagreements(runs())
    assert [(one.node.index, one.node.op) for one in found] == [(1, "RELU"), (2, "GELU")]
    nnapi, vx = found[0].reasons
    assert [reason.code for reason in nnapi] == ["nnapi-operator-version"]
    assert vx is None
