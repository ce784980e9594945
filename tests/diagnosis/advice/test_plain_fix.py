"""The result of ``fix`` with all its passes."""

from __future__ import annotations

import pytest

from delegate_sim import diagnose, load
from delegate_sim.diagnosis.advice.plain_fix import plain_fix, search_fix
from delegate_sim.fixing.search import search
from delegate_sim.graph.effort import Effort
from fixtures.builder import ModelBuilder

from ...support.diagnoses import target
from ...support.models import chain_model


def model(*ops):
    return load(chain_model(ops).bytes())


def test_the_result_is_that_of_fix():
    given = model("ADD", "GELU", "ADD", "ADD 4", "ADD")
    found = plain_fix(search_fix(given, [target()], Effort(given)))
    (after,) = search(given, [target()]).after
    assert (found.cost.measures, found.unknown) == (after.measures, "")
    assert found.to_dict()["passes"] == ["own-versions", "gelu-by-exponential"]


@pytest.mark.parametrize("ops", [["ADD"], ["ADD", "RANK"]])
def test_without_a_better_result_there_is_none(ops):
    given = model(*ops)
    assert plain_fix(search_fix(given, [target("edgetpu" if len(ops) > 1 else "nnapi")], Effort(given))) is None


def test_beyond_the_effort_the_result_is_not_known():
    given = model("ADD", "GELU", "ADD")
    effort = Effort(given)
    effort.spend(1 << 40)
    found = plain_fix(search_fix(given, [target()], effort))
    assert (found.cost, found.result.startswith("not simulated: ")) == (None, True)


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
