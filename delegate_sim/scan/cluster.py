"""Judging models on the workers of a Dask cluster."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

from .job import Job, JobAnswer, answer, failed
from .journal import ScanError

_AHEAD = 4
_SECONDS_TO_CONNECT = 10


def answers_on(scheduler: str, jobs: Iterable[Job]) -> Iterator[JobAnswer]:
    """Return the answers as they come, in no order. The workers need this package, and the models under the same paths.

    What a worker that dies had under way, Dask gives to another; a model that ends several workers is said to do so.
    Raises ScanError if distributed is not installed or the scheduler is not there.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ScanError("--scheduler needs the package distributed: pip install 'delegate-sim[dask]'") from error
    try:
        client = distributed.Client(scheduler, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise ScanError(f"{scheduler}: no scheduler answers there") from error
    with client:
        yield from _answers(client, distributed.as_completed, iter(jobs))


def _answers(client: Any, as_completed: Any, jobs: Iterator[Job]) -> Iterator[JobAnswer]:
    under_way: dict[Any, Job] = {}

    def submit(count: int) -> list[Any]:
        added = []
        for job in jobs:
            future = client.submit(answer, job, pure=False)
            under_way[future] = job
            added.append(future)
            if len(added) == count:
                break
        return added

    ahead = max(1, sum(client.nthreads().values())) * _AHEAD
    completed = as_completed(submit(ahead))
    for future in completed:
        job = under_way.pop(future)
        error = future.exception()
        found = future.result() if error is None else failed(job, f"{job.model}: {type(error).__name__}: {error}")
        future.release()
        for more in submit(1):
            completed.add(more)
        yield JobAnswer(*found)
