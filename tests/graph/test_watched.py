"""The numbers that stand for a node's tensors tell nothing of where these are."""

from __future__ import annotations

import pytest

from delegate_sim.graph.watched import LooksFurther, OwnNumber

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
