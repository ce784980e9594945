"""Nodes that XNNPACK computes wrongly, against ``create_prelu_operator`` and runs of wheels."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from delegate_sim.results.report.number_risks import counted_risks, number_risks
from tests.support.delegates.xnnpack_sketch import Sketch


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
    assert counted_risks(run) == ({"wrong": (1, 0), "may be wrong": (0, 1)}[certainty] if certainty else None)
