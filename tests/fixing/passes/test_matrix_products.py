"""The pass that unfolds BATCH_MATMUL, on models that no runtime can prepare, and the limits on what passes add."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.fixing import pass_workspace
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes.catalogue import PASSES
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


def products(count, matrices):
    """Return a model with products of so many matrices."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [matrices, 2, 2])
    for _ in range(count):
        result = graph.tensor("", "FLOAT32", [matrices, 2, 2])
        graph.node("BATCH_MATMUL", (source, source), (result,), 1, {})
        source = result
    graph.outputs(source)
    return load(builder.bytes())


def test_a_pass_adds_no_more_than_a_limit(monkeypatch):
    model = products(3, 8)
    assert search(model, [target("gpu")]).is_changed
    monkeypatch.setattr(pass_workspace, "_MOST_ADDED", 200)
    assert not search(model, [target("gpu")]).is_changed
    assert search(products(1, 8), [target("gpu")]).is_changed


def test_the_passes_for_a_model_share_the_limit(monkeypatch):
    model = products(1, 8)
    once = apply_pass(start(model), PASSES["matrix-product-unfolded"])
    added = len(once.model.subgraphs[0].tensors) - len(model.subgraphs[0].tensors)
    monkeypatch.setattr(pass_workspace, "_MOST_ADDED", added)
    with pytest.raises(pass_workspace.TooLargeError):
        pass_workspace.Growth(model, once.model).spend(tensors=1)
    pass_workspace.Growth(model, model).spend(tensors=1)


def test_computed_constants_have_a_limit(monkeypatch):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, indices = graph.input("x", "FLOAT32", [5000, 2, 2]), graph.input("i", "INT32", [5000, 1])
    result = graph.tensor("y", "FLOAT32", [5000, 1, 2])
    graph.node("GATHER", (source, indices), (result,), 1, {"axis": 1, "batch_dims": 1})
    graph.outputs(result)
    model, gather = start(load(builder.bytes())), PASSES["gather-without-batches"]
    assert apply_pass(model, gather) is not None
    monkeypatch.setattr(pass_workspace, "_MOST_ELEMENTS", 4999)
    assert apply_pass(model, gather) is None
