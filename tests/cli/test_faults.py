"""An error of the program on one model is that model's row; every other model has its answer."""

from __future__ import annotations

import json
import xml.etree.ElementTree

import pytest

from delegate_sim.rules.book import RuleBook
from tests.support.models import MIXED, chain_model

VX = ("--delegate", "vx")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three models; rules fail on the second; the working directory holds a configuration."""
    for name in ("a", "bad", "c"):
        chain_model(MIXED).write(tmp_path / f"{name}.tflite")
    judge = RuleBook._judge

    def failing(book, node, target):
        if str(node.graph.model.path).endswith("bad.tflite"):
            raise IndexError("tuple index out of range")
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
    assert failed[0]["error"].startswith("./bad.tflite: internal error: IndexError: tuple index out of range; please report it")
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
