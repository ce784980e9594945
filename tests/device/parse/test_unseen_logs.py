"""Logs that were collected after the readers were written: what an expert reads in them is in ``real_logs_3.toml``."""

from __future__ import annotations

from pathlib import Path

import pytest

from delegate_sim.device.parse.log import read_runs_file
from delegate_sim.device.parse.log_runs import separate_runs
from delegate_sim.device.parse.log_summary import summary_of
from delegate_sim.foundation.parsing.toml import loads

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "logs-3"
SAID = loads((Path(__file__).parent / "real_logs_3.toml").read_text(encoding="utf-8"))
LOGS = {path.name.partition("_")[0]: path for path in FOLDER.glob("[0-9]*_*")}
VARIATIONS = {path.stem if path.stem.startswith("prof") else path.stem.partition("_")[0]: path for path in FOLDER.glob("var*/*")}
NEEDS_LOGS = pytest.mark.skipif(not LOGS, reason="../shared/logs-3 is missing")
REFUSED = [
    ("CAST", "Not supported Cast case. Input type: INT32 and output type: INT64", 1),
    ("GATHER_ND", "Operation is not supported.", 1),
]


def summaries(path):
    return [summary_of(log) for log in separate_runs(read_runs_file(str(path)))]


def check(found, said):
    """Compare the summary of a run with what an expert reads."""
    own = found.delegate
    assert (own.name, own.outcome, found.end) == (said["delegate"], said["outcome"], said.get("end", ""))
    assert said.get("title", "").casefold() in own.title.casefold()
    assert bool(own.title) == bool(own.name or said.get("title"))
    assert own.failed_running == said.get("failed_running", False)
    if "counts" in said:
        counts = [
            [each.delegated, "?" if each.total is None else each.total] for each in own.counts if each.delegated is not None
        ]
        assert counts == said["counts"]
    if "cause" in said:
        assert said["cause"] in found.cause
        assert bool(found.cause) == bool(said["cause"])
    lines = [error.line for error in found.errors]
    assert [words for words in said.get("said", []) if not any(words in line for line in lines)] == []
    assert said.get("said") != [] or not lines
    assert [[each.name, each.outcome] for each in found.others if each.name] == said.get("then", [])
    assert [op for op, _, _ in found.refusals] == said.get("refused", [])
    assert [error.node for error in found.errors if error.node is not None] == said.get("nodes", [])
    assert "accelerators" not in said or found.to_dict()["accelerators"] == said["accelerators"]
    assert "on_cpu" not in said or dict(found.operators) == said["on_cpu"]
    assert {name: getattr(found.log.times, name) for name in said.get("times", {})} == pytest.approx(said.get("times", {}))


@NEEDS_LOGS
@pytest.mark.parametrize("number", sorted(SAID))
def test_what_an_expert_reads(number):
    path = {**LOGS, **VARIATIONS}.get(number)
    if path is None:
        pytest.skip(f"../shared/logs-3 has no log {number}")
    found, said = summaries(path), SAID[number]["runs"]
    assert len(found) == len(said)
    for summary, each in zip(found, said, strict=True):
        check(summary, each)


@NEEDS_LOGS
def test_every_log_is_tested():
    assert {*LOGS, *[name for name in VARIATIONS if not name.startswith("V")]} == set(SAID)


@NEEDS_LOGS
@pytest.mark.parametrize("name", sorted(name for name in VARIATIONS if name.startswith("V")))
def test_a_list_of_refused_operators_behind_any_prefix(name):
    (found,) = summaries(VARIATIONS[name])
    assert (found.delegate.name, found.delegate.outcome) == ("gpu", "part")
    assert [(each.delegated, each.total) for each in found.delegate.counts] == [(54, 559)]
    assert list(found.refusals) == REFUSED
