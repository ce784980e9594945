"""LiteRT-LM's real engine: its log, and differences from the simulation."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from delegate_sim.live import litert_lm
from delegate_sim.live.engine import Finished
from delegate_sim.live.litert_lm import run_bundle, try_engine
from delegate_sim.llm.engine import run_engine
from fixtures.language_models import bundle, decoder

HAS_ENGINE = importlib.util.find_spec("litert_lm") is not None
RANK5 = decoder(operators={"decode": ["RESHAPE5"]})
REFUSED = """INFO: [environment.cc:47] Adding options to the existing LiteRT environment
VERBOSE: Replacing 6 out of 6 node(s) with delegate (LITERT_WEBGPU) node, yielding 1 partitions for subgraph 0 (prefill_16).
ERROR: Following operations are not supported by GPU delegate:
RESHAPE: Tensor dimensions must be less than 5. decode_extra0
5 operations will run on the GPU, and the remaining 3 operations will run on the CPU.
VERBOSE: Replacing 5 out of 8 node(s) with delegate (LITERT_WEBGPU) node, yielding 2 partitions for subgraph 1 (decode).
ERROR: Hint fully delegated to single delegate is set, but the graph is not fully delegated.
E0000 00:00:1795728728.380278    9920 engine.cc:854] Failed to create engine: UNKNOWN: ERROR: [a.cc:236]
└ ERROR: [b.h:1961]
└ Failed to modify graph with delegate
=== Source Location Trace: ===
third_party/x.h:570
error: Failed to create LiteRT-LM engine for llm.litertlm
"""


@pytest.fixture
def stand_in(monkeypatch):
    """Return a function that replaces the engine by the end of its process, its log and the stage that it reached."""

    def replace_by(status, output, stage):
        monkeypatch.setattr(litert_lm.packages, "package_folder", lambda name: Path("/"))
        monkeypatch.setattr(litert_lm.litert_engines, "driver_environment", dict)

        def run_module(name, arguments, environment, folder):
            Path(arguments[2]).write_text(stage, encoding="utf-8")
            return Finished(status, output)

        monkeypatch.setattr(litert_lm, "run_module", run_module)

    return replace_by


@pytest.fixture
def report(tmp_path):
    def simulated(model, backend):
        path = tmp_path / "llm.litertlm"
        path.write_bytes(bundle(model))
        return run_engine(str(path), backend, {})

    return simulated


def test_a_refusal_as_simulated(stand_in, report):
    stand_in(3, REFUSED, "engine")
    live = run_bundle(report(RANK5, "gpu"))
    assert (live.outcome, live.stage) == ("refused", "engine")
    assert live.error.splitlines()[-1] == "└ Failed to modify graph with delegate"
    assert [(line.delegate, line.replaced, line.name) for line in live.replacements] == [
        ("LITERT_WEBGPU", 6, "prefill_16"),
        ("LITERT_WEBGPU", 5, "decode"),
    ]
    assert live.differences == ()
    assert live.to_dict()["equal"]


def test_another_outcome(stand_in, report):
    stand_in(0, "", "")
    live = run_bundle(report(RANK5, "gpu"))
    assert len(live.differences) == 1


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("Failed to modify", "Could not modify", "live: UNKNOWN: ERROR: [a.cc:236]"),
        (
            "Replacing 5 out of 8",
            "Replacing 7 out of 8",
            "replaced nodes: live 7 of 8 by LITERT_WEBGPU, 2 partitions, subgraph 1; simulated 5",
        ),
    ],
)
def test_another_text(stand_in, report, old, new, difference):
    stand_in(3, REFUSED.replace(old, new), "engine")
    (found,) = run_bundle(report(RANK5, "gpu")).differences
    assert found.startswith(difference)


def test_a_crash_and_a_later_failure(stand_in, report):
    for status in (-11, 1):
        stand_in(status, "", "engine")
        assert run_bundle(report(decoder(), "cpu")).outcome == "crash"
    stand_in(3, "Failed to run prefill: NOT_FOUND: no\n", "prefill")
    live = run_bundle(report(decoder(), "cpu"))
    assert (live.outcome, live.stage, live.error) == ("starts-then-fails", "prefill", "NOT_FOUND: no")


def test_what_the_host_lacks(stand_in, report, monkeypatch):
    stand_in(3, "Failed to initialize WebGPU environment: INTERNAL: No adapters found\n", "engine")
    assert not run_bundle(report(decoder(), "gpu")).is_run
    assert "gpu_artisan" in run_bundle(report(decoder(), "gpu_artisan")).lacks
    monkeypatch.setattr(litert_lm.litert_engines, "driver_environment", lambda: None)
    assert "Vulkan" in run_bundle(report(decoder(), "gpu")).lacks
    monkeypatch.setattr(litert_lm.packages, "package_folder", lambda name: None)
    assert try_engine() == "litert-lm-api: pip install '.[litert-lm]'"


def test_doctor_tries_the_engine(stand_in):
    stand_in(3, "Failed to create engine: INVALID_ARGUMENT: Invalid magic number or failed to read: LITERTLX\n", "engine")
    assert try_engine() == ""
    stand_in(-6, "", "engine")
    assert try_engine() == "it crashed (SIGABRT)"


@pytest.mark.skipif(not HAS_ENGINE, reason="needs litert-lm-api")
@pytest.mark.slow
def test_the_real_engine_refuses_as_simulated(report):
    assert try_engine() == ""
    live = run_bundle(report(decoder(decode=None), "cpu"))
    assert (live.outcome, live.differences) == ("refused", ())
