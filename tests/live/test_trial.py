"""The model that engines are tried with."""

from __future__ import annotations

import base64

import delegate_sim
from delegate_sim.live import trial


def test_the_model_that_is_tried_has_one_node():
    (graph,) = delegate_sim.load(base64.b64decode(trial._MODEL)).subgraphs
    assert [node.op for node in graph.nodes] == ["TANH"]
