"""The larger a model, the fewer times it is simulated for one question, and by one command."""

from __future__ import annotations

import pytest

from delegate_sim import diagnose, load
from delegate_sim.delegates.nnapi.device_profile import DevicesProfile
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis import examiner
from delegate_sim.diagnosis.causes import finder
from delegate_sim.diagnosis.goal_search import search
from delegate_sim.errors import LimitError
from delegate_sim.fixing import score
from delegate_sim.graph import effort
from delegate_sim.graph.effort import COMPARISON, DIAGNOSIS, SIMULATION, Effort, Tries, size_of_body
from fixtures.builder import ModelBuilder
from tests.support.composites import nested_composites
from tests.support.device.phone import device
from tests.support.models import many_operators


@pytest.fixture
def simulated(monkeypatch):
    """Return the list to which each simulation that diagnoses make is added."""
    made = []

    def noted(run):
        def counted(*arguments, **named):
            made.append(arguments[0])
            return run(*arguments, **named)

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
    assert Effort(load(alike.bytes())).simulations(1, 10_000) > 5 * Effort(different).simulations(1, 10_000)


def test_the_bounds_are_kept(monkeypatch):
    model = many_operators(3)
    assert Effort(model).simulations(1, 7) == 7
    monkeypatch.setattr(effort, "_MOST_NODES_OF_A_QUESTION", 0)
    assert Effort(model).simulations(5, 7) == 5


def test_a_slow_delegate_takes_a_smaller_model(monkeypatch):
    model = many_operators(10)
    weight = Effort(model)._cost
    forms = 2 * 11
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", (2 * (weight - forms) + forms) * COMPARISON.simulations)
    Effort(model).require(COMPARISON, 2)
    with pytest.raises(LimitError):
        Effort(model).require(COMPARISON, 3)
    monkeypatch.setattr(effort, "_MOST_NODES", 3 * weight)
    whole = Effort(model)
    whole.begin_target(simulations=3)
    with pytest.raises(LimitError):
        whole.begin_target()


def test_devices_make_a_delegate_slower():
    delegate = find_delegate("nnapi")
    profile = DevicesProfile(tuple([device(f"d{number}", 0.5) for number in range(16)]))
    efforts = [delegate.effort_with({"devices": devices}) for devices in (None, profile)]
    assert efforts == [delegate.effort, 2 * delegate.effort]


def test_so_many_tries_are_granted():
    tries = Tries(2, Effort(many_operators(1)))
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
    diagnose(model, "nnapi", defaults="api")
    many = len(simulated)
    simulated.clear()
    monkeypatch.setattr(finder, "_TRIED_AT_MOST", 1)
    monkeypatch.setattr(finder, "_TRIED_AT_LEAST", 1)
    found = diagnose(model, "nnapi", defaults="api")
    assert len(simulated) < many
    assert sum(len(finding.cause.nodes) for finding in found.findings) >= 10


@pytest.mark.parametrize("delegate", ["nnapi", "hexagon", "gpu"])
def test_a_diagnosis_of_a_large_model_simulates_hardly_more_often_than_one_of_a_small_one(simulated, monkeypatch, delegate):
    monkeypatch.setattr(effort, "_MOST_NODES_OF_A_QUESTION", 0)
    counts = []
    for count in (20, 80):
        simulated.clear()
        found = diagnose(many_operators(count), delegate, defaults="api")
        assert len(found.findings) >= count
        assert len(found.to_dict()["causes"]) == len(found.findings)
        search(found, 1)
        counts.append(len(simulated))
    assert counts[1] < 1.5 * counts[0]


def test_fewer_causes_are_simulated_and_all_are_listed(monkeypatch):
    model = many_operators(20)
    whole = diagnose(model, "nnapi", defaults="api")
    monkeypatch.setattr(effort, "_MOST_NODES_OF_A_QUESTION", 0)
    part = diagnose(model, "nnapi", defaults="api")
    assert {finding.cause.identity for finding in part.findings} == {finding.cause.identity for finding in whole.findings}
    assert 0 < sum(finding.alone is not None for finding in part.findings) < sum(f.alone is not None for f in whole.findings)
    assert part.without_all == whole.without_all
    assert part.now == whole.now


