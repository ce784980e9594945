"""Wording of the failures of kernels."""

from __future__ import annotations

import string

import pytest

from delegate_sim.delegates.nnapi.target import FAILURES


@pytest.mark.parametrize("code", FAILURES)
def test_every_failure_is_worded_from_what_was_found(code):
    kind = FAILURES[code]
    assert {name for _, name, _, _ in string.Formatter().parse(kind.template) if name} <= {
        "tensor", "type", "op", "found", "known", "axis", "shape", "count", "size", "outputs", "side",
    }  # fmt: skip
    assert kind.hint
    assert all(kind.explanation)
