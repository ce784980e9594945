"""Models with composites in the bodies of composites."""

from __future__ import annotations

from fixtures.builder import ModelBuilder

EMPTY_MAP = bytes.fromhex("00002401")


def nested_composites(depth: int, calls: int, operator: str = "ATAN2") -> bytes:
    """Return a model in which each body calls the next body several times; the last body has one node."""
    builder = ModelBuilder()
    for level in range(depth + 1):
        graph = builder.subgraph(f"level_{level}")
        result = graph.input("x", "FLOAT32", [1, 4])
        for call in range(calls if level < depth else 1):
            source, result = result, graph.tensor(f"y{call}", "FLOAT32", [1, 4])
            if level < depth:
                options = {"name": "c", "composite_attributes": EMPTY_MAP, "decomposition_subgraph_index": level + 1}
                graph.node("STABLEHLO_COMPOSITE", [source], [result], options=options)
            else:
                graph.node(operator, [source] * (2 if operator == "ATAN2" else 1), [result])
        graph.outputs(result)
    return builder.bytes()
