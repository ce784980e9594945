"""A model with heavy weights, which should not be fetched."""

from __future__ import annotations

from fixtures.builder import ZEROS, ModelBuilder

MIB = 1 << 20


def heavy_model(*, units=512, behind=False):
    """A chain of four FULLY_CONNECTED nodes with ``units`` x 1,024 weights each, in the flatbuffer or behind it."""
    builder = ModelBuilder(external_buffers=behind)
    graph = builder.subgraph("main")
    at = graph.input("input", "FLOAT32", (1, 1024))
    for number, (rows, columns) in enumerate([(units, 1024), (1024, units)] * 2):
        weights = graph.tensor(f"weights{number}", "FLOAT32", (rows, columns), ZEROS)
        output = graph.tensor(f"output{number}", "FLOAT32", (1, rows))
        graph.node("FULLY_CONNECTED", [at, weights, -1], [output], options={})
        at = output
    graph.outputs(at)
    return builder
