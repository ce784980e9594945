"""What is said of a partition without building it is what building it comes to."""

from __future__ import annotations

import hypothesis
import pytest

import delegate_sim
from delegate_sim.delegates.nnapi import acceptance
from delegate_sim.delegates.nnapi.acceptance import Acceptance
from delegate_sim.delegates.nnapi.partitions import Partitions
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.graph.partition import partition
from delegate_sim.options import parse_options
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import NEWEST
from tests.alike import CORPORA, FIXTURES, models, sample
from tests.models import chain_model

SAMPLE = 25
OPTIONS = (
    {},
    {"nnapi_runtime": "none"},
    {"nnapi_runtime": "10"},
    {"nnapi_runtime": "11", "feature_level": 29},
    {"feature_level": 28, "disallow_nnapi_cpu": False},
    {"allow_dynamic_dimensions": True},
)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Have it tried however few nodes are alike."""
    monkeypatch.setattr(Acceptance, "_is_worthwhile", True)


def compared(content, given):
    """Compare partitions of a model with what building them comes to; return how many were not built, and how many there are."""
    delegate = find_delegate("nnapi")
    options = parse_options("nnapi", delegate.options, given)
    known = total = 0
    for graph in prepare(delegate_sim.load(content)):
        decision = delegate.decide(graph, options, NEWEST)
        partitions = Partitions(decision.graph, options, NEWEST)
        for subset in decision.candidates:
            total += 1
            found = partitions._acceptance.accepted(subset)
            if found is not None:
                known += 1
                built = partitions.build(subset)
                assert (built.failure, built.calls, built.error_lines, built.required) == (None, (), (), found.required)
    return known, total


@pytest.mark.parametrize("given", OPTIONS, ids=str)
def test_fixtures_are_accepted_as_they_are_built(given):
    counts = [compared(path.read_bytes(), given) for path in FIXTURES]
    assert sum(known for known, _ in counts) > 0


@pytest.mark.parametrize("corpus", CORPORA)
def test_corpora_are_accepted_as_they_are_built(corpus):
    found = sample(corpus, SAMPLE)
    if found is None:
        pytest.skip("needs the models of ../shared")
    counts = [compared(content, given) for content in found for given in OPTIONS[:3]]
    assert 2 * sum(known for known, _ in counts) > sum(total for _, total in counts)


@hypothesis.given(models())
@hypothesis.settings(max_examples=60, deadline=None)
def test_random_models_are_accepted_as_they_are_built(model):
    for given in OPTIONS:
        compared(model, given)


def mapped_nodes(step, monkeypatch):
    """Ask about twenty nodes that are alike; return how often one was mapped by itself."""
    (graph,) = prepare(delegate_sim.load(chain_model(["RELU"] * 20).bytes()))
    (subset,) = partition(graph, graph.execution_plan)
    count, original = 0, acceptance.add_node

    def add_node(builder, view):
        nonlocal count
        count += 1
        step(view)
        original(builder, view)

    monkeypatch.setattr(acceptance, "add_node", add_node)
    options = parse_options("nnapi", find_delegate("nnapi").options, {})
    assert Partitions(graph, options, NEWEST)._acceptance.accepted(subset) is not None
    return count


def test_alike_nodes_are_mapped_once(monkeypatch):
    # The first node finds its input without an operand, the others that which the node before them left.
    assert mapped_nodes(lambda view: view.input(0).shape, monkeypatch) == 2


@pytest.mark.parametrize(
    "step",
    [
        lambda view: view.input(0).name,
        lambda view: view.graph.readers,
        lambda view: view.node.options,
        lambda view: view.graph.tensors[0],
    ],
)
def test_nodes_whose_mapping_looks_further_are_mapped_each(step, monkeypatch):
    assert mapped_nodes(step, monkeypatch) == 20 + 2
