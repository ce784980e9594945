"""Operands in rules."""

from __future__ import annotations

import pytest

from delegate_sim.rules.operands import (
    INPUT,
    OUTPUT,
    allowed_numbers,
    at_least,
    at_most,
    between,
    counted,
    exactly,
    listed,
    operand,
    result,
    up_to_one,
)


def test_operands_as_plain_data():
    assert [INPUT.data, operand(2).data, OUTPUT.data] == [("input", 0), ("input", 2), ("output", 0)]


def test_names_of_operands():
    assert [operand(2).name, operand(2, "the weights").name] == ["input 2", "the weights"]
    assert [OUTPUT.name, result(1).name, result(1, "the scores").name] == ["output", "output 1", "the scores"]


@pytest.mark.parametrize(
    ("numbers", "words", "allowed"),
    [
        (exactly(2), "2", {2}),
        (exactly(4, 2, 1), "4, 2 or 1", {1, 2, 4}),
        (at_most(2), "at most 2", {-1, 0, 1, 2}),
        (at_least(3), "at least 3", {3, 4, 5}),
        (between(2, 4), "2 to 4", {2, 3, 4}),
        (up_to_one(), "1", {-1, 0, 1}),
        (allowed_numbers(3), "3", {3}),
        (allowed_numbers(between(0, 1)), "0 to 1", {0, 1}),
    ],
)
def test_what_is_allowed(numbers, words, allowed):
    assert numbers.words == words
    assert {number for number in range(-1, 6) if number in numbers} == allowed


@pytest.mark.parametrize(("number", "expected"), [(0, "no inputs"), (1, "1 input"), (2, "2 inputs")])
def test_numbers_of_things(number, expected):
    assert counted(number, "input") == expected


@pytest.mark.parametrize(("names", "expected"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")])
def test_lists(names, expected):
    assert listed(names) == expected
