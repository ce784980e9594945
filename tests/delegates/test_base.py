"""A new delegate is one package and one line in the registry: every command then knows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from delegate_sim.delegates.registry import COMPILING_NAMES, DELEGATE_NAMES, find_delegate
from tests.support.models import chain_model

ROOT = Path(__file__).resolve().parents[2]

LINE = "Replacing 2 out of 4 node(s) with delegate (TfLiteTinyDelegate) node, yielding 2 partitions for subgraph 0 (main)."

PROGRAM = """
import delegate_sim.delegates.registry as registry

registry._MODULES["tiny"] = "tests.support.delegates.tiny.delegate"
registry.DELEGATE_NAMES = tuple(registry._MODULES)
registry.TARGET_NAMES = (*registry.DELEGATE_NAMES, *registry._RUNTIMES)

from delegate_sim_cli.main import main

main()
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.tflite").write_bytes(chain_model(["ADD", "RELU", "TANH", "ADD"]).bytes())
    return tmp_path


@pytest.fixture
def run(folder):
    def run(*arguments, code=0):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    return run


def test_analyze(run):
    text = run("analyze", "model.tflite", "--delegate", "tiny", "--no-default-xnnpack")
    assert text.startswith("TINY runs 50 % of nodes; ")
    assert "Replacing 2 out of 4 node(s) with delegate (TfLiteTinyDelegate) node, yielding 2 partitions for subgraph 0" in text
    assert "tiny-unsupported-operator" in text


def test_diagnose(run):
    report = json.loads(run("diagnose", "model.tflite", "--delegate", "tiny", "--format", "json"))
    problems = {cause["problem"] for cause in report["causes"]}
    assert problems == {"operator", "limit"}


def test_check(run, folder):
    (folder / "delegate-sim.toml").write_text('models = ["*.tflite"]\n[targets.tiny]\ndelegate = "tiny"\n')
    run("check", "--update")
    run("check")
    (folder / "model.tflite").write_bytes(chain_model(["ADD", "TANH", "TANH", "ADD"]).bytes())
    assert "tiny" in run("check", code=1)


def test_rules(run):
    assert "tiny-operator-version" in run("rules", "--delegate", "tiny", "--op", "ADD")


def test_explain(run):
    assert "Delegate tiny" in run("explain", "tiny-rank")


def test_reconcile(run, folder):
    (folder / "device.log").write_text(f"INFO: {LINE}\n")
    assert "reproduced" in run("reconcile", "model.tflite", "--log", "device.log").lower()


def test_the_registry_names_the_delegates_that_compile_on_the_board():
    names = [name for name in DELEGATE_NAMES if find_delegate(name).compiled_on_device]
    assert tuple(names) == COMPILING_NAMES
