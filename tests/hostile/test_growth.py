"""Work grows as the file does: counted in calls of functions, which no load of the machine changes."""

from __future__ import annotations

import sys

import pytest

from delegate_sim import analyze, load
from fixtures.builder import ModelBuilder

DELEGATES = ("nnapi", "gpu", "mldrift", "hexagon", "coreml", "vx", "xnnpack", "npu-google")
MOST = 2.2
"""The factor that a file of twice the size may cost."""


def calls(model, delegate):
    """Count the functions that Python enters while it analyses a model, those of generators each time."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        analyze(load(model), delegate, defaults="api").to_dict()
    finally:
        sys.setprofile(before)
    return count


def subgraphs(count):
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.subgraph(f"s{number}")
        result = graph.tensor("y", "FLOAT32", [1, 2, 2, 1])
        graph.node("RELU", [graph.input("x", "FLOAT32", [1, 2, 2, 1])], [result])
        graph.outputs(result)
    return builder.bytes()


def operands(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 2, 2, count])
    graph.node("CONCATENATION", [graph.input("x", "FLOAT32", [1, 2, 2, 1]) for _ in range(count)], [result], options={"axis": 3})
    graph.outputs(result)
    return builder.bytes()


def repeated(count):
    """One tensor joined with itself, again and again."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 2, 2, 1]), graph.tensor("y", "FLOAT32", [1, 2, 2, count])
    graph.node("CONCATENATION", [source] * count, [result], options={"axis": 3})
    graph.outputs(result)
    return builder.bytes()


def written_again(count):
    """Nodes that all write what the others read."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    for number in range(count):
        op = {"op": "ADD", "options": {}} if number % 2 else {"op": "CUSTOM", "custom": "Own"}
        graph.node(inputs=[result, source], outputs=[result], **op)
    graph.outputs(result)
    return builder.bytes()


def results(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    made = [graph.tensor("y", "FLOAT32", [1, 2, 2, 1]) for _ in range(count)]
    axis = graph.tensor("axis", "INT32", [], [3])
    graph.node("SPLIT", [axis, graph.input("x", "FLOAT32", [1, 2, 2, count])], made, options={"num_splits": count})
    graph.outputs(*made)
    return builder.bytes()


@pytest.mark.parametrize("delegate", DELEGATES)
@pytest.mark.parametrize("made", [subgraphs, operands, repeated, written_again, results])
def test_twice_the_file_costs_twice_the_work(made, delegate):
    calls(made(2), delegate)
    assert calls(made(400), delegate) < MOST * calls(made(200), delegate)
