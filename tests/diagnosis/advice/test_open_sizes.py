"""Models that cannot be prepared because the file stores 1 for sizes that it leaves open."""

from __future__ import annotations

import pytest

from delegate_sim import diagnose
from fixtures.builder import ModelBuilder


def convolution(signature, window, channels=1):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("images", "FLOAT32", [1, 1, 1, 1], signature=signature)
    weights = graph.tensor("w", "FLOAT32", [1, window, window, channels], data=[1.0] * window * window * channels)
    bias, result = graph.tensor("b", "FLOAT32", [1], data=[0.0]), graph.tensor("y", "FLOAT32", [1, 1, 1, 1])
    graph.node("CONV_2D", [source, weights, bias], [result], options={"padding": 1, "stride_w": 1, "stride_h": 1,
               "dilation_w_factor": 1, "dilation_h_factor": 1})  # fmt: skip
    graph.outputs(result)
    return builder.bytes()


OPEN = (-1, -1, -1, 1)


@pytest.mark.parametrize(
    ("delegate", "model", "code", "size"),
    [
        ("gpu", convolution(OPEN, 3), "cpu-kernel-not-prepared", 32),
        ("gpu", convolution(OPEN, 50), "cpu-kernel-not-prepared", 64),
        ("xnnpack", convolution(OPEN, 3), "xnnpack-kernel-window", 32),
        ("gpu", convolution(OPEN, 3, channels=2), "cpu-kernel-not-prepared", None),
        ("gpu", convolution((-1, 1, 1, 1), 3), "cpu-kernel-not-prepared", None),
        ("gpu", convolution(None, 3), "cpu-kernel-not-prepared", None),
    ],
    ids=["3x3", "50x50", "xnnpack", "other-reason", "batch", "fixed"],
)
def test_open_sizes(delegate, model, code, size):
    (finding,) = diagnose(model, delegate).findings
    assert finding.cause.codes == (code,)
    assert (finding.cause.suggestion == "fix-shapes") == (size is not None)
    assert (f"fix MODEL --shape images=1,{size},{size},1 -o " in finding.cause.change) == (size is not None)
