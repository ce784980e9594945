"""``query``: questions to a scan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from delegate_sim_cli.commands.query import command
from tests.support.scans import NNAPI, scan_models

pytest.importorskip("duckdb", reason="query needs duckdb")


@pytest.fixture
def scanned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return scan_models


def run(*arguments):
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_the_command(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ROUND"]}, [NNAPI])
    text = run(path, "--view", "top-causes")
    assert "nnapi-operator" in text.output
    assert json.loads(run(path, "--sql", "SELECT model, nodes FROM runs", "--format", "json").output) == [
        {"model": "a.tflite", "nodes": 1}
    ]
    assert run(path, "--sql", "SELECT model FROM runs", "--format", "csv").output == "model\na.tflite\n"
    assert run(path, "-o", "causes.txt").output == ""
    assert Path("causes.txt").read_text("utf-8") == run(path).output
    assert "already exists" in str(run(path, "--format", "json", "-o", "causes.txt").exception)


def test_a_scan_alone_shows_the_top_causes_with_their_titles(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ROUND", "ROUND"], "b.tflite": ["ROUND"]}, [NNAPI])
    result = run(path)
    assert result.stdout.startswith(
        "nnapi --runtime=litert-2.3 runs 0 % of nodes of 2 models\n1. operator that NNAPI lacks (nnapi-operator): ROUND, on nnapi"
    )
    assert "3 nodes in 2 models" in result.stdout
    assert result.stderr == ""
    assert run(scanned("whole.jsonl", {"c.tflite": ["ADD"]}, [NNAPI])).stdout == (
        "nnapi --runtime=litert-2.3 runs 100 % of nodes of 1 model\nNothing stays on the CPU.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--view", "top-causes", "--sql", "SELECT 1"), "give either --view or --sql"),
        (("--view", "regressions"), "regressions compares two scans"),
        (("--sql", "SELECT nothing FROM runs"), "the query is refused: Binder Error"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(scanned, arguments, message):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]})
    assert message in str(run(path, *arguments).exception)


def test_a_name_with_escapes_is_shown_harmlessly(scanned):
    path = scanned("z.jsonl", {"a\x1b[31m.tflite": ["ADD"]}, [NNAPI])
    assert "\x1b" not in run(path, "--sql", "SELECT model FROM runs").output
