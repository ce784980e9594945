"""Names that nodes say too often."""

from __future__ import annotations

import pytest

from delegate_sim import ModelError, load
from fixtures.builder import ModelBuilder


def chain(count, op="Own", name="x"):
    """Return the bytes of a chain of custom operators that all read one more tensor."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    shared = tensor = graph.input(name, "FLOAT32", (1, 4))
    for number in range(count):
        result = graph.tensor(f"y{number}", "FLOAT32", (1, 4))
        graph.node("CUSTOM", [tensor, shared], [result], custom=op)
        tensor = result
    graph.outputs(tensor)
    return builder.bytes()


@pytest.mark.parametrize("long", [{"op": "O" * 60_000}, {"name": "x" * 100_000}], ids=lambda long: next(iter(long)))
def test_long_names_may_be_said_some_times(monkeypatch, long):
    assert len(load(chain(30, **long)).subgraphs[0].nodes) == 30
    with pytest.raises(ModelError, match=r"has nodes that repeat names too often \(\d+,\d{3},\d{3} characters in total\)"):
        load(chain(100, **long))
    monkeypatch.setenv("DELEGATE_SIM_LIMITS", "3")
    assert len(load(chain(100, **long)).subgraphs[0].nodes) == 100


def test_a_large_file_may_say_more():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    graph.tensor("weights", "UINT8", (2_000_000,), data=bytes(2_000_000))
    for number in range(80):
        result = graph.tensor(f"y{number}", "FLOAT32", (1, 4))
        graph.node("CUSTOM", [tensor], [result], custom="O" * 60_000)
        tensor = result
    graph.outputs(tensor)
    assert len(load(builder.bytes()).subgraphs[0].nodes) == 80


def test_the_longest_name_need_not_be_said_often():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensor = graph.input("x", "FLOAT32", (1, 4))
    graph.tensor("n" * 100_000, "FLOAT32", (1, 4))
    for number in range(100):
        result = graph.tensor(f"y{number}", "FLOAT32", (1, 4))
        graph.node("RELU", [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    assert len(load(builder.bytes()).subgraphs[0].nodes) == 100
