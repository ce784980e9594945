"""Commands with a target that is run, not simulated: Vela with a stand-in for the process."""

from __future__ import annotations

import csv
import json
import os

import pytest

from delegate_sim.foundation import packages
from tests.support.cli.own_schemas import validate
from tests.support.live.vela_process import installed_stand_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are limited on POSIX systems only")
VELA = "ethos-u55-128"


@pytest.fixture
def model(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return installed_stand_in(monkeypatch, tmp_path).name


def test_report(model, run):
    result = run("report", model, "--delegate", VELA, "-o", "page.html")
    assert result.exit_code == 0
    assert result.stdout.startswith("Vela for ethos-u55-128 runs 50 % ")


def test_compare(model, run):
    result = run("compare", model, "--delegate", VELA, "--delegate", "xnnpack", "--format", "json")
    assert result.exit_code == 0
    entry = json.loads(result.stdout)
    validate("compare", entry)
    assert entry["a"]["rule_set"] == "vela-5.2.0"
    assert [node["op"] for node in entry["to_delegate"]] == ["NEG"]
    assert [node["op"] for node in entry["only_in_b"]] == ["RESHAPE"]
    result = run("compare", model, "--delegate", "xnnpack", "--with", f"delegate={VELA}", "--format", "json")
    assert [node["op"] for node in json.loads(result.stdout)["only_in_a"]] == ["RESHAPE"]


def test_scan(model, run):
    assert run("scan", model, "--delegate", VELA, "--output", "s.csv").exit_code == 0
    with open("s.csv", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["rule_set"], row["nodes"], row["delegated_nodes"], row["delegate_kernels"]) == ("vela-5.2.0", "2", "1", "1")
    assert "1 unchanged" in run("scan", model, "--delegate", VELA, "--output", "s.csv").stdout


def configure(text):
    with open("delegate-sim.toml", "w", encoding="utf-8") as file:
        file.write(f'models = ["*.tflite"]\n{text}')


def test_check(model, run, monkeypatch):
    configure(f'[targets.npu]\ndelegate = "{VELA}"\nbudgets = {{ max-fallback = 0 }}\n')
    result = run("check", "--update", "--format", "json")
    assert result.exit_code == 1
    entry = json.loads(result.stdout)
    validate("check", entry)
    assert [finding["code"] for finding in entry["cases"][0]["findings"]] == ["budget-fallback"]
    assert run("check", "--live").exit_code == 1
    monkeypatch.setattr(packages, "package_version", lambda name: "")
    result = run("check")
    assert (result.exit_code, "ethos-u55-128" in result.stderr) == (2, True)


def test_commands_that_only_simulate_leave_the_target_out(model, run):
    configure(f'[targets.npu]\ndelegate = "{VELA}"\n[targets.phone]\ndelegate = "nnapi"\n')
    result = run("diagnose", model)
    assert result.stdout.startswith("Target of delegate-sim.toml: phone (nnapi)")
    configure(f'[targets.npu]\ndelegate = "{VELA}"\n')
    result = run("diagnose", model)
    assert (result.exit_code, VELA in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["report", "compare", "scan"])
def test_what_cannot_be_run(model, run, monkeypatch, command):
    monkeypatch.setattr(packages, "package_version", lambda name: "")
    arguments = {"compare": ["--with", "optimise=Size"], "scan": ["--output", "s.csv"]}.get(command, [])
    result = run(command, model, "--delegate", VELA, *arguments)
    assert result.exit_code == 2
    assert "pip install '.[vela]'" in " ".join(result.stderr.split())
