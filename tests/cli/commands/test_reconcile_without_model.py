"""``delegate-sim explain --log``, and what ``reconcile`` does with runs and unknown delegates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from delegate_sim.foundation import work_budget
from tests.support.models import chain_model

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.tflite"
    chain_model(["ADD"] * 12).write(path)
    return path


@pytest.fixture
def explained(run):
    def explained(path, *arguments):
        """Explain a log, and return the runs of the JSON."""
        result = run("explain", "--log", path, *arguments, "--format", "json")
        assert (result.exit_code, result.stderr) == (0, "")
        return json.loads(result.stdout)["runs"]

    return explained


def test_a_log_without_the_model(explained):
    (only,) = explained(LOGS / "hexagon_failed.log")
    assert (only["delegate"]["name"], only["delegate"]["outcome"]) == ("hexagon", "failed")
    first = only["delegate"]["counts"][0]
    assert [first[key] for key in ("delegated", "total", "on_cpu", "partitions")] == [9, 12, 3, 3]
    assert [error["node"] for error in only["errors"] if error["kind"] == "node-error"] == [12]


def test_a_plan_is_no_outcome(explained, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("4 operations will run on the GPU, and the remaining 5 operations will run on the CPU.\n", encoding="utf-8")
    (only,) = explained(path)
    assert only["delegate"]["is_planned"]


@pytest.mark.parametrize(("kernel", "is_default"), [("TfLiteXNNPackDelegate", True), ("DispatchDelegate", False)])
def test_nodes_that_the_default_delegate_had_taken(run, tmp_path, kernel, is_default):
    path = tmp_path / "log.txt"
    path.write_text(
        "ERROR: Following operations are not supported by GPU delegate:\n"
        f"DELEGATE {kernel}: Operation is not supported.\n"
        "1 operations will run on the GPU, and the remaining 4 operations will run on the CPU.\n",
        encoding="utf-8",
    )
    assert ("BuiltinOpResolverWithoutDefaultDelegates" in run("explain", "--log", path).stdout) == is_default


def test_every_run_is_shown_or_one(run, explained):
    path = LOGS / "several_models.log"
    assert [one["delegate"]["counts"][0]["delegated"] for one in explained(path)] == [30, 12]
    assert [one["delegate"]["counts"][0]["delegated"] for one in explained(path, "--run", "1")] == [30]
    assert run("explain", "--log", path, "--run", 3).exit_code == 2


def test_unused_lines_are_counted_and_shown(run, explained):
    (only,) = explained(LOGS / "label_image.log")
    assert (only["unused_count"], only["line_count"], only["unused"]) == (1, 3, ["[component_container-1] something else"])
    texts = [run("explain", "--log", LOGS / "label_image.log", *options).stdout for options in ((), ("-v",))]
    assert ["component_container" in text for text in texts] == [False, True]


def test_as_json(run):
    result = run("explain", "--log", LOGS / "gpu_refusals.log", "--format", "json")
    entry = json.loads(result.stdout)
    (only,) = entry["runs"]
    assert (entry["schema"], only["delegate"]["name"], only["delegate"]["outcome"]) == ("delegate-sim/log/1", "gpu", "part")
    assert (only["refusals"][0]["op"], only["refusals"][0]["times"]) == ("CUMSUM", 1)


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_every_made_up_log(run, path):
    result = run("explain", "--log", path)
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_run_that_is_reconciled(run, chain):
    command = ("reconcile", chain, "--log", LOGS / "several_models.log", "--format", "json")
    assert json.loads(run(*command).stdout)["device"]["delegated"] == 12
    assert json.loads(run(*command, "--run", "1").stdout)["device"]["delegated"] == 30


def test_a_delegate_that_is_not_known(run, chain, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("INFO: HailoDelegate: 1 nodes delegated out of 1 nodes with 1 partitions.\n", encoding="utf-8")
    result = run("reconcile", chain, "--log", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "delegated: 1, nodes: 1" in result.stdout, "what can be said without the simulation is said"


def test_nothing_to_compare(run, chain, tmp_path):
    path = tmp_path / "cut.txt"
    path.write_text("INFO: Created TensorFlow Lite delegate for GPU.\n")
    result = run("reconcile", chain, "--log", path, "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["status"]) == (1, "not-compared")


def test_lines_that_reconcile_did_not_use(run, chain, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("hello\nReplacing 12 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.\n")
    assert json.loads(run("reconcile", chain, "--log", path, "--format", "json").stdout)["lines"] == {"count": 2, "unused": 1}
    assert "    hello\n" in run("reconcile", chain, "--log", path, "-v").stdout


def test_a_log_that_takes_too_much_work_is_named(run, tmp_path, monkeypatch):
    path = tmp_path / "device.log"
    path.write_text("".join([f"A{number} accelerator could not be registered\n" for number in range(500)]), encoding="utf-8")
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1_000)
    result = run("explain", "--log", str(path))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"error: {path}: ")
