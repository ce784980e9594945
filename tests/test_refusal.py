"""Refusals as values, as text and as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from delegate_sim.delegates.nnapi import failures
from delegate_sim.delegates.npu import kinds as loader_kinds
from delegate_sim.refusal import Effect, Refusal, Refused, Stage
from delegate_sim.rules import kinds

REFUSAL = Refusal("x-call", "the call is refused", "change it", 0, 3, 5)
BELOW = Refusal(
    "rank",
    "{operand}: found {found}, needed {needed}",
    node=3,
    values={"operand": "input 0", "found": "rank 5", "needed": "rank at most 4"},
    stage=Stage.VALIDATING,
    call="finish",
    operation="ADD",
    log_lines=("ERROR: refused",),
)


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (REFUSAL, "the call is refused"),
        (replace(REFUSAL, below=BELOW), "node 3: the call is refused"),
        (replace(REFUSAL, below=BELOW, subgraph=2), "node 2:3: the call is refused"),
        (replace(REFUSAL, below=BELOW, node=0), "node 0: the call is refused"),
        (replace(REFUSAL, below=BELOW, node=None), "the call is refused"),
        (replace(REFUSAL, below=replace(BELOW, node=None)), "the call is refused"),
    ],
)
def test_a_refusal_behind_a_delegate_names_the_node_that_it_is_about(refusal, text):
    assert refusal.text == text


def test_a_refusal_as_plain_data_has_only_what_there_is():
    plain = REFUSAL.to_dict()
    assert plain == {
        "code": "x-call", "message": "the call is refused", "hint": "change it", "subgraph": 0, "node": 3, "tensor": 5,
        "cause": None, "is_predicted": False,
    }  # fmt: skip
    staged = replace(REFUSAL, stage=Stage.READING, effect=Effect.FAIL_AT_INVOKE).to_dict()
    assert staged == {**plain, "stage": "load", "is_at_invoke": True}
    behind = replace(REFUSAL, below=BELOW, further=("and more",)).to_dict()
    assert behind == {
        **plain, "call": "finish", "operation": "ADD", "operand": "input 0", "found": "rank 5", "needed": "rank at most 4",
        "error_line": "ERROR: refused", "further": ["and more"],
    }  # fmt: skip
    json.dumps([plain, staged, behind])


def test_values_keep_their_types_and_the_message_has_their_text():
    refusal = Refusal("x", "{name} has {found} of {needed}", values={"name": "{tensor}", "found": 3, "needed": (4, 5)})
    assert (refusal.found, refusal.needed, refusal.operand) == (3, (4, 5), None)
    assert refusal.message == "{tensor} has 3 of (4, 5)"
    assert refusal.within("op {a}: ", " {b}").message == "op {a}: {tensor} has 3 of (4, 5) {b}"
    assert refusal.within("op {a}: ").values == refusal.values


def test_a_message_without_values_is_no_template():
    assert Refusal("x", "the name is {0}").within("{1} ").message == "{1} the name is {0}"


@pytest.mark.parametrize(
    ("effect", "postponed", "is_crash", "is_later"),
    [
        (Effect.UNDO, Effect.FAIL_LATER, False, False),
        (Effect.CRASH, Effect.CRASH_LATER, True, False),
        (Effect.FAIL_LATER, Effect.FAIL_LATER, False, True),
        (Effect.CRASH_LATER, Effect.CRASH_LATER, True, True),
        (Effect.FAIL_AT_INVOKE, Effect.FAIL_LATER, False, False),
    ],
)
def test_effects(effect, postponed, is_crash, is_later):
    assert (effect.postponed(), effect.is_crash, effect.is_later) == (postponed, is_crash, is_later)


@pytest.mark.parametrize(("call", "text"), [("", "no"), ("finish", "finish refuses: no")])
def test_the_exception_names_the_call(call, text):
    assert str(Refused(Refusal("x", "no", call=call))) == text


@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        (loader_kinds.VARIABLE, Stage.READING),
        (loader_kinds.SOC, Stage.SELECTING),
        (kinds.MODEL_NOT_LOADED, Stage.LOADING),
        (kinds.CPU_KERNEL_NOT_PREPARED, Stage.PREPARING),
        (kinds.DYNAMIC_TENSORS, Stage.ACCEPTING),
        (failures.KINDS["nnapi-tensor-type"], Stage.BUILDING),
    ],
)
def test_a_kind_of_failure_belongs_to_a_stage(kind, stage):
    refusal = kind.refusal("no")
    assert (refusal.code, refusal.hint, refusal.stage, refusal.effect) == (kind.name, kind.hint, stage, kind.effect)
    assert ("stage" in refusal.to_dict()) == stage.is_of_plugin
