"""The checks that rules are written with: what each demands, what it finds instead, and which nodes it lets pass."""

from __future__ import annotations

import pytest

from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.rules import kinds
from delegate_sim.rules.operands import INPUT, OUTPUT, at_least, at_most, between, operand, result
from delegate_sim.rules.vocabulary import (
    activation,
    constant,
    constants,
    given,
    has_elements,
    max_version,
    operand_count,
    option,
    rank,
    ranks_at_most,
    refused_if,
    same_type,
    typed,
    unset,
    version,
    where,
    where_given,
)
from tests.support.graphs import arena, node_view
from tests.support.graphs import constant as stored

FLOAT, INT8, SCALAR = arena("FLOAT32", 2, 3), arena("INT8", 2, 3), arena("FLOAT32")
EMPTY, NEGATIVE, ONES = arena("FLOAT32", 2, 0), arena("FLOAT32", 2, -1), arena("FLOAT32", 1, 1)
STORED = stored([1, 2])
WEIGHTS, BIAS, SCALE = operand(1, "weights"), operand(2, "bias"), operand(3, "scale")


def add(*inputs, outputs=(FLOAT,), **fields):
    return node_view("ADD", list(inputs), list(outputs), **fields)


def found(check, node):
    return check.finder(node, NEWEST)


DEMANDS = [
    # the demand in words, nodes that meet it, and nodes that do not, with what is found instead
    (max_version(1), "version 1", [add(version=0), add(version=1)], (add(version=2), "version 2")),
    (max_version(2), "version at most 2", [add(version=2)], (add(version=3), "version 3")),
    (version(between(2, 3)), "version 2 to 3", [add(version=2), add(version=3)], (add(version=1), "version 1")),
    (operand_count(1), "1 input", [add(FLOAT), add(None)], (add(FLOAT, FLOAT), "2 inputs")),
    (operand_count(2), "2 inputs", [add(FLOAT, FLOAT)], (add(FLOAT), "1 input")),
    (operand_count(at_least(1)), "at least 1 input", [add(FLOAT), add(FLOAT, FLOAT)], (add(), "no inputs")),
    (operand_count(outputs=1), "1 output", [add()], (add(outputs=(FLOAT, FLOAT)), "2 outputs")),
    (operand_count(2, 1), "2 inputs and 1 output", [add(FLOAT, FLOAT)], (add(FLOAT), "1 input and 1 output")),
    (operand_count(2, 1), "2 inputs and 1 output", [], (add(FLOAT, FLOAT, outputs=()), "2 inputs and no outputs")),
    (given(WEIGHTS), "weights", [add(FLOAT, FLOAT)], (add(FLOAT, None), "no weights")),
    (given(WEIGHTS), "weights", [], (add(FLOAT), "no weights")),
    (given(OUTPUT), "output", [add(FLOAT)], (add(FLOAT, outputs=()), "no output")),
    (typed(INPUT, ["FLOAT32", "INT32"]), "input 0 of type FLOAT32 or INT32", [add(FLOAT)], (add(INT8), "input 0 is INT8")),
    (typed(OUTPUT, ["FLOAT32"]), "output of type FLOAT32", [add(INT8)], (add(FLOAT, outputs=(INT8,)), "output is INT8")),
    (typed(WEIGHTS, ["FLOAT32"]), "weights of type FLOAT32", [add(INT8, FLOAT)], (add(FLOAT, None), "weights is NO_TYPE")),
    (
        same_type(INPUT, OUTPUT),
        "the same type in input 0 and output",
        [add(FLOAT)],
        (add(INT8), "INT8 input 0 and FLOAT32 output"),
    ),
    (same_type(OUTPUT, WEIGHTS), "the same type in output and weights", [], (add(INT8, INT8), "FLOAT32 output and INT8 weights")),
    (rank(INPUT, 2), "input 0 of rank 2", [add(FLOAT)], (add(SCALAR), "input 0 of rank 0")),
    (rank(OUTPUT, at_most(1)), "output of rank at most 1", [add(outputs=(SCALAR,))], (add(), "output of rank 2")),
    (ranks_at_most(1), "inputs of rank at most 1", [add(SCALAR), add(None)], (add(None, SCALAR, FLOAT), "input 2 of rank 2")),
    (
        ranks_at_most(1, results=True),
        "outputs of rank at most 1",
        [add(FLOAT, outputs=(SCALAR,))],
        (add(outputs=(SCALAR, FLOAT)), "output 1 of rank 2"),
    ),
    (ranks_at_most(2), "inputs of rank at most 2", [add(FLOAT)], (add(arena("FLOAT32", 1, 1, 1)), "input 0 of rank 3")),
    (
        has_elements(INPUT),
        "input 0 without a dimension of size 0",
        [add(FLOAT), add(SCALAR), add(NEGATIVE)],
        (add(EMPTY), "input 0 of shape [2, 0]"),
    ),
    (
        has_elements(INPUT, allows_negative=False),
        "input 0 without a dimension of size 0",
        [add(FLOAT), add(SCALAR), add(ONES)],
        (add(NEGATIVE), "input 0 of shape [2, -1]"),
    ),
    (constant(WEIGHTS), "constant weights", [add(FLOAT, STORED)], (add(FLOAT, FLOAT), "weights is not constant")),
    (constant(WEIGHTS), "constant weights", [], (add(FLOAT), "weights is not constant")),
    (
        constants(WEIGHTS, BIAS),
        "constant weights and bias",
        [add(FLOAT, STORED, STORED)],
        (add(FLOAT, STORED, FLOAT), "bias is not constant"),
    ),
    (
        constants(WEIGHTS, BIAS, SCALE),
        "constant weights, bias and scale",
        [add(FLOAT, STORED, STORED, STORED)],
        (add(FLOAT, FLOAT, FLOAT, STORED), "weights is not constant"),
    ),
    (
        activation(["NONE"]),
        "no fused activation",
        [add(options={})],
        (add(options={"fused_activation_function": 1}), "fused RELU"),
    ),
    (
        activation(["NONE", "RELU", "RELU6"]),
        "no fused activation, or RELU or RELU6",
        [add(options={}), add(options={"fused_activation_function": 3})],
        (add(options={"fused_activation_function": 4}), "fused TANH"),
    ),
    (
        activation(["RELU", "TANH"]),
        "a fused RELU or TANH",
        [add(options={"fused_activation_function": 4})],
        (add(options={}), "fused NONE"),
    ),
    (
        option("fused_activation_function", between(1, 2)),
        "fused_activation_function 1 to 2",
        [add(options={"fused_activation_function": 2})],
        (add(options={}), "fused_activation_function 0"),
    ),
    (
        unset("pot_scale_int16"),
        "pot_scale_int16 false",
        [add(options={"pot_scale_int16": False})],
        (add(options={"pot_scale_int16": True}), "pot_scale_int16 true"),
    ),
    (
        refused_if(kinds.SHAPE, "operands", lambda node: not node.node.inputs, "none"),
        "operands",
        [add(FLOAT)],
        (add(), "none"),
    ),
]


