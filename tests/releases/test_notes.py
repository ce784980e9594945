"""Tests of the parts of older releases that were not checked, and of the verdicts that name these parts."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.report.verdict import coverage_verdict, verdict
from tests.support.models import chain_model

CPU, BUILDS = "the CPU kernels", "whether kernels can be created"


@pytest.mark.parametrize(
    ("delegate", "release", "parts"),
    [
        ("gpu", "tf-2.12", ["the rules of gpu", CPU]),
        ("gpu", "tf-2.14", [CPU]),
        ("gpu", "litert-1.0", [CPU]),
        ("gpu", "litert-1.1.0", []),
        ("vx", "tf-2.12", [CPU]),
        ("mldrift", "litert-2.1.1", ["the rules of mldrift", BUILDS]),
        ("mldrift", "litert-2.1.3", [BUILDS]),
        ("mldrift", "litert-2.1.5", []),
    ],
)
def test_unchecked_parts_are_in_every_verdict(delegate, release, parts):
    assert list(find_delegate(delegate).unchecked_parts(parse_release(release))) == parts
    report = delegate_sim.analyze(chain_model(["ADD", "RELU"]).bytes(), delegate, runtime=release)
    text = f"(not checked for {report.runs[0].release}: {', '.join(parts)})"
    for words in (verdict(report.runs[0]), coverage_verdict([report.runs[0]])):
        assert words.endswith(text) if parts else "not checked" not in words