def test_what_was_forgotten_is_simulated_anew(monkeypatch):
    monkeypatch.setattr(examiner, "_KEPT_AT_MOST", 1)
    model = many_operators(4)
    found = diagnose(model, "nnapi", defaults="api")
    monkeypatch.undo()
    assert found.to_dict() == diagnose(model, "nnapi", defaults="api").to_dict()


@pytest.fixture
def little(monkeypatch):
    """A model of 20 nodes in 11 forms, with a limit of four simulations."""
    model = many_operators(10)
    monkeypatch.setattr(effort, "_MOST_NODES", 180)
    return model


def test_left_simulations(little):
    left = Effort(little)
    assert (left.is_over, left.left) == (False, 4)
    left.spend(left.left)
    assert (left.is_over, left.left, left.simulations(2, 7), list(left.limit("ab"))) == (True, 0, 0, [])
    with pytest.raises(LimitError, match=r"limited to .* nodes; DELEGATE_SIM_LIMITS=10 raises every limit tenfold"):
        left.check()


def test_optional_simulations_leave_nodes_for_the_remaining_targets(monkeypatch):
    model = many_operators(10)
    cost = 16 + 20 + 2 * 11
    monkeypatch.setattr(effort, "_MOST_NODES", 40 * cost)
    limit = Effort(model)
    optional = []
    for remaining in (3, 2, 1, 0):
        limit.begin_target(remaining)
        optional.append(limit.left)
        limit.spend(limit.left)
    assert optional == [24, 4, 4, 4]
    with pytest.raises(LimitError, match="limited to"):
        limit.begin_target()


def test_half_of_the_limit_is_for_the_first_target_if_there_are_many(monkeypatch):
    model = many_operators(10)
    monkeypatch.setattr(effort, "_MOST_NODES", 20 * 58)
    limit = Effort(model)
    limit.begin_target(100)
    assert limit.left == 9


def test_the_limit_is_raised(little, monkeypatch):
    spent = Effort(little)
    spent.spend(spent.left)
    monkeypatch.setenv("DELEGATE_SIM_LIMITS", "10")
    assert not spent.is_over


def test_a_model_that_is_too_large_for_a_question(monkeypatch):
    model = many_operators(10)
    weight = find_delegate("nnapi").effort * (16 + 20) + 2 * 11
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", weight * DIAGNOSIS.simulations - 1)
    Effort(model).require(COMPARISON)
    with pytest.raises(LimitError, match=r"not simulated: 20 nodes \(11 of them different\) are too many for a diagnosis; "):
        diagnose(model, "nnapi", defaults="api")
    monkeypatch.setenv("DELEGATE_SIM_LIMITS", "2")
    assert diagnose(model, "nnapi", defaults="api").findings


