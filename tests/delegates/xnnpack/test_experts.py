"""Mixtures of experts, which kernels of their own run, replaced one by one."""

from __future__ import annotations

import pytest

from delegate_sim import analyze
from tests.support.delegates import xnnpack_expert_cases as expert_cases
from tests.support.delegates.xnnpack_expert_cases import ACCEPTED, REFUSED, one, scattered, wrong_activations

LINE = "Replacing {} out of {} node(s) with delegate (TfLiteXNNPackDelegate) node, yielding {} partitions for subgraph 0 (main)."


INT8_IN_GROUPS = one(attributes={"weight_type": "int8"}, constants={1: ("FLOAT32", (32,))})


def run(model, **arguments):
    return analyze(model, "xnnpack", assume_ops_registered=True, **{"defaults": "api", **arguments}).to_dict()["runs"][0]


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    found = run(ACCEPTED[name])
    assert found["log_lines"] == [LINE.format(2, 3, 3), LINE.format(1, 3, 3)]
    assert found["subgraphs"][0]["delegate_kernels"] == 3


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    model, said = REFUSED[name]
    found = run(model)
    assert found["log_lines"] == [f"moe node #1 {said}", LINE.format(2, 3, 3)]
    assert [node["delegated"] for node in found["subgraphs"][0]["nodes"]] == [True, False, True]


def test_types_of_activations():
    assert run(wrong_activations())["log_lines"] == ["moe node #0 requires fp32 activations and int32 top_indices"]


def test_without_options():
    model = expert_cases.Mixtures()
    result = model.node("CUSTOM", model.source, custom="moe")
    assert run(model.finish(result))["log_lines"] == ["moe node #0 is missing custom options"]


def test_calls_follow_each_other_on_the_plan_that_is_left():
    found = run(scattered())
    calls = [(3, 9, 5), (1, 8, 2), (1, 8, 3), (1, 8, 2), (1, 8, 2)]
    assert found["log_lines"] == [LINE.format(*call) for call in calls]
    (subgraph,) = found["subgraphs"]
    assert all(node["delegated"] == (node["op"] != "ZEROS_LIKE") for node in subgraph["nodes"])
    assert [part["nodes"] for part in subgraph["partition_list"]] == [[0], [1, 7], [2], [3], [4], [5], [6], [8]]


@pytest.mark.parametrize(
    ("release", "model", "line"),
    [
        ("litert-2.1.6", one(), None),
        ("litert-2.2.0", one(), LINE.format(1, 3, 3)),
        ("litert-2.2.0", REFUSED["too-large"][0], LINE.format(1, 3, 3)),
        ("litert-2.2.0", REFUSED["count"][0], LINE.format(1, 3, 3)),
        (
            "litert-2.2.0",
            ACCEPTED["int8"],
            "moe node #1 has unsupported weight_type 'int8' for the XNNPACK prototype path",
        ),
        ("litert-2.2.0", ACCEPTED["activation"], "moe node #1 only supports activation='gelu'"),
        ("litert-2.2.0", REFUSED["operands"][0], "moe node #1 expects 7 fp32 inputs and 1 output in the XNNPACK prototype path"),
        (
            "litert-2.2.0",
            REFUSED["weights-of-other-type"][0],
            "moe node #1 currently supports fp32 weights, fp32 activations, and int32 top_indices only",
        ),
        ("litert-2.2.0", REFUSED["computed"][0], "moe node #1 expects constant expert weights and per_expert_scale"),
        ("litert-2.3.0", INT8_IN_GROUPS, "moe node #1 gate_scale element count 32 does not match rows 16"),
        ("litert-2.4-dev", INT8_IN_GROUPS, LINE.format(1, 3, 3)),
        (
            "litert-2.4-dev",
            REFUSED["scales-int8"][0],
            "moe node #1 linear_scale element count 9 is not a multiple of rows 8",
        ),
    ],
)
def test_releases(release, model, line):
    lines = run(model, runtime=release)["log_lines"]
    assert line in lines if line else not any("moe" in each for each in lines)
    assert run(model, runtime=release)["subgraphs"][0]["nodes"][1]["delegated"] == (line == LINE.format(1, 3, 3))
