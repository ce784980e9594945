"""Lines that the runtime prints again, where a subgraph that calls others is prepared after a delegate was applied to them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.model.model import Allocation
from delegate_sim.model.reader import load
from delegate_sim.prepare.preparation import prepare
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime import reapplication
from fixtures.builder import ModelBuilder


def branch(builder, name, op, **options):
    graph = builder.subgraph(name)
    source, result = graph.input("x", "FLOAT32", (1,)), graph.tensor("y", "FLOAT32", (1,))
    graph.node(op, (source,), (result,), **options)
    graph.outputs(result)


def caller(builder, name, then, other, ops=()):
    """A subgraph with an IF, and behind it a chain of nodes."""
    graph = builder.subgraph(name)
    condition, tensor = graph.tensor("c", "BOOL", (1,), data=[True]), graph.input("x", "FLOAT32", (1,))
    result = graph.tensor("y", "FLOAT32", (1,))
    options = {"then_subgraph_index": then, "else_subgraph_index": other}
    graph.node("IF", (condition, tensor), (result,), options=options)
    for number, op in enumerate(ops):
        tensor, result = result, graph.tensor(f"z{number}", "FLOAT32", (1,))
        graph.node(op, (tensor,), (result,))
    graph.outputs(result)


def nested(outer=3):
    """The main subgraph calls the one numbered ``outer``, which calls 1 and 2."""
    builder = ModelBuilder()
    caller(builder, "main", outer, outer)
    if outer == 1:
        caller(builder, "outer", 2, 3, ["ABS"])
    branch(builder, "then", "RELU")
    branch(builder, "else", "TANH")
    if outer == 3:
        caller(builder, "outer", 1, 2, ["ABS"])
    return builder


def lines(builder, delegate="nnapi", options=None, **arguments):
    run = delegate_sim.analyze(builder.bytes(), delegate, options, **{"defaults": "api", **arguments}).to_dict()["runs"][0]
    assert run["outcome"] == "delegated"
    own = [line for line in run["log_lines"] if line.startswith(("Redoing", "Replacing"))]
    return [line if line.startswith("Redoing") else line.partition("for subgraph ")[2] for line in own]


AGAIN = ["Redoing 1 delegates.", "1 (then).", "Redoing 1 delegates.", "2 (else)."]


@pytest.mark.parametrize("delegate", ["nnapi", "gpu"])
def test_subgraphs_that_a_later_one_calls_are_delegated_again_before_and_after_it(delegate):
    assert lines(nested(), delegate) == ["1 (then).", "2 (else).", *AGAIN, "3 (outer).", *AGAIN]


def test_nodes_before_the_one_that_calls_are_passed_over():
    builder = ModelBuilder()
    caller(builder, "main", 3, 3)
    branch(builder, "then", "RELU")
    branch(builder, "else", "TANH")
    graph = builder.subgraph("outer")
    condition, source = graph.tensor("c", "BOOL", (1,), data=[True]), graph.input("x", "FLOAT32", (1,))
    between, result = graph.tensor("b", "FLOAT32", (1,)), graph.tensor("y", "FLOAT32", (1,))
    graph.node("ABS", (source,), (between,))
    graph.node("IF", (condition, between), (result,), options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    graph.outputs(result)
    assert lines(builder) == ["1 (then).", "2 (else).", *AGAIN, "3 (outer).", *AGAIN]


def test_subgraphs_behind_their_caller_are_not():
    assert lines(nested(outer=1)) == ["1 (outer).", "2 (then).", "3 (else)."]


def test_a_delegate_that_takes_dynamic_tensors_leaves_the_plan_open():
    assert lines(nested(), "nnapi", {"allow_dynamic_dimensions": True}) == ["1 (then).", "2 (else).", "3 (outer)."]


def test_a_node_that_the_delegate_took_prepares_nothing():
    _, then, other, outer = prepare(load(nested().bytes()))
    again = reapplication.Reapplications(NEWEST)
    again.note(then, ["then was replaced"], frozenset({0}))
    again.note(other, ["else was replaced"], frozenset({0}))
    assert list(again.lines(outer)) == [
        line for name in ("then", "else") for line in ("Redoing 1 delegates.", f"{name} was replaced")
    ]
    assert list(again.lines(outer, {0})) == []


def test_older_releases_are_not_known_to_announce_it():
    found = delegate_sim.analyze(nested().bytes(), "nnapi", runtime="tf-2.15", defaults="api").to_dict()["runs"][0]["log_lines"]
    assert len(found) == 7
    assert all(line.startswith("Replacing 1 out of") for line in found)


def test_the_condition_of_a_loop_keeps_its_inputs():
    builder = ModelBuilder()
    caller(builder, "main", 3, 3)
    graph = builder.subgraph("condition")
    operands = graph.input("x", "FLOAT32", (1,)), graph.tensor("limit", "FLOAT32", (1,), data=[1.0])
    result = graph.tensor("y", "BOOL", (1,))
    graph.node("LESS", operands, (result,))
    graph.outputs(result)
    branch(builder, "body", "RELU")
    graph = builder.subgraph("outer")
    source, result = graph.input("x", "FLOAT32", (1,)), graph.tensor("y", "FLOAT32", (1,))
    graph.node("WHILE", (source,), (result,), options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    graph.outputs(result)
    again = ["Redoing 1 delegates.", "2 (body)."]
    assert lines(builder) == ["1 (condition).", "2 (body).", *again, *again]


def test_each_level_doubles_the_lines_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(reapplication, "_MOST_REPEATED", 5)
    builder = ModelBuilder()
    caller(builder, "main", 4, 4)
    branch(builder, "leaf", "RELU")
    for level in (1, 2, 3):
        caller(builder, f"level {level}", level, level)
    run = delegate_sim.analyze(builder.bytes(), "nnapi", defaults="api").to_dict()["runs"][0]
    assert run["log_lines"].count("Redoing 1 delegates.") == 6
    assert any("log lines" in warning for warning in run["warnings"])


def test_many_lines_of_a_subgraph_count_as_several_applications():
    main, called, *_ = prepare(load(nested(1).bytes()))
    tensors = [one._replace(allocation=Allocation.CUSTOM) for one in called.tensors]
    again = reapplication.Reapplications(NEWEST)
    again.note(replace(called, tensors=tuple(tensors)), ["a line"] * 20_000, frozenset(range(len(called.nodes))))
    assert list(again.lines(main)).count("a line") == 20_000
    assert again.is_cut_short is True
    assert list(again.lines(main)) == []


@pytest.mark.parametrize("has_own_data", [False, True])
def test_a_subgraph_whose_callers_hand_it_nothing_is_not_delegated_again(has_own_data):
    main, called, *_ = prepare(load(nested(1).bytes()))
    tensors = [one._replace(allocation=Allocation.ARENA if has_own_data else Allocation.CUSTOM) for one in called.tensors]
    again = reapplication.Reapplications(NEWEST)
    again.note(replace(called, tensors=tuple(tensors)), ["a line"], frozenset(range(len(called.nodes))))
    assert ("a line" in list(again.lines(main))) == (not has_own_data)
    assert again.is_cut_short is False
