"""The same question has the same advice in every output."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import pytest

import delegate_sim
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.page.content import PageView, page_content
from delegate_sim.results.report.placement import on_cpu
from delegate_sim_cli.assertions import Analysis

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"

FORMATS = ("markdown", "junit", "github", "gitlab", "csv")
CASES = [
    ("transformer_block", "nnapi"),
    ("mobilenet_block", "hexagon"),
    ("quantized_block", "hexagon"),
    ("reductions", "npu-mediatek"),
    ("dynamic_reshape", "nnapi"),
]


@pytest.fixture(params=CASES, ids="-".join)
def case(request, tmp_path, monkeypatch):
    model, delegate = request.param
    shutil.copy(MODELS / f"{model}.tflite", tmp_path / "model.tflite")
    monkeypatch.chdir(tmp_path)
    # Every operator is forbidden on the CPU, so that a check has a finding for each node there.
    report = delegate_sim.analyze("model.tflite", delegate, defaults="benchmark")
    operators = sorted({subgraph.graph.nodes[index].op for subgraph, index, _ in on_cpu(report.runs[0])})
    lines = [
        "baseline = false",
        'models = ["model.tflite"]',
        "[targets.phone]",
        f'delegate = "{delegate}"',
        "[targets.phone.budgets]",
        f"forbid-fallback-ops = {json.dumps(operators)}",
    ]
    Path("delegate-sim.toml").write_text("\n".join(lines), encoding="utf-8")
    return report


def hints_of(reasons):
    return "; ".join(dict.fromkeys([reason["hint"] for reason in reasons if reason["hint"]]))


def from_report(entry):
    nodes = [((subgraph["index"], node["index"]), node) for subgraph in entry["subgraphs"] for node in subgraph["nodes"]]
    return {place: hints_of(node["reasons"]) for place, node in nodes if not node["delegated"]}


def test_every_output_has_the_same_advice(case, run):
    delegate = case.runs[0].delegate.name

    def output(*arguments):
        result = run(*arguments)
        assert result.stdout, result.stderr
        return json.loads(result.stdout)

    options = ("--delegate", delegate, "--format")
    report = output("analyze", "model.tflite", *options, "json")
    hints = from_report(report["runs"][0])
    rules = from_report(case.to_dict()["runs"][0])
    assert any(hints.values())
    assert hints != rules, "the advice of a diagnosis says more than the rules"

    checked = {
        (finding["location"]["subgraph"], finding["location"]["node"]): finding["hint"]
        for finding in output("check", "--format", "json")["cases"][0]["findings"]
        if finding["code"] == "budget-fallback-op"
    }
    assert checked == hints

    compared = output("compare", "model.tflite", "--with", "delegate=coreml", *options, "json")
    sides = [(node["subgraph"], node["a"]) for key in ("to_delegate", "reasons_changed") for node in compared[key]]
    assert {(subgraph, side["node"]): hints_of(side["reasons"]) for subgraph, side in sides}.items() <= hints.items()

    diagnosis = diagnose(case.model, case.runs[0].target)
    view = page_content([PageView(case.model, case.runs[0], diagnosis)])["views"][0]
    shown = {
        (subgraph["graph"], int(position)): hints_of([view["reasons"][number] for number in numbers])
        for subgraph in view["subgraphs"]
        for position, numbers in subgraph["reasons"].items()
    }
    assert set(shown.values()) == set(hints.values())

    assert {refusal.hint for refusal in case.refusals} == {
        reason["hint"] for subgraph in report["runs"][0]["subgraphs"] for node in subgraph["nodes"] for reason in node["reasons"]
    }
    (own,) = json.loads(case.to_json(advice=True))["runs"]
    assert (own["refusal"], own["subgraphs"]) == (report["runs"][0]["refusal"], report["runs"][0]["subgraphs"])

    sarif = output("analyze", "model.tflite", *options, "sarif")["runs"][0]["results"]
    told = {
        "SARIF": "".join([result["message"]["text"] for result in sarif]),
        "notebook": html.unescape(case._repr_html_()),
        **{
            form: run("analyze", "model.tflite", *options, form).stdout
            for form in ("markdown", "junit", "github", "gitlab", "csv")
        },
    }
    with pytest.raises(AssertionError) as failure:
        Analysis(case, "model.tflite").assert_fallback(max=0)
    told["pytest"] = str(failure.value)
    run("scan", "model.tflite", "--delegate", delegate, "-o", "scan.csv")
    told["scan"] = Path("scan.causes.csv").read_text(encoding="utf-8")
    told = {name: html.unescape(text).replace("\\", "").replace("%25", "%").replace('""', '"') for name, text in told.items()}
    assert [(name, hint) for name, text in told.items() for hint in set(hints.values()) if hint not in text] == []
