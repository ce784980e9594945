"""Which plugins can be run, running LiteRT's tool, and holding what it says against the simulation; with a stand-in for it."""

from __future__ import annotations

import json
import os
import sys

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live import engines, packages, process
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.decision import LiveDecision, LiveNode
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.delegates.npu.models import chain

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")

LINES = (
    "INFO: [compiler_plugin.cc:524] Partition strategy: 0",
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected 1 ops, from a total of 2 ops. resulted in 1 partitions.",
)


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Make a stand-in for LiteRT's package, whose tool prints lines, writes partitions and ends with a status."""
    for folder in ("tools", "vendors/intel_openvino/compiler", "vendors/mediatek/compiler"):
        (tmp_path / folder).mkdir(parents=True)
    installed = {"ai_edge_litert": tmp_path, "openvino": tmp_path}
    monkeypatch.setattr(packages, "package_folder", installed.get)

    def make(lines=LINES, ops=("RELU",), end="sys.exit(0)"):
        partitions = chain(list(ops)).bytes()
        path = tmp_path / "tools" / "apply_plugin_main"
        path.write_text(
            f"#!{sys.executable}\nimport os, signal, sys, time\nout = next(a[4:] for a in sys.argv if a.startswith('--o='))\n"
            f"print({chr(10).join(lines)!r}, flush=True)\nopen(out, 'wb').write({partitions!r})\n{end}\n",
            encoding="utf-8",
        )
        path.chmod(0o755)

    make.packages = installed
    return make


def find_engine(name):
    return engines.find_engine(find_delegate(name))


def compared(name="npu-intel", **options):
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    return compare_live(find_engine(name), model, delegate_sim.analyze(model, name, options).runs[0])


def test_the_same(tool):
    tool()
    found = compared()
    assert (found.is_equal, found.is_run, found.end) == (True, True, "")
    assert found.lines == tuple(line.split("] ")[1] for line in LINES)


def test_other_lines(tool):
    tool(LINES[:1])
    (difference,) = compared().differences
    assert difference.startswith("live: no line; simulated: Partitioned subgraph<0>")


def test_other_partitions(tool):
    tool(ops=("TANH",))
    assert compared().differences == ("simulated, but not live: a partition of RELU",)


def test_a_crash_is_an_outcome(tool):
    tool(end="os.kill(os.getpid(), signal.SIGABRT)")
    found = compared()
    assert (found.is_equal, found.end) == (True, "it crashed (SIGABRT)")
    tool(LINES[:1], end="os.kill(os.getpid(), signal.SIGABRT)")
    assert not compared().is_equal


def test_partitions_that_are_not_simulated():
    """Where an engine tells all that it took, and nothing else."""
    engine = find_engine("xnnpack")
    model = delegate_sim.load(chain(["RELU", "NEG"]).bytes())
    (run,) = delegate_sim.analyze(model, "xnnpack").runs
    engine.decide = lambda model, options: LiveDecision(False, partitions=((LiveNode("RELU", (0, 0)),),))
    assert compare_live(engine, model, run).differences == (
        "simulated, but not live: a partition of node 0 RELU, node 1 NEG",
        "live, but not simulated: a partition of node 0 RELU",
    )


def test_a_failure_that_is_not_simulated(tool):
    tool(end="sys.exit(5)")
    assert "live: it failed with status 5; simulated: it succeeds" in compared().differences


def test_too_long(tool, monkeypatch):
    monkeypatch.setattr(process, "SECONDS", 1)
    tool(end="time.sleep(60)")
    assert compared().end == "it was stopped after 1 seconds"


def test_a_vendors_library_that_is_not_there(tool):
    tool((), end="sys.exit(1)")
    found = compared("npu-mediatek")
    assert not found.is_run
    assert "NeuroPilot" in found.end


def test_what_is_missing_is_said(tool):
    tool()
    assert find_engine("npu-intel").is_ready
    assert "a release of ai-edge-litert" in find_engine("npu-samsung").lacks
    tool.packages.pop("openvino")
    assert "pip install openvino" in find_engine("npu-intel").lacks
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


def test_analyze_live(tool, run, tmp_path):
    chain(["RELU", "NEG"]).write(tmp_path / "m.tflite")
    tool()
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-intel", "--live")
    assert result.exit_code == 0
    assert "the real code decides as simulated" in result.stdout
    tool(LINES[:1])
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-intel", "--live", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["live"][0]["equal"]) == (1, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--delegate", "gpu", "--live"], "cannot be run here"),
        (["--live"], "name them with --delegate"),
        (["--delegate", "npu-intel", "--live", "--format", "csv"], "text or json"),
        (["--delegate", "npu-samsung", "--live"], "cannot be run here"),
    ],
)
def test_what_cannot_be_run(tool, run, tmp_path, arguments, words):
    chain(["RELU"]).write(tmp_path / "m.tflite")
    tool()
    result = run("analyze", tmp_path / "m.tflite", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_doctor(tool, run):
    tool()
    lines = run("doctor").stdout.splitlines()
    assert any(line.split()[:2] == ["npu-intel", "ready"] for line in lines)
    entries = json.loads(run("doctor", "--format", "json").stdout)["engines"]
    assert {entry["target"]: entry["ready"] for entry in entries}["npu-intel"]
