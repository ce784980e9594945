"""Scatters that replace no single slice stay as they are."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes.catalogue import PASSES
from fixtures.builder import ModelBuilder


def scatter(positions=None, *, count=1, returned="new", op=None, kind="FLOAT32", most=16, **changed):
    """Return a model that writes ``count`` rows of a cache, as ``index_copy`` does in exports of litert-torch."""
    builder = ModelBuilder()
    main = builder.subgraph()
    cache, updates = main.input("cache", "FLOAT32", [1, most, 2, 8]), main.input("updates", kind, [1, count, 2, 8])
    if positions is None:
        indices = main.input("indices", "INT32", [count, 1])
    else:
        indices = main.tensor("indices", "INT32", [count, 1], data=[[position] for position in positions])
    region = builder.subgraph("region")
    values = {name: region.input(name, "FLOAT32", []) for name in ("old", "new")}
    if op:
        values[returned] = region.tensor("result", "FLOAT32", [])
        region.node(op, [0, 1], [values[returned]])
    region.outputs(values[returned])
    result = main.tensor("result", "FLOAT32", [1, most, 2, 8])
    options = {
        "update_window_dims": [0, 2, 3],
        "inserted_window_dims": [1],
        "scatter_dims_to_operand_dims": [1],
        "index_vector_dim": 1,
        "update_computation_subgraph_index": region.index,
    }
    main.node("STABLEHLO_SCATTER", [cache, indices, updates], [result], options=options | changed)
    main.outputs(result)
    return load(builder.bytes())


def rewritten(model, name):
    made = apply_pass(start(model), PASSES[name])
    return None if made is None else [node.op for node in made.model.subgraphs[0].nodes]


@pytest.mark.parametrize(
    ("given", "update", "concatenation"),
    [
        ({}, ["RESHAPE", "CONCATENATION", "DYNAMIC_UPDATE_SLICE"], None),
        ({"positions": [3]}, ["DYNAMIC_UPDATE_SLICE"], ["SLICE", "SLICE", "CONCATENATION"]),
        ({"positions": [0, 1, 2], "count": 3}, ["DYNAMIC_UPDATE_SLICE"], ["SLICE", "CONCATENATION"]),
        ({"positions": [13, 14, 15], "count": 3}, ["DYNAMIC_UPDATE_SLICE"], ["SLICE", "CONCATENATION"]),
    ],
    ids=str,
)
def test_one_slice_is_rewritten(given, update, concatenation):
    model = scatter(**given)
    assert rewritten(model, "scatter-as-update-slice") == update
    assert rewritten(model, "scatter-as-concatenation") == concatenation


@pytest.mark.parametrize(
    "given",
    [
        {"count": 2},
        {"positions": [3, 5], "count": 2},
        {"positions": [4, 3], "count": 2},
        {"positions": [3, 3], "count": 2},
        {"positions": [15, 16], "count": 2},
        {"positions": [-1]},
        {"op": "STABLEHLO_ADD"},
        {"returned": "old"},
        {"kind": "INT32"},
        {"update_window_dims": [0, 2]},
        {"update_window_dims": [0, 3, 2]},
        {"inserted_window_dims": [4]},
        {"scatter_dims_to_operand_dims": [7]},
        {"scatter_dims_to_operand_dims": [1, 1]},
        {"index_vector_dim": 0, "count": 2},
        {"index_vector_dim": 5},
        {"update_computation_subgraph_index": 9},
        {"most": 1, "positions": [0, 1], "count": 2},
    ],
    ids=str,
)
def test_anything_else_stays(given):
    model = scatter(**given)
    assert rewritten(model, "scatter-as-update-slice") is None
    assert rewritten(model, "scatter-as-concatenation") is None
