"""Types that CPU kernels refuse only in ``Invoke``."""

from __future__ import annotations

import importlib.util

import pytest

import delegate_sim
from delegate_sim.refusal import Effect, Stage
from delegate_sim.releases.catalogue import NEWEST, parse_release
from delegate_sim.runtime.invoke_types import MEASURED, TESTED, computed_types
from fixtures.builder import ModelBuilder
from tools.kernel_types import CASES, TYPES, results, trials

LEFT = "FLOAT16"
"""The type that XNNPACK computes in place of some kernels."""


def one_node(op: str, kind: str, **quantization: float) -> bytes:
    builder = ModelBuilder()
    graph = builder.subgraph()
    source, result = graph.input("input", kind, (1, 4), **quantization), graph.tensor("output", kind, (1, 4), **quantization)
    graph.node(op, (source,), (result,), options={})
    graph.outputs(result)
    return bytes(builder.bytes())


def test_the_run_fails_in_invoke() -> None:
    run = delegate_sim.analyze(one_node("EXP", "UINT8", scale=0.1), "nnapi", defaults="api").runs[0]
    assert run.refusal is not None
    assert (run.refusal.code, run.refusal.node) == ("cpu-kernel-type", 0)
    assert (run.refusal.stage, run.refusal.effect) == (Stage.RUNNING, Effect.FAIL_AT_INVOKE)
    assert (run.refusal.values["found"], run.refusal.values["needed"]) == ("UINT8", "FLOAT32, INT8 or INT16")


@pytest.mark.parametrize(
    ("delegate", "op", "kind", "release", "fails"),
    [
        ("nnapi", "EXP", "FLOAT32", "litert-2.3", False),
        ("vx", "EXP", "UINT8", "litert-2.3", False),  # the delegate takes the node
        ("nnapi", "NEG", "INT8", "litert-1.2.0", True),
        ("nnapi", "NEG", "INT8", "litert-1.3.0", False),
        ("nnapi", "SIGN", "INT8", "tf-2.14", False),
        ("nnapi", "SIGN", "INT8", "tf-2.16", False),  # between two measured releases that differ
        ("nnapi", "SIGN", "INT8", "litert-1.0", True),
        ("nnapi", "EXP", "INT64", "tf-2.14", True),
        ("nnapi", "EXP", "INT64", "tf-2.13", False),  # before the first measured release
        ("nnapi", "EXP", LEFT, "litert-2.3", False),
        ("xnnpack", "EXP", "BOOL", "litert-2.3", True),
    ],
)
def test_releases_and_delegates(delegate: str, op: str, kind: str, release: str, fails: bool) -> None:
    run = delegate_sim.analyze(one_node(op, kind), delegate, runtime=release, defaults="api").runs[0]
    assert (run.refusal is not None and run.refusal.code == "cpu-kernel-type") == fails


@pytest.mark.parametrize(
    ("kind", "scale", "delegate", "fails"),
    [
        ("INT16", 0.2, "nnapi", True),
        ("INT16", 0.1, "nnapi", False),
        ("INT8", 0.2, "nnapi", False),  # XNNPACK computes it
        ("FLOAT32", 0.2, "nnapi", False),
    ],
)
def test_scales_of_a_maximum(kind: str, scale: float, delegate: str, fails: bool) -> None:
    builder = ModelBuilder()
    graph = builder.subgraph()
    source = graph.input("input", kind, (2, 4), scale=0.1)
    axis, result = graph.tensor("axis", "INT32", (1,), data=[1]), graph.tensor("output", kind, (2,), scale=scale)
    graph.node("REDUCE_MAX", (source, axis), (result,), options={})
    graph.outputs(result)
    run = delegate_sim.analyze(builder.bytes(), delegate, defaults="api").runs[0]
    assert (run.refusal is not None and run.refusal.code == "cpu-kernel-quantization") == fails


@pytest.mark.parametrize(("kind", "scale", "ends"), [("UINT8", None, True), ("UINT8", 0.1, False), ("INT32", None, False)])
def test_comparisons_of_bytes_without_a_scale(kind: str, scale: float | None, ends: bool) -> None:
    builder = ModelBuilder()
    graph = builder.subgraph()
    operands = [graph.input(name, kind, (2, 4), scale=scale) for name in "ab"]
    result = graph.tensor("output", "BOOL", (2, 4))
    graph.node("EQUAL", operands, (result,), options={})
    graph.outputs(result)
    run = delegate_sim.analyze(builder.bytes(), "nnapi", options={"feature_level": 27}, defaults="api").runs[0]
    assert (run.refusal is not None and run.refusal.code == "cpu-kernel-unquantized") == ends
    assert run.refusal is None or run.refusal.effect is Effect.CRASH_LATER


def test_the_table() -> None:
    assert set(TYPES) == TESTED
    assert list(MEASURED) == sorted(MEASURED, key=lambda release: release.order)
    for case in CASES:
        assert all(set(row.computed_in(NEWEST)) < TESTED for row in computed_types(case.op)), case.op


@pytest.mark.skipif(importlib.util.find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed")
def test_the_installed_wheel(tmp_path: object) -> None:
    wheel = importlib.import_module("ai_edge_litert").__version__
    release = parse_release(f"litert-{wheel}")
    tried, expected = [], []
    for case in CASES:
        (row,) = [
            own
            for own in computed_types(case.op)
            if str(own.operand) == case.tested and (own.when or ("", frozenset()))[1] == set(case.when)
        ]
        computed = row.computed_in(release)
        refused = [name for name in TYPES if name not in computed]
        for trial in trials(case, (*computed[:1], *refused[:2])):
            path = f"{tmp_path}/{len(tried)}.tflite"
            with open(path, "wb") as file:
                file.write(trial.model)
            tried.append(path)
            expected.append(trial.found in computed)
    found = results(tried, "")
    assert not [path for path, is_computed in zip(tried, expected, strict=True) if found[path] == "ok" and not is_computed]
    assert any(found[path] == "fails in Invoke" for path in tried)
    assert sum(found[path] == "ok" for path in tried) >= len(CASES)
