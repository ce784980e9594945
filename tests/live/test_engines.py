"""Which plugins can be run, running LiteRT's tool, and holding what it says against the simulation; with a stand-in for it."""

from __future__ import annotations

import base64
import json
import os
import sys

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.live import engines, naming, packages, process, trial
from delegate_sim.live.comparison import compare_live
from delegate_sim.live.decision import LiveDecision, LiveNode
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.cli.test_schemas import validate
from tests.support.delegates.npu_models import chain

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")

LINES = (
    "INFO: [compiler_plugin.cc:524] Partition strategy: 0",
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected 1 ops, from a total of 2 ops. resulted in 1 partitions.",
)


YIELDED = "[LITERT_TOOLS:PARTITION] Partitioning yielded 1 new subgraphs"
FAILS = "sys.exit(1)"


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Make a stand-in for LiteRT's package, whose tool prints lines, writes partitions and ends with a status."""
    for folder in ("tools", "vendors/intel_openvino/compiler", "vendors/mediatek/compiler"):
        (tmp_path / folder).mkdir(parents=True)
    installed = {"ai_edge_litert": tmp_path, "openvino": tmp_path}
    monkeypatch.setattr(packages, "package_folder", installed.get)
    monkeypatch.setattr(packages, "runtime_release", lambda: "litert-2.3.0")

    def make(lines=LINES, ops=("RELU",), end="sys.exit(0)"):
        partitions = chain(list(ops)).bytes()
        path = tmp_path / "tools" / "apply_plugin_main"
        path.write_text(
            f"#!{sys.executable}\nimport os, signal, sys, time\nout = next(a[4:] for a in sys.argv if a.startswith('--o='))\n"
            f"print({chr(10).join([*lines, YIELDED])!r}, flush=True)\nopen(out, 'wb').write({partitions!r})\n{end}\n",
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
    assert (found.is_equal, found.is_run, found.decision.end) == (True, True, "")
    assert found.decision.lines == tuple(line.split("] ")[1] for line in LINES)


def test_other_lines(tool):
    tool(LINES[:1])
    (difference,) = compared().differences
    assert difference.startswith("live: no line; simulated: Partitioned subgraph<0>")


def test_other_partitions(tool):
    tool(ops=("TANH",))
    assert compared().differences == ("simulated, but not live: a partition of node 0 RELU",)


def test_a_crash_is_an_outcome(tool):
    tool(end="os.kill(os.getpid(), signal.SIGABRT)")
    found = compared()
    assert (found.is_equal, found.decision.end) == (True, "it crashed (SIGABRT)")
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
    assert compared().decision.end == "it was stopped after 1 seconds; DELEGATE_SIM_LIMITS=10 raises every limit tenfold"


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
    assert found.differences[-1] == "live: it failed with status 1; simulated: it succeeds"


def test_closed_code_is_not_compared(tool):
    tool((*LINES, "INFO: [compiler_plugin.cc:300] Use Get supported operations for partition."))
    found = compared("npu-mediatek")
    assert (found.is_run, found.is_compared, found.is_equal, found.differences) == (True, False, False, ())
    assert [node.words for node in found.decision.partitions[0]] == ["node 0 RELU"]


def test_what_is_missing_is_said(tool):
    tool()
    assert find_engine("npu-intel").is_ready
    assert "a release of ai-edge-litert" in find_engine("npu-samsung").lacks
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
    validate("report", json.loads(result.stdout))


def test_a_difference_is_written_to_a_file_that_can_be_sent(tool, run, tmp_path):
    chain(["RELU", "NEG"]).write(tmp_path / "secret.tflite")
    tool(LINES[:1])
    result = run(
        "analyze", tmp_path / "secret.tflite", "--delegate", "npu-intel", "--live", "--live-report", tmp_path / "report.json"
    )
    assert result.exit_code == 1
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    validate("live-difference", json.loads(text))
    (report,) = json.loads(text)
    assert report["schema"] == "delegate-sim/live-difference/1"
    assert report["live"]["differences"] == list(compared().differences)
    assert [node["op"] for node in report["subgraphs"][0]] == ["RELU", "NEG"]
    assert report["subgraphs"][0][0]["inputs"] == ["0:FLOAT32[1, 4]"]
    assert "secret" not in text


def test_what_cannot_be_run_is_no_success(tool, run, tmp_path):
    chain(["RELU", "NEG"]).write(tmp_path / "m.tflite")
    tool(("x: Could not load shared library y.so: libopenvino.so: no file.",), end=FAILS)
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-intel", "--live")
    assert result.exit_code == 2
    assert "pip install openvino (libopenvino.so: no file)" in " ".join(result.stdout.split())


@pytest.mark.parametrize("command", [["rules"], ["diagnose", "m.tflite"], ["releases", "m.tflite"], ["init"]])
def test_other_commands_say_that_it_is_live_only(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    chain(["RELU"]).write(tmp_path / "m.tflite")
    result = run(*command, "--delegate", "npu-qualcomm")
    assert (result.exit_code, "--delegate npu-qualcomm --live" in " ".join(result.stderr.split())) == (2, True)


def test_a_delegate_that_is_live_only(tool, run, tmp_path):
    chain(["RELU", "NEG"]).write(tmp_path / "m.tflite")
    tool()
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-qualcomm")
    assert result.exit_code == 2
    assert "cannot be simulated" in result.stderr
    (tmp_path / "vendors/qualcomm/compiler").mkdir(parents=True)
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-qualcomm", "--live")
    assert result.exit_code == 0
    assert "no simulation to compare it with" in result.stdout
    assert "left: NEG: 1 node [1]" in result.stdout


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


@pytest.fixture
def project(tmp_path, monkeypatch):
    text = 'models = ["*.tflite"]\n[targets.npu]\ndelegate = "npu-intel"\n[targets.phone]\ndelegate = "nnapi"\n'
    (tmp_path / "delegate-sim.toml").write_text(text, encoding="utf-8")
    chain(["RELU", "NEG"]).write(tmp_path / "m.tflite")
    monkeypatch.chdir(tmp_path)
    delegate_sim.check(update=True)
    return tmp_path


def codes_in(checked):
    return [[finding.code for finding in case.findings] for case in checked.results.cases]


def test_check_live(tool, run, project):
    tool()
    assert run("check", "--live").exit_code == 0
    found = delegate_sim.check(live=True)
    assert codes_in(found) == [[], []]
    assert [case.notes for case in found.results.cases] == [
        ("run live on litert-2.3.0: as simulated",),
        ("not run live: nnapi runs on its own platform only",),
    ]
    tool(LINES[:1])
    assert run("check").exit_code == 0
    result = run("check", "--live", "--live-report", "report.json")
    assert result.exit_code == 1
    assert "live-differs" in result.stdout
    validate("live-difference", json.loads((project / "report.json").read_text(encoding="utf-8")))
    found = delegate_sim.check(live=True)
    assert codes_in(found) == [["live-differs"], []]
    assert [report["live"]["target"] for report in found.live_reports] == ["npu-intel"]
    validate("check", found.to_dict())


def test_check_live_where_it_cannot_be_run(tool, run, project):
    tool(("x: Could not load shared library y.so: libopenvino.so: no file.",), end=FAILS)
    assert codes_in(delegate_sim.check(live=True)) == [["live-not-run"], []]
    tool.packages.clear()
    assert codes_in(delegate_sim.check(live=True)) == [["live-not-run"], []]
    result = run("check", "--live", "--target", "phone")
    assert result.exit_code == 2
    assert "none of its targets can be run live" in result.stderr
    assert run("check", "--live-report", "x.json").exit_code == 2


def test_a_release_that_is_not_installed_is_not_run(tool, project, run):
    tool()
    text = (project / "delegate-sim.toml").read_text(encoding="utf-8")
    (project / "delegate-sim.toml").write_text(
        text.replace('"npu-intel"', '"npu-intel"\nruntime = "litert-2.1.5"'), encoding="utf-8"
    )
    delegate_sim.check(update=True)
    (case, _) = delegate_sim.check(live=True).results.cases
    assert "cannot be run as in litert-2.1.5" in case.findings[0].message
    result = run("analyze", "m.tflite", "--delegate", "npu-intel", "--live", "--runtime", "litert-2.2.0")
    assert (result.exit_code, "what is installed here is litert-2.3.0" in result.stderr) == (2, True)


def test_doctor_tries_each(tool, run):
    tool(ops=("TANH",))
    lines = run("doctor").stdout.splitlines()
    assert any(line.split()[:2] == ["npu-intel", "ready"] for line in lines)
    tool(("x: Could not load shared library y.so: libopenvino.so: no file.",), end=FAILS)
    entries = {entry["target"]: entry for entry in json.loads(run("doctor", "--format", "json").stdout)["engines"]}
    assert not entries["npu-intel"]["ready"]
    assert "libopenvino.so" in entries["npu-intel"]["lacks"]
    assert not entries["npu-qualcomm"]["simulated"]


def test_the_model_that_is_tried_has_one_node():
    (graph,) = delegate_sim.load(base64.b64decode(trial._MODEL)).subgraphs
    assert [node.op for node in graph.nodes] == ["TANH"]


def test_results_of_one_name_are_told_apart():
    builder = chain(["RELU", "NEG", "TANH"])
    model = delegate_sim.load(builder.bytes())
    assert naming.with_distinct_names(model) == bytes(model.content)
    same = delegate_sim.load(bytes(model.content).replace(b"t1", b"t0").replace(b"t2", b"t0"))
    assert not naming.result_names(same)
    renamed = delegate_sim.load(naming.with_distinct_names(same))
    assert [place for _, place in sorted(naming.result_names(renamed).items(), key=lambda each: each[1])] == [
        (0, 0),
        (0, 1),
        (0, 2),
    ]
    assert [graph.nodes for graph in renamed.subgraphs] == [graph.nodes for graph in same.subgraphs]
