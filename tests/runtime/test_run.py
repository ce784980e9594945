"""Runs as plain data and for a reader."""

from __future__ import annotations

import json

from delegate_sim import load
from delegate_sim.delegates.options import parse_options
from delegate_sim.graph.graph import file_graphs
from delegate_sim.runtime.run import attributed_decision, option_values
from tests.support.delegates.grouping.delegate import GroupingDelegate
from tests.support.models import chain_model


def test_options_are_fit_for_json():
    class Profile:
        def __str__(self):
            return "driver.toml"

    options = {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ("y", "z"), "g": Profile()}
    found = option_values(options)
    assert found == {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ["y", "z"], "g": "driver.toml"}
    assert json.loads(json.dumps(found)) == found


def decided(ops, **options):
    delegate = GroupingDelegate()
    (graph,) = file_graphs(load(chain_model(ops).bytes()))
    decision = delegate.decide(graph, parse_options(delegate.name, delegate.options, options, "api"))
    return graph, decision


def test_verdicts_are_about_the_nodes_of_the_file():
    graph, decision = decided(["RELU", "HARD_SWISH", "CEIL"])
    assert len(decision.verdicts) == 4
    shown = attributed_decision(graph, decision)
    assert {node: verdict.is_supported for node, verdict in shown.verdicts.items()} == {0: True, 1: True, 2: False}
    assert shown.graph is decision.graph


def test_where_no_node_was_inlined_the_decision_stays():
    graph, decision = decided(["RELU", "CEIL"])
    assert attributed_decision(graph, decision) is decision
