"""Control dependencies in a model's metadata."""

from __future__ import annotations

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.model.control_dependencies import METADATA_NAME, control_dependencies
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def model_with_control_dependencies(content):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "FLOAT32", (1,)))
    builder.metadata(METADATA_NAME, content)
    return load(builder.bytes())


def test_control_dependencies_are_read_from_the_metadata():
    content = varint(1) + varint(1) + varint(2) + varint(0) + varint(2 * 1) + varint(2 * 300) + varint(2 * 2 - 1)
    assert control_dependencies(model_with_control_dependencies(content)) == (((0, 1), (300, -2)),)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        varint(2) + varint(1) + varint(0),
        varint(1) + varint(2) + varint(0) + varint(0),
        varint(1) + varint(1) + varint(1),
        b"\x80",
    ],
    ids=["empty", "other version", "other number of subgraphs", "truncated", "unfinished number"],
)
def test_control_dependencies_that_do_not_fit_are_ignored(content):
    assert control_dependencies(model_with_control_dependencies(content)) is None


def test_too_many_edges(monkeypatch):
    content = varint(1) + varint(1) + varint(2) + bytes(4)
    assert control_dependencies(model_with_control_dependencies(content)) == (((0, 0), (0, 0)),)
    monkeypatch.setattr("delegate_sim.model.control_dependencies._MOST_EDGES", 1)
    with pytest.raises(LimitError, match="2 control dependencies are too many for 0 nodes"):
        control_dependencies(model_with_control_dependencies(content))
    unfinished = varint(1) + varint(1) + varint(100)
    assert control_dependencies(model_with_control_dependencies(unfinished)) is None
