"""The second stage: what compilers and runtimes do with selected nodes. A stand-in for LiteRT's tool plays the compilers."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live import live_runs
from delegate_sim.live.comparison import run_and_compare
from delegate_sim.live.engine import BuiltPartition, SecondStage
from delegate_sim.live.litert_engines import _second_stage
from delegate_sim.reduction.failures import LiveTest
from tests.support.delegates.npu_models import chain, compiled
from tests.support.live.plugin_tool import find_engine, stand_in

COMPILED = compiled("IntelOpenVINO", "LNL").bytes()
ERRORS = (
    "ERROR: [openvino_compiler_plugin.cc:714] Exception in compilation: Exception from src/inference/src/cpp/core.cpp:117:",
    "Exception from src/inference/src/dev/plugin.cpp:54:",
    "     0.0ms [ ERROR ]   <E> no memory",
    "ERROR: [apply_plugin.cc:455] ERROR: [litert/compiler/plugin/compiler_plugin.cc:504]",
)
MISSING = 'Cannot load library "/x/libloader.so": no such file'
NEEDS = find_delegate("npu-intel").live.compiler_needs
DONE = "INFO: [openvino_compiler_plugin.cc:643] Model export done"
MESSAGES = "Exception in compilation; <E> no memory; it failed with status 248"
TWO = (
    "INFO: [compiler_plugin.cc:524] Partition strategy: 0",
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected 2 ops, from a total of 3 ops. resulted in 2 partitions.",
    "[LITERT_TOOLS:PARTITION] Partitioning yielded 2 new subgraphs",
)


def stage_of(engine, model):
    target = delegate_sim.analyze(model, engine.delegate.name, defaults="api").runs[0].target
    _, result = run_and_compare(engine, model, target, target.release)
    stage = result.decision.second_stage
    return stage if stage is None else replace(stage, seconds=None)


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """Return the second stage, if the tool runs this code for the task ``apply``."""

    def make(applied):
        stand_in(tmp_path, monkeypatch)(end=f"if '--cmd=apply' in sys.argv:\n    {applied}\nsys.exit(0)")
        return stage_of(find_engine("npu-intel"), delegate_sim.load(chain(["RELU", "NEG"]).bytes()))

    return make


def fails(*lines):
    return f"print({chr(10).join(lines)!r}); sys.exit(248)"


@pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")
@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        pytest.param(f"open(out, 'wb').write({COMPILED!r})", SecondStage(True, (BuiltPartition(1, True, 1234),)), id="compiled"),
        pytest.param("pass", SecondStage(False, (BuiltPartition(1, False),)), id="nothing is compiled"),
        pytest.param(fails(*ERRORS), SecondStage(False, (BuiltPartition(1, False, message=MESSAGES),)), id="the compiler fails"),
        pytest.param(
            fails(MISSING),
            SecondStage(
                False,
                (BuiltPartition(1, False, message=f"{MISSING}; it failed with status 248"),),
                lacks=f"libloader.so in /x. {NEEDS}",
            ),
            id="the compiler lacks a library",
        ),
        pytest.param(
            "os.kill(os.getpid(), signal.SIGSEGV)",
            SecondStage(False, (BuiltPartition(1, False, message="it crashed (SIGSEGV)"),)),
            id="the compiler crashes",
        ),
    ],
)
def test_answers_of_a_compiler(stage, applied, expected):
    found = stage(applied)
    assert found == expected
    assert found.has_failed == (not expected.is_built and not expected.lacks)


@pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(ERRORS, MESSAGES, id="the compiler fails"),
        pytest.param((MISSING,), None, id="a missing library is no failure of the model"),
    ],
)
def test_a_model_that_is_not_compiled_can_be_reduced(tmp_path, monkeypatch, lines, message):
    stand_in(tmp_path, monkeypatch)(ops=("RELU",), end=f"if '--cmd=apply' in sys.argv:\n    {fails(*lines)}\nsys.exit(0)")
    failure = LiveTest("npu-intel", {}).run(chain(["RELU", "NEG"]).bytes())
    assert (failure and failure.message) == message


NODES = ((1, True), (2, False), (3, None))


@pytest.mark.parametrize(
    ("line", "done", "expected"),
    [
        pytest.param("Model export done", 0, (False, None, None), id="the first"),
        pytest.param("Model export done", 1, (True, False, None), id="the second"),
        pytest.param("Model export done", 3, (True, True, True), id="all of them, and then something else fails"),
        pytest.param("", 1, (None, None, None), id="a plugin that prints no line for each partition"),
    ],
)
def test_the_partition_that_fails(monkeypatch, tmp_path, line, done, expected):
    """The plugin compiles the partitions in order."""
    make = stand_in(tmp_path, monkeypatch)
    make(end=fails(*[DONE] * done, *ERRORS))
    engine = find_engine("npu-intel")
    engine._traits = replace(engine._traits, compiled_line=line)
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    options = delegate_sim.analyze(model, "npu-intel", defaults="api").runs[0].options
    found = engine._second_stage(bytes(model.content), options, [(None,) * nodes for nodes, _ in NODES])
    assert tuple(part.is_built for part in found.partitions) == expected
    assert [part.message for part in found.partitions] == [MESSAGES if built is False else "" for built in expected]
    assert bool(found.messages) == (False not in expected)
    assert found.errors


def test_the_kernel_that_fails_in_the_run():
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    failure = "kernel.cc:1 it is wrong. Node number 3 (TfLiteXNNPackDelegate) failed to invoke."
    found = _second_stage(model, ((None,), (None,)), {"run_error": failure, "built": 0.5}, "")
    assert [part.message for part in found.partitions] == ["", failure]
    assert (found.is_built, found.run_failure, found.has_failed) == (True, failure, True)
    stopped = _second_stage(model, ((None,),), {"built": 0.5}, "it was stopped")
    assert (stopped.run_failure, stopped.partitions) == ("it was stopped", (BuiltPartition(1, True),))


@pytest.mark.parametrize("name", ["xnnpack", "mldrift"])
def test_kernels_are_built_and_run(name):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'live'")
    engine = live_runs.find_engine(find_delegate(name))
    if engine.lacks:
        pytest.skip(f"lacks {engine.lacks}")
    model = delegate_sim.load(chain(["RELU", "NEG", "L2_NORMALIZATION"]).bytes())
    options = {"backend": "webgpu"} if name == "mldrift" else {}
    run = delegate_sim.analyze(model, name, options, defaults="api").runs[0]
    stage = engine.decide(model, run.options, to_end=True).second_stage
    nodes = sum(len(subset.nodes) for subset in run.subgraphs[0].subsets if subset.is_delegated)
    assert (stage.is_built, [part.nodes for part in stage.partitions]) == (True, [nodes])
    assert (stage.run_seconds > 0, stage.seconds > 0, stage.run_failure) == (True, True, "")
