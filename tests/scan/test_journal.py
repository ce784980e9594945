"""The journal of a scan."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from delegate_sim.foundation.files import lock
from delegate_sim.scan import journal, schema
from delegate_sim.scan.job import Job, JobAnswer, answer
from delegate_sim.scan.journal import _FIRST_LINE, _LAST_LINE, _LONGEST_LINE, Journal, ScanError
from delegate_sim.scan.output import read_tables
from delegate_sim.scan.scan import Workers, scan
from delegate_sim.scan.schema import CAUSES, COLUMNS, LONGEST_TEXT, MEASURES, RUNS, names
from tests.support.models import chain_model
from tests.support.scans import GPU, NNAPI, judged, read


def test_a_journal_holds_whole_answers_only(zoo):
    found = answer(Job(zoo[0], (NNAPI, GPU), {}))
    first = Journal("journal")
    first.take_over({RUNS: (), CAUSES: ()})
    first.append([found])
    with pytest.raises(KeyError):
        first.append([found._replace(causes=[*found.causes, {"model": "incomplete"}])])
    first.close()
    second = Journal("journal")
    models, targets = zoo[:1], [NNAPI.name, GPU.name]
    assert [row[:2] for row in second.rows(RUNS, models, targets)] == [(zoo[0], target) for target in targets]
    assert len(list(second.rows(CAUSES, models, targets))) == len(found.causes)
    second.append([found])
    assert len(list(second.rows(CAUSES, models, targets))) == len(found.causes)
    second.remove()
    assert not list(Path().glob("journal*"))


def test_a_journal_that_another_scan_deletes_before_it_is_locked(monkeypatch, tmp_path):
    path = str(tmp_path / "journal")
    first = Journal(path)
    first.take_over({RUNS: (), CAUSES: ()})

    def lock_late(file):
        monkeypatch.setattr(journal, "lock", lock)
        first.remove()
        return lock(file)

    monkeypatch.setattr(journal, "lock", lock_late)
    second = Journal(path)
    assert Path(path).exists()
    with pytest.raises(ScanError, match="another scan is writing to it"):
        Journal(path)
    second.remove()
    assert not Path(path).exists()


def test_a_journal_of_another_scan_is_not_deleted(tmp_path):
    path = tmp_path / "journal"
    first = Journal(str(path))
    path.unlink()
    second = Journal(str(path))
    first.remove()
    assert path.exists()
    second.remove()
    assert not path.exists()


def test_a_journal_wins_over_the_output_that_it_began_with(zoo):
    scan(zoo, [NNAPI], "z.csv", Workers())
    journal = Journal("z.csv.journal")
    journal.take_over(read_tables("z.csv"))
    Path(zoo[1]).write_bytes(chain_model(["ROUND"]).bytes())
    journal.append([answer(Job(zoo[1], (NNAPI,), {}))])
    journal.close()
    assert judged(scan(zoo, [NNAPI], "z.csv", Workers())) == (1, 2)
    assert [row["delegated_nodes"] for row in read("z.csv")[RUNS]] == [2, 0, None]


def test_what_is_no_journal_is_kept(zoo):
    Path("z.csv.journal").write_text("no journal" * 99)
    with pytest.raises(ScanError, match=r"z\.csv\.journal: is not the journal of a scan: remove it"):
        scan(zoo, [NNAPI], "z.csv", Workers())
    assert Path("z.csv.journal").read_text() == "no journal" * 99


def test_two_scans_do_not_write_one_output(zoo):
    held = Journal("z.csv.journal")
    with pytest.raises(ScanError, match="another scan is writing to it"):
        scan(zoo, [NNAPI], "z.csv", Workers())
    held.close()
    assert judged(scan(zoo, [NNAPI], "z.csv", Workers())) == (3, 0)


def test_half_of_an_output_is_kept(zoo):
    scan(zoo, [NNAPI], "z.csv", Workers())
    Path("z.causes.csv").unlink()
    with pytest.raises(ScanError, match=r"z\.causes\.csv: No such file"):
        scan(zoo, [NNAPI], "z.csv", Workers())
    assert len(Path("z.csv").read_text().splitlines()) == 4
    assert not list(Path().glob("z.csv.*"))


def test_a_system_without_locks_scans(zoo, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert judged(scan(zoo, [NNAPI], "z.csv", Workers())) == (3, 0)


def row(model="m.tflite", target="t", table=RUNS, **values):
    """The values of a row. Texts are the key of their column, and numbers are 1."""
    values = {"model": model, "target": target, "error": None, **values}
    return [values.get(column.key, column.key if column.type == "text" else 1) for column in COLUMNS[table]]


def line(table, values):
    return json.dumps([table, *values]).encode() + b"\n"


def content_of(journal, *models):
    """The key columns and the first value of the stored rows."""
    return {table: [row_[:3] for row_ in journal.rows(table, models, ["t", "u"])] for table in COLUMNS}


STORED = line(RUNS, row(sha256="a")) + line(CAUSES, row(table=CAUSES, code="c")) + _LAST_LINE
AS_STORED = {RUNS: [("m.tflite", "t", "a")], CAUSES: [("m.tflite", "t", "c")]}


@pytest.mark.parametrize(
    "cut",
    [
        line(RUNS, row(target="u"))[:-1],
        line(RUNS, row(target="u")),
        line(RUNS, row(sha256="b")) + line(CAUSES, row(table=CAUSES))[:20],
        line(RUNS, row(sha256="b")) + line(CAUSES, row(table=CAUSES)) + _LAST_LINE[:-1],
        b"[",
        b"",
    ],
)
def test_incomplete_rows_are_removed(tmp_path, cut):
    path = tmp_path / "journal"
    path.write_bytes(_FIRST_LINE + STORED + cut)
    journal = Journal(str(path))
    assert content_of(journal, "m.tflite") == AS_STORED
    assert path.read_bytes() == _FIRST_LINE + STORED
    journal.append([JobAnswer([dict(zip(names(RUNS), row(target="u", sha256="d"), strict=True))], [])])
    journal.close()
    journal = Journal(str(path))
    assert content_of(journal, "m.tflite") == {**AS_STORED, RUNS: [*AS_STORED[RUNS], ("m.tflite", "u", "d")]}
    journal.close()


def test_an_output_that_was_taken_over_in_part_is_taken_over_again(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(_FIRST_LINE + line(RUNS, row(sha256="half")))
    for sha256 in ("whole", "ignored"):
        journal = Journal(str(path))
        journal.take_over({RUNS: [tuple(row(sha256=sha256))], CAUSES: []})
        assert content_of(journal, "m.tflite") == {RUNS: [("m.tflite", "t", "whole")], CAUSES: []}
        journal.close()


def test_later_rows_replace_earlier_rows_and_their_causes(tmp_path):
    path = tmp_path / "journal"
    later = line(RUNS, row(sha256="b")) + line(CAUSES, row(table=CAUSES, code="d")) * 2 + _LAST_LINE
    path.write_bytes(_FIRST_LINE + STORED + later)
    journal = Journal(str(path))
    assert content_of(journal, "m.tflite") == {RUNS: [("m.tflite", "t", "b")], CAUSES: [("m.tflite", "t", "d")] * 2}
    assert journal.known("m.tflite") == {"t": ("b", "rule_set")}
    journal.remove()
    assert not path.exists()


HOSTILE = {
    "a database": b"SQLite format 3\0" + bytes(4080),
    "half of the first line": _FIRST_LINE[:-2],
    "another version": _FIRST_LINE.replace(b"1", b"2"),
    "a long line": _FIRST_LINE + b'["runs", "' + b"a" * _LONGEST_LINE,
    "a long text": _FIRST_LINE + line(RUNS, row(model="a" * (LONGEST_TEXT + 1))),
    "nesting": _FIRST_LINE + b"[" * 500_000 + b"\n",
    "many lists": _FIRST_LINE + b"[" + b"[]," * 2_000_000 + b"[]]\n",
    "many digits": _FIRST_LINE + line(RUNS, row(size="SIZE")).replace(b'"SIZE"', b"9" * 100_000),
    "65 bits": _FIRST_LINE + line(RUNS, row(size=1 << 63)),
    "NaN": _FIRST_LINE + line(RUNS, row(delegated_share=float("nan"))),
    "infinity": _FIRST_LINE + line(RUNS, row(delegated_share=float("inf"))),
    "a large exponent": _FIRST_LINE + line(RUNS, row(delegated_share="E")).replace(b'"E"', b"1e999"),
    "a text for a number": _FIRST_LINE + line(RUNS, row(size="1")),
    "a number for a text": _FIRST_LINE + line(RUNS, row(model=1)),
    "a fraction": _FIRST_LINE + line(RUNS, row(size=1.5)),
    "a truth value": _FIRST_LINE + line(RUNS, row(size=True)),
    "a list": _FIRST_LINE + line(RUNS, row(size=[])),
    "a value too few": _FIRST_LINE + line(RUNS, row()[:-1]),
    "a value too many": _FIRST_LINE + line(RUNS, [*row(), None]),
    "another table": _FIRST_LINE + line("others", row()),
    "a list for a table": _FIRST_LINE + line([], row()),
    "an object": _FIRST_LINE + b'{"runs": 1}\n',
    "an empty line": _FIRST_LINE + b"\n",
    "zeros": _FIRST_LINE + bytes(4000) + b"\n",
    "no UTF-8": _FIRST_LINE + b'["runs", "\xff"]\n',
    "half of a pair": _FIRST_LINE + line(RUNS, row(model="\ud800")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_journals_are_refused_and_kept(tmp_path, name):
    path = tmp_path / "journal"
    path.write_bytes(HOSTILE[name])
    for _ in range(2):  # the first error releases the lock
        with pytest.raises(ScanError) as caught:
            Journal(str(path))
        assert str(caught.value).startswith(f"{path}: ")
    assert path.read_bytes() == HOSTILE[name]


@pytest.mark.parametrize(
    "content", [line(RUNS, row()) * 5000, (line(RUNS, row()) + _LAST_LINE) * 300], ids=["rows", "stored rows"]
)
def test_the_rows_of_a_journal_are_limited(tmp_path, monkeypatch, content):
    monkeypatch.setattr(schema, "_ALWAYS", 3 << 20)
    monkeypatch.setattr(schema, "_BYTES_FOR_A_BYTE", 1)
    path = tmp_path / "journal"
    path.write_bytes(_FIRST_LINE + content + _LAST_LINE)
    with pytest.raises(ScanError) as caught:
        Journal(str(path))
    limit = "its rows are larger than the limit of 3 MiB; DELEGATE_SIM_LIMITS=10 raises every limit tenfold"
    assert str(caught.value) == f"{path}: {limit}"


def test_a_journal_that_cannot_be_written(zoo):
    resource = pytest.importorskip("resource", reason="the system has no limits on the size of files")
    done = subprocess.run(
        [sys.executable, "-m", "delegate_sim", "scan", *zoo, "--delegate", "nnapi", "--processes", "1", "-o", "z.csv"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
    )
    assert (done.returncode, done.stderr) == (2, "error: z.csv.journal: File too large\n")
    assert judged(scan(zoo, [NNAPI], "z.csv", Workers())) == (3, 0)


@pytest.mark.parametrize("change", [*[f"{key} = NULL" for key in MEASURES], "nodes = 'x'", "outcome = x'00'"])
def test_rows_that_no_scan_writes_are_one_line(zoo, change):
    scan(zoo, [NNAPI], "z.sqlite", Workers())
    with closing(sqlite3.connect("z.sqlite")) as connection, connection:
        connection.execute(f"UPDATE runs SET {change} WHERE error IS NULL")
    with pytest.raises(ScanError, match=r"^z\.sqlite: is not the output of a scan"):
        scan(zoo, [NNAPI], "z.sqlite", Workers())
