"""The smallest part of a model that fails in the same way."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.errors import FixError, LimitError
from delegate_sim.reduction import reduce as module
from delegate_sim.reduction.failures import LiveTest, NumbersTest
from delegate_sim.reduction.reduce import KeptContent, _fewer, reduce_model
from delegate_sim.verification import verify
from fixtures.builder import ModelBuilder
from tests.support.fake_execution import FakeExecutor
from tests.support.models import chain_model
from tests.support.refusals import ModelTest
from tools.planted_failures import Network, is_solved
from tools.refusing_program import refusal

OPS = ("ABS", "NEG", "EXP", "SQRT", "CEIL", "FLOOR", "SIN", "COS")
CHAIN = load(chain_model([*OPS, "ADD", *OPS]).bytes())


def ops(model):
    return [node.op for graph in model.subgraphs for node in graph.nodes]


def has(*wanted):
    return lambda model: "error: no" if set(wanted) <= set(ops(model)) else ""


@pytest.mark.parametrize("wanted", [("ADD",), ("ADD", "SQRT"), ("ABS", "SIN"), ("ABS", "ADD", "COS"), OPS])
def test_only_the_nodes_that_are_needed_are_left(wanted):
    test = ModelTest(has(*wanted))
    result = reduce_model(CHAIN, test)
    assert sorted(result.operators) == sorted(wanted)
    assert ops(load(bytes(result.content))) == list(result.operators)
    assert (result.original_nodes, result.nodes, result.runs) == (17, len(wanted), len(test.models))
    assert (result.message, result.is_complete, result.empty_model_fails, result.kept) == ("error: no", True, False, ())
    assert [step.step for step in result.steps] == ["original", "nodes", "shapes", "content", "weights"]
    assert sum(step.runs for step in result.steps) == result.runs - 2


@pytest.mark.parametrize("seed", range(8))
def test_planted_failures(seed):
    network = load(Network(seed, ("operator", "option", "shape", "pair")[seed % 4]).builder.bytes())
    result = reduce_model(network, ModelTest(refusal))
    assert is_solved(network, result)
    assert result.runs < 60


def test_items_are_removed():
    for count, needed in itertools.product((1, 2, 5, 30), (1, 2, 4)):
        wanted = set(random.Random(count).sample(range(count), min(count, needed)))
        last = list(range(count))

        def fails(items, wanted=wanted):
            nonlocal last
            last = list(items) if wanted <= set(items) else last
            return wanted <= set(items)

        _fewer(last, fails)
        assert set(last) == wanted


def test_lists_of_items_are_made_when_they_are_tried():
    """For 1,000 items in 500 parts, all lists together would have 500,000 items."""
    import tracemalloc

    items, runs = list(range(1000)), 0

    def fails(_):
        nonlocal runs
        runs += 1
        if runs > 1100:
            raise LimitError("no time is left")
        return False

    tracemalloc.start()
    try:
        with pytest.raises(LimitError):
            _fewer(items, fails)
        assert tracemalloc.get_traced_memory()[1] < 1 << 19
    finally:
        tracemalloc.stop()


def test_sizes_become_small():
    builder = ModelBuilder()
    graph = builder.subgraph()
    x, y = (graph.input(name, "FLOAT32", [1, 64, 48, 3]) for name in "xy")
    both, result = graph.tensor("b", "FLOAT32", [1, 64, 48, 3]), graph.tensor("r", "FLOAT32", [1, 64, 48, 3])
    graph.node("ADD", [x, y], [both], 1, {})
    graph.node("ABS", [both], [result])
    graph.outputs(result)

    def refuses(model):
        nodes = [node for node in model.subgraphs[0].nodes if node.op == "ADD"]
        shapes = {model.subgraphs[0].tensors[index].shape for node in nodes for index in (*node.inputs, *node.outputs)}
        return "error" if len(shapes) == 1 and next(iter(shapes))[1] > 7 else ""

    (reduced,) = load(bytes(reduce_model(load(builder.bytes()), ModelTest(refuses)).content)).subgraphs
    assert [reduced.tensors[index].shape for index in reduced.inputs] == [(1, 16, 1, 1)] * 2


def test_content_that_the_failure_depends_on_is_kept():
    builder = ModelBuilder("description")
    graph = builder.subgraph()
    x, y = graph.input("x", "FLOAT32", [2]), graph.tensor("y", "FLOAT32", [2])
    weights, zeros = graph.tensor("w", "FLOAT32", [2], [3, 4]), graph.tensor("z", "FLOAT32", [2], [5, 6])
    graph.node("CUSTOM", [x, weights, zeros], [y], custom="Own", custom_options=b"abc")
    graph.outputs(y)

    def refuses(model):
        if not model.subgraphs[0].nodes:
            return ""
        (node,) = model.subgraphs[0].nodes
        tensor = model.subgraphs[0].tensors[node.inputs[1]]
        is_same = model.constant(tensor).tolist() == [3, 4] and node.custom_options and model.description
        return "error" if is_same and model.subgraphs[0].tensors[node.inputs[0]].name == "x" else ""

    result = reduce_model(load(builder.bytes()), ModelTest(refuses))
    assert result.kept == (
        KeptContent("metadata"),
        KeptContent("attributes"),
        KeptContent("names"),
        KeptContent("constant", 2, "FLOAT32", "Own", (2,)),
    )


def test_the_fault_may_be_in_a_called_subgraph():
    builder = ModelBuilder()
    main, body = builder.subgraph("main"), builder.subgraph("body")
    x, y, z = main.input("x", "FLOAT32", [2]), main.tensor("y", "FLOAT32", [2]), main.tensor("z", "FLOAT32", [2])
    main.node("ABS", [x], [y])
    main.node("STABLEHLO_COMPOSITE", [y], [z], 1, {"name": "secret", "decomposition_subgraph_index": 1})
    main.outputs(z)
    a, b, c = body.input("a", "FLOAT32", [2]), body.tensor("b", "FLOAT32", [2]), body.tensor("c", "FLOAT32", [2])
    body.node("SIN", [a], [b])
    body.node("COS", [b], [c])
    body.outputs(c)
    model = load(builder.bytes())
    assert reduce_model(model, ModelTest(has("COS"))).operators == ("COS",)
    assert reduce_model(model, ModelTest(has("COS", "STABLEHLO_COMPOSITE"))).operators == ("STABLEHLO_COMPOSITE", "SIN", "COS")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (itertools.repeat(""), "does not fail"),
        (["error: one", "error: two"], "changes from run to run: exit code 1 error: one; then exit code 1 error: two"),
        (["error: one", ""], "then no failure"),
        (itertools.chain(["error", "error"], itertools.repeat("")), "depends on other parts of the file"),
    ],
)
def test_models_that_cannot_be_reduced(answers, words):
    given = iter(answers)
    with pytest.raises(FixError, match=words):
        reduce_model(CHAIN, ModelTest(lambda _: next(given)))


def test_a_failure_of_every_model():
    assert reduce_model(CHAIN, ModelTest(lambda _: "error")).empty_model_fails


def test_no_time_is_left(monkeypatch):
    assert module._MOST_SECONDS == 1800
    moments = itertools.count()
    monkeypatch.setattr(module.time, "monotonic", lambda: 100 * next(moments))
    result = reduce_model(CHAIN, ModelTest(has("ABS", "SIN", "COS")))
    assert not result.is_complete
    assert result.runs <= 20
    assert 3 <= result.nodes < 17


def test_no_time_is_left_for_the_first_part(monkeypatch):
    moments = itertools.count()
    monkeypatch.setattr(module.time, "monotonic", lambda: 2000 * next(moments))
    with pytest.raises(LimitError, match="more than 1,800 seconds"):
        reduce_model(CHAIN, ModelTest(has("ABS")))


def test_another_message_is_another_failure():
    """Without ABS, the failure has another message."""
    result = reduce_model(CHAIN, ModelTest(lambda model: "error: a" if "ABS" in ops(model) else "error: b"))
    assert result.operators == ("ABS",)


@pytest.mark.slow
def test_a_real_delegate_that_does_not_prepare_a_node():
    pytest.importorskip("ai_edge_litert", reason="LiteRT is not installed")
    network = load(Network(3, "xnnpack").builder.bytes())
    result = reduce_model(network, LiveTest("xnnpack", {}))
    assert is_solved(network, result)
    assert (result.operators, result.software[:7]) == (("CONV_2D",), "litert-")


def test_wrong_numbers(monkeypatch):
    def start(verifier, on, python=""):
        verifier.on, verifier.software, verifier.is_accelerator, verifier.delegate = on, "litert-2.3.0", False, None
        verifier.references, verifier.real = [FakeExecutor()], FakeExecutor(["SQUARE"])
        verifier.time = verify.RunningTime()

    monkeypatch.setattr(verify.Verifier, "__init__", start)
    model = load(chain_model(["ABS", "NEG", "SQUARE", "NEG", "ADD"]).bytes())
    result = reduce_model(model, NumbersTest("cpu"))
    assert (result.operators, result.status, result.software) == (("SQUARE",), "wrong numbers", "litert-2.3.0")
    weights = np.array([1, 2, 3, 4], "<f4").tobytes()
    assert weights not in bytes(result.content)
