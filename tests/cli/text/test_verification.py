"""A comparison on a delegate's real code, as text."""

from __future__ import annotations

import pytest

from cli.text.elements.paragraphs import GOOD
from cli.text.verification import verification_lines
from delegate_sim.inference.difference import TensorDifference
from delegate_sim.refusal import Effect, Refusal, Stage
from delegate_sim.results.report.number_risks import NumberRisk
from delegate_sim.verification.comparison import ErrorTolerance
from delegate_sim.verification.conditions import KnownCondition
from delegate_sim.verification.verification import Culprit, Verification, VerifiedEntry
from tests.support.judged_cases import target


@pytest.mark.parametrize(
    ("delegated", "is_constant", "praise"),
    [
        (None, False, "mldrift (litert-2.3.0) computes the right numbers, for 2 sets of input values"),
        (2, False, "mldrift (litert-2.3.0) computes the right numbers, for 2 sets of input values"),
        (0, False, ""),
        (2, True, ""),
    ],
)
def test_a_comparison_that_shows_nothing_is_not_praised(delegated, is_constant, praise):
    output = TensorDifference("y", 4, 0, 0, 0.0, 0.0, 1.0, "", is_constant=is_constant)
    entries = (VerifiedEntry("", 0, (output,)),)
    result = Verification("m.tflite", "mldrift", "litert-2.3.0", ErrorTolerance(0.001, 1), 2, delegated, 2, entries)
    first = next(verification_lines(result, 200, False))
    assert (first.text if first.style == GOOD else "") == praise
    assert first.text.startswith("This shows nothing: no output depends on the tried inputs") is is_constant


def lines_of(result):
    return "\n".join([line.text for line in verification_lines(result, 200, False)])


def verification(*entries, on=None):
    return Verification("m.tflite", "mldrift", "litert-2.3.0", ErrorTolerance(0.001, 1), 2, 2, 3, entries, on)


def risk(code, node, effect, stage):
    return NumberRisk(Refusal(code, "it fails", "change it", node=node, effect=effect, stage=stage), "ADD")


WRONG_OUTPUT = TensorDifference("y", 4, 4, 4, 1.0, 1.0, 1.0, "")
TARGET = target("mldrift")


def culprit(first, last, is_narrow, *conditions):
    return Culprit(0, last, "ADD", first, is_narrow, "wrong", WRONG_OUTPUT, "", 3, conditions)


@pytest.mark.parametrize(("first", "before"), [(0, ""), (2, "All nodes before node 2 give right numbers. ")])
def test_a_fault_of_unknown_place_names_no_node(first, before):
    entry = VerifiedEntry("", 0, (WRONG_OUTPUT,), (WRONG_OUTPUT,), culprit=culprit(first, 7, False))
    text = lines_of(verification(entry))
    assert (
        f"At fault: one of the nodes {first} to 7\n  {before}With all nodes up to ADD 7, y differs by 100 % of its range" in text
    )
    assert "irst node" not in text


@pytest.mark.parametrize(
    ("last", "conditions", "first_line", "place"),
    [
        (
            4,
            (),
            "mldrift (litert-2.3.0) differs from the CPU by up to 100 % of an output's range (2 steps",
            "Different only together",
        ),
        (2, (), "mldrift (litert-2.3.0) computes wrong numbers", "First node at fault: ADD 2"),
        (4, ("one",), "mldrift (litert-2.3.0) computes wrong numbers", "Different only together: the nodes 2 to 4"),
    ],
)
def test_a_difference_is_wrong_only_if_a_node_or_a_condition_is(last, conditions, first_line, place):
    known = [KnownCondition(risk(code, 2, Effect.WRONG_NUMBERS, Stage.COMPUTING), "") for code in conditions]
    entry = VerifiedEntry("", 0, (WRONG_OUTPUT,), (WRONG_OUTPUT,), culprit=culprit(2, last, True, *known), errors_in_steps=(2.0,))
    text = lines_of(verification(entry))
    assert text.startswith(first_line)
    assert place in text


def test_one_command_applies_all_passes():
    known = [
        KnownCondition(risk("one", 1, Effect.WRONG_NUMBERS, Stage.COMPUTING), "pass-a"),
        KnownCondition(risk("two", 2, Effect.WRONG_NUMBERS, Stage.COMPUTING), "pass-b"),
        KnownCondition(risk("three", 2, Effect.WRONG_NUMBERS, Stage.COMPUTING), ""),
    ]
    entry = VerifiedEntry("", 0, (WRONG_OUTPUT,), (WRONG_OUTPUT,), culprit=culprit(2, 2, True, *known))
    text = lines_of(verification(entry, on=TARGET))
    assert text.count("delegate-sim") == 1
    assert "To apply all these passes:\n  delegate-sim fix m.tflite --delegate mldrift -o fixed.tflite" in text
    assert "cure: no pass of fix cures this node" in text


@pytest.mark.parametrize(("cure", "command"), [("pass-a", "fix"), ("", "diagnose")])
def test_a_predicted_failure_is_the_condition_of_a_model_that_does_not_run(cure, command):
    known = KnownCondition(risk("build", 1, Effect.CRASH, Stage.BUILDING), cure)
    entry = VerifiedEntry("", 0, stage="load", failure="it crashed", is_crash=True, conditions=(known,))
    assert known.to_dict()["certainty"] == "fails"
    text = lines_of(verification(entry, on=TARGET))
    assert "build: ADD 1" in text
    assert f"delegate-sim {command} m.tflite --delegate mldrift" in text
    assert "run on the delegate" not in text
