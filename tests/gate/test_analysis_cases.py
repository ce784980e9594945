"""Cases of an analysis."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.gate.analysis_cases import analysis_cases
from delegate_sim.gate.results import (
    FAILED,
    PASSED,
)
from fixtures.builder import ModelBuilder


@pytest.mark.parametrize(("op", "status"), [("ADD", PASSED), ("CUSTOM", FAILED)])
def test_an_analysis_fails_where_the_delegate_is_not_applied(op, status):
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, result = graph.input("x", "FLOAT32", (1, 4)), graph.tensor("y", "FLOAT32", (1, 4))
    graph.node(op, [source, source], [result], **({"custom": "Own"} if op == "CUSTOM" else {}))
    graph.outputs(result)
    (case,) = analysis_cases(delegate_sim.analyze(load(builder.bytes()), "gpu", defaults="api"))
    assert case.status == status
