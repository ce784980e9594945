"""Failures of building ML Drift's model: each case was tried with LiteRT 2.3 and WebGPU over SwiftShader."""

from __future__ import annotations

import pytest

import delegate_sim
from tests.support.delegates import mldrift_build_cases
from tests.support.delegates.mldrift_build_cases import CASES
from tests.support.delegates.mldrift_numbers import ints, model_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op}-{case.code}-{case.backend}")
def test_a_build(case):
    options = {"backend": case.backend, "hint_fully_delegated": not case.op.isupper()}  # without the hint, custom operators fail
    (run,) = delegate_sim.analyze(
        mldrift_build_cases.model_of(case), "mldrift", options, runtime="litert-2.3", defaults="api"
    ).to_dict()["runs"]
    assert run["outcome"] == "delegated"
    assert (run["refusal"] and run["refusal"]["code"]) == case.code


@pytest.mark.parametrize(
    ("op", "outputs", "code"),
    [("SUB", "y", "mldrift-build-copy"), ("SUB", "y q", None), ("NEG", "y", None)],
    ids=["read with the copy", "an output", "only the copy"],
)
def test_a_strided_slice_that_copies_an_input(op, outputs, code):
    tensors = {"x": (8,), "b": ints(0), "e": ints(8), "s": ints(1), "q": (8,), "y": (8,), "z": (8,)}
    second = (op, "q x" if op == "SUB" else "q", "y", {})
    model = model_of(tensors, [("STRIDED_SLICE", "x b e s", "q", {}), second, ("ABS", "x", "z", {})], f"{outputs} z")
    (run,) = delegate_sim.analyze(model, "mldrift", {"backend": "webgpu"}, defaults="api").to_dict()["runs"]
    assert (run["refusal"] and run["refusal"]["code"]) == code
