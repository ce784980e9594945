"""Runs as plain data and for a reader."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from delegate_sim.refusal import Effect, Refusal, Stage
from delegate_sim.runtime.run import option_values

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


def test_options_are_fit_for_json():
    class Profile:
        def __str__(self):
            return "driver.toml"

    options = {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ("y", "z"), "g": Profile()}
    found = option_values(options)
    assert found == {"a": None, "b": True, "c": 3, "d": 0.5, "e": "x", "f": ["y", "z"], "g": "driver.toml"}
    assert json.loads(json.dumps(found)) == found
