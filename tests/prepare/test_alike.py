"""Nodes that are alike are prepared once, and no prepared graph depends on it."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest

import delegate_sim
from delegate_sim import load
from delegate_sim.graph.classes import derived
from delegate_sim.model.model import Allocation
from delegate_sim.model.numbers import kind_of, shape_of
from delegate_sim.prepare import preparation as preparing
from delegate_sim.prepare.preparation import PrepareError, prepare
from delegate_sim.runtime.suppositions import NodeKey, Supposition, changed
from fixtures.builder import ModelBuilder
from tests.alike import CORPORA, FIXTURES, models, sample

SAMPLE = 40


def prepared(contents, **arguments):
    """Prepare models; return what is seen of the graphs, with values as plain data."""
    found = []
    for content in contents:
        for graph in prepare(delegate_sim.load(content), **arguments):
            tensors = [(tensor._replace(value=None, quantization=None), _plain(tensor.value)) for tensor in graph.tensors]
            quantization = [repr(tensor.quantization) for tensor in graph.tensors]
            found.append((graph.inputs, graph.nodes, tensors, quantization, graph.dynamic, graph.failure))
    return found


def _plain(value):
    return None if value is None else (kind_of(value), shape_of(value), value.tobytes())


def one_by_one(monkeypatch):
    """Have every node prepared by itself."""
    monkeypatch.setattr(preparing, "effect_of", lambda node, run: None)


@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_fixtures_are_prepared_alike(fixed_shapes, monkeypatch):
    found = [path.read_bytes() for path in FIXTURES]
    before = prepared(found, fixed_shapes=fixed_shapes)
    one_by_one(monkeypatch)
    assert prepared(found, fixed_shapes=fixed_shapes) == before


@pytest.mark.parametrize("corpus", CORPORA)
def test_corpora_are_prepared_alike(corpus, monkeypatch):
    found = sample(corpus, SAMPLE)
    if found is None:
        pytest.skip("needs the models of ../shared")
    before = prepared(found)
    one_by_one(monkeypatch)
    assert prepared(found) == before


@hypothesis.given(models())
@hypothesis.settings(max_examples=150, deadline=None)
def test_random_models_are_prepared_alike(model):
    before = prepared([model]), prepared([model], fixed_shapes=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        one_by_one(monkeypatch)
        assert (prepared([model]), prepared([model], fixed_shapes=True)) == before


def runs_of(kernel, monkeypatch):
    """Prepare three nodes that are alike but for names, indices and large constants; return the graph and how often each ran."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number in range(3):
        source = graph.input(f"source{number}", "FLOAT32", (1, 40))
        constant = graph.tensor(f"constant{number}", "FLOAT32", (1, 40), data=[float(number)] * 40)
        axis = graph.tensor(f"axis{number}", "INT32", (1,), data=(3,))
        result = graph.tensor(f"result{number}", "FLOAT32", (1, 40))
        graph.node("ADD", (source, constant, axis), (result,), options={})
    graph.outputs(result)
    count = 0

    def run(node):
        nonlocal count
        count += 1
        kernel(node)

    monkeypatch.setattr(preparing, "_run_kernel", run)
    (found,) = prepare(delegate_sim.load(builder.bytes()))
    return found, count


def _resize(node, size):
    node.resize(node.output(), (1, size))


def _set_dynamic(node):
    node.set_dynamic(node.output(), node.input(0))


def _leave_source(node):
    node.output().source = node.output().source._replace(scale=2.0)


ALIKE = {
    "nothing": lambda node: None,
    "shape": lambda node: _resize(node, node.input(1).element_count + node.input(2).rank),
    "small constant": lambda node: _resize(node, node.input(2).integers()[0]),
    "type": lambda node: setattr(node.output(), "type", node.input(2).type),
    "persistent": lambda node: node.set_persistent(node.output(), (2,), np.array([4, 5])),
    "no value": lambda node: _resize(node, node.input(0).known_value() is None),
    "options": lambda node: _resize(node, node.options.fused_activation_function),
    "release": lambda node: _resize(node, node.release.order[0] if isinstance(node.release.order, tuple) else 1),
}


@pytest.mark.parametrize("kernel", ALIKE.values(), ids=ALIKE)
def test_a_kernel_that_looks_at_what_alike_nodes_share_runs_once(kernel, monkeypatch):
    found, count = runs_of(kernel, monkeypatch)
    one_by_one(monkeypatch)
    expected, singly = runs_of(kernel, monkeypatch)
    assert (count, singly) == (1, 3)
    results = [(tensor.type, tensor.shape, tensor.allocation, _plain(tensor.value)) for tensor in found.tensors]
    assert results == [(tensor.type, tensor.shape, tensor.allocation, _plain(tensor.value)) for tensor in expected.tensors]


