"""The examples of docs/python.md run, on a fixture under the names that the page uses."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest

import delegate_sim
from fixtures.op_profiles import profiled_rows, write_profile

ROOT = Path(__file__).resolve().parents[2]
VELA = ("delegate_sim.analyze(model, 'ethos-u55-128'", "delegate_sim.compare(model, delegate='ethos-u55-128'")
NEEDS_MORE = ("report.show", "delegate_sim.check", "delegate_sim.reconcile", *VELA)
"""Calls that need a display, a configuration, a device's log or Vela; only the functions are looked up."""


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    for name in ("model.tflite", "after.tflite"):
        shutil.copy(ROOT / "fixtures" / "models" / "transformer_block.tflite", tmp_path / name)
    run = delegate_sim.analyze(tmp_path / "model.tflite", "nnapi", defaults="benchmark").runs[0]
    (tmp_path / "profile.txt").write_text(write_profile(profiled_rows(run, lambda op, node: 2.0)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    variables = {}
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for line in [line for block in blocks for line in block.splitlines() if line.strip()]:
        statement = ast.unparse(ast.parse(line))
        if statement.startswith(NEEDS_MORE):
            statement = statement.partition("(")[0]
        exec(statement, variables)
