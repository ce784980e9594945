"""The pass that unfolds BATCH_MATMUL, on models that no runtime can prepare."""

from __future__ import annotations

from delegate_sim import load
from delegate_sim.fixing.search import search
from fixtures.builder import ModelBuilder
from tests.support.fixing.targets import target


def test_more_dimensions_than_an_array_can_have_are_no_error():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    batch = [1] * 98
    first, second = (graph.input(name, "FLOAT32", [*batch, *sizes]) for name, sizes in (("x", (2, 3)), ("y", (3, 2))))
    result = graph.tensor("z", "FLOAT32", [*batch, 2, 2])
    graph.node("BATCH_MATMUL", (first, second), (result,), 1, {})
    graph.outputs(result)
    assert not search(load(builder.bytes()), [target("gpu")]).is_changed
