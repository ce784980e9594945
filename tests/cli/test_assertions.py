from __future__ import annotations

from pathlib import Path

import pytest

import delegate_sim
from delegate_sim_cli.assertions import Analysis
from fixtures.builder import ModelBuilder
from tests.support.models import MIXED, chain_model

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


def analysis_of(builder, delegate="nnapi", **options):
    return Analysis(delegate_sim.analyze(builder.bytes(), delegate, options, defaults="api"), "m.tflite")


@pytest.fixture(scope="module")
def mixed():
    """Four nodes in three partitions: ADD, then two nodes that NNAPI does not take, then ADD."""
    return analysis_of(chain_model(MIXED), feature_level=31)


def dynamic_model():
    """RESHAPE to a shape that is an input, which makes its result dynamic-sized."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("x", "FLOAT32", [1, 4])
    shape = graph.input("shape", "INT32", [2])
    result = graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("RESHAPE", [source, shape], [result], options={})
    graph.outputs(result)
    return builder


def failure(analysis, assertion, *arguments, **named):
    """Return the lines of the message that an assertion fails with."""
    with pytest.raises(AssertionError) as caught:
        getattr(analysis, assertion)(*arguments, **named)
    return [line.strip() for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    ("assertion", "arguments"),
    [
        ("assert_partitions", {"max": 3}),
        ("assert_delegate_kernels", {"max": 2}),
        ("assert_delegated", {"min_share": 0.5}),
        ("assert_fallback", {"max": 2}),
        ("assert_fallback", {"max": 2, "forbid": ("CONV_2D", "SUB")}),
        ("assert_fallback", {"forbid": "CONV_2D"}),
        ("assert_fallback", {"forbid": "MyOp"}),
    ],
)
def test_what_holds_returns_the_analysis(mixed, assertion, arguments):
    assert getattr(mixed, assertion)(**arguments) is mixed


@pytest.mark.parametrize(
    ("assertion", "arguments", "found"),
    [
        ("assert_partitions", {"max": 2}, "3 partitions, at most 2 allowed"),
        ("assert_delegate_kernels", {"max": 1}, "2 delegate kernels, at most 1 allowed"),
        ("assert_delegated", {}, "2 of 4 nodes delegated (50 %), at least 100 % required"),
        ("assert_delegated", {"min_share": 0.505}, "2 of 4 nodes delegated (50 %), at least 50.5 % required"),
        ("assert_fallback", {}, "2 nodes on the CPU, at most 0 allowed"),
        ("assert_fallback", {"max": 1}, "2 nodes on the CPU, at most 1 allowed"),
        ("assert_fallback", {"max": 1, "forbid": "SUB"}, "2 nodes on the CPU, at most 1 allowed"),
        ("assert_fallback", {"forbid": "ROUND"}, "ROUND on the CPU, which is forbidden"),
        ("assert_fallback", {"max": 2, "forbid": ["ROUND", "SUB", "ADD"]}, "ROUND, ADD on the CPU, which is forbidden"),
    ],
)
def test_what_does_not_hold_fails(mixed, assertion, arguments, found):
    assert failure(mixed, assertion, **arguments)[0] == f"m.tflite on nnapi: {found}"


def test_a_failure_says_why_and_what_to_change(mixed):
    lines = failure(mixed, "assert_partitions", 1)
    assert lines[0] == "m.tflite on nnapi: 3 partitions, at most 1 allowed"
    assert lines[2] == f"log: {mixed.log_lines[0]}"
    assert [line.partition(": ")[0] for line in lines[1:]] == [
        *("target", "log", "outcome", "on the CPU", "ROUND", "nnapi-operator", "hint", "ADD", "nnapi-operator-version", "hint")
    ]


@pytest.mark.parametrize(
    ("assertion", "argument"),
    [("assert_partitions", 1), ("assert_delegate_kernels", 1), ("assert_delegated", 0.0), ("assert_fallback", 9)],
)
def test_a_refused_model_fails_whatever_is_asked(assertion, argument):
    lines = failure(analysis_of(dynamic_model()), assertion, argument)
    assert lines[0].startswith("m.tflite on nnapi: NNAPI on Android 13 is not applied; ")
    refusal = next(position for position, line in enumerate(lines) if line.startswith("refusal: dynamic-tensors: tensor 2 (y)"))
    assert lines[refusal + 1].startswith("hint: make tensor 1 ")


def test_a_model_of_which_nothing_is_delegated_fails():
    lines = failure(analysis_of(chain_model(["ROUND"])), "assert_partitions", 1)
    assert lines[0] == (
        "m.tflite on nnapi: NNAPI on Android 13 runs no node; everything runs on the CPU, mainly because of 1 ROUND"
    )


def test_a_model_that_will_not_run_fails():
    options = {"max_number_delegated_partitions": 1, "allow_dynamic_dimensions": True}
    analysis = Analysis(
        delegate_sim.analyze(MODELS / "float16_weights_partial.tflite", "nnapi", options, defaults="api"), "m.tflite"
    )
    assert analysis.measures.is_delegated
    lines = failure(analysis, "assert_delegated", 0.0)
    assert lines[0].startswith("m.tflite on nnapi: The model does not run, although NNAPI on Android 13 takes 1 of 7 nodes: ")
    assert any(line.startswith("refusal: cpu-kernel-after-remapping: AllocateTensors will fail: ") for line in lines)


def test_a_model_without_nodes_is_wholly_delegated():
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    graph.outputs(graph.input("x", "FLOAT32", [1, 4]))
    analysis_of(builder).assert_delegated().assert_fallback().assert_partitions(1)


def test_a_failure_is_not_endless_and_safe_to_print():
    builder = ModelBuilder()
    for number in range(30):
        graph = builder.subgraph(f"\x1b[31m{number}")
        source = graph.input("source", "FLOAT32", [1, 4])
        total, rounded = graph.tensor("total", "FLOAT32", [1, 4]), graph.tensor("rounded", "FLOAT32", [1, 4])
        graph.node("ADD", [source, source], [total], options={})
        graph.node("ROUND", [source], [rounded])
        graph.outputs(total, rounded)
    lines = failure(analysis_of(builder), "assert_delegated")
    assert not any("\x1b" in line for line in lines)
    assert any(line.startswith("log: ") and r"(\x1b[31m0)" in line for line in lines)
    assert "... and 25 more log lines" in lines
    assert "subgraph 19, ROUND: 1 node [1]" in lines
    assert "subgraph 20, ROUND: 1 node [1]" not in lines
    assert lines[-1] == "... and 10 more nodes ('delegate-sim analyze --verbose' lists all)"


def test_nodes_with_different_findings_share_a_group():
    lines = failure(analysis_of(chain_model(["ADD", "ADD 4", "ADD 4", "ADD 5"])), "assert_fallback")
    start = lines.index("ADD: 3 nodes [1-3]")
    assert lines[start + 1].startswith("nnapi-operator-version: version 4; needs version at most 2 (node 1; ")


@pytest.mark.parametrize("share", [95, -0.1])
def test_a_share_is_not_a_percentage(mixed, share):
    with pytest.raises(ValueError, match=f"^min_share must be a number from 0 to 1, not {share}$"):
        mixed.assert_delegated(share)


def test_an_operator_that_does_not_exist_cannot_be_forbidden(mixed):
    with pytest.raises(ValueError, match="there is no operator 'CONV2D'"):
        mixed.assert_fallback(forbid=["CONV2D"])


def test_an_analysis_is_shown_by_what_it_found(mixed):
    assert repr(mixed) == "<m.tflite on nnapi: delegated, with 2 of 4 nodes in 2 delegate kernels and 3 partitions>"
