"""An error of the program on one model is that model's row; every other model has its answer."""

from __future__ import annotations

import importlib
import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.errors import LimitError
from delegate_sim.rules.book import RuleBook
from tests.support.models import MIXED, chain_model

VX = ("--delegate", "vx")
LOG = Path(__file__).parents[2] / "fixtures" / "logs" / "gpu_refusals.log"


@pytest.fixture
def error():
    """The error that the rules raise."""
    return IndexError("tuple index out of range")


@pytest.fixture
def folder(tmp_path, monkeypatch, error):
    """Three models; rules fail on the second; the working directory holds a configuration."""
    for name in ("a", "bad", "c"):
        chain_model(MIXED).write(tmp_path / f"{name}.tflite")
    judge = RuleBook._judge

    def failing(book, node, target):
        if str(node.graph.model.path).endswith("bad.tflite"):
            raise error
        return judge(book, node, target)

    monkeypatch.setattr(RuleBook, "_judge", failing)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["analyze", ".", *VX],
        ["diagnose", ".", *VX],
        ["releases", ".", *VX],
        ["whatif", ".", *VX, "--accept", "ROUND"],
        ["whatif", ".", *VX, "--search", "1"],
        ["compare", ".", *VX, "--with", "delegate=gpu"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_models_have_their_answers(run, folder, arguments):
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 70
    entries = json.loads(result.stdout)
    failed = [entry for entry in entries if "error" in entry]
    assert [entry["model"]["path"] for entry in failed] == ["./bad.tflite"]
    assert failed[0]["error"].startswith("./bad.tflite: internal error: IndexError: tuple index out of range; please report this")
    assert len(entries) > len(failed) + 1
    assert result.stderr == f"error: {failed[0]['error']}\n"
    text = run(*arguments)
    assert text.exit_code == 70
    assert "bad.tflite" in text.stdout


def test_a_single_model_has_one_line(run, folder):
    result = run("analyze", "bad.tflite", *VX)
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr.startswith("error: internal error: IndexError")
    assert result.stderr.count("\n") == 1


def test_the_traceback_on_request(run, folder):
    assert "Traceback" in run("analyze", ".", *VX, DELEGATE_SIM_DEBUG="1").stderr


def test_cases_of_a_check(run, folder):
    (folder / "delegate-sim.toml").write_text('models = ["*.tflite"]\nbaseline = false\n[targets.vx]\ndelegate = "vx"\n')
    result = run("check", "--format", "json", "--report", "junit=junit.xml")
    assert result.exit_code == 70
    found = {case["model"]: [finding["code"] for finding in case["findings"]] for case in json.loads(result.stdout)["cases"]}
    assert found == {"a.tflite": [], "bad.tflite": ["internal-error"], "c.tflite": []}
    errors = xml.etree.ElementTree.parse(folder / "junit.xml").getroot().findall(".//error")
    assert len(errors) == 1


def test_formats_of_an_analysis(run, folder):
    result = run("analyze", ".", *VX, "--format", "sarif")
    assert result.exit_code == 70
    rules = {found["ruleId"] for found in json.loads(result.stdout)["runs"][0]["results"]}
    assert "internal-error" in rules
    assert len(rules) > 1


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (MemoryError(), "it needs more memory than this process may use ("),
        (RecursionError("maximum recursion depth exceeded"), "it is nested deeper than Python's recursion limit of "),
    ],
    ids=["memory", "recursion"],
)
class TestUsedUp:
    """A model that uses up the memory or the stack of the process is not an internal error."""

    def test_the_other_models_are_answered(self, run, folder, limit):
        result = run("analyze", ".", *VX, "--format", "json")
        assert result.exit_code == 2
        entries = json.loads(result.stdout)
        assert len(entries) == 3
        (failed,) = [entry for entry in entries if "error" in entry]
        assert failed["error"].startswith(f"./bad.tflite: not simulated: {limit}")

    def test_a_check(self, run, folder, limit):
        (folder / "delegate-sim.toml").write_text('models = ["*.tflite"]\nbaseline = false\n[targets.vx]\ndelegate = "vx"\n')
        result = run("check", "--format", "json")
        assert result.exit_code == 2
        (case,) = [case for case in json.loads(result.stdout)["cases"] if case["findings"]]
        assert limit in case["findings"][0]["message"]

    def test_a_scan(self, run, folder, limit):
        assert run("scan", ".", *VX, "--processes", "1", "--output", "scan.jsonl").exit_code == 2
        rows = [json.loads(line) for line in (folder / "scan.jsonl").read_text().splitlines()]
        errors = [row["error"] for row in rows if row.get("error")]
        assert errors[0].startswith(f"./bad.tflite: not simulated: {limit}")

    @pytest.mark.parametrize(
        ("command", "function", "arguments"),
        [
            ("fix", "search", ["bad.tflite", "--delegate", "vx", "--plan"]),
            ("export", "_text", ["dot", "bad.tflite", *VX]),
            ("verify", "compare_models", ["bad.tflite", "c.tflite"]),
            ("reconcile", "reconcile", ["bad.tflite", "--log", str(LOG)]),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_a_command_names_its_models(self, run, folder, monkeypatch, error, limit, command, function, arguments):
        def fail(*arguments, **named):
            raise error

        monkeypatch.setattr(importlib.import_module(f"delegate_sim_cli.commands.{command}"), function, fail)
        result = run(command, *arguments)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        names = "bad.tflite or c.tflite" if command == "verify" else "bad.tflite"
        assert result.stderr.startswith(f"error: {names}: not simulated: {limit}")

    def test_python(self, folder, limit):
        with pytest.raises(LimitError, match=re.escape(f"bad.tflite: not simulated: {limit}")):
            delegate_sim.analyze("bad.tflite", "vx", defaults="api")
