"""Sentences of ``explain --log`` and ``reconcile``, for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim.foundation import work_budget
from tests.support.models import chain_model

LOGS = Path(__file__).resolve().parents[3] / "fixtures" / "logs"
HAILO = "INFO: HailoDelegate: 1 nodes delegated out of 1 nodes with 1 partitions.\n"
PLAN = "4 operations will run on the GPU, and the remaining 5 operations will run on the CPU.\n"
XNNPACK = "hello\nReplacing 12 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions.\n"


@pytest.mark.parametrize(
    ("log", "sentences"),
    [
        (
            "hexagon_failed.log",
            [
                "outcome        could not be applied\n",
                "planned        delegated: 9, nodes: 12, left: 3, partitions: 3 (by the\n",
                "Node number 12 (TfLiteHexagonDelegate) failed to prepare.",
            ],
        ),
        ("several_models.log", ["run 1 of 2", "run 2 of 2"]),
        ("label_image.log", ["1 of the log's 3 lines not used (--verbose shows them)"]),
        (PLAN, ["outcome        planned to delegate part of the graph: 4 of 9 nodes; the log"]),
    ],
)
def test_an_explained_log(run, tmp_path, log, sentences):
    path = LOGS / log
    if log.endswith("\n"):
        path = tmp_path / "log.txt"
        path.write_text(log, "utf-8")
    text = run("explain", "--log", path).stdout
    assert [sentence for sentence in sentences if sentence not in text] == []


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (None, "the log has lines of 2 runs or models; the last one is used"),
        ("INFO: Created TensorFlow Lite delegate for GPU.\n", "Not compared: the log does not show what the delegate did"),
        (HAILO, ": the log is from Hailo (HailoDelegate), which is not simulated"),
        (XNNPACK, "1 of the log's 2 lines not used"),
    ],
)
def test_a_compared_log(run, tmp_path, log, sentence):
    chain_model(["ADD"] * 12).write(tmp_path / "chain.tflite")
    path = LOGS / "several_models.log"
    if log is not None:
        path = tmp_path / "log.txt"
        path.write_text(log, "utf-8")
    result = run("reconcile", tmp_path / "chain.tflite", "--log", path, COLUMNS="200")
    assert sentence in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "sentence"),
    [
        (b"x\n", ("partition-limit",), "give a CODE or --log, not both"),
        (b"hello\n", (), "has no lines about a delegate"),
        (b"\x0a\x03abc\x00\x12\x00" * 9, (), "is not a protobuf file"),
        ((LOGS / "several_models.log").read_bytes(), ("--run", "3"), "the log has 2 runs, so there is no run 3"),
    ],
    ids=["code", "nothing", "binary", "run"],
)
def test_errors(run, tmp_path, content, arguments, sentence):
    path = tmp_path / "log"
    path.write_bytes(content)
    result = run("explain", *arguments, "--log", path)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert sentence in result.stderr


def test_too_much_work(run, tmp_path, monkeypatch):
    path = tmp_path / "device.log"
    path.write_text("".join([f"A{number} accelerator could not be registered\n" for number in range(500)]), encoding="utf-8")
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1_000)
    fault = f"error: {path}: reading the log takes more than the limit of 1,000 steps"
    assert run("explain", "--log", path).stderr.startswith(fault)
