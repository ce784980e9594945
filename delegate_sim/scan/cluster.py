"""Simulate models on the workers of a Dask cluster."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ..foundation.printable import install_command
from .job import Batch, Job, JobAnswer, answers_to, batches_of, failed
from .journal import ScanError

_AHEAD = 3
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
