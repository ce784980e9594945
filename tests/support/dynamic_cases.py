"""Models with a dynamic tensor in the middle, behind which a kernel cannot be prepared."""

from __future__ import annotations

from fixtures.builder import ModelBuilder


def behind_dynamic(*, moves):
    """A CPU node, XNNPACK's MAXIMUM, a RESHAPE by a computed shape, and a FLOOR_DIV of INT64, which no CPU kernel prepares.

    Partitioning puts FLOOR_DIV beside the first node, and so in front of the RESHAPE, if that waits for MAXIMUM.
    """
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, whole = graph.input("x", "FLOAT32", [1, 4]), graph.input("n", "INT64", [1])
    shape, middle = graph.input("shape", "INT32", [2]), graph.tensor("m", "FLOAT32", [1, 4])
    result, quotient = graph.tensor("y", "FLOAT32", [1, 4]), graph.tensor("q", "INT64", [1])
    if moves:
        gathered = graph.tensor("gathered", "FLOAT32", [1, 4])
        graph.node("GATHER", [source, graph.tensor("row", "INT32", [1], [0])], [gathered])
        source = gathered
        graph.node("MAXIMUM", [source, source], [middle])
        graph.node("RESHAPE", [middle, shape], [result])
    else:
        graph.node("RESHAPE", [source, shape], [result])
        graph.node("MAXIMUM", [source, source], [middle])
    graph.node("FLOOR_DIV", [whole, whole], [quotient])
    graph.outputs(result, quotient, middle)
    return builder.bytes()


def kernel_behind_dynamic():
    """A RESHAPE by a computed shape, and a SLICE that XNNPACK accepts and cannot make."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shape = graph.input("x", "INT8", [1, 4], scale=0.5, zero_point=0), graph.input("shape", "INT32", [2])
    middle = graph.tensor("m", "INT8", [1, 4], scale=0.5, zero_point=0)
    result = graph.tensor("y", "INT8", [1, 4], scale=0.5, zero_point=3)
    graph.node("RESHAPE", [source, shape], [middle])
    begin, size = (graph.tensor(name, "INT32", [2], value) for name, value in (("begin", [0, 0]), ("size", [1, 4])))
    graph.node("SLICE", [middle, begin, size], [result])
    graph.outputs(result)
    return builder.bytes()
