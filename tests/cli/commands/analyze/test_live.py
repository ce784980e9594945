"""``analyze --live`` and ``check --live`` with a stand-in for LiteRT's tool."""

from __future__ import annotations

import json
import os

import pytest

import delegate_sim
from delegate_sim.foundation import packages
from tests.support.cli.own_schemas import validate
from tests.support.delegates.npu_models import chain
from tests.support.live import vela_process
from tests.support.live.plugin_tool import FAILS, LINES, compared, stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool runs on Linux only")


@pytest.fixture
def tool(tmp_path, monkeypatch):
    return stand_in(tmp_path, monkeypatch)


def test_analyze_live(tool, run, tmp_path):
    chain(["RELU", "NEG"]).write(tmp_path / "m.tflite")
    tool()
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-intel", "--live")
    assert (result.exit_code, "agrees" in result.stdout) == (0, True)
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
    assert (result.exit_code, "--live" in result.stderr) == (2, True)
    (tmp_path / "vendors/qualcomm/compiler").mkdir(parents=True)
    result = run("analyze", tmp_path / "m.tflite", "--delegate", "npu-qualcomm", "--live")
    assert result.exit_code == 0
    assert "left: NEG: 1 node [1]" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--delegate", "gpu", "--live"], "cannot run here"),
        (["--live"], "--live needs --delegate"),
        (["--delegate", "npu-intel", "--live", "--format", "csv"], "text or json"),
        (["--delegate", "npu-samsung", "--live"], "cannot run here"),
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
    assert ["litert-2.3.0" in case.notes[0] for case in found.results.cases] == [True, False]
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
    assert run("check", "--live", "--target", "phone").exit_code == 2
    assert run("check", "--live-report", "x.json").exit_code == 2


def test_a_release_that_is_not_installed_is_not_run(tool, project, run):
    tool()
    text = (project / "delegate-sim.toml").read_text(encoding="utf-8")
    (project / "delegate-sim.toml").write_text(
        text.replace('"npu-intel"', '"npu-intel"\nruntime = "litert-2.1.5"'), encoding="utf-8"
    )
    delegate_sim.check(update=True)
    (case, _) = delegate_sim.check(live=True).results.cases
    assert "litert-2.1.5" in case.findings[0].message
    result = run("analyze", "m.tflite", "--delegate", "npu-intel", "--live", "--runtime", "litert-2.2.0")
    assert (result.exit_code, "litert-2.3.0 is installed" in result.stderr) == (2, True)


def test_the_answer_of_vela(monkeypatch, run, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "package_version", lambda name: "5.2.0")
    vela_process.stand_in(monkeypatch, 0, vela_process.REFUSED, vela_process.compiled())
    path = tmp_path / "m.tflite"
    chain(["RELU", "NEG", "RESHAPE"]).write(path)
    text = " ".join(run("analyze", path, "--delegate", "ethos-u55-128", "--live").stdout.split())
    assert "ethos-u55-128, live (vela-5.2.0): 1 of 2 nodes on the NPU" in text
    assert text.startswith("Vela for ethos-u55-128 runs 50 % of nodes; 1 NEG stays on the CPU")
    assert "NEG: 1 node, Operation has tensor" in text
    result = run("analyze", path, "--delegate", "ethos-u55-128", "--live", "--format", "json")
    report = json.loads(result.stdout)
    validate("report", report)
    assert [node["place"] for node in report["live"][0]["nodes"]] == ["npu", "cpu", "gone"]
