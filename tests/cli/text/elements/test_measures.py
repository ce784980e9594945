"""Sentences about the measures of a run."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim_cli.text.elements.measures import growth_lines, loop_lines
from fixtures.builder import ModelBuilder


def loop(body_op):
    """Return a model with a loop around one node."""
    builder = ModelBuilder()
    main, condition, body = builder.subgraph("main"), builder.subgraph("condition"), builder.subgraph("body")
    x, y = main.input("x", "FLOAT32", [2, 2]), main.tensor("y", "FLOAT32", [2, 2])
    main.node("WHILE", [x], [y], options={"cond_subgraph_index": 1, "body_subgraph_index": 2})
    main.outputs(y)
    condition.input("x", "FLOAT32", [2, 2])
    condition.outputs(condition.tensor("goes on", "BOOL", [], data=[True]))
    step, result = body.input("x", "FLOAT32", [2, 2]), body.tensor("y", "FLOAT32", [2, 2])
    body.node(body_op, [step, step], [result], options={})
    body.outputs(result)
    return delegate_sim.load(builder.bytes())


@pytest.mark.parametrize(("op", "is_told"), [("BATCH_MATMUL", True), ("ADD", False)])
def test_loops_with_multiply_adds_are_named(op, is_told):
    runs = delegate_sim.analyze(loop(op), "nnapi", defaults="benchmark").runs
    assert [line.text for line in loop_lines(runs, 100)] == [
        "The body of a loop counts once in multiply-adds, although it runs several times."
    ] * is_told


@pytest.mark.parametrize(("before", "after", "is_told"), [(67, 1709, True), (1839, 2133, False), (2, 4, False), (0, 9, False)])
def test_many_more_nodes_are_named(before, after, is_told):
    texts = [line.text for line in growth_lines(before, after, "B has {times} the nodes of A", 200)]
    assert texts == ["B has 25.5 times the nodes of A; each node costs time, which is not simulated."] * is_told
