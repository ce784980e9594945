"""Small models for tests of the whole way, from a file to what a user reads."""

from __future__ import annotations

from collections.abc import Sequence

from fixtures.builder import ModelBuilder

MIXED = ("ADD", "ROUND", "ADD 4", "ADD")
"""Three partitions on NNAPI, which takes neither ROUND nor version 4 of ADD."""


def chain_model(ops: Sequence[str]) -> ModelBuilder:
    """Return a model of nodes one after another, each ``ADD`` or an operator of one operand; a version may stand behind it."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensor = graph.input("x", "FLOAT32", [1, 4])
    weights = graph.tensor("w", "FLOAT32", [1, 4], data=[1, 2, 3, 4])
    for number, text in enumerate(ops):
        op, _, version = text.partition(" ")
        result = graph.tensor(f"t{number}", "FLOAT32", [1, 4])
        operands, options = ([tensor, weights], {}) if op == "ADD" else ([tensor], None)
        graph.node(op, operands, [result], int(version or 1), options)
        tensor = result
    graph.outputs(tensor)
    return builder
