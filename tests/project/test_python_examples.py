"""The examples of docs/python.md run, on a fixture under the names that the page uses."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDS_MORE = ("report.show", "delegate_sim.check", "delegate_sim.reconcile")
"""Calls that need a display, a configuration or a device's log; only the functions are looked up."""


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    for name in ("model.tflite", "after.tflite"):
        shutil.copy(ROOT / "fixtures" / "models" / "transformer_block.tflite", tmp_path / name)
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
