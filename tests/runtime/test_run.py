"""Runs as plain data and for a reader."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from delegate_sim.delegates.stage_behind import StageRefusal
from delegate_sim.runtime.run import Refusal, option_values

REFUSAL = Refusal("x-call", "the call is refused", "change it", 0, 3, 5)
BEHIND = StageRefusal("finish", "ADD", "input 0", "rank 5", "rank at most 4", "ERROR: refused", ("and more",))


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (REFUSAL, "the call is refused"),
        (replace(REFUSAL, behind=BEHIND), "node 3: the call is refused"),
        (replace(REFUSAL, behind=BEHIND, subgraph=2), "node 2:3: the call is refused"),
        (replace(REFUSAL, behind=BEHIND, node=0), "node 0: the call is refused"),
        (replace(REFUSAL, behind=BEHIND, node=None), "the call is refused"),
        (replace(REFUSAL, behind=replace(BEHIND, is_of_node=False)), "the call is refused"),
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
    staged = replace(REFUSAL, stage="load", is_at_invoke=True).to_dict()
    assert staged == {**plain, "stage": "load", "is_at_invoke": True}
    behind = replace(REFUSAL, behind=BEHIND).to_dict()
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
