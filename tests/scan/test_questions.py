from __future__ import annotations

import json
import signal
from contextlib import suppress
from dataclasses import replace

import pytest

from delegate_sim.scan import questions
from delegate_sim.scan.job import TargetSpec
from delegate_sim.scan.journal import ScanError
from delegate_sim.scan.questions import VIEWS, ask, ask_with_totals
from delegate_sim.scan.scan import Workers, scan
from tests.support.delegates.mldrift_numbers import model_of, zeros
from tests.support.scans import GPU, NNAPI

duckdb = pytest.importorskip("duckdb", reason="query needs duckdb")

MLDRIFT = replace(GPU, delegate="mldrift")
OLD = TargetSpec("nnapi", (("nnapi_runtime", "none"),), "tf-2.10", "benchmark", False)


def view(name, *scans):
    result = ask(scans, VIEWS[name].sql)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def test_top_causes(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD", "ROUND", "ROUND"], "b.tflite": ["ROUND"]}, [NNAPI])
    (row,) = view("top-causes", path)
    assert (row["code"], row["operator"], row["models"], row["nodes"]) == ("nnapi-operator", "ROUND", 2, 3)


def test_models_with_wrong_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tensors = {"x": (3, 6), "c": zeros(3, 6), "y": (3, 6)}
    (tmp_path / "wrong.tflite").write_bytes(model_of(tensors, [("ADD", "x c", "y", {})]))
    (tmp_path / "right.tflite").write_bytes(model_of(tensors, [("NEG", "x", "y", {})]))
    scan(["wrong.tflite", "right.tflite"], [NNAPI, MLDRIFT], "z.jsonl", Workers())
    (row,) = view("wrong-numbers", "z.jsonl")
    assert (row["model"], row["wrong_results"], row["possibly_wrong_results"]) == ("wrong.tflite", 1, 0)
    assert json.loads(row["codes"]) == ["mldrift-numbers-elementwise-const-layout"]
    unknown = ask(["z.jsonl"], "SELECT count(*) FROM runs WHERE wrong_results IS NULL AND number_codes IS NULL").rows
    assert unknown == [(2,)]


@pytest.mark.parametrize("file", ["z.jsonl", "z.csv", "z.parquet"])
def test_the_totals_of_a_table_are_those_of_the_results(tmp_path, monkeypatch, file):
    """A model with wrong results, one with results that may be wrong, a right one, and one that no target can read."""
    monkeypatch.chdir(tmp_path)
    tensors = {"x": (3, 6), "c": zeros(3, 6), "y": (3, 6)}
    (tmp_path / "wrong.tflite").write_bytes(model_of(tensors, [("ADD", "x c", "y", {})]))
    (tmp_path / "perhaps.tflite").write_bytes(model_of(tensors, [("LEAKY_RELU", "x", "y", {"alpha": 2.0})]))
    (tmp_path / "right.tflite").write_bytes(model_of(tensors, [("NEG", "x", "y", {})]))
    (tmp_path / "empty.tflite").write_bytes(b"")
    targets = [NNAPI, MLDRIFT, *[replace(GPU, delegate=name) for name in ("vx", "coreml", "xnnpack")]]
    scanned = scan(["wrong.tflite", "perhaps.tflite", "right.tflite", "empty.tflite"], targets, file, Workers())
    _, totals = ask_with_totals([file], "SELECT 1")
    assert totals == scanned.totals.targets
    judged = [(own.judged, own.wrong, own.nodes_of_wrong, own.possibly_wrong) for own in totals.values() if own.judged]
    assert judged == [(3, 1, 1, 1), (3, 0, 0, 0)], "ML Drift and XNNPACK"


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


def test_a_list_of_operators_that_is_not_json_is_ignored(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD", "ROUND"], "b.tflite": ["ROUND"]}, [NNAPI])
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    lines[-1]["delegated_operators"] = "TOKEN"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    assert [row["operator"] for row in view("refused-operators", path)] == ["ROUND"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer")
def test_an_interrupted_query(scanned):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])
    sql = "SELECT count(*) FROM range(100000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            ask([path], sql)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("called", ["_fill", "_add_delegates"])
def test_an_interruption_while_a_scan_is_read(scanned, monkeypatch, called):
    def interrupted(*_):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(questions, called, interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask([scanned("z.jsonl", {"a.tflite": ["ADD"]}, [NNAPI])], "SELECT 1")


def test_no_target_is_best_where_none_takes_anything(scanned):
    (row,) = view("best-targets", scanned("z.jsonl", {"a.tflite": ["ROUND"]}))
    assert (row["target"], row["delegated_nodes"]) == (None, 0)


def test_a_model_that_runs_no_more_is_a_regression(scanned):
    before, after = [scanned(name, {"a.tflite": ["ADD"]}, [NNAPI]) for name in ("before.jsonl", "after.jsonl")]
    sql = "UPDATE runs SET outcome = 'delegated, then fails'; " + VIEWS["regressions"].sql
    assert [row[3] for row in ask([before, after], sql).rows] == ["delegated, then fails"]


_RANKED = ("gpu", "mldrift", "nnapi", "xnnpack", "npu-google")


@pytest.mark.parametrize(
    ("numbers", "best"),
    [
        # For each target: delegated multiply-adds, delegated nodes, wrong results. NNAPI is deprecated.
        ([(9, 2, 0), (9, 2, 0), (1, 4, 0), (9, 9, 0), (9, 9, 0)], ["gpu", "mldrift"]),
        ([(9, 2, 0), (9, 2, 0), (9, 2, 0), (9, 9, 0), (9, 9, 0)], ["gpu", "mldrift", "nnapi"]),
        ([(9, 2, 0), (1, 3, 0), (9, 3, 0), (9, 9, 0), (9, 9, 0)], ["gpu"]),
        ([(0, 2, 0), (0, 3, 0), (0, 4, 0), (0, 9, 0), (0, 9, 0)], ["mldrift"]),
        ([(3, 2, 0), (1, 3, 0), (9, 3, 0), (9, 9, 0), (9, 9, 0)], ["gpu"]),
        ([(0, 0, 0), (0, 0, 0), (0, 4, 0), (9, 9, 0), (9, 9, 0)], ["nnapi"]),
        ([(9, 9, 1), (1, 1, 0), (0, 0, 0), (9, 9, 0), (9, 9, 0)], ["mldrift"]),
        ([(9, 9, 1), (0, 0, 0), (0, 0, 0), (9, 9, 0), (9, 9, 0)], ["gpu"]),
        ([(0, 0, 0), (0, 0, 0), (0, 0, 0), (8, 8, 0), (9, 9, 0)], ["xnnpack"]),
        ([(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (9, 9, 0)], ["npu-google"]),
    ],
)
def test_the_best_targets_are_ranked_as_analyze_ranks_them(scanned, numbers, best):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]}, [replace(GPU, delegate=name) for name in _RANKED])
    updates = [
        f"UPDATE runs SET outcome = '{'delegated' if nodes else 'none'}', delegated_multiply_adds = {multiply_adds}, "
        f"delegated_nodes = {nodes}, wrong_results = {wrong} WHERE delegate = '{name}'; "
        for name, (multiply_adds, nodes, wrong) in zip(_RANKED, numbers, strict=True)
    ]
    rows = ask([path], "".join(updates) + VIEWS["best-targets"].sql).rows
    assert [row[1].split()[0] for row in rows] == best


