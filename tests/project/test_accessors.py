"""Rules ask for operands by position through accessors, which answer what is absent: a file may lack any of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOMS = ("delegates", "diagnosis", "graph", "prepare", "results", "runtime", "versions")
PACKAGE = Path(__file__).parents[2] / "delegate_sim"
CHECKED_BEFORE = {
    "delegates/nnapi/device_profile.py",
    "prepare/kernels/control_flow.py",
    "results/compare/model_outline.py",
}
"""Places where an operation was validated, or a condition's outputs counted, before."""


def indexed(tree):
    """Return the lines that index ``inputs`` or ``outputs`` of something with a number."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
            continue
        if isinstance(node.value, ast.Attribute) and node.value.attr in ("inputs", "outputs"):
            yield node.lineno


@pytest.mark.parametrize("room", ROOMS)
def test_no_operand_is_indexed(room):
    found = {}
    for path in sorted((PACKAGE / room).rglob("*.py")):
        name = str(path.relative_to(PACKAGE))
        text = path.read_text("utf-8")
        lines = list(indexed(ast.parse(text))) if "puts[" in text else []
        if lines and name not in CHECKED_BEFORE:
            found[name] = lines
    assert found == {}


def test_it_would_be_found():
    assert list(indexed(ast.parse("a = 1\nb = node.inputs[2]"))) == [2]
    assert list(indexed(ast.parse("b = node.inputs[:2]"))) == []
