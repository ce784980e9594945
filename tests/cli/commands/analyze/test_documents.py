"""``delegate-sim analyze`` in the formats that it has in common with ``check``."""

from __future__ import annotations

import csv
import io
import json

import pytest

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim_cli.formats import FORMATS

NNAPI = ("--delegate", "nnapi")


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("form", FORMATS)
def test_nodes_on_the_cpu_are_findings_in_every_format(run, model, form):
    result = run("analyze", model, *NNAPI, "--format", form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "ROUND" in result.stdout
    assert "nnapi-operator-version" in result.stdout


def test_each_delegate_that_was_asked_for_is_a_case(run, model):
    assert {row["target"] for row in rows(run("analyze", model, "--format", "csv").stdout)} == set(DELEGATE_NAMES)
    chained = run("analyze", model, "--chain", "--delegate", "gpu", "--delegate", "nnapi", "--format", "csv").stdout
    assert {row["target"] for row in rows(chained)} == {"gpu", "nnapi"}
    single = run("analyze", model, *NNAPI, "--format", "csv").stdout
    assert {row["target"] for row in rows(single)} == {"nnapi"}, "not what the runtime applies by itself"


def test_reports_beside_the_text(run, model, tmp_path):
    files = {form: tmp_path / form for form in (*FORMATS, "json", "text")}
    arguments = [argument for form, path in files.items() for argument in ("--report", f"{form}={path}")]
    plain = run("analyze", model, *NNAPI)
    result = run("analyze", model, *NNAPI, *arguments)
    assert (result.exit_code, result.stdout) == (0, plain.stdout)
    for form, path in files.items():
        assert path.read_text(encoding="utf-8") == run("analyze", model, *NNAPI, "--format", form).stdout


def test_a_refused_graph_is_an_error(run, tmp_path):
    from tests.support.gate_models import reshaper

    reshaper(is_dynamic=True).write(tmp_path / "dynamic.tflite")
    (row,) = rows(run("analyze", tmp_path / "dynamic.tflite", *NNAPI, "--format", "csv").stdout)
    assert (row["code"], row["level"], row["outcome"]) == ("dynamic-tensors", "error", "refused")


def test_a_model_that_cannot_be_read_has_a_place_in_them(run, model, tmp_path):
    (tmp_path / "broken.tflite").write_bytes(b"no model")
    arguments = ["--report", f"json={tmp_path / 'out.json'}", "--report", f"junit={tmp_path / 'out.xml'}"]
    result = run("analyze", tmp_path / "broken.tflite", model, *NNAPI, "--format", "csv", *arguments)
    assert result.exit_code == 2
    assert {row["model"]: row["status"] for row in rows(result.stdout)} == {
        str(model): "passed",
        str(tmp_path / "broken.tflite"): "unreadable",
    }
    assert "<error " in (tmp_path / "out.xml").read_text(encoding="utf-8")
    entries = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [entry["model"]["path"] for entry in entries] == [str(model), str(tmp_path / "broken.tflite")]
    assert "broken.tflite" in entries[1]["error"]


def test_github_summary(run, model, tmp_path):
    summary = tmp_path / "summary.md"
    result = run("analyze", model, *NNAPI, "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert result.stdout.startswith("::warning file=")
    assert summary.read_text(encoding="utf-8") == run("analyze", model, *NNAPI, "--format", "markdown").stdout


def test_json_names_the_rule_set(run, model):
    report = json.loads(run("analyze", model, *NNAPI, "--format", "json").stdout)
    assert len({run["rule_set"] for run in report["runs"]}) == len(report["runs"])


def test_markdown_begins_with_the_verdict(run, model, tmp_path):
    """Text output has the same verdict."""

    def lines(*arguments):
        return [line for line in run("analyze", *arguments, "--format", "markdown").stdout.splitlines() if line][1:3]

    other = tmp_path / "other.tflite"
    other.write_bytes(model.read_bytes())
    assert lines(model, "--delegate", "nnapi")[0].startswith("**NNAPI on Android 13 runs ")
    assert lines(model, "--delegate", "nnapi")[1] == "analyzed: 1 case"
    assert lines(model)[0].startswith("**1 of 10 targets ")
    assert lines(model, other, "--delegate", "nnapi")[0].startswith("**nnapi runs ")
    assert lines(model, "--soc", "pixel10")[0].startswith("**google:")
