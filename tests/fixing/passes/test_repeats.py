"""Repeats of rows and columns become a resize; all else stays as it is."""

from __future__ import annotations

import math

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.fix_passes import PassFinder
from delegate_sim.fixing.applying import apply_pass, start
from delegate_sim.fixing.passes import repeats
from delegate_sim.fixing.passes.catalogue import PASSES
from delegate_sim.fixing.passes.repeats import _is_sampled_exactly
from delegate_sim.graph.effort import Effort
from delegate_sim.hypothetical.model_editing import NodeKey
from delegate_sim.runtime.interpreter import simulate
from fixtures.builder import ModelBuilder
from tests.support.fixing.targets import target

KERAS = [(1, 4, 1, 4, 8), (1, 4, 2, 4, 8), (1, 8, 4, 1, 8), (1, 8, 4, 2, 8), (1, 8, 8, 8)]
"""The shapes of the results of RESHAPE, TILE, RESHAPE, TILE and RESHAPE, as Keras 3 and TensorFlow's converter write them."""


def repeated(shapes=KERAS, image=(1, 4, 4, 8), kind="INT8", scales=(), broadcast=False, multiples=None, outputs=()):
    """Return a model in which nodes with the given shapes of results follow an image: RESHAPE if the element count stays."""
    builder = ModelBuilder()
    graph = builder.subgraph()
    quantization = {"scale": 0.5, "zero_point": 3} if kind in ("INT8", "UINT8") else {}
    image = tuple(image)
    before = graph.tensor("before", kind, image, **quantization)
    graph.node("ABS", [graph.input("x", kind, image, **quantization)], [before], 1)
    source, source_shape, made = before, image, []
    for number, shape in enumerate(shapes):
        own = dict(quantization, scale=scales[number]) if scales else quantization
        result = graph.tensor(f"result_{number}", kind, shape, **own)
        if math.prod(shape) == math.prod(source_shape):
            sizes = graph.tensor(f"shape_{number}", "INT32", [len(shape)], data=shape)
            graph.node("RESHAPE", [source, sizes], [result], 1, {"new_shape": shape})
        else:
            times = [size // old for size, old in zip(shape, source_shape, strict=True)]
            numbers = graph.tensor(f"numbers_{number}", "INT32", [len(shape)], data=shape if broadcast else multiples or times)
            graph.node("BROADCAST_TO" if broadcast else "TILE", [source, numbers], [result], 3, {} if broadcast else None)
        source, source_shape = result, shape
        made.append(result)
    last = graph.tensor("last", kind, source_shape, **quantization)
    graph.node("ABS", [source], [last], 1)
    graph.outputs(*[made[place] for place in outputs], last)
    return load(builder.bytes())


def rewritten(model, nodes=None):
    made = apply_pass(start(model), PASSES["repeats-as-resize"], nodes)
    return None if made is None else made.model.subgraphs[0]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "FLOAT32"},
        {"kind": "UINT8", "broadcast": True},
        {"shapes": [(1, 4, 1, 4, 1, 8), (1, 4, 2, 4, 2, 8), (1, 8, 8, 8)]},
        {"shapes": [(1, 4, 1, 4, 8), (1, 4, 3, 4, 8), (1, 12, 4, 8)]},
        {"shapes": [(1, 4, 4, 1, 8), (1, 4, 4, 3, 8), (1, 4, 12, 8)]},
        {"shapes": [(4, 1, 4, 8), (4, 2, 4, 8), (1, 8, 4, 8)]},
        {"image": (1, 1, 1, 8), "shapes": [(1, 4, 5, 8)]},
    ],
    ids=str,
)
def test_a_chain_becomes_one_resize(given):
    model = repeated(**given)
    graph = rewritten(model)
    assert [node.op for node in graph.nodes] == ["ABS", "RESIZE_NEAREST_NEIGHBOR", "ABS"]
    image, size = [graph.tensors[index] for index in graph.nodes[1].inputs]
    assert image.name == "before"
    assert tuple(size.value) == tuple(graph.tensors[graph.nodes[1].outputs[0]].shape[1:3])


@pytest.mark.parametrize(
    "given",
    [
        {"shapes": [(1, 4, 8, 8)]},
        {"shapes": [(1, 1, 4, 4, 8), (1, 2, 4, 4, 8), (1, 8, 4, 8)]},
        {"shapes": [(1, 1, 4, 4, 8), (1, 2, 4, 4, 8), (2, 4, 4, 8)]},
        {"shapes": [(1, 4, 4, 8, 1), (1, 4, 4, 8, 2), (1, 4, 4, 16)]},
        {"shapes": [(1, 4, 1, 4, 8), (1, 4, 2, 4, 8), (1, 4, 8, 8)]},
        {"shapes": [(1, 4, 4, 2, 4), (1, 4, 4, 4, 4), (1, 8, 4, 8)]},
        {"shapes": [(1, 4, 4, 1, 8)]},
        {"kind": "INT16"},
        {"kind": "INT32"},
        {"scales": (0.5, 0.5, 0.25, 0.25, 0.5)},
        {"multiples": [1, 1, 1, 1, 1]},
        {"image": (4, 8), "shapes": [(4, 1, 8), (4, 2, 8), (8, 8)]},
    ],
    ids=str,
)
def test_anything_else_stays(given):
    assert rewritten(repeated(**given)) is None


def test_a_tensor_that_is_also_read_elsewhere_is_still_computed():
    graph = rewritten(repeated(outputs=(1,)))
    assert [node.op for node in graph.nodes] == ["ABS", "RESHAPE", "TILE", "RESIZE_NEAREST_NEIGHBOR", "ABS"]


@pytest.mark.parametrize("chosen", [1, 2, 5])
def test_one_chosen_node_of_a_chain_is_enough(chosen):
    assert len(rewritten(repeated(), [NodeKey(0, chosen)]).nodes) == 3


@pytest.mark.parametrize("name", ["nnapi", "gpu", "mldrift"])
@pytest.mark.parametrize("cause", [(1, 3, 5), (2, 4)])
def test_advice_names_the_pass(name, cause):
    model = repeated(kind="FLOAT32")
    found = PassFinder(model, simulate(model, target(name)), Effort(model)).pass_for([NodeKey(0, place) for place in cause])
    assert found.pass_.name == "repeats-as-resize"


def test_other_chosen_nodes_change_no_chain():
    assert rewritten(repeated(), [NodeKey(0, 0)]) is None


@pytest.mark.parametrize(
    ("size", "result", "is_exact"),
    [(1, 1, True), (24, 48, True), (1365, 4095, True), (256, 4096, True), (10, 410, False), (64, 4096, False), (1, 4097, False)],
)
def test_rows_that_a_kernel_would_take_from_the_wrong_place(size, result, is_exact):
    assert _is_sampled_exactly(size, result) == is_exact


def test_each_node_is_looked_at_once(monkeypatch):
    seen = []
    known = repeats._repeats
    monkeypatch.setattr(repeats, "_repeats", lambda work, node: seen.append(node) or known(work, node))
    rewritten(repeated([(1, 4, 4, 8)] * 14))
    assert len(seen) == 14