def test_a_node_of_many_operands_takes_linear_time():
    """Positions are looked up rather than searched; 40,000 operands would otherwise take minutes."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    sources = [graph.input(f"x{number}", "FLOAT32", (1, 4)) for number in range(40_000)]
    result = graph.tensor("y", "FLOAT32", (1, 4))
    graph.node("ADD_N", [*sources, sources[0]], [result])
    graph.outputs(result)
    assert Effort(load(builder.bytes())).left == 50


def test_the_bodies_of_composites_count_for_each_composite():
    def weight(composites):
        builder = ModelBuilder()
        graph, body = builder.subgraph("main"), None
        x = graph.input("x", "FLOAT32", [1])
        for _ in range(composites):
            result = graph.tensor("r", "FLOAT32", [1])
            graph.node("STABLEHLO_COMPOSITE", [x], [result], 1, {"name": "any", "decomposition_subgraph_index": 1})
        body = builder.subgraph("body")
        inner = body.input("a", "FLOAT32", [1])
        for _ in range(100):
            result = body.tensor("b", "FLOAT32", [1])
            body.node("ABS", [inner], [result])
        body.outputs(result)
        return Effort(load(builder.bytes()))._cost

    assert weight(50) - weight(40) == 10 * 101


def test_bodies_in_bodies_count():
    sizes = Effort(load(nested_composites(2, 3)))._sizes
    in_the_model, in_the_first_body = 3 * (3 + 3 * 1), 3 * 1
    assert sizes[f"{in_the_model + in_the_first_body} nodes, operands and tensors in the bodies of all composites"] == 21


@pytest.mark.parametrize(
    ("nodes", "operands", "tensors", "expected"), [(2, 1, 0, 2), (2, 7, 0, 2), (2, 107, 0, 202), (2, 1, 13, 2), (2, 1, 113, 102)]
)
def test_operands_and_tensors_of_a_body_count(nodes, operands, tensors, expected):
    builder = ModelBuilder()
    graph = builder.subgraph()
    x = graph.input("x", "FLOAT32", [1])
    for _ in range(nodes):
        result = graph.tensor("r", "FLOAT32", [1])
        graph.node("ADD_N", [x] * operands, [result])
    for _ in range(tensors):
        graph.tensor("unused", "FLOAT32", [1])
    graph.outputs(result)
    assert size_of_body(load(builder.bytes()).subgraphs[0]) == expected


@pytest.mark.parametrize(
    ("nodes", "operands", "subgraphs", "inside", "words"),
    [
        (1, 800, 1, 0, "801 operands of nodes are"),
        (50, 1, 1, 0, r"50 nodes \(1 of them different\) are"),
        (1, 1, 20, 0, "20 subgraphs are"),
        (3, 1, 1, 70, "210 nodes, operands and tensors in the bodies of all composites are"),
    ],
)
def test_the_refusal_names_what_is_too_many(monkeypatch, nodes, operands, subgraphs, inside, words):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 100)
    builder = ModelBuilder()
    for _ in range(subgraphs):
        graph = builder.subgraph()
        x, y = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
        for _ in range(nodes):
            if inside:
                graph.node("STABLEHLO_COMPOSITE", [x], [y], 1, {"name": "any", "decomposition_subgraph_index": 1})
            else:
                graph.node("ADD_N", [x] * operands, [y])
        graph.outputs(y)
    if inside:
        body = builder.subgraph("body")
        for _ in range(inside):
            result = body.tensor("b", "FLOAT32", [1])
            body.node("ABS", [body.input("a", "FLOAT32", [1])], [result])
        body.outputs(result)
    with pytest.raises(LimitError, match=f"not simulated: {words} too many for a simulation; DELEGATE_SIM_LIMITS=10"):
        Effort(load(builder.bytes())).require(SIMULATION)


def test_a_tensor_that_is_listed_many_times_as_an_output_costs_each_time(monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", 100)
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, y = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
    graph.node("RELU", [x], [y])
    graph.outputs(*[y] * 80)
    with pytest.raises(LimitError, match="not simulated: 81 inputs and outputs of subgraphs are too many for a simulation"):
        Effort(load(builder.bytes())).require(SIMULATION)


@pytest.mark.parametrize(("operands", "is_refused"), [(7, False), (406, False), (407, True)])
def test_four_further_operands_cost_as_much_as_a_node(monkeypatch, operands, is_refused):
    nodes_forms_and_subgraphs = 1 + 2 + 16
    monkeypatch.setattr(effort, "_MOST_NODES_REQUIRED", SIMULATION.simulations * (nodes_forms_and_subgraphs + 99))
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, y = graph.input("x", "FLOAT32", [1]), graph.tensor("y", "FLOAT32", [1])
    graph.node("ADD_N", [x] * operands, [y])
    graph.outputs(y)
    refusal = Effort(load(builder.bytes())).refusal(SIMULATION)
    assert bool(refusal) is is_refused


def test_tensors_that_no_node_uses_cost_simulations():
    builder = ModelBuilder()
    graph = builder.subgraph()
    for number in range(8 + 40):
        graph.tensor(f"t{number}", "FLOAT32", (1,))
    graph.node("RELU", [0], [1])
    assert Effort(load(builder.bytes()))._size == 1 + 16 + 40 // 4


def test_a_changed_model_with_many_more_nodes_costs_more(monkeypatch):
    monkeypatch.setattr(effort, "_LARGE_MODEL", 10)
    model = many_operators(10)

    def cost(changed):
        own = Effort(model)
        own.spend(2, changed)
        return own._spent

    assert cost(many_operators(20)) == cost(model) == cost(None)
    assert cost(many_operators(60)) > cost(None) + 2 * 25