def test_the_change_of_a_cause_is_that_of_the_largest_share(scanned):
    """Three models share a cause. The change of two of them frees fewer multiply-adds than that of the third."""
    path = scanned("z.jsonl", {name: ["ROUND"] for name in ("a.tflite", "b.tflite", "c.tflite")}, [NNAPI])
    updates = "UPDATE causes SET change = 'small', multiply_adds = 1; "
    updates += "UPDATE causes SET change = 'large', multiply_adds = 3 WHERE model = 'c.tflite'; "
    result = ask([path], updates + VIEWS["top-causes"].sql)
    (row,) = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    assert (row["change"], row["models_with_change"], row["models"], row["multiply_adds"]) == ("large", 1, 3, 5)


@pytest.mark.parametrize("unranked", ["xnnpack", "armnn", "npu-google"])
def test_the_cpu_and_plugins_are_best_only_if_no_other_target_runs_a_node(scanned, unranked):
    specs = [GPU, replace(GPU, delegate=unranked, options=())]
    path = scanned("z.jsonl", {"a.tflite": ["ADD"], "b.tflite": ["ADD"]}, specs)
    other = f"UPDATE runs SET delegated_nodes = 0 WHERE model = 'b.tflite' AND delegate != '{unranked}'; "
    rows = ask([path], other + VIEWS["best-targets"].sql).rows
    assert [row[1].partition(" ")[0] for row in rows] == ["gpu", unranked]


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

    monkeypatch.setattr(questions, "parquet_source", fail)
    with pytest.raises(ScanError, match=r"z\.parquet: is not the output of a scan"):
        ask([scanned("z.parquet", {"a.tflite": ["ADD"]}, [NNAPI])], "SELECT 1")


