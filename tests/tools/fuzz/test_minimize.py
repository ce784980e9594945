"""Mutants made small, by tools/fuzz/minimize.py."""

from __future__ import annotations

import contextlib

from delegate_sim.errors import ModelError
from delegate_sim.model.reader import load
from fixtures.builder import ModelBuilder
from tools.fuzz.minimize import minimized


def model():
    builder = ModelBuilder()
    graph = builder.subgraph()
    tensors = [graph.input("in", "FLOAT32", (1, 4))] + [graph.tensor(f"t{number}", "FLOAT32", (1, 4)) for number in range(9)]
    for number in range(9):
        graph.node("RELU6" if number == 5 else "ABS", tensors[number : number + 1], tensors[number + 1 : number + 2])
    graph.outputs(tensors[-1])
    return builder.bytes()


def ops(content):
    with contextlib.suppress(ModelError):
        return [node.op for node in load(content).subgraphs[0].nodes]
    return []


def test_nodes_that_do_not_matter_are_removed():
    content = model()
    assert ops(minimized(content, content, lambda smaller: "RELU6" in ops(smaller), 60)) == ["RELU6"]


def test_changes_that_do_not_matter_are_undone():
    content = b"\xff" * 100
    changed = bytearray(content)
    for place in (9, 40, 90):
        changed[place] ^= 1
    smaller = minimized(bytes(changed) + b"more", content, lambda smaller: smaller[40] == changed[40], 60)
    assert [place for place in range(len(content)) if smaller[place] != content[place]] == [40]
    assert len(smaller) == len(content)
