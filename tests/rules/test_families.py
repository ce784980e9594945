"""Rules that are loaded when an operator that may be among them is asked for."""

from __future__ import annotations

import pytest

from delegate_sim.model.schema import FAMILIES
from delegate_sim.rules.rule import LazyRules, OpRule, family_rules, modules_of_families, with_change

ADD, MUL = OpRule(()), OpRule(())


class Loaded:
    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return {"ADD": ADD}


def test_only_a_possible_operator_has_rules_loaded_and_only_once():
    load = Loaded()
    rules = LazyRules(frozenset({"ADD", "MUL"}), load)
    assert "SIN" not in rules
    assert load.count == 0
    assert "MUL" not in rules
    assert rules["ADD"] is ADD
    assert load.count == 1
    assert list(rules) == ["ADD"]
    assert len(rules) == 1
    assert load.count == 1


def test_a_change_is_made_when_the_rules_are_loaded():
    load = Loaded()
    changed = with_change(LazyRules(frozenset({"ADD"}), load), lambda rules: dict.fromkeys(rules, MUL))
    assert "SIN" not in changed
    assert load.count == 0
    assert changed["ADD"] is MUL


def test_rules_that_are_there_already_can_be_changed_too():
    changed = with_change({"ADD": ADD}, lambda rules: {**rules, "SIN": MUL})
    assert changed["ADD"] is ADD
    with pytest.raises(KeyError):  # a change adds no operators
        changed["SIN"]


def test_families_are_modules_of_a_package():
    modules = modules_of_families(shapes="reshaping slicing joining padding")
    by_operators = {rules.possible: rules for rules in family_rules("delegate_sim.delegates.xnnpack.rules", modules)}
    matrix = by_operators[FAMILIES["matrix"]]
    shapes = by_operators[frozenset().union(*[FAMILIES[name] for name in ("reshaping", "slicing", "joining", "padding")])]
    assert "FULLY_CONNECTED" in matrix
    assert "FULLY_CONNECTED" not in shapes
    assert {"RESHAPE", "PAD"} <= shapes.keys()
