"""Operands in rules."""

from __future__ import annotations

from delegate_sim.rules.operands import INPUT, OUTPUT, operand, result


def test_operands_as_plain_data():
    assert [INPUT.data, operand(2).data, OUTPUT.data] == [("input", 0), ("input", 2), ("output", 0)]


def test_names_of_operands():
    assert [operand(2).name, operand(2, "the weights").name] == ["input 2", "the weights"]
    assert [OUTPUT.name, result(1).name, result(1, "the scores").name] == ["output", "output 1", "the scores"]
