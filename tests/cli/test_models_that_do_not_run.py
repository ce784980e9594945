"""A delegate takes nodes, but the model then does not run: no command shows this as a success."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"
TARGET = ("--delegate", "nnapi", "--max-delegated-partitions", "1", "--nnapi-allow-dynamic-dimensions")
MANY = ("a.tflite", "b.tflite", "c.tflite", "d.tflite")
CONFIGURATION = """\
models = ["*.tflite"]
[targets.phone]
delegate = "nnapi"
options = { max_delegated_partitions = 1, nnapi_allow_dynamic_dimensions = true }
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in MANY:
        shutil.copy(MODELS / "float16_weights_partial.tflite", name)
    (tmp_path / "delegate-sim.toml").write_text(CONFIGURATION, "utf-8")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "text"),
    [
        (("analyze", "a.tflite", *TARGET), 0, "The model does not run, although NNAPI on Android 13 takes 1 of 7 nodes"),
        (("analyze", "a.tflite", *TARGET, "--delegate", "hexagon"), 0, "nnapi     does not run"),
        (("analyze", *MANY, *TARGET), 0, "0 % of nodes and 0 % of multiply-adds of 4 models; the target fails on 4"),
        (("check", "a.tflite"), 1, "1 failed"),
        (("check", "a.tflite", "--format", "markdown"), 1, "failed"),
        (("check", "a.tflite", "--format", "markdown"), 1, r"| a.tflite | phone | **failed** | 3 | 1 | 6 | \- | \- |"),
        (("compare", "a.tflite", *TARGET, "--delegate", "xnnpack"), 0, "share delegated -"),
        (("scan", "a.tflite", "-o", "a.sqlite", *TARGET), 0, "the target fails on 1 model (everything runs on the CPU"),
        (("diagnose", "a.tflite", *TARGET), 0, "The model does not run"),
        (("releases", "a.tflite", *TARGET), 0, "The model does not run"),
    ],
)  # fmt: skip
def test_nodes_that_will_not_run_are_no_success(run, arguments, exit_code, text):
    result = run(*arguments)
    assert result.exit_code == exit_code, result.stderr
    assert " ".join(text.split()) in " ".join(result.stdout.split())


def test_a_scan_counts_nothing_as_delegated(run):
    run("scan", "a.tflite", "-o", "a.sqlite", *TARGET)
    connection = sqlite3.connect("a.sqlite")
    assert connection.execute("SELECT outcome, delegated_share, multiply_add_share FROM runs").fetchall() == [
        ("delegated, then fails", 0.0, 0.0)
    ]
    connection.close()
