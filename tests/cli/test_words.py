"""Output and pages have one name for each thing (``docs/writing.md``)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "fixtures" / "models"
OTHER_NAMES = {
    "ML Drift": "LiteRT GPU|MLDrift",
    "boundary bytes": "border bytes|transferred bytes",
    "CPU nodes": "fallback nodes",
}
"""The name of a thing, and a pattern of names that are not used."""
REJECTED = r"\brestored\b"
COMMANDS = [
    ("analyze", "five_dimensions", ()),
    ("analyze", "mobilenet_block", ("--delegate", "mldrift")),
    ("analyze", "dynamic_shape_chain", ("--delegate", "all")),
    ("analyze", "dynamic_shape_chain", ("--delegate", "gpu", "--format", "markdown")),
    ("analyze", "mobilenet_block", ("--format", "card")),
    ("diagnose", "mobilenet_block", ("--delegate", "mldrift")),
    ("compare", "mobilenet_block", ("--delegate", "gpu", "--with", "delegate=mldrift")),
]


def other_names(text):
    return {name: re.findall(pattern, text) for name, pattern in OTHER_NAMES.items() if re.search(pattern, text)}


@pytest.mark.parametrize(("command", "model", "options"), COMMANDS)
def test_output_has_one_name_for_each_thing(run, command, model, options):
    result = run(command, MODELS / f"{model}.tflite", *options)
    assert len(result.stdout) > 200, result.stderr
    assert (other_names(result.stdout), re.findall(REJECTED, result.stdout)) == ({}, [])


def test_pages_have_one_name_for_each_thing():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in pages}
    del texts["docs/writing.md"]  # lists the other names
    assert {name: found for name, text in texts.items() if (found := other_names(text))} == {}
