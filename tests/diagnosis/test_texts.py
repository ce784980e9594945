"""The code of diagnoses decides by codes and values: it never looks into the text of a reason, a cause or a change."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import delegate_sim

FOLDER = Path(delegate_sim.__file__).parent / "diagnosis"
TEXTS = {"message", "hint", "change", "found", "needed", "title", "text"}
LOOKING = {"split", "partition", "startswith", "endswith", "find", "index", "count", "match", "search", "fullmatch", "isdecimal"}


def texts_in(tree):
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    inner = {id(node.value) for node in attributes}  # the change in "examined.change.now" is no text
    return [node for node in attributes if node.attr in TEXTS and id(node) not in inner]


def looks_into_a_text(node):
    if isinstance(node, ast.Compare):
        return any(isinstance(op, (ast.In, ast.NotIn, ast.Eq, ast.NotEq)) for op in node.ops) and bool(texts_in(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKING:
        return any(texts_in(part) for part in (node.func.value, *node.args))
    return False


@pytest.mark.parametrize("code", ['" UINT8" in f" {reason.found}"', "case.reason.found == case.op", "cause.change.split(';')"])
def test_looks_into_texts_are_found(code):
    assert any(map(looks_into_a_text, ast.walk(ast.parse(code))))


def test_no_text_is_looked_into():
    looks = [
        f"{path.relative_to(FOLDER)}:{node.lineno}"
        for path in sorted(FOLDER.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if looks_into_a_text(node)
    ]
    assert looks == []
