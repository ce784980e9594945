"""The numbers that stand for a node's tensors tell nothing of where these are."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.graph.graph import file_graphs
from delegate_sim.graph.watched import Findings, LooksFurther, OwnNumber
from tests.models import chain_model

NUMBERS = [OwnNumber(0), OwnNumber(3)]


@pytest.mark.parametrize("number", NUMBERS, ids=int)
def test_a_tensor_is_given_and_itself(number):
    assert (number >= 0, number < 0, number > -1, number <= -1, number == -1) == (True, False, True, False, False)
    assert [other == number for other in NUMBERS].count(True) == 1


@pytest.mark.parametrize(
    "ask",
    [
        str,
        repr,
        lambda number: f"{number}",
        lambda number: f"{[number]}",
        lambda number: f"{number:3}",
        lambda number: number > 0,
        lambda number: number <= 0,
        lambda number: number < 7,
        lambda number: number >= 1,
        lambda number: number < OwnNumber(5),
        lambda number: sorted([number, OwnNumber(5)]),
        lambda number: max(number, OwnNumber(5)),
    ],
)
@pytest.mark.parametrize("number", NUMBERS, ids=int)
def test_its_index_and_order_are_not_told(number, ask):
    with pytest.raises(LooksFurther):
        ask(number)


@pytest.mark.parametrize(
    ("find", "asked"),
    [(lambda view: view.input(0).shape, 2), (lambda view: view.input(0).name, 12), (lambda view: view.graph.readers, 12)],
    ids=["its shape", "its name", "its neighbours"],
)
def test_what_rests_on_the_class_is_found_out_once(find, asked):
    """Ten nodes of two classes: whatever looks further is asked of each node."""
    (graph,) = file_graphs(delegate_sim.load(chain_model(["RELU", "TANH"] * 5).bytes()))
    count = 0

    def counted(view):
        nonlocal count
        count += 1
        return find(view)

    findings = Findings(graph, counted)
    assert [findings(node) for node in graph.nodes] == [find(graph.view(node)) for node in graph.nodes]
    assert count == asked
