"""Simulate many models and store the results."""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..bundles.address import split_address
from ..errors import LimitError, OutputError
from ..foundation.files import beside
from ..foundation.outputs import OutputFile, declare_outputs, files_kept
from .job import Job, JobAnswer, TargetSpec, stored_name
from .journal import Journal, ScanError, ScanRows
from .local import answers_here, answers_on
from .output import Format, format_for, read_tables
from .schema import CAUSES, RUNS
from .totals import Totals


@dataclass(frozen=True, slots=True)
class Workers:
    """The number of processes on this machine, or the address of a Dask scheduler."""

    processes: int = 1
    scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class Scanned:
    """The result of a scan: totals of the output, and the numbers of simulated and unchanged models.

    ``has_fault`` is true if an internal error occurred on a model.
    """

    totals: Totals
    causes: int
    judged: int
    unchanged: int
    is_interrupted: bool
    has_fault: bool


def scan(
    models: Sequence[str],
    targets: Sequence[TargetSpec],
    output: str,
    engine: Workers,
    show: Callable[[int, int], None] = lambda finished, total: None,
) -> Scanned:
    """Simulate models on targets, and write the output.

    ``show`` is called with the number of finished models and the number of all models. Results of an earlier scan are reused if
    the model file, the target and the rules are unchanged. The earlier scan may be incomplete. Results are first stored in a
    journal next to the output file, so no result is lost if the process ends early. After KeyboardInterrupt, the results so far
    are written to the output. Raises ScanError and OSError.
    """
    file_format = format_for(output)
    journal_path = beside(output, ".journal")
    with files_kept():
        declare_outputs([*_outputs(output, journal_path, file_format)], [split_address(model)[0] for model in models])
        journal = Journal(journal_path)
        try:
            _take_over(journal, output)
            judged = unchanged = 0
            is_interrupted = has_fault = False
            jobs = (Job(model, tuple(targets), journal.known(stored_name(model))) for model in models)
            try:
                for answers in _answers(jobs, len(models), engine):
                    journal.append(answers)
                    anew = sum([bool(answer.runs) for answer in answers])
                    judged += anew
                    has_fault |= any(answer.is_fault for answer in answers)
                    unchanged += len(answers) - anew
                    show(judged + unchanged, len(models))
            except KeyboardInterrupt:
                is_interrupted = True
            totals, causes = _write(journal, models, targets, output, file_format)
            journal.remove()
        finally:
            journal.close()
    return Scanned(totals, causes, judged, unchanged, is_interrupted, has_fault)


def _answers(jobs: Iterable[Job], count: int, engine: Workers) -> Iterator[list[JobAnswer]]:
    if engine.scheduler is not None:
        return answers_on(engine.scheduler, jobs, count)
    return answers_here(jobs, count, engine.processes)


def _outputs(output: str, journal: str, file_format: Format) -> Iterator[OutputFile]:
    """Yield all files that a scan writes. Raises ScanError for an existing file with content that no scan wrote.

    The ``Journal`` checks its own file.
    """
    for table, path in file_format.files(output):
        exists = os.path.isfile(path)
        if exists:
            with _naming_output(path):
                next(iter(read_tables(output)[table]), None)
        yield OutputFile(path, is_forced=None, is_updated=exists)
    yield OutputFile(journal, is_forced=None, is_updated=not os.path.islink(journal))


@contextmanager
def _naming_output(output: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, OverflowError, RecursionError, csv.Error, sqlite3.Error) as error:
        raise ScanError(f"{output}: is not the output of a scan; give another name, or remove it") from error
    except LimitError as error:
        raise ScanError(f"{output}: {error.reason}") from error
    except OSError as error:
        raise ScanError(f"{error.filename or output}: {error.strerror or error}") from error


def _take_over(journal: Journal, output: str) -> None:
    try:
        with _naming_output(output):
            journal.take_over(read_tables(output) if os.path.exists(output) else {RUNS: (), CAUSES: ()})
    except ScanError:
        journal.remove()  # the journal has no result yet
        raise


def _write(
    journal: Journal, models: Sequence[str], targets: Sequence[TargetSpec], output: str, file_format: Format
) -> tuple[Totals, int]:
    stored, columns = [stored_name(model) for model in models], [spec.name for spec in targets]
    totals, causes = Totals(), _Count()
    tables = {
        RUNS: totals.count(journal.rows(RUNS, stored, columns)),
        CAUSES: causes.count(journal.rows(CAUSES, stored, columns)),
    }
    try:
        file_format.write(output, tables)
    except (OSError, OutputError) as error:
        problem = str(error) if isinstance(error, OutputError) else f"{error.filename or output}: {error.strerror or error}"
        raise ScanError(f"{problem}; the results so far are in {journal.path}") from error
    return totals, causes.rows


class _Count:
    def __init__(self) -> None:
        self.rows = 0

    def count(self, rows: ScanRows) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self.rows += 1
            yield row
