"""Judging many models, and keeping what was found."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..bundles.address import split_address
from ..files import keep_inputs
from .cluster import answers_on
from .job import Job, JobAnswer, ScanRow, TargetSpec
from .journal import Journal, ScanError
from .local import answers_here
from .output import ScanTables, format_for
from .schema import CAUSES, RUNS

_Key = tuple[str, str]
"""A model, and a target by its name."""


class Workers(NamedTuple):
    """What judges: so many processes here, or a Dask scheduler elsewhere."""

    processes: int = 1
    scheduler: str | None = None


class Scanned(NamedTuple):
    """What a scan ended with: the rows of both tables, how many models were judged anew, and whether it was interrupted."""

    tables: ScanTables
    judged: int
    unchanged: int
    is_interrupted: bool


def scan(
    models: Sequence[str],
    targets: Sequence[TargetSpec],
    output: str,
    engine: Workers,
    show: Callable[[int, int], None] = lambda done, total: None,
) -> Scanned:
    """Judge models on targets and write the tables of the output; ``show`` is told how many of how many models are done.

    What an earlier scan found, or began to find, holds as long as content, target and rules are the same. Nothing is lost if
    the process ends at any moment: what was found by then is in a journal beside the output. After KeyboardInterrupt the
    output is written with what there is. Raises ScanError and OSError.
    """
    kept = format_for(output)
    keep_inputs(split_address(model)[0] for model in models)
    if any(os.path.exists(model) and os.path.exists(output) and os.path.samefile(model, output) for model in models):
        raise ScanError(f"{output}: is one of the models, which is not overwritten")
    journal = Journal(f"{output}.journal")
    try:
        store = _Store(_read(output, kept.read) if os.path.exists(output) else {RUNS: (), CAUSES: ()})
        for answer in journal.answers():
            store.take(answer)
        judged = unchanged = 0
        is_interrupted = False
        jobs = [Job(model, tuple(targets), store.known(model)) for model in models]
        try:
            for done, answer in enumerate(_answers(jobs, engine), 1):
                if answer.runs:
                    judged += 1
                    journal.append(answer)
                    store.take(answer)
                else:
                    unchanged += 1
                show(done, len(jobs))
        except KeyboardInterrupt:
            is_interrupted = True
        tables = store.tables(models, targets)
        try:
            kept.write(output, tables)
        except OSError as error:
            raise ScanError(
                f"{error.filename or output}: {error.strerror or error}; what was found is in {journal.path}"
            ) from error
        journal.remove()
    finally:
        journal.close()
    return Scanned(tables, judged, unchanged, is_interrupted)


def _answers(jobs: Iterable[Job], engine: Workers) -> Iterator[JobAnswer]:
    return answers_here(jobs, engine.processes) if engine.scheduler is None else answers_on(engine.scheduler, jobs)


def _read(path: str, read: Callable[[str], ScanTables]) -> ScanTables:
    try:
        tables = read(path)
        for row in tables[RUNS]:
            row["model"], row["target"], row["sha256"], row["rule_set"]
    except (ValueError, KeyError, TypeError, OSError, sqlite3.Error) as error:
        raise ScanError(f"{path}: is not the output of a scan; give another name, or remove it") from error
    return tables


class _Store:
    """The rows by model and target; a later one takes the place of an earlier one."""

    def __init__(self, tables: ScanTables) -> None:
        self._runs: dict[str, dict[str, ScanRow]] = {}
        self._causes: dict[_Key, list[ScanRow]] = {}
        self._add(tables[RUNS], tables[CAUSES])

    def take(self, answer: JobAnswer) -> None:
        """Put the rows of an answer in the place of what was known of its model and targets."""
        for row in answer.runs:
            self._causes.pop((row["model"], row["target"]), None)
        self._add(answer.runs, answer.causes)

    def known(self, model: str) -> Mapping[str, tuple[str, str]]:
        """Return for each target that has an answer the content and the rules that it holds for."""
        rows = self._runs.get(model, {})
        return {target: (row["sha256"], row["rule_set"]) for target, row in rows.items() if not row.get("error")}

    def tables(self, models: Sequence[str], targets: Sequence[TargetSpec]) -> ScanTables:
        """Return the rows of these models and targets, in their order."""
        keys = [(model, spec.name) for model in models for spec in targets if spec.name in self._runs.get(model, {})]
        return {
            RUNS: [self._runs[model][target] for model, target in keys],
            CAUSES: [row for key in keys for row in self._causes.get(key, ())],
        }

    def _add(self, runs: Iterable[ScanRow], causes: Iterable[ScanRow]) -> None:
        for row in runs:
            self._runs.setdefault(row["model"], {})[row["target"]] = row
        for row in causes:
            self._causes.setdefault((row["model"], row["target"]), []).append(row)
