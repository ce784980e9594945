"""Tests stand by themselves: what several of them use is in ``tests/support``."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def imported_names(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def is_of_tests(dotted):
    """Whether a name is in a module that pytest collects."""
    return any(part == "conftest" or part.startswith("test_") for part in dotted.split("."))


def test_nothing_is_imported_from_a_test_module():
    offenders = [
        f"{path.relative_to(TESTS)} imports {dotted}"
        for path in sorted(TESTS.rglob("*.py"))
        for dotted in imported_names(path)
        if is_of_tests(dotted)
    ]
    assert offenders == []
