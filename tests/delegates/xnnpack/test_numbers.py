"""Nodes that XNNPACK computes wrongly, against its source and runs of wheels."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.releases.catalogue import KNOWN_RELEASES, parse_release
from delegate_sim.results.report.number_risks import counted_risks, number_risks
from tests.support.delegates.xnnpack_number_cases import CASES, PADDING, PRODUCT, ROWS, blockwise, convolution, square
from tests.support.delegates.xnnpack_sketch import Sketch
from tests.support.tables import for_each


def prelu(shape, slope):
    sketch = Sketch()
    sketch.graph.outputs(sketch.node("PRELU", [sketch.input(shape=shape), sketch.constant(shape=slope)], shape=shape))
    return sketch.builder.bytes()


ONE = prelu((1, 2, 2, 3), (1, 1, 1))


@pytest.mark.parametrize(
    ("model", "release", "certainty"),
    [
        (ONE, "tf-2.14", "wrong"),
        (ONE, "tf-2.16", "wrong"),
        (ONE, "tf-2.17", "may be wrong"),
        (ONE, "litert-1.0.1", None),
        (ONE, "litert-2.3.0", None),
        (prelu((1, 2, 2, 1), (1, 1, 1)), "tf-2.14", None),
        (prelu((1, 2, 2, 3), (1, 1, 3)), "tf-2.14", None),
    ],
    ids=["2.14", "2.16", "2.17", "1.0.1", "2.3.0", "one-channel", "slope-for-each-channel"],
)
def test_prelu_with_one_slope(model, release, certainty):
    run = analyze(model, "xnnpack", runtime=release).runs[0]
    risks = [(risk.node, risk.refusal.code, risk.refusal.effect.value) for risk in number_risks(run)]
    assert risks == ([(0, "xnnpack-numbers-prelu-slope", certainty)] if certainty else [])
    assert counted_risks(run) == {"wrong": (1, 0), "may be wrong": (0, 1), None: (0, 0)}[certainty]


def codes(model, release, **options):
    run = analyze(model, "xnnpack", options, runtime=release, defaults="api").runs[0]
    assert all(risk.is_certain for risk in number_risks(run))
    return [risk.refusal.code for risk in number_risks(run)]


@for_each(CASES)
def test_models_with_and_without_a_condition(name):
    model, code = CASES[name]
    run = analyze(model, "xnnpack", runtime="litert-2.1.6", defaults="api").runs[0]
    assert len(run.final_subgraphs[0].delegated) == len(run.final_subgraphs[0].graph.execution_plan)
    assert codes(model, "litert-2.1.6") == ([code] if code else [])


@pytest.mark.parametrize(
    ("model", "code", "first", "last"),
    [(convolution(), PADDING, "tf-2.10", "litert-2.1.6"), (square(), PRODUCT, "litert-2.1.0", "litert-2.4-dev")],
    ids=["padding", "product"],
)
def test_releases_with_a_condition(model, code, first, last):
    releases = [parse_release(name) for name in KNOWN_RELEASES]
    found = [release for release in releases if codes(model, str(release))]
    assert found == [release for release in releases if parse_release(first).order <= release.order <= parse_release(last).order]


@pytest.mark.parametrize(
    ("model", "release", "certainty"),
    [
        (blockwise(), "litert-1.3.0", None),
        (blockwise(), "litert-1.4.0", "may be wrong"),
        (blockwise(), "litert-2.0.3", "may be wrong"),
        (blockwise(), "litert-2.1.0", None),
        (blockwise(is_blockwise=False), "litert-1.4.0", None),
    ],
    ids=["1.3.0", "1.4.0", "2.0.3", "2.1.0", "each-channel"],
)
def test_weights_in_blocks(model, release, certainty):
    run = analyze(model, "xnnpack", runtime=release, defaults="api").runs[0]
    assert run.final_subgraphs[0].delegated
    risks = [(risk.refusal.code, risk.refusal.effect.value) for risk in number_risks(run)]
    assert risks == ([("xnnpack-numbers-blockwise-weights", certainty)] if certainty else [])


@for_each(ROWS)
def test_rows_of_another_size(name):
    model, is_wrong = ROWS[name]
    found = {release: codes(model, release) for release in ("litert-1.0.1", "litert-1.1.2", "litert-1.3.0", "litert-1.4.0")}
    wrong = ["xnnpack-numbers-flattened-rows"] if is_wrong else []
    assert found == {"litert-1.0.1": [], "litert-1.1.2": wrong, "litert-1.3.0": wrong, "litert-1.4.0": []}


def test_consistent_arithmetic_turns_rewrites_off():
    assert codes(square(), "litert-2.3.0", slow_consistent_arithmetic=True) == []
    assert codes(convolution(), "litert-2.1.6", slow_consistent_arithmetic=True) == [PADDING]


@pytest.mark.parametrize(("release", "are_checked"), [("tf-2.14", True), ("tf-2.15", False), ("litert-1.3.0", True)])
def test_releases_with_measured_numbers(release, are_checked):
    assert find_delegate("xnnpack").numbers_are_checked(parse_release(release)) == are_checked
