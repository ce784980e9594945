"""Control dependencies in a model's metadata."""

from __future__ import annotations

import pytest

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
