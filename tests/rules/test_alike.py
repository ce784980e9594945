"""Nodes that are alike get one verdict, and no verdict depends on it."""

from __future__ import annotations

from typing import NamedTuple

import hypothesis
import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.graph.graph import file_graphs
from delegate_sim.model.model import OPTIONAL_TENSOR
from delegate_sim.releases.catalogue import NEWEST, Release
from delegate_sim.rules import kinds
from delegate_sim.rules.alike import Judge
from delegate_sim.rules.book import RuleBook, Unknown
from delegate_sim.rules.rule import OpRule
from delegate_sim.rules.source import Repository, Source
from delegate_sim.rules.vocabulary import check
from fixtures.builder import ModelBuilder
from tests.alike import CORPORA, FIXTURES, models, sample

SAMPLE = 12


class Target(NamedTuple):
    release: Release = NEWEST


class Counted:
    """A finder that counts how often it is asked."""

    def __init__(self, finder):
        self.finder = finder
        self.count = 0

    def __call__(self, node):
        self.count += 1
        return self.finder(node)


def judged(finder):
    """Judge three ADD nodes that are alike but for names, indices and large constants; return verdicts and questions."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number in range(3):
        source = graph.input(f"source{number}", "FLOAT32", (1, 40))
        constant = graph.tensor(f"constant{number}", "FLOAT32", (1, 40), data=[float(number)] * 40)
        axis = graph.tensor(f"axis{number}", "INT32", (1,), data=(3,))
        result = graph.tensor(f"result{number}", "FLOAT32", (1, 40))
        graph.node("ADD", (source, constant, axis), (result,), options={})
    graph.outputs(result)
    return judged_in(builder, finder)


def judged_in(builder, finder):
    """Judge the ADD nodes of a model; return their verdicts, those of each by itself, and how often the rule was asked."""
    (graph,) = file_graphs(delegate_sim.load(builder.bytes()))
    counted = Counted(finder)
    judge, rules = Judge(graph, rules_of(counted), Target()), rules_of(finder)
    found = [judge.verdict(node) for node in graph.nodes]
    assert Judge(graph, rules, Target()).verdicts(range(len(found))) == dict(enumerate(found))
    return found, [rules.validate(graph.view(node), Target()) for node in graph.nodes], counted.count


def rules_of(finder):
    return RuleBook(
        "x",
        families=({"ADD": OpRule((check(kinds.RANK, "no", finder),))},),
        kinds=(kinds.OPERATOR, kinds.RANK),
        source=Source(Repository("example/x", "0" * 40), "x.cc", "IsSupported"),
        unknown=Unknown("an operator that x has", problem="has no mapper"),
    )


ALIKE = {
    "type": lambda node: node.input(0).type,
    "shape": lambda node: f"{node.outputs[0].shape} {node.graph.tensors[node.node.inputs[0]].rank}",
    "count": lambda node: f"{len(node.node.inputs)} {node.node.input(7)} {node.graph.tensor(node.node.input(7)).type}",
    "options": lambda node: node.options.fused_activation_function or "none",
    "small constant": lambda node: str(node.value(node.input(2))),
    "size of a constant": lambda node: str(node.input(1).data[1]),
    "constant": lambda node: str([tensor.is_constant for tensor in node.inputs]),
    "no value": lambda node: str(node.value(node.input(0))),
}

FURTHER = {
    "name": lambda node: node.input(0).name,
    "index": lambda node: str(node.input(0).index),
    "operand": lambda node: str(node.node.input(0)),
    "operands": lambda node: f"{node.node.inputs}",
    "order of operands": lambda node: str(sorted(node.node.inputs)),
    "node": lambda node: str(node.node.index),
    "large constant": lambda node: str(node.value(node.input(1))[0]),
    "place": lambda node: str(node.input(1).data[0]),
    "all of the place": lambda node: str(node.input(1).data),
    "buffer": lambda node: str(node.input(1).buffer),
    "neighbours": lambda node: str(node.graph.readers[node.node.inputs[0]]),
    "other tensors": lambda node: str(len(node.graph.tensors)),
    "any tensor": lambda node: str([tensor.type for tensor in node.graph.tensors]),
    "last tensor": lambda node: node.graph.tensors[-1].type,
    "options' place": lambda node: str(node.node.options),
    "model": lambda node: str(node.graph.model.size),
}


@pytest.mark.parametrize("finder", ALIKE.values(), ids=ALIKE)
def test_a_rule_that_looks_at_what_alike_nodes_share_is_asked_once(finder):
    found, expected, count = judged(finder)
    assert found == expected
    assert count == 1


@pytest.mark.parametrize("finder", FURTHER.values(), ids=FURTHER)
def test_a_rule_that_looks_further_is_asked_about_each_node(finder):
    found, expected, count = judged(finder)
    assert found == expected
    assert count == 1 + 3


OPERANDS = [(0, 1, 2), (0, 0, 1), (0, 1, 1), (0, 1, 0), (0, 0, 0), (0, 1, -1), (0, -1, 1), (-1, -1, 0), (0, 1), (2, 1, 0)]


@pytest.mark.parametrize(
    "finder",
    [
        lambda node: str([one == other for one in node.node.inputs for other in node.node.inputs]),
        lambda node: str([index == OPTIONAL_TENSOR for index in node.node.inputs]),
        lambda node: str([tensor.type for tensor in node.inputs]),
    ],
    ids=["which are the same", "which are left out", "types"],
)
def test_which_operands_are_the_same_or_left_out_counts(finder):
    """All tensors are alike, so nothing else tells these nodes apart."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.tensor(f"t{number}", "FLOAT32", (1, 4)) for number in range(3 + len(OPERANDS))]
    for operands, result in zip(OPERANDS, tensors[3:], strict=True):
        graph.node("ADD", operands, (result,), options={})
    found, expected, count = judged_in(builder, finder)
    assert found == expected
    assert count == len(OPERANDS) - 1  # the last is like the first


