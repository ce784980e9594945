"""What is found out about one node holds for those that are like it, and no report depends on that."""

from __future__ import annotations

import hypothesis
import pytest

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.graph.alike import AlikeAnswers
from delegate_sim.graph.graph import file_graphs
from tests.alike import CORPORA, FIXTURES, models, sample
from tests.models import chain_model

SAMPLE = 12


def answered(find, ops):
    """Ask about each node of a chain; return the answers, and of how many nodes it was asked."""
    asked = []

    def counted(node):
        asked.append(node)
        return find(node)

    (graph,) = file_graphs(delegate_sim.load(chain_model(ops).bytes()))
    answers = AlikeAnswers(graph, counted)
    return [answers.answer(node) for node in graph.nodes], len(asked)


def test_one_node_of_a_class_is_asked_about():
    answers, count = answered(lambda node: node.op, ["RELU", "TANH"] * 10)
    assert answers == ["RELU", "TANH"] * 10
    assert count == 2


def test_an_answer_that_looks_further_holds_for_no_node():
    answers, count = answered(lambda node: node.input(0).name, ["RELU"] * 10)
    assert answers == [None] * 10
    assert count == 1


def test_an_answer_that_is_false_holds_too():
    assert answered(lambda node: False, ["RELU"] * 10) == ([False] * 10, 1)


def test_nothing_is_asked_where_few_nodes_are_alike():
    assert answered(lambda node: node.op, ["RELU", "TANH", "RELU"]) == ([None] * 3, 0)


def entries(contents):
    found = []
    for content in contents:
        model = delegate_sim.load(content)
        found.append([delegate_sim.analyze(model, name).to_dict() for name in DELEGATE_NAMES])
    return found


def assert_same_by_themselves(contents):
    """Compare reports in which answers are shared wherever they can be with those in which each node is asked about."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(AlikeAnswers, "_is_worthwhile", True)
        shared = entries(contents)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(AlikeAnswers, "answer", lambda *_: None)
        assert entries(contents) == shared


def test_reports_on_fixtures_are_the_same_when_each_node_is_asked_about():
    assert_same_by_themselves([path.read_bytes() for path in FIXTURES])


@pytest.mark.parametrize("corpus", CORPORA)
def test_reports_on_corpora_are_the_same_when_each_node_is_asked_about(corpus):
    found = sample(corpus, SAMPLE)
    if found is None:
        pytest.skip("needs the models of ../shared")
    assert_same_by_themselves(found)


@hypothesis.given(models())
@hypothesis.settings(max_examples=30, deadline=None)
def test_reports_on_random_models_are_the_same_when_each_node_is_asked_about(model):
    assert_same_by_themselves([model])
