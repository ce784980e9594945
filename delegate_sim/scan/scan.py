"""Simulate many models with processes on this machine or on the workers of a Dask cluster, and store the results."""

from __future__ import annotations

import csv
import importlib
import itertools
import os
import pickle
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from ..bundles.address import split_address
from ..errors import LimitError, OutputError
from ..foundation.files import LARGEST_IN_MEMORY, beside
from ..foundation.outputs import OutputFile, declare_outputs, files_kept
from ..foundation.printable import install_command
from ..foundation.processes import Process, python_module, start
from .job import Batch, Job, JobAnswer, TargetSpec, answers_to, batches_of, failed, stored_name
from .journal import Journal, ScanError
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
            try:
                with _naming_output(output):
                    journal.take_over(read_tables(output) if os.path.exists(output) else {RUNS: (), CAUSES: ()})
            except ScanError:
                journal.remove()  # the journal has no result yet
                raise
            judged = unchanged = 0
            is_interrupted = has_fault = False
            jobs = (Job(model, tuple(targets), journal.known(stored_name(model))) for model in models)
            if engine.scheduler is None:
                finished = answers_here(jobs, len(models), engine.processes)
            else:
                finished = answers_on(engine.scheduler, jobs, len(models))
            try:
                for answers in finished:
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


def _write(
    journal: Journal, models: Sequence[str], targets: Sequence[TargetSpec], output: str, file_format: Format
) -> tuple[Totals, int]:
    stored, columns = [stored_name(model) for model in models], [spec.name for spec in targets]
    totals, causes = Totals(), 0

    def cause_rows() -> Iterator[tuple[Any, ...]]:
        nonlocal causes
        for row in journal.rows(CAUSES, stored, columns):
            causes += 1
            yield row

    tables = {RUNS: totals.count(journal.rows(RUNS, stored, columns)), CAUSES: cause_rows()}
    try:
        file_format.write(output, tables)
    except (OSError, OutputError) as error:
        problem = str(error) if isinstance(error, OutputError) else f"{error.filename or output}: {error.strerror or error}"
        raise ScanError(f"{problem}; the results so far are in {journal.path}") from error
    return totals, causes


_WORKER = "delegate_sim.scan.worker"
_AHEAD = 3
"""The largest number of running and queued batches per process. This number limits the memory that batches take."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers_here(jobs: Iterable[Job], count: int, processes: int) -> Iterator[list[JobAnswer]]:
    """Yield lists of answers as they arrive, in any order. ``count`` is the number of jobs.

    If a process dies, the jobs of its batch are repeated one at a time. If a process dies during a repeated job, the answer for
    the model is an error.

    If ``processes`` is 1, this process simulates all models that are not memory-mapped. Memory-mapped models need a separate
    process, because the operating system kills a process if a mapped file shrinks.
    """
    if processes == 1:
        suspects = []
        for job in jobs:
            if _is_mapped(job):
                suspects.append(job)
            else:
                yield answers_to([job])
    else:
        with _Pool(processes, processes * _AHEAD) as pool:
            suspects = yield from pool.answers(batches_of(jobs, count, processes))
    with _Pool(1, 1) as pool:
        guilty = yield from pool.answers(iter([[job] for job in suspects]))
    message = (
        "the process that simulated the model died. A model file that becomes shorter during the scan can cause this. If "
        "yours did not, please report this problem, and attach the model"
    )
    for job in guilty:
        yield [failed(job, f"{job.model}: {message}")]


def _is_mapped(job: Job) -> bool:
    with suppress(OSError, ValueError):
        return os.path.getsize(split_address(job.model)[0]) > LARGEST_IN_MEMORY
    return False


class _Pool:
    def __init__(self, processes: int, ahead: int) -> None:
        self._ahead = ahead
        self._threads = ThreadPoolExecutor(processes)
        self._workers: list[Process] = []
        self._idle: SimpleQueue[Process] = SimpleQueue()
        self._closing = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        with self._closing:
            self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown()
        for worker in self._workers:
            worker.communicate()

    def answers(self, batches: Iterator[Batch]) -> Generator[list[JobAnswer], None, list[Job]]:
        lost: list[Job] = []
        under_way: dict[Future[list[JobAnswer]], Batch] = {}
        while True:
            for batch in itertools.islice(batches, self._ahead - len(under_way)):
                under_way[self._threads.submit(self._answers_to, batch)] = batch
            if not under_way:
                return lost
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in finished:
                batch = under_way.pop(future)
                try:
                    yield future.result()
                except _WorkerDied:
                    lost += batch

    def _answers_to(self, batch: Batch) -> list[JobAnswer]:
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            pickle.dump((answers_to, batch), worker.stdin)
            worker.stdin.flush()
            answers: list[JobAnswer] = pickle.load(worker.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise _WorkerDied from None
        self._idle.put(worker)
        return answers

    def _start(self) -> Process:
        with self._closing:
            if self._is_closed:
                raise _WorkerDied
            worker = start(python_module(_WORKER), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._workers.append(worker)
        return worker


class _WorkerDied(Exception):
    pass


_SECONDS_TO_CONNECT = 10


def answers_on(scheduler: str, jobs: Iterable[Job], count: int) -> Iterator[list[JobAnswer]]:
    """Yield lists of answers as they arrive, in any order. ``count`` is the number of jobs.

    Every worker must have this package, and must find the models at the same paths as this process. If a worker dies, Dask gives
    its tasks to another worker. If several workers die while they simulate a model, the answer for this model is an error.
    Raises ScanError if the package distributed is not installed or the scheduler is not running.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ScanError(f"--scheduler needs the package distributed: {install_command('dask')}") from error
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise ScanError(f"{scheduler}: no Dask scheduler answers at this address") from error
    with client:
        workers = max(1, sum(client.nthreads().values()))
        yield from _answers(client, distributed.as_completed, batches_of(jobs, count, workers), workers * _AHEAD)


def _answers(client: Any, as_completed: Any, batches: Iterator[Batch], ahead: int) -> Iterator[list[JobAnswer]]:
    under_way: dict[Any, Batch] = {}
    suspects: list[Job] = []
    tried = None

    def submitted(some: Iterable[Batch]) -> list[Any]:
        futures = []
        for batch in some:
            futures.append(client.submit(answers_to, batch, pure=False))
            under_way[futures[-1]] = batch
        return futures

    completed = as_completed(submitted(itertools.islice(batches, ahead)))
    for future in completed:
        batch = under_way.pop(future)
        error = future.exception()
        is_suspect = future is tried
        tried = None if is_suspect else tried
        if error is None:
            yield [JobAnswer(*item) for item in future.result()]
        elif is_suspect:
            yield [failed(job, f"{job.model}: {type(error).__name__}: {error}") for job in batch]
        else:  # any job of the batch may be the cause, so each job is repeated alone
            suspects += batch
        future.release()
        if suspects and tried is None:
            (tried,) = submitted([[suspects.pop(0)]])
            completed.add(tried)
        if not is_suspect:
            completed.update(submitted(itertools.islice(batches, 1)))