def quantized_nodes(scales, zero_points):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    for number, (scale, zero_point) in enumerate(zip(scales, zero_points, strict=True)):
        source = graph.tensor(f"source{number}", "INT8", (2, 4), scale=scale, zero_point=zero_point)
        graph.node("ADD", (source,), (graph.tensor(f"result{number}", "INT8", (2, 4)),), options={})
    return builder


SCALES = {
    "scales": lambda node: str([float(scale) for scale in node.input(0).quantization.scales]),
    "zero points": lambda node: str([int(point) for point in node.input(0).quantization.zero_points]),
}


@pytest.mark.parametrize("finder", SCALES.values(), ids=SCALES)
def test_one_scale_is_part_of_what_nodes_share(finder):
    found, expected, count = judged_in(quantized_nodes([0.5, 0.5, 0.25, 0.5], [1, 1, 1, 2]), finder)
    assert found == expected
    assert count == 3


@pytest.mark.parametrize("finder", SCALES.values(), ids=SCALES)
def test_scales_of_channels_are_looked_at_in_each_node(finder):
    found, expected, count = judged_in(quantized_nodes([[0.5, 0.5], [0.5, 0.25]], [[0, 0], [0, 1]]), finder)
    assert found == expected
    assert count == 1 + 2


def test_how_many_scales_there_are_is_part_of_what_nodes_share():
    builder = quantized_nodes([[0.5, 0.5], [0.5, 0.25], 0.5], [[0, 0], [0, 1], 0])
    found, expected, count = judged_in(builder, lambda node: str(len(node.input(0).quantization.scales)))
    assert found == expected
    assert count == 2


def without_memory(monkeypatch):
    """Have every node judged by itself."""

    def verdict(self, node):
        return self._rules.validate(self._graph.view(node), self._target)

    monkeypatch.setattr(Judge, "verdict", verdict)
    monkeypatch.setattr(Judge, "verdicts", lambda self, nodes: {each: verdict(self, self._graph.nodes[each]) for each in nodes})


def entries(models, names=DELEGATE_NAMES):
    found = []
    for content in models:
        model = delegate_sim.load(content)
        found.append([delegate_sim.analyze(model, name).to_dict() for name in names])
    return found


def test_reports_on_fixtures_are_the_same_when_each_node_is_judged(monkeypatch):
    found = [path.read_bytes() for path in FIXTURES]
    before = entries(found)
    without_memory(monkeypatch)
    assert entries(found) == before


@pytest.mark.parametrize("corpus", CORPORA)
def test_reports_on_corpora_are_the_same_when_each_node_is_judged(corpus, monkeypatch):
    found = sample(corpus, SAMPLE)
    if found is None:
        pytest.skip("needs the models of ../shared")
    before = entries(found)
    without_memory(monkeypatch)
    assert entries(found) == before


@hypothesis.given(models())
@hypothesis.settings(max_examples=30, deadline=None)
def test_reports_on_random_models_are_the_same_when_each_node_is_judged(model):
    before = entries([model])
    with pytest.MonkeyPatch.context() as monkeypatch:
        without_memory(monkeypatch)
        assert entries([model]) == before
