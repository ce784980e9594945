"""Graphs as plain data."""

from __future__ import annotations

import delegate_sim
from delegate_sim.graph.graph import Inspected, file_graphs
from tests.support.models import chain_model


def test_a_model_with_its_nodes_and_tensors():
    model = delegate_sim.load(chain_model(["ADD", "MEAN"]).bytes())
    found = Inspected(model, tuple(file_graphs(model)), "file").to_dict()
    assert found["model"] == model.to_dict()
    assert (found["schema"], found["shapes"], found["signatures"]) == ("delegate-sim/inspect/1", "file", [])
    (graph,) = found["subgraphs"]
    assert [node["op"] for node in graph["nodes"]] == ["ADD", "MEAN"]
    assert len(graph["tensors"]) == len(model.subgraphs[0].tensors)
