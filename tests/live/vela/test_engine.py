"""Vela with a stand-in for the process, and the real Vela where it is installed."""

from __future__ import annotations

import json
import os

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import VELA_NAMES, find_delegate, find_live
from delegate_sim.errors import OptionError
from delegate_sim.foundation import packages
from delegate_sim.live import engine
from delegate_sim.live.live_runs import find_engine
from fixtures.builder import ModelBuilder
from tests.support.delegates.npu_models import chain
from tests.support.live.vela_process import REFUSED, compiled, stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are limited on POSIX systems only")


@pytest.fixture
def model(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "package_version", lambda name: "5.2.0")
    return delegate_sim.load(chain(["RELU", "NEG", "RESHAPE"]).bytes())


def decide(model, name="ethos-u55-128", **options):
    delegate = find_live(name)
    return find_engine(delegate).decide(model, parse_options(name, delegate.options, options))


def places(decision):
    return [(placement.op, placement.place, placement.is_listed) for placement in decision.placements]


def test_places_reasons_and_figures(monkeypatch, model):
    stand_in(monkeypatch, 0, REFUSED, compiled())
    decision = decide(model)
    assert places(decision) == [("RELU", "npu", True), ("NEG", "cpu", True), ("RESHAPE", "gone", False)]
    name = model.subgraphs[0].tensors[1].name
    assert decision.placements[1].reason == f"Operation has tensor ({name}); Must be INT8"
    assert decision.lines == ("CUSTOM 'other': Unsupported opType",)
    figures = decision.figures
    assert (figures["sram_bytes"], figures["npu_cycles"], figures["total_cycles"], figures["macs"]) == (88704, 8, 9, 7)


def scaled(scale):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source = graph.input("in", "INT8", [1, 4], scale=0.5, zero_point=0)
    middle = graph.tensor("middle", "INT8", [1, 4], scale=0.5, zero_point=0)
    result = graph.tensor("out", "INT8", [1, 4], scale=scale, zero_point=0)
    graph.node("RELU", [source], [middle])
    graph.node("NEG", [middle], [result])
    graph.outputs(result)
    return delegate_sim.load(builder.bytes())


LARGE = "Quantization scale of any tensor must be positive.\n"
OTHER = "Warning (supported operators) operator: RELU, ofm: '@0:1@'\nReason: Unsupported opType\n"


@pytest.mark.parametrize(
    ("scale", "output", "reason"),
    [
        (3e29, OTHER + LARGE, f"Operation has a scale of 3e+29; {LARGE.strip()}"),
        (2.0**31, LARGE, f"Operation has a scale of 2.15e+09; {LARGE.strip()}"),
        (2.0**30, LARGE, ""),
        (3e29, OTHER, ""),
    ],
)
def test_a_check_that_names_no_node_belongs_to_the_nodes_with_large_scales(monkeypatch, model, scale, output, reason):
    stand_in(monkeypatch, 0, output, compiled())
    relu, neg = decide(scaled(scale)).placements
    assert (neg.reason, relu.reason) == (reason, "Unsupported opType" if OTHER in output else "")


def test_an_answer_is_cached_by_content_options_and_version(monkeypatch, model):
    runs = stand_in(monkeypatch, 0, REFUSED, compiled())
    assert decide(model) == decide(model)
    assert len(runs) == 1
    decide(model, system_config="Other")
    decide(model, "ethos-u65-256")
    assert [command[-1] for command in runs[1:]] == ["--optimise=Performance"] * 2
    assert "--system-config=Other" in runs[1]
    monkeypatch.setattr(packages, "package_version", lambda name: "5.3.0")
    decide(model)
    assert len(runs) == 4


def test_a_cache_that_cannot_be_written_or_read_is_ignored(monkeypatch, model, tmp_path):
    runs = stand_in(monkeypatch, 0, REFUSED, compiled())
    (tmp_path / "cache").write_text("", encoding="utf-8")
    assert decide(model) == decide(model)
    (tmp_path / "cache").unlink()
    decide(model)
    for path in (tmp_path / "cache").rglob("*.json"):
        path.write_text(json.dumps({"key": 3}), encoding="utf-8")
    decide(model)
    assert len(runs) == 4


@pytest.mark.parametrize(
    ("status", "output", "end", "runs"),
    [
        (
            1,
            "Traceback\nRuntimeError: Error: NEG '@0:2@' has no shape\n - rank=0\n",
            "it refuses the file: Error: NEG '{}' has no",
            1,
        ),
        (-8, REFUSED, "it crashed (SIGFPE)", 2),
        (None, REFUSED, "it was stopped after", 2),
    ],
)
def test_the_end_of_a_process_and_the_reasons_until_then(monkeypatch, model, status, output, end, runs):
    started = stand_in(monkeypatch, status, output)
    decision = decide(model)
    assert decision.has_failed
    assert end.format(model.subgraphs[0].tensors[2].name) in decision.end
    assert {placement.place for placement in decision.placements} == {"unknown"}
    assert bool(decision.placements[1].reason) == (output is REFUSED)
    decide(model)
    assert len(started) == runs


def test_a_hang_keeps_what_was_printed(monkeypatch, model, tmp_path):
    package = tmp_path / "ethosu" / "vela"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "__main__.py").write_text(f"import time\nprint({REFUSED!r})\ntime.sleep(60)\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(engine, "SECONDS", 5)
    decision = decide(model)
    assert "5 seconds" in decision.end
    assert "Must be INT8" in decision.placements[1].reason


@pytest.mark.parametrize("version", ["", "4.5.0", "5.1.0"])
def test_a_version_that_is_missing_or_too_old(monkeypatch, version):
    monkeypatch.setattr(packages, "package_version", lambda name: version)
    assert "pip install '.[vela]'" in find_engine(find_live("ethos-u85-256")).lacks


@pytest.mark.parametrize("name", VELA_NAMES)
def test_every_configuration_is_live_only(name):
    assert find_live(name).live.accelerator == name
    with pytest.raises(OptionError, match="Arm's compiler Vela decides"):
        find_delegate(name)


@pytest.mark.slow
def test_the_real_vela(tmp_path, monkeypatch):
    pytest.importorskip("ethosu.vela", reason="needs the extra vela")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    decision = decide(delegate_sim.load("fixtures/models/quantized_block.tflite"))
    assert [place for _, place, _ in places(decision)] == ["cpu", *["npu"] * 5, "cpu"]
    assert decision.placements[0].reason.startswith("Operation has tensor with unsupported DataType Float32")
    assert decision.figures["npu_cycles"] > 0
