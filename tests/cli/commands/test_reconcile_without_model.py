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


def test_a_log_without_the_model(run):
    result = run("explain", "--log", LOGS / "hexagon_failed.log")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "delegate       hexagon\n" in result.stdout
    assert "outcome        could not be applied\n" in result.stdout
    assert "delegated: 9, nodes: 12, on the CPU: 3, partitions: 3 (by the" in result.stdout
    assert "Node number 12 (TfLiteHexagonDelegate) failed to prepare." in result.stdout


def test_a_plan_is_no_outcome(run, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("4 operations will run on the GPU, and the remaining 5 operations will run on the CPU.\n", encoding="utf-8")
    assert "outcome        planned to delegate part of the graph: 4 of 9 nodes; the log" in run("explain", "--log", path).stdout


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


def test_every_run_is_shown_or_one(run):
    result = run("explain", "--log", LOGS / "several_models.log")
    assert "run 1 of 2" in result.stdout
    assert "run 2 of 2" in result.stdout
    first = run("explain", "--log", LOGS / "several_models.log", "--run", "1")
    assert "delegated: 30" in first.stdout
    assert "delegated: 12" not in first.stdout
    assert (
        "error: the log has 2 runs, so there is no run 3"
        in run("explain", "--log", LOGS / "several_models.log", "--run", 3).stderr
    )


def test_unused_lines_are_counted_and_shown(run):
    result = run("explain", "--log", LOGS / "label_image.log")
    assert "1 of the log's 3 lines not used (--verbose shows them)" in result.stdout
    assert "something else" not in result.stdout
    assert "    [component_container-1] something else\n" in run("explain", "--log", LOGS / "label_image.log", "-v").stdout


def test_as_json(run):
    result = run("explain", "--log", LOGS / "gpu_refusals.log", "--format", "json")
    entry = json.loads(result.stdout)
    (only,) = entry["runs"]
    assert (entry["schema"], only["delegate"]["name"], only["delegate"]["outcome"]) == ("delegate-sim/log/1", "gpu", "part")
    assert only["refusals"][0] == {"op": "CUMSUM", "reason": "Operation is not supported.", "times": 1}


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_every_made_up_log(run, path):
    result = run("explain", "--log", path)
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_code_and_a_log(run):
    result = run("explain", "partition-limit", "--log", LOGS / "errors.log")
    assert result.exit_code == 2
    assert "give a CODE or --log, not both" in result.stderr


def test_a_log_that_says_nothing(run, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("hello\n")
    result = run("explain", "--log", path)
    assert result.exit_code == 2
    assert "has no lines about a delegate" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_binary_file(run, tmp_path):
    pytest.importorskip("google.protobuf", reason="needs the extra 'protobuf'")
    path = tmp_path / "profile.pb"
    path.write_bytes(b"\x0a\x03abc\x00\x12\x00" * 9)
    result = run("explain", "--log", path)
    assert result.exit_code == 2
    assert "is not a protobuf file" in result.stderr


def test_the_run_that_is_reconciled(run, chain):
    last = run("reconcile", chain, "--log", LOGS / "several_models.log")
    assert "Replacing 12 node(s)" in last.stdout
    assert "the last one is used" in last.stdout
    assert "Replacing 30 node(s)" in run("reconcile", chain, "--log", LOGS / "several_models.log", "--run", "1").stdout


def test_a_delegate_that_is_not_known(run, chain, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("INFO: HailoDelegate: 1 nodes delegated out of 1 nodes with 1 partitions.\n", encoding="utf-8")
    result = run("reconcile", chain, "--log", path)
    assert result.exit_code == 2
    assert "delegated: 1, nodes: 1" in result.stdout, "what can be said without the simulation is said"
    assert ": the log is from Hailo (HailoDelegate), which is not simulated" in result.stderr


def test_nothing_to_compare(run, chain, tmp_path):
    path = tmp_path / "cut.txt"
    path.write_text("INFO: Created TensorFlow Lite delegate for GPU.\n")
    result = run("reconcile", chain, "--log", path)
    assert result.exit_code == 1
    assert "Not compared: the log does not show what the delegate did" in result.stdout


def test_lines_that_reconcile_did_not_use(run, chain, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("hello\nReplacing 12 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.\n")
    assert "1 of the log's 2 lines not used" in run("reconcile", chain, "--log", path).stdout
    assert "    hello\n" in run("reconcile", chain, "--log", path, "-v").stdout


def test_a_log_that_takes_too_much_work_is_named(run, tmp_path, monkeypatch):
    path = tmp_path / "device.log"
    path.write_text("".join([f"A{number} accelerator could not be registered\n" for number in range(500)]), encoding="utf-8")
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1_000)
    result = run("explain", "--log", str(path))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {path}: reading the log takes more than the limit of 1,000 steps")
