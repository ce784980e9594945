"""Failures of building ML Drift's model: each case was tried with LiteRT 2.3 and WebGPU over SwiftShader."""

from __future__ import annotations

import pytest

import delegate_sim
from tests.support.delegates.mldrift_build_cases import CASES, model_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.code}-{case.backend}")
def test_a_build(case):
    options = {"backend": case.backend, "hint_fully_delegated": not case.op.isupper()}  # without the hint, custom operators fail
    (run,) = delegate_sim.analyze(model_of(case), "mldrift", options, runtime="litert-2.3", defaults="api").to_dict()["runs"]
    assert run["outcome"] == "delegated"
    assert (run["refusal"] and run["refusal"]["code"]) == case.code