_REFUSED = [
    *[
        f"FROM {source}"
        for source in ("'s.csv'", '"s.csv"', "'.tmp/s.csv'", "'s.json'", "'s.parquet'", "'s.db'", "'/etc/passwd'")
    ],
    *[
        f"FROM {read}('.tmp/s.csv')"
        for read in ("read_csv", "sniff_csv", "read_text", "read_blob", "read_json_objects", "query_table")
    ],
    *[f"FROM {read}('s.parquet')" for read in ("read_parquet", "parquet_metadata", "parquet_schema", "parquet_kv_metadata")],
    *[f"FROM glob('{pattern}')" for pattern in ("*", ".tmp/*", "/etc/*")],
    *[f"FROM {read}('https://localhost/s.csv')" for read in ("read_csv", "read_text")],
    "FROM 'https://localhost/s.csv'",
    "FROM query('FROM read_text(''s.csv'')')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''s.csv'')'))",
    "FROM sqlite_scan('s.db', 't')",
    "FROM enable_logging(storage='file', storage_config={'path': '.tmp/out'})",
    "FROM enable_profiling(format='json', save_location='.tmp/out')",
    "SELECT (FROM 's.csv')",
    "WITH t AS (FROM 's.csv') FROM t",
    "PIVOT 's.csv' ON a",
    "DESCRIBE 's.csv'",
    "SUMMARIZE 's.csv'",
    "EXPLAIN ANALYZE FROM 's.csv'",
    "EXPLAIN ANALYZE COPY runs TO 'out.csv'",
    "CREATE TABLE t AS FROM 's.csv'",
    "CREATE VIEW v AS FROM 's.csv'; FROM v",
    "CREATE TYPE t AS ENUM (SELECT a::TEXT FROM 's.csv')",
    "CREATE MACRO m(path) AS TABLE FROM read_text(path); FROM m('s.csv')",
    "CREATE MACRO m(name) AS getenv(name); SELECT m('HOME')",
    "SELECT getenv('HOME')",
    "INSERT INTO runs FROM 's.csv'",
    "UPDATE runs SET nodes = (FROM 's.csv')",
    "DELETE FROM runs USING 's.csv' WHERE true",
    "MERGE INTO runs USING 's.csv' ON true WHEN MATCHED THEN DELETE",
    "PREPARE p AS FROM 's.csv'",
    "PREPARE p AS SELECT 1; EXECUTE p",
    *[f"ATTACH '{path}' AS other" for path in ("s.db", "out.db", ".tmp/out.db", ":memory:", "https://localhost/s.db")],
    *[f"COPY runs TO '{path}'" for path in ("out.csv", ".tmp/out.csv", "/dev/stdout")],
    "COPY runs FROM 's.csv'",
    *[f"{verb} DATABASE '{path}'" for verb in ("EXPORT", "IMPORT") for path in ("out", ".tmp/out")],
    *["INSTALL httpfs", "LOAD httpfs", "LOAD './out.duckdb_extension'", "INSTALL spatial FROM community", "UPDATE EXTENSIONS"],
    *[f"SET {name} = '.tmp'" for name in ("temp_directory", "home_directory", "secret_directory", "file_search_path")],
    *["SET enable_external_access = true", "SET lock_configuration = false", "SET memory_limit = '99GB'", "RESET temp_directory"],
    *["PRAGMA enable_profiling", "PRAGMA profiling_output = '.tmp/out'", "CALL enable_logging(storage_path = '.tmp/out')"],
    *["CREATE SECRET s (TYPE s3)", "CREATE PERSISTENT SECRET s (TYPE s3)"],
    *["", ";", "-- nothing", ".tmp"],
]


def test_a_query_reads_and_writes_no_file(scanned, tmp_path):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]})
    (tmp_path / ".tmp").mkdir()
    for name in ("s.csv", "s.json", ".tmp/s.csv"):
        (tmp_path / name).write_text("a\n1\n")
    with duckdb.connect("s.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'secret' AS a")
        connection.execute("COPY t TO 's.parquet'")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    answered = []
    for sql in _REFUSED:
        with suppress(ScanError):
            answered.append((sql, ask([path], sql)))
    assert answered == []
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("FROM 's.csv'", "the query is refused: Permission Error: "),
        ("COPY runs TO 's.csv'", "the query is refused: a query cannot have a statement of the kind COPY"),
        (" ;-- nothing", "the query is refused: it has no statement"),
        (
            "SELECT array_agg(range) FROM range(200000000)",
            "the query needs more than 384 MiB of memory; DELEGATE_SIM_LIMITS=10 raises ",
        ),
    ],
)
def test_a_refused_query_is_one_line(scanned, sql, message):
    path = scanned("z.jsonl", {"a.tflite": ["ADD"]})
    with pytest.raises(ScanError) as raised:
        ask([path], sql)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
