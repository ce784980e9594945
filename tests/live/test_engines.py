"""Finding plugins, running LiteRT's tool (here a stand-in), and comparing its output with the simulation."""

from __future__ import annotations

import os

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live import engine
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.engine import LiveDecision, LiveNode
from tests.support.delegates.npu_models import chain
from tests.support.live.plugin_tool import FAILS, LINES, compared, find_engine, stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")


@pytest.fixture
def tool(tmp_path, monkeypatch):
    return stand_in(tmp_path, monkeypatch)


def test_the_same(tool):
    tool()
    found = compared()
    assert (found.is_equal, found.is_run, found.decision.end) == (True, True, "")
    assert found.decision.lines == tuple(line.split("] ")[1] for line in LINES)


def test_other_lines(tool):
    tool(LINES[:1])
    (difference,) = compared().differences
    assert difference.startswith("live: no line; simulated: ")


def test_other_partitions(tool):
    tool(ops=("TANH",))
    (difference,) = compared().differences
    assert difference.endswith("node 0 RELU")


def test_a_crash_is_an_outcome(tool):
    tool(end="os.kill(os.getpid(), signal.SIGABRT)")
    found = compared()
    assert (found.is_equal, found.decision.end) == (True, "it crashed (SIGABRT)")
    tool(LINES[:1], end="os.kill(os.getpid(), signal.SIGABRT)")
    assert not compared().is_equal


def test_partitions_that_are_not_simulated():
    """A log in which an engine names all that it took, and nothing else."""
    engine = find_engine("xnnpack")
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    (run,) = delegate_sim.analyze(model, "xnnpack", defaults="api").runs
    engine.decide = lambda model, options, **_: LiveDecision(False, partitions=((LiveNode("RELU", (0, 0)),),))
    found = compare_live(engine, model, run).differences
    assert [difference.partition(" of ")[2] for difference in found] == ["node 0 RELU, node 1 NEG", "node 0 RELU"]


def test_a_failure_that_is_not_simulated(tool):
    tool(end="sys.exit(5)")
    assert any("status 5" in difference for difference in compared().differences)


def test_too_long(tool, monkeypatch):
    monkeypatch.setattr(engine, "SECONDS", 1)
    tool(end="time.sleep(60)")
    assert "DELEGATE_SIM_LIMITS" in compared().decision.end


def test_a_vendors_library_that_is_not_there(tool):
    tool(
        ("ERROR: [neuron_adapter_api.cc:9] Failed to load NeuronAdapter shared library: libneuron_adapter.so: no file",),
        end=FAILS,
    )
    found = compared("npu-mediatek")
    assert (found.is_run, found.is_equal, found.differences) == (False, False, ())
    assert "NeuroPilot" in found.decision.lacks
    assert found.decision.lacks.endswith("(libneuron_adapter.so: no file)")


def test_a_failure_with_all_libraries_there_is_none_of_them(tool):
    tool((), end=FAILS)
    found = compared("npu-mediatek")
    assert found.is_run
    assert "status 1" in found.differences[-1]


def test_closed_code_is_not_compared(tool):
    tool((*LINES, "INFO: [compiler_plugin.cc:300] Use Get supported operations for partition."))
    found = compared("npu-mediatek")
    assert (found.is_run, found.is_compared, found.is_equal, found.differences) == (True, False, False, ())
    assert [node.words for node in found.decision.partitions[0]] == ["node 0 RELU"]


def test_what_is_missing_is_said(tool):
    tool()
    assert find_engine("npu-intel").is_ready
    assert "ai-edge-litert" in find_engine("npu-samsung").lacks
    tool.packages.clear()
    assert "pip install ai-edge-litert" in find_engine("npu-intel").lacks
    assert find_engine("gpu").lacks


def test_the_options_are_handed_on():
    traits = find_delegate("npu-intel").live
    options = {"soc": "LNL", "partition_strategy": "default", "max_partitions": 2, "subgraphs": (0, 2)}
    assert list(traits.arguments(options)) == [
        "--soc_model=LNL",
        "--partition_strategy=default",
        "--compiler_options_max_partitions=2",
        "--subgraphs=0,2",
    ]


def test_the_library_names_the_release_of_openvino(tool):
    tool(["ERROR: Could not load shared library x.so: libopenvino.so.2641: cannot open"], end=FAILS)
    assert "pip install openvino==2026.4.1" in compared().decision.lacks


@pytest.mark.parametrize("is_there", [False, True])
def test_a_library_is_where_newer_plugins_of_mediatek_look(tool, tmp_path, monkeypatch, is_there):
    tool(end="sys.exit(0 if os.path.isfile('external/neuro_pilot/v8_latest/host/lib/libneuron_adapter.so') else 1)")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    if is_there:
        (tmp_path / "libneuron_adapter.so").touch()
    assert compared("npu-mediatek").decision.has_failed != is_there
