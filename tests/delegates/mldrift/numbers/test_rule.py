"""The rules as a whole: certainty by release and backend, texts, and the growth of the work."""

from __future__ import annotations

import string

import pytest

import delegate_sim
from delegate_sim.delegates.mldrift.delegate import DELEGATE
from delegate_sim.delegates.mldrift.numbers import RULES
from delegate_sim.refusal import Stage
from tests.support.delegates.mldrift_numbers import ints, model_of, risks_of, zeros

LAYOUT = model_of({"x": (3, 5), "c": zeros(3, 5), "y": (3, 5)}, [("ADD", "x c", "y", {})])
"""A cause before the kernels."""
REVERSED = model_of({"x": (2, 6), "a": ints(1), "y": (2, 6)}, [("REVERSE_V2", "x a", "y", {})])
"""A cause in a kernel."""

TARGETS = [
    (LAYOUT, "litert-2.1.6", "webgpu", "wrong"),
    (LAYOUT, "litert-2.3.0", "opencl", "wrong"),
    (REVERSED, "litert-2.3.0", "webgpu", "wrong"),
    (REVERSED, "litert-2.3.0", "opencl", "may be wrong"),
    (LAYOUT, "litert-2.1.5", "webgpu", "may be wrong"),
    (REVERSED, "litert-2.1.5", "webgpu", "may be wrong"),
]


@pytest.mark.parametrize(("model", "runtime", "backend", "certainty"), TARGETS)
def test_the_certainty_depends_on_the_release_and_the_backend(model, runtime, backend, certainty):
    assert [found for _, _, found in risks_of(model, runtime, backend)] == [certainty]


def said(model, runtime, backend="webgpu"):
    report = delegate_sim.analyze(model, "mldrift", {"backend": backend}, runtime=runtime, defaults="benchmark")
    return report.to_dict()["runs"][0]["number_risks"][0]["message"]


def test_a_doubt_is_part_of_the_message():
    assert said(LAYOUT, "litert-2.1.5").endswith("in this release")
    assert said(REVERSED, "litert-2.3.0", "metal").endswith(" WebGPU")
    assert "WebGPU" not in said(LAYOUT, "litert-2.3.0", "metal")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_its_texts(rule):
    assert all(text.endswith(".") for text in (rule.condition, rule.result, rule.cure))
    assert not rule.hint.endswith(".")
    assert "{" not in rule.hint, "only messages have places for values"
    assert rule.kind.stage is Stage.COMPUTING
    assert DELEGATE.kinds[rule.code] == rule.kind
    assert {name for _, name, _, _ in string.Formatter().parse(rule.message) if name} != {""}


def test_codes_are_unique():
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_a_model_that_does_not_run_has_no_risks():
    tensors = {"x": (1, 4, 4, 10), "w": zeros(4, 3, 3, 5), "b": zeros(4), "y": (1, 4, 4, 4)}
    model = model_of(tensors, [("CONV_2D", "x w b", "y", {"stride_h": 1, "stride_w": 1})])
    run = delegate_sim.analyze(model, "mldrift", {"backend": "webgpu"}, defaults="benchmark").to_dict()["runs"][0]
    assert run["refusal"]["code"] == "mldrift-build-groups"
    assert "number_risks" not in run


def test_a_model_without_risks_has_no_list():
    model = model_of({"x": (1, 4), "y": (1, 4)}, [("NEG", "x", "y", {})])
    assert "number_risks" not in delegate_sim.analyze(model, "mldrift", defaults="benchmark").to_dict()["runs"][0]
