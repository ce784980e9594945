"""``query``: questions to a scan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from delegate_sim.scan.output import format_for, read_tables
from delegate_sim.scan.questions import VIEWS, without_results
from delegate_sim.scan.schema import CAUSES, FILLED, names
from delegate_sim_cli.commands import query
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


def test_advice_is_whole_and_one_for_models_with_different_results(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["GELU", "ADD"], "b.tflite": ["ADD", "GELU", "ADD", "GELU"]}, [NNAPI])
    for view in ("top-causes", "best-changes"):
        text = " ".join(run(path, "--view", view).stdout.split())
        assert text.count("GELU can be written as 0.5 * x * (1 + tanh(0.79788 * (x + 0.044715 * x * x * x)))") == 1
        assert "3 nodes in 2 models" in text
        assert "..." not in text


def test_results_of_single_models_are_left_out_of_changes():
    import duckdb

    advice = (
        "convert in float: leave converter.optimizations empty (271 of 277 nodes in 7 kernels, 100 % of multiply-adds); or keep "
        "dynamic range quantization (0 of 3 nodes); does not help: full integer quantization (0 of 279 nodes)",
        "convert with a fixed batch, such as x:0 [1, 4], y [1, 2]: in TensorFlow from a concrete function",
        "--max-delegated-partitions=9 or more: raise the option",
    )
    rows = [duckdb.execute(f"SELECT {without_results('?')}", [text]).fetchone()[0] for text in advice]
    assert rows == [
        "convert in float: leave converter.optimizations empty; or keep dynamic range quantization",
        "convert with a fixed batch: in TensorFlow from a concrete function",
        "--max-delegated-partitions: raise the option",
    ]


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


def test_numbers_that_json_lacks_are_text(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])
    sql = "SELECT 'nan'::DOUBLE AS a, '-inf'::DOUBLE AS b, 1.5::DOUBLE AS c"
    assert json.loads(run(path, "--sql", sql, "--format", "json").output) == [{"a": "nan", "b": "-inf", "c": 1.5}]


def test_columns_and_lists_in_csv_are_escaped(scanned):
    path = scanned("z.jsonl", {"=1+1;.tflite": ["ADD"], "a\x1b[31m.tflite": ["ADD"]}, [NNAPI])
    pivot = "PIVOT (SELECT model FROM runs) ON model USING count(*)"
    assert run(path, "--sql", pivot, "--format", "csv").output == "'=1+1;.tflite,a\\x1b[31m.tflite\n1,1\n"
    assert run(path, "--sql", "SELECT ['a;=1+1'] AS a", "--format", "csv").output == "a\n['a;'=1+1']\n"


def test_lists_of_numbers_that_json_lacks_have_text(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])
    sql = "SELECT [1, 'nan'::DOUBLE] AS a, {'b': 'inf'::DOUBLE} AS c"
    assert json.loads(run(path, "--sql", sql, "--format", "json").output) == [{"a": [1, "nan"], "c": {"b": "inf"}}]


def test_memory_that_is_used_up_is_that_of_the_query(scanned, monkeypatch):
    def fail(columns, rows):
        raise MemoryError

    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])
    monkeypatch.setattr(query, "sheet", fail)
    message = str(run(path, "--sql", "SELECT 1", "--format", "csv").exception)
    assert message.startswith("the query: it needs more memory than this process may use (")


@pytest.mark.parametrize("suffix", ["sqlite", "jsonl", "csv", "parquet"])
def test_causes_without_values_are_shown(scanned, suffix):
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    form = format_for(f"z.{suffix}")
    tables = {table: list(rows) for table, rows in read_tables(scanned(f"a.{suffix}", {"a.tflite": ["ROUND"]}, [NNAPI])).items()}
    cause = zip(names(CAUSES), tables[CAUSES][0], strict=True)
    form.write(f"z.{suffix}", {**tables, CAUSES: [tuple([value if key in FILLED[CAUSES] else None for key, value in cause])]})
    for name, view in VIEWS.items():
        result = run(*[f"z.{suffix}"] * (1 + view.needs_earlier), "--view", name)
        assert (result.exit_code, result.exception) == (0, None), name