@pytest.mark.parametrize(("check", "needed", "accepted", "refused"), DEMANDS, ids=[needed for _, needed, _, _ in DEMANDS])
def test_demands(check, needed, accepted, refused):
    assert check.needed == check.demand == needed
    assert [found(check, node) for node in accepted] == [None] * len(accepted)
    node, words = refused
    assert found(check, node) == words


def test_a_check_for_some_nodes_finds_nothing_in_others():
    (check,) = where(lambda node: node.version == 2, "for version 2", typed(INPUT, ["FLOAT32"]))
    assert check.demand == "input 0 of type FLOAT32 (for version 2)"
    assert found(check, add(INT8, version=2)) == "input 0 is INT8"
    assert found(check, add(INT8)) is None


def test_a_check_of_an_optional_operand():
    (check,) = where_given(BIAS, typed(BIAS, ["FLOAT32"]))
    assert check.demand == "bias of type FLOAT32 (if given)"
    assert found(check, add(FLOAT, FLOAT, INT8)) == "bias is INT8"
    assert [found(check, node) for node in (add(FLOAT, FLOAT), add(FLOAT, FLOAT, None))] == [None, None]


def test_conditions_of_both_kinds_stand_in_the_order_in_which_they_are_asked():
    (check,) = where(lambda node: node.version == 2, "for version 2", *where_given(BIAS, typed(BIAS, ["FLOAT32"])))
    assert check.applies == "for version 2, if given"


DIFFERENT = [
    max_version(1),
    max_version(2),
    version(2),
    operand_count(1),
    operand_count(outputs=1),
    operand_count(1, 1),
    given(WEIGHTS),
    given(BIAS),
    given(result(1)),
    typed(INPUT, ["FLOAT32"]),
    typed(INPUT, ["FLOAT32", "INT8"]),
    typed(OUTPUT, ["FLOAT32"]),
    *where_given(INPUT, typed(INPUT, ["FLOAT32"])),
    *where(lambda _: True, "always", typed(INPUT, ["FLOAT32"])),
    same_type(INPUT, OUTPUT),
    rank(INPUT, 2),
    rank(INPUT, at_most(2)),
    ranks_at_most(2),
    ranks_at_most(2, results=True),
    has_elements(INPUT),
    has_elements(INPUT, allows_negative=False),
    constant(WEIGHTS),
    constants(WEIGHTS, BIAS),
    activation(["NONE"]),
    activation(["NONE", "RELU"]),
    option("axis", 1),
    option("axis", 2),
    unset("axis"),
]


def test_demands_that_differ_are_known_by_different_data():
    """The version of a rule set rests on it."""
    assert len({repr(check.data) for check in DIFFERENT}) == len(DIFFERENT)
    assert all(check.data for check in DIFFERENT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (typed(INPUT, ["INT8", "FLOAT32"]), typed(operand(0, "image"), ["FLOAT32", "INT8"])),
        (constant(WEIGHTS), constant(operand(1), hint="store it")),
        (activation(["RELU", "NONE"]), activation(["NONE", "RELU"], hint="none")),
        (has_elements(INPUT), has_elements(operand(0, "image"))),
    ],
    ids=["types", "constants", "activations", "elements"],
)
def test_other_words_for_one_demand_are_known_by_the_same_data(one, other):
    assert one.data == other.data


def test_a_check_of_its_own_function_has_no_data_wherever_it_applies():
    own = refused_if(kinds.SHAPE, "a shape", lambda _: True, "none")
    assert [check.data for check in (own, *where(lambda _: True, "always", own))] == [(), ()]


def test_checks_that_are_made_while_the_test_runs():
    """Those above are made when tests are collected, where changes of the code do not reach them (``make mutation``)."""
    assert found(ranks_at_most(1), add(None, SCALAR, FLOAT)) == "input 2 of rank 2"
    assert found(ranks_at_most(2), add(None, SCALAR, FLOAT)) is None
    assert has_elements(INPUT).data == ("elements", *INPUT.data)
    assert has_elements(INPUT, allows_negative=False).data == ("elements", *INPUT.data, "none below 0")
