"""The journal of a scan."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from delegate_sim.scan.job import Job, answer
from delegate_sim.scan.journal import Journal, ScanError
from delegate_sim.scan.output import format_for, read_tables
from delegate_sim.scan.scan import Workers, scan
from delegate_sim.scan.schema import CAUSES, MEASURES, RUNS
from tests.support.models import chain_model
from tests.support.scans import GPU, NNAPI, judged, read


def test_a_journal_holds_whole_answers_only(zoo):
    found = answer(Job(zoo[0], (NNAPI, GPU), {}))
    first = Journal("journal")
    first.take_over({RUNS: (), CAUSES: ()})
    first.append([found])
    with pytest.raises(ScanError):
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


def test_a_journal_wins_over_the_output_that_it_began_with(zoo):
    scan(zoo, [NNAPI], "z.csv", Workers())
    journal = Journal("z.csv.journal")
    journal.take_over(format_for("z.csv").read("z.csv"))
    Path(zoo[1]).write_bytes(chain_model(["ROUND"]).bytes())
    journal.append([answer(Job(zoo[1], (NNAPI,), {}))])
    journal.close()
    assert judged(scan(zoo, [NNAPI], "z.csv", Workers())) == (1, 2)
    assert [row["delegated_nodes"] for row in read("z.csv")[RUNS]] == [2, 0, None]


def test_what_is_no_journal_is_kept(zoo):
    Path("z.csv.journal").write_text("no database" * 99)
    with pytest.raises(ScanError, match=r"z\.csv\.journal: is not the journal of a scan: remove it"):
        scan(zoo, [NNAPI], "z.csv", Workers())
    assert Path("z.csv.journal").read_text().startswith("no database")


@pytest.mark.parametrize("system", ["this one", "one without fcntl"])
def test_two_scans_do_not_write_one_output(zoo, monkeypatch, system):
    if system != "this one":
        monkeypatch.setitem(sys.modules, "fcntl", None)
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


@pytest.mark.parametrize("name", ["z.sqlite", "z.sqlite.journal"])
@pytest.mark.parametrize("change", [*[f"{key} = NULL" for key in MEASURES], "nodes = 'x'", "outcome = x'00'"])
def test_rows_that_no_scan_writes_are_one_line(zoo, name, change):
    scan(zoo, [NNAPI], "z.sqlite", Workers())
    journal = Journal("z.sqlite.journal")
    journal.take_over(read_tables("z.sqlite"))
    journal.close()
    if name == "z.sqlite":
        Path("z.sqlite.journal").unlink()
    with closing(sqlite3.connect(name)) as connection, connection:
        connection.execute(f"UPDATE runs SET {change} WHERE error IS NULL")
    with pytest.raises(ScanError, match=f"^{name}: is not the (output|journal) of a scan"):
        scan(zoo, [NNAPI], "z.sqlite", Workers())