FURTHER = {
    "large constant": lambda node: _resize(node, int(node.input(1).value()[0])),
    "name": lambda node: _resize(node, len(node.input(0).source.name)),
    "tensor's place": lambda node: _resize(node, node.input(1).source.data[0]),
    "node's index": lambda node: _resize(node, node.node.index),
    "options' place": lambda node: _resize(node, len(str(node.node.options))),
    "model": lambda node: _resize(node, node.model.size),
    "other tensors": lambda node: _resize(node, node.tensors[0].rank),
    "interpreter": lambda node: _resize(node, node.interpreter.subgraph_count()),
    "changed source": _leave_source,
    "left-out result": lambda node: node.leave_out_result(0),
}


@pytest.mark.parametrize("kernel", FURTHER.values(), ids=FURTHER)
def test_a_kernel_that_looks_or_reaches_further_runs_for_each_node(kernel, monkeypatch):
    _, count = runs_of(kernel, monkeypatch)
    assert count == 1 + 3


def test_the_first_dynamic_result_and_its_cause_are_those_of_the_node(monkeypatch):
    def kernel(node):
        if node.input(0).shape == (1, 40) and node.output().allocation is not Allocation.DYNAMIC:
            _set_dynamic(node)

    found, _ = runs_of(kernel, monkeypatch)
    one_by_one(monkeypatch)
    assert found.dynamic == runs_of(kernel, monkeypatch)[0].dynamic


def test_a_kernel_that_refuses_says_so_of_the_node(monkeypatch):
    def kernel(node):
        raise PrepareError(f"tensor {node.input(0).index} is not good")

    found, _ = runs_of(kernel, monkeypatch)
    assert found.failure.message == "tensor 0 is not good"


def hybrid_convolutions(*places):
    """Return a model of hybrid TRANSPOSE_CONV nodes, which give their weights a scale for each slice."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("source", "FLOAT32", (1, 2, 2, 4))
    weights = [graph.tensor(f"weights{place}", "INT8", (4, 3, 3, 4), data=[place] * 144, scale=0.5) for place in range(2)]
    for number, place in enumerate(places):
        shape = graph.tensor(f"shape{number}", "INT32", (4,), data=(1, 2, 2, 4))
        result = graph.tensor(f"result{number}", "FLOAT32", (1, 2, 2, 4))
        graph.node("TRANSPOSE_CONV", (shape, weights[place], source), (result,), options={"stride_w": 1, "stride_h": 1})
    graph.outputs(result)
    return delegate_sim.load(builder.bytes()), weights


@pytest.mark.parametrize("delegated", [(), (0,)], ids=["none", "the first"])
def test_what_a_kernel_did_to_an_operand_counts_for_later_nodes(delegated):
    """The second node finds the scales that the first has left, also where that is prepared in a delegate's place."""
    model, weights = hybrid_convolutions(0, 0, 1)
    (graph,) = preparing.prepare_around(model, {0: delegated})
    assert [len(graph.tensors[index].quantization.scales) for index in weights] == [4, 4]


def test_what_was_not_computed_for_want_of_elements_is_computed_where_fewer_are_wanted():
    size = 1 << 15
    builder = ModelBuilder()
    main = builder.subgraph()
    source, outputs = main.input("x", "FLOAT32", (2, 3)), []
    for number in range(8):  # which have all elements computed that may be
        part = main.tensor(f"part{number}", "INT32", (8,), data=[number + 1] * 8)
        times = main.tensor(f"times{number}", "INT32", (1,), data=[size // 8])
        outputs.append(main.tensor(f"tiled{number}", "INT32", (size,)))
        main.node("TILE", [part, times], [outputs[-1]])
    six, one = (main.tensor(name, "INT32", (1,), data=[value]) for name, value in (("six", 6), ("one", 1)))
    shape, flat = main.tensor("shape", "INT32", (1,)), main.tensor("flat", "FLOAT32", (6,))
    main.node("TILE", [six, one], [shape])
    main.node("RESHAPE", [source, shape], [flat])
    main.outputs(*outputs, flat)
    model = load(builder.bytes())
    fewer = changed(model, Supposition(removed_nodes=frozenset([NodeKey(0, 0)]))).model
    (without,) = prepare(fewer)
    (whole,) = prepare(model)
    assert (without.failure, without.dynamic) == (None, None)
    assert (whole.failure, whole.dynamic) != (None, None)
    again = changed(model, Supposition(removed_nodes=frozenset([NodeKey(0, 1)]))).model
    (without,) = prepare(again)
    assert (without.failure, without.dynamic) == (None, None)
    (whole,) = prepare(derived(model, description="the same"))
    assert (whole.failure, whole.dynamic) != (None, None)
