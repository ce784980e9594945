"""The larger a model, the fewer times it is simulated for one question."""

from __future__ import annotations

import pytest

from delegate_sim import diagnose, load
from delegate_sim.diagnosis import effort, examiner
from delegate_sim.diagnosis.causes import finder
from delegate_sim.diagnosis.effort import Tries, simulations_of
from delegate_sim.diagnosis.goal_search import search
from delegate_sim.fixing import score
from fixtures.builder import ModelBuilder


def many_operators(count):
    """Return a chain of custom operators, each a cause of its own, with a RELU between two."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    for number in range(count):
        middle, result = (graph.tensor(f"{name}{number}", "FLOAT32", (1, 4)) for name in "yz")
        graph.node("CUSTOM", [tensor], [middle], custom=f"Op{number}")
        graph.node("RELU", [middle], [result])
        tensor = result
    graph.outputs(tensor)
    return load(builder.bytes())


@pytest.fixture
def simulated(monkeypatch):
    """Return the list to which each simulation that diagnoses make is added."""
    made = []

    def noted(run):
        def counted(*arguments):
            made.append(arguments[0])
            return run(*arguments)

        return counted

    monkeypatch.setattr(examiner, "simulate_changed", noted(examiner.simulate_changed))
    monkeypatch.setattr(score, "simulate", noted(score.simulate))
    return made


def test_nodes_that_are_alike_count_less():
    alike, different = ModelBuilder(), many_operators(50)
    graph = alike.subgraph()
    tensors = [graph.input("x", "FLOAT32", (1, 4)), *[graph.tensor(f"y{number}", "FLOAT32", (1, 4)) for number in range(100)]]
    for source, result in zip(tensors, tensors[1:], strict=False):
        graph.node("RELU", [source], [result])
    graph.outputs(tensors[-1])
    assert simulations_of(load(alike.bytes()), 1, 10_000) > 5 * simulations_of(different, 1, 10_000)


def test_the_bounds_are_kept(monkeypatch):
    model = many_operators(3)
    assert simulations_of(model, 1, 7) == 7
    monkeypatch.setattr(effort, "_MOST_NODES", 0)
    assert simulations_of(model, 5, 7) == 5


def test_so_many_tries_are_granted():
    tries = Tries(2)
    assert not tries.are_over
    assert [tries.take() for _ in range(4)] == [True, True, False, False]
    assert tries.are_over


def test_versions_are_tried_until_no_more_are_granted(simulated, monkeypatch):
    """A version that no release knows has many below it; all are refused."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    for version in range(90, 100):
        result = graph.tensor("y", "FLOAT32", (1, 4))
        graph.node("ADD", [tensor, tensor], [result], version=version, options={})
        tensor = result
    graph.outputs(tensor)
    model = load(builder.bytes())
    diagnose(model, "nnapi")
    many = len(simulated)
    simulated.clear()
    monkeypatch.setattr(finder, "_TRIED_AT_MOST", 1)
    monkeypatch.setattr(finder, "_TRIED_AT_LEAST", 1)
    found = diagnose(model, "nnapi")
    assert len(simulated) < many
    assert sum(len(finding.cause.nodes) for finding in found.findings) >= 10


@pytest.mark.parametrize("delegate", ["nnapi", "hexagon", "gpu"])
def test_a_diagnosis_of_a_large_model_simulates_hardly_more_often_than_one_of_a_small_one(simulated, monkeypatch, delegate):
    monkeypatch.setattr(effort, "_MOST_NODES", 0)
    counts = []
    for count in (20, 80):
        simulated.clear()
        found = diagnose(many_operators(count), delegate)
        assert len(found.findings) >= count
        assert len(found.to_dict()["causes"]) == len(found.findings)
        search(found, 1)
        counts.append(len(simulated))
    assert counts[1] < 1.5 * counts[0]


def test_fewer_causes_are_simulated_and_all_are_listed(monkeypatch):
    model = many_operators(20)
    whole = diagnose(model, "nnapi")
    monkeypatch.setattr(effort, "_MOST_NODES", 0)
    part = diagnose(model, "nnapi")
    assert {finding.cause.identity for finding in part.findings} == {finding.cause.identity for finding in whole.findings}
    assert 0 < sum(finding.alone is not None for finding in part.findings) < sum(f.alone is not None for f in whole.findings)
    assert part.without_all == whole.without_all
    assert part.now == whole.now


def test_what_was_forgotten_is_simulated_anew(monkeypatch):
    monkeypatch.setattr(examiner, "_KEPT_AT_MOST", 1)
    model = many_operators(4)
    found = diagnose(model, "nnapi")
    monkeypatch.undo()
    assert found.to_dict() == diagnose(model, "nnapi").to_dict()
