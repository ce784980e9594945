"""SPACE_TO_BATCH_ND, a convolution and BATCH_TO_SPACE_ND become one dilated convolution; all else stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.search import search, try_shapes
from fixtures.builder import ModelBuilder
from fixtures.layers import Layers
from tests.support.fixing.targets import target

SAME, VALID = 0, 1
DEPTH = 4


def dilated(
    paddings=((2, 4), (2, 4)),
    crops=((0, 2), (0, 2)),
    block=2,
    size=(8, 8),
    stride=1,
    padding=VALID,
    weights="FLOAT32",
    open_batch=False,
    reads_between=False,
    scale=None,
):
    """Return a model with a convolution of 3 x 3 between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    spread = [(own + sum(pair)) // block for own, pair in zip(size, paddings, strict=True)]
    inner = [-(-own // stride) if padding == SAME else (own - 3) // stride + 1 for own in spread]
    joined = [own * block - sum(pair) for own, pair in zip(inner, crops, strict=True)]
    signature = [-1, *size, DEPTH] if open_batch else None
    image = graph.input("x", "FLOAT32", [1, *size, DEPTH], signature=signature)
    before, between, after = (
        graph.tensor(name, "FLOAT32", [batch, *sizes, DEPTH], scale=own, signature=[-1, *sizes, DEPTH] if open_batch else None)
        for name, batch, sizes, own in (
            ("spread", block * block, spread, scale),
            ("convolved", block * block, inner, None),
            ("joined", 1, joined, None),
        )
    )
    blocks = graph.tensor("blocks", "INT32", [2], data=[block, block])
    first, last = (graph.tensor("sizes", "INT32", [2, 2], data=np.array(values)) for values in (paddings, crops))
    filters = graph.tensor(
        "w", weights, [DEPTH, 3, 3, DEPTH], data=np.ones((DEPTH, 3, 3, DEPTH)), scale=[1.0] if weights == "INT8" else None
    )
    bias = graph.tensor("b", "FLOAT32", [DEPTH], data=np.zeros(DEPTH))
    options = {"padding": padding, "stride_h": stride, "stride_w": stride, "dilation_h_factor": 1, "dilation_w_factor": 1}
    graph.node("SPACE_TO_BATCH_ND", [image, blocks, first], [before], 1, {})
    graph.node("CONV_2D", [before, filters, bias], [between], 1, options)
    graph.node("BATCH_TO_SPACE_ND", [between, blocks, last], [after], 1, {})
    graph.outputs(*([between] if reads_between else []), after)
    return load(builder.bytes())


def rewritten(model):
    made = apply_pass(start(model), PASSES["dilated-convolution"])
    return None if made is None else made.model


@pytest.mark.parametrize(
    ("given", "ops", "padding"),
    [
        ({}, ["CONV_2D"], SAME),
        ({"open_batch": True}, ["CONV_2D"], SAME),
        ({"paddings": ((0, 0), (0, 0)), "crops": ((0, 0), (0, 0))}, ["CONV_2D"], VALID),
        ({"paddings": ((1, 3), (2, 4))}, ["PAD", "CONV_2D"], VALID),
        ({"paddings": ((0, 0), (0, 0)), "crops": ((0, 0), (0, 0)), "padding": SAME}, ["CONV_2D"], SAME),
        ({"paddings": ((3, 4), (3, 4)), "crops": ((0, 1), (0, 1)), "block": 3, "size": (8, 8)}, ["CONV_2D"], SAME),
    ],
    ids=["SAME", "open batch", "VALID", "other padding", "SAME inside", "three by three"],
)
def test_three_nodes_become_a_dilated_convolution(given, ops, padding):
    model = rewritten(dilated(**given))
    nodes = model.subgraphs[0].nodes
    assert [node.op for node in nodes] == ops
    options = model.options(nodes[-1])
    block = given.get("block", 2)
    assert (options.padding, options.dilation_h_factor, options.dilation_w_factor) == (padding, block, block)


def rows(added, *, op="EXPAND_DIMS", is_open=False):
    """Return a model with a convolution of rows of 3 taps, in which EXPAND_DIMS adds the dimension ``added``."""
    builder = ModelBuilder()
    layers = Layers(builder.subgraph())
    x = layers.input("FLOAT32", 1, 8, DEPTH, signature=(-1, 8, DEPTH) if is_open else None)
    block, paddings, crops = (layers.constant("INT32", values) for values in ([2], [[2, 2]], [[0, 0]]))
    spread = layers.node("SPACE_TO_BATCH_ND", (x, block, paddings), "FLOAT32", (2, 6, DEPTH))
    image, result = ([2, *([1, size] if added == 1 else [size, 1]), DEPTH] for size in (6, 4))
    expanded = layers.node(op, (spread, layers.constant("INT32", [added])), "FLOAT32", image)
    weights = layers.weights("FLOAT32", DEPTH, *([1, 3] if added == 1 else [3, 1]), DEPTH)
    options = {"padding": VALID, "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    layer = layers.node("CONV_2D", (expanded, weights, layers.weights("FLOAT32", DEPTH)), "FLOAT32", result, options=options)
    squeezed = layers.node("SQUEEZE", (layer,), "FLOAT32", (2, 4, DEPTH), options={"squeeze_dims": [added]})
    layers.node("BATCH_TO_SPACE_ND", (squeezed, block, crops), "FLOAT32", (1, 8, DEPTH))
    layers.finish()
    return load(builder.bytes())


@pytest.mark.parametrize(("added", "dilations"), [(1, (1, 2)), (2, (2, 1))], ids=["before the rows", "after the rows"])
def test_a_convolution_of_rows_gets_one_dimension_more(added, dilations):
    model = rewritten(rows(added))
    nodes = model.subgraphs[0].nodes
    assert [node.op for node in nodes] == ["RESHAPE", "CONV_2D", "RESHAPE"]
    options = model.options(nodes[1])
    assert (options.padding, options.dilation_h_factor, options.dilation_w_factor) == (SAME, *dilations)


def test_rows_of_an_open_batch_and_other_nodes_between_stay():
    assert rewritten(rows(1, is_open=True)) is None
    assert rewritten(rows(1, op="REVERSE_V2")) is None


@pytest.mark.parametrize(
    "given",
    [
        {"crops": ((2, 0), (2, 0)), "paddings": ((1, 5), (1, 5))},
        {"stride": 2},
        {"weights": "INT8"},
        {"reads_between": True},
        {"paddings": ((1, 3), (2, 4)), "open_batch": True},
    ],
    ids=["cut at the begin", "stride", "weights quantized", "read in between", "open with PAD"],
)
def test_other_nodes_stay(given):
    assert rewritten(dilated(**given)) is None


def test_an_open_batch_and_the_pass_together():
    """The classic GPU delegate takes nothing of an open batch, and none of the nodes around the convolution."""
    plan = try_shapes(search(dilated(open_batch=True), [target("gpu")]))
    best = plan.with_shapes or plan
    assert ([step.name for step in best.steps], bool(best.after[0].on_cpu)) == (["dilated-convolution"], False)
