"""Models and logs for tests of the Python interface."""

from __future__ import annotations

from fixtures.builder import ModelBuilder

HOSTILE = "<script>alert('x')</script>&\x1b[31m\n\u202e"
"""A name that must not come out as it is."""


def hostile_model():
    """A model of one custom operator and one other, whose names are all hostile."""
    builder = ModelBuilder()
    graph = builder.subgraph(HOSTILE)
    first = graph.input(f"in{HOSTILE}", "FLOAT32", [1, 4])
    middle = graph.tensor(f"middle{HOSTILE}", "FLOAT32", [1, 4])
    last = graph.tensor(f"out{HOSTILE}", "FLOAT32", [1, 4])
    graph.node("ROUND", [first], [middle])
    graph.node("ROUND", [middle], [last])
    graph.outputs(last)
    return builder
