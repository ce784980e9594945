from __future__ import annotations

from dataclasses import replace

import pytest

from delegate_sim.scan import questions
from delegate_sim.scan.job import TargetSpec
from delegate_sim.scan.journal import ScanError
from delegate_sim.scan.questions import VIEWS, ask
from tests.support.scans import GPU, NNAPI

pytest.importorskip("duckdb", reason="query needs duckdb")

OLD = TargetSpec("nnapi", (("nnapi_runtime", "none"),), "tf-2.10", "benchmark", False)


def view(name, *scans):
    result = ask(scans, VIEWS[name].sql)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def test_top_causes(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD", "ROUND", "ROUND"], "b.tflite": ["ROUND"]}, [NNAPI])
    (row,) = view("top-causes", path)
    assert (row["code"], row["operator"], row["models"], row["nodes"]) == ("nnapi-operator", "ROUND", 2, 3)


def test_the_best_changes(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ROUND"], "b.tflite": ["ROUND", "CEIL"]}, [NNAPI])
    rows = {row["change"]: (row["models"], row["alone"]) for row in view("best-changes", path)}
    assert sorted(rows.values()) == [(1, 0), (2, 1)]


def test_operators_that_no_target_takes(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD", "ROUND", "CEIL", "CEIL"], "b.tflite": ["CEIL"]})
    assert {row["operator"]: row["models"] for row in view("refused-operators", path)} == {"CEIL": 2, "ROUND": 1}


def test_an_operator_that_one_target_takes_is_not_among_them(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["FLOOR", "ROUND"]})
    refused = {row["operator"] for row in view("refused-operators", path)}
    taken = ask([path], "SELECT count(*) FROM runs WHERE delegated_nodes = 1").rows
    assert refused == {"ROUND"}
    assert taken != [(0,)]


def test_an_operator_that_is_taken_in_another_model_is_not_among_them(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"], "b.tflite": ["ADD 9", "ROUND"]}, [NNAPI])
    assert ask([path], "SELECT operator FROM causes ORDER BY ALL").rows == [("ADD",), ("ROUND",)]
    assert [row["operator"] for row in view("refused-operators", path)] == ["ROUND"]


def test_no_target_is_best_where_none_takes_anything(scanned):
    (row,) = view("best-targets", scanned("z.jsonl", {"a.tflite": ["ROUND"]}))
    assert (row["target"], row["delegated_nodes"]) == (None, 0)


def test_a_model_that_runs_no_more_is_a_regression(scanned):
    before, after = [scanned(name, {"a.tflite": ["ADD"]}, [NNAPI]) for name in ("before.jsonl", "after.jsonl")]
    sql = "UPDATE runs SET outcome = 'delegated, then fails'; " + VIEWS["regressions"].sql
    assert [row[3] for row in ask([before, after], sql).rows] == ["delegated, then fails"]


def test_the_best_target_of_each_model(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["FLOOR"], "b.tflite": ["ADD"]})
    rows = view("best-targets", path)
    assert [row["model"] for row in rows] == ["a.tflite", "b.tflite"]
    assert all(row["delegated_nodes"] == row["nodes"] for row in rows)


def test_what_a_release_changes(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI, replace(NNAPI, release="tf-2.14"), OLD])
    assert view("releases", path) == []
    with_change = ask([path], "UPDATE runs SET delegated_nodes = 0 WHERE runtime = 'tf-2.14'; " + VIEWS["releases"].sql)
    assert [(row[2], row[3]) for row in with_change.rows] == [("tf-2.14", "litert-2.3")]


def test_releases_are_compared_with_the_one_before(scanned):
    specs = [replace(NNAPI, release=release) for release in ("litert-2.3", "tf-2.10", "tf-2.14")]
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, specs)
    numbered = "UPDATE runs SET delegated_nodes = CASE runtime WHEN 'tf-2.10' THEN 3 WHEN 'tf-2.14' THEN 2 ELSE 1 END; "
    rows = ask([path], numbered + VIEWS["releases"].sql).rows
    assert [(row[2], row[3], row[6], row[7]) for row in rows] == [("tf-2.10", "tf-2.14", 3, 2), ("tf-2.14", "litert-2.3", 2, 1)]


def test_regressions_between_releases(scanned):
    before = scanned("before.jsonl", {"a.tflite": ["ADD", "ADD"]}, [replace(NNAPI, release="tf-2.14"), GPU])
    after = scanned("after.jsonl", {"a.tflite": ["ADD", "ROUND"]}, [NNAPI, GPU])
    targets = {row["target"] for row in view("regressions", before, after)}
    assert targets == {NNAPI.name, GPU.name}


def test_regressions_between_two_scans(scanned):
    before = scanned("before.jsonl", {"a.tflite": ["ADD", "ADD"], "b.tflite": ["ADD"], "c.tflite": ["ROUND"]}, [NNAPI])
    after = scanned("after.jsonl", {"a.tflite": ["ADD", "ROUND"], "b.tflite": ["ADD"], "c.tflite": ["ADD"]}, [NNAPI])
    (row,) = view("regressions", before, after)
    assert (row["model"], row["nodes_before"], row["nodes_now"]) == ("a.tflite", 2, 1)


def test_a_value_of_another_type_is_one_line(scanned, tmp_path):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])
    content = (tmp_path / path).read_text()
    (tmp_path / path).write_text(content.replace('"nodes": 1', '"nodes": "many"'))
    with pytest.raises(ScanError, match=r"z\.jsonl: is not the output of a scan"):
        ask([path], "SELECT 1")


def test_text_that_duckdb_cannot_return_is_one_line(scanned, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("nanobind::str(): conversion error!")

    monkeypatch.setattr(questions, "_fill_by_duckdb", fail)
    with pytest.raises(ScanError, match=r"z\.parquet: is not the output of a scan"):
        ask([scanned("z.parquet", {"a.tflite": ["ADD"]}, [NNAPI])], "SELECT 1")


def test_a_query_sees_nothing_else(scanned, tmp_path):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]})
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for sql in ("SELECT * FROM 'secret.csv'", "COPY runs TO 'out.csv'", "SET enable_external_access = true"):
        with pytest.raises(ScanError, match="the query is refused"):
            ask([path], sql)
    assert not (tmp_path / "out.csv").exists()
