"""ML Drift against LiteRT's GPU accelerator, where there is a Vulkan driver; one that draws in software will do."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from delegate_sim import analyze, load
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.errors import OptionError
from delegate_sim.foundation import packages
from delegate_sim.live import engine, litert_engines
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.live_runs import find_engine
from fixtures.builder import ModelBuilder
from tests.support.delegates.mldrift_build_cases import CASES, model_of
from tests.support.live.graphs import models

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.tflite"))
EXAMPLES = int(os.environ.get("DELEGATE_SIM_LIVE_EXAMPLES", "200")) // 8
EVERY = 1 if EXAMPLES > 25 else 3
"""Of models that are run in a process each, every third; ``make random-graphs`` takes all."""
OPTIONS = {"backend": "webgpu"}
ENGINE = find_engine(find_delegate("mldrift"))
live = pytest.mark.skipif(not ENGINE.is_ready, reason=f"LiteRT's GPU cannot be run here: it lacks {ENGINE.lacks}")


def compared(model, options=OPTIONS):
    model = load(model)
    engine = find_engine(find_delegate("mldrift"))
    return compare_live(engine, model, analyze(model, "mldrift", options, runtime="litert-2.3", defaults="api").runs[0])


@live
@pytest.mark.parametrize("path", FIXTURES[::EVERY], ids=lambda path: path.stem)
def test_a_fixture(path):
    found = compared(path)
    assert (found.is_run, found.differences) == (True, ())


# Custom operators compile only with a hint that LiteRT's Python API cannot set.
BUILDS = [case for case in CASES if case.backend == "webgpu" and case.op.isupper()]


@live
@pytest.mark.parametrize("case", BUILDS[::EVERY], ids=lambda case: f"{case.op}-{case.code}")
def test_a_build(case):
    found = compared(model_of(case))
    assert (found.is_run, found.differences, bool(found.decision.end)) == (True, (), case.code is not None)


@live
@given(model=models())
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
def test_random_graphs(model):
    assert compared(model).differences == ()


@live
@pytest.mark.parametrize("kind", ["INT32", "INT64"])
def test_what_the_delegate_of_the_cpu_fails_with(kind):
    """XNNPACK takes a TRANSPOSE that the GPU refuses, and reads the permutation as INT32."""
    found = compared(transposing(kind))
    assert (found.is_run, found.differences, bool(found.decision.end)) == (True, (), kind == "INT64")


@live
def test_without_the_cpu_a_node_that_is_left_fails_the_model():
    path = next(path for path in FIXTURES if path.stem == "activations")
    assert compared(path).decision.end == ""
    assert compared(path, {**OPTIONS, "cpu_fallback": False}).differences == ()


# With a stand-in for the process


@pytest.fixture
def printed(monkeypatch, tmp_path):
    (tmp_path / "libLiteRtWebGpuAccelerator.so").touch()
    monkeypatch.setattr(packages, "package_folder", lambda name: tmp_path)
    monkeypatch.setattr(packages, "runtime_release", lambda: "litert-2.3.0")
    monkeypatch.setattr(litert_engines, "driver_environment", dict)

    def make(*lines, status=0):
        finished = engine.Finished(status, "\n".join(lines))
        monkeypatch.setattr(litert_engines, "run_limited", lambda *_: finished)

    return make


def transposing(kind):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    order = graph.tensor("order", kind, (4,), np.arange(4, dtype=kind.lower()))
    result = graph.tensor("y", "FLOAT32", (1, 4, 5, 2))
    graph.node("TRANSPOSE", [graph.input("x", "FLOAT32", (1, 4, 5, 2)), order], [result])
    graph.outputs(result)
    return bytes(builder.bytes())


ADAPTER = "I0000 environment.cc:532] Selected adapter: SwiftShader"
HEADING = "ERROR: Following operations are not supported by GPU delegate:"
REFUSED = "L2_NORMALIZATION: Operation is not supported."
COUNTED = "1 operations will run on the GPU, and the remaining 1 operations will run on the CPU."


@pytest.fixture
def model():
    from tests.support.delegates.npu_models import chain

    return chain(["RELU", "L2_NORMALIZATION"]).bytes()


def test_the_message_is_compared(printed, model):
    printed(ADAPTER, HEADING, REFUSED, COUNTED, "INFO: other")
    found = compared(model)
    assert found.decision.lines == (HEADING.removeprefix("ERROR: "), REFUSED, COUNTED)
    assert found.is_equal
    printed(ADAPTER, HEADING, REFUSED, COUNTED.replace("1", "2"))
    assert not compared(model).is_equal


@pytest.mark.parametrize(
    ("counts", "differs"),
    [
        ('{"gpu": [1, 1], "cpu": [0, 0]}', False),
        ('{"gpu": [1, 1], "cpu": [1, 1]}', True),
        ('{"gpu": [1, 2], "cpu": [0, 0]}', True),
    ],
)
def test_counts_of_the_runtime_are_compared(printed, model, counts, differs):
    printed(ADAPTER, HEADING, REFUSED, COUNTED, f"delegation: {counts}")
    found = compared(model)
    assert found.decision.taken["gpu"][0] == 1
    assert bool(found.differences) == differs


def test_a_message_that_is_repeated_counts_once(printed, model):
    printed(ADAPTER, *[HEADING, REFUSED, COUNTED] * 2)
    assert compared(model).is_equal


def test_a_failure_that_is_not_foretold(printed, model):
    printed(ADAPTER, HEADING, REFUSED, COUNTED, status=-6)
    (difference,) = compared(model).differences
    assert "SIGABRT" in difference


def test_a_failure_of_the_delegate_of_the_cpu(printed):
    heading = [
        HEADING,
        "TRANSPOSE: src has wrong size.",
        "No operations will run on the GPU, and all 1 operations will run on the CPU.",
    ]
    printed(ADAPTER, *heading, status=1)
    assert compared(transposing("INT64")).is_equal
    printed(ADAPTER, *heading)
    (difference,) = compared(transposing("INT64")).differences
    assert "xnnpack" in difference


def test_without_a_device_nothing_is_said(printed, model):
    printed("error", status=1)
    found = compared(model)
    assert (found.is_run, found.differences, found.decision.lacks) == (False, (), litert_engines.INSTALL)


def test_options_that_it_cannot_be_given(printed, model):
    printed(ADAPTER)
    with pytest.raises(OptionError, match="add --option backend=webgpu"):
        compared(model, {})


def test_what_is_lacking(printed, monkeypatch, tmp_path):
    assert find_engine(find_delegate("mldrift")).lacks == ""
    monkeypatch.setattr(litert_engines, "driver_environment", lambda: None)
    assert find_engine(find_delegate("mldrift")).lacks == litert_engines.INSTALL
    (tmp_path / "libLiteRtWebGpuAccelerator.so").unlink()
    assert "pip install ai-edge-litert" in find_engine(find_delegate("mldrift")).lacks


def test_chromiums_driver_serves_where_the_system_has_none(monkeypatch, tmp_path):
    monkeypatch.setattr(litert_engines, "_BROWSER_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(litert_engines, "_DRIVER_FOLDERS", (str(tmp_path / "icd.d"),))
    for name in litert_engines._NAMED_BY:
        monkeypatch.delenv(name, raising=False)
    assert litert_engines.driver_environment() is None
    for name in ("libvulkan.so.1", "vk_swiftshader_icd.json"):
        (tmp_path / name).touch()
    assert litert_engines.driver_environment()["VK_ICD_FILENAMES"] == str(tmp_path / "vk_swiftshader_icd.json")
    (tmp_path / "icd.d").mkdir()
    (tmp_path / "icd.d" / "driver.json").touch()
    monkeypatch.setattr(litert_engines.ctypes.util, "find_library", lambda name: "libvulkan.so.1")
    assert litert_engines.driver_environment() == {}
