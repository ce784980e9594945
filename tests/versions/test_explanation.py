"""Explanations of the versions of operators, and the changes that would lower them."""

from __future__ import annotations

import pytest

from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.reader import load
from delegate_sim.versions.demands import (
    LOWEST_VERSIONS,
)
from delegate_sim.versions.explanation import Feature, NodePosition, VersionCause, shared_version, version_cause
from fixtures.builder import ModelBuilder
from tests.support.tables import for_each
from tests.support.version_cases import ASYMMETRIC, CASES, HYBRID, PER_CHANNEL, SYMMETRIC_OR_NOT, Case


@for_each(CASES)
def test_features_above_are_enough_and_none_of_them_is_needless(case):
    node = case.node
    for version in range(LOWEST_VERSIONS.get(case.op, 1), 15):
        codes = [feature.code for feature in version_cause(node, version).features]
        assert shared_version(node, codes) <= version
        for code in codes:
            assert shared_version(node, set(codes) - {code}) > version


def test_features_given_by_others_take_these_along():
    node = Case("FULLY_CONNECTED", "FLOAT32 INT8[8,4]*8 FLOAT32 -> FLOAT32", {}, ASYMMETRIC).node
    assert version_cause(node, 12).features == ()
    assert version_cause(node, 9).features == (Feature(PER_CHANNEL, 12),)
    assert version_cause(node, 5).features == (Feature(PER_CHANNEL, 12), Feature(SYMMETRIC_OR_NOT, 9))
    assert version_cause(node, 2).features == (Feature(HYBRID, 3),)


def test_no_feature_lowers_a_version_below_the_lowest():
    node = Case("BROADCAST_TO", "INT8 INT32 -> INT8", {}).node
    assert version_cause(node, 1) == VersionCause((), (), False)


def test_unknown_feature():
    node = Case("ADD", "INT8 INT8 -> INT8", {}).node
    with pytest.raises(ValueError, match="unknown feature 'int9-type'"):
        shared_version(node, ["int9-type"])


def _mixed_model():
    """A model of two float nodes and, in another subgraph, one of INT8, which share an operator; and one of another operator."""
    builder = ModelBuilder()
    for number, kinds in enumerate((("FLOAT32", "FLOAT32"), ("INT8",))):
        graph = builder.subgraph(f"graph{number}")
        last = graph.input("x", "FLOAT32", [1, 4])
        for position, kind in enumerate(kinds):
            source = graph.tensor(f"a{position}", kind, [1, 4])
            last = graph.tensor(f"b{position}", kind, [1, 4])
            graph.node("MEAN", [source], [last], 2, {})
        graph.node("RESHAPE", [last], [graph.tensor("c", "FLOAT32", [4])], 3, {})
        graph.outputs(last)
    return load(builder.bytes())


def test_version_that_another_node_demands():
    graphs = file_graphs(_mixed_model())
    node = graphs[0].view(graphs[0].nodes[0])
    assert (node.version, shared_version(node)) == (2, 2)
    assert version_cause(node, 1) == VersionCause((Feature("int8-type", 2),), (NodePosition(1, 0),), True)
    assert version_cause(node, 2) == VersionCause((), (), True)
    assert shared_version(node, ["int8-type"]) == 1


def test_version_that_the_rule_does_not_explain():
    graphs = file_graphs(_mixed_model())
    node = graphs[0].view(graphs[0].nodes[2])
    assert (node.op, node.version, shared_version(node)) == ("RESHAPE", 3, 1)
    assert version_cause(node, 2) == VersionCause((), (), False)
