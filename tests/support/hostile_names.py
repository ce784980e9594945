"""A model whose names try everything that a page could fall for."""

from __future__ import annotations

from fixtures.builder import ModelBuilder

NAMES = (
    "<script>window.hit=1</script>",
    "</script><script>window.hit=2</script>",
    "<!--<script>window.hit=3//",
    "\"'><img src=x onerror=window.hit=4>",
    "`${window.hit=5}`",
    "\u202ereversed\u202c \u2066isolated\u2069 \u200f",
    "\u2028window.hit=6;\u2029\x00\x07\x1b[31mred\x1b[0m",
    "x" * 10_000,
    "{{script}} {{content}}",
    "__proto__",
)


def hostile_model() -> ModelBuilder:
    """Return a chain of nodes, custom operators among them, that are all named so."""
    builder = ModelBuilder(description=NAMES[0])
    graph = builder.subgraph(NAMES[1])
    tensor = graph.input(NAMES[2], "FLOAT32", [1, 4])
    for number, name in enumerate(NAMES):
        result = graph.tensor(name, "FLOAT32", [1, 4])
        if number % 2:
            graph.node(name, [tensor], [result], custom=name)
        else:
            graph.node("RELU", [tensor], [result])
        tensor = result
    graph.outputs(tensor)
    return builder
