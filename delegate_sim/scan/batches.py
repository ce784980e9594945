"""Group several models into one task, because giving a task to a worker takes about as long as simulating a small model."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from .job import Job, JobAnswer, answer

_MOST = 8
_FOR_EACH_WORKER = 16
"""The smallest number of tasks per worker. With many small tasks, all workers finish at about the same time."""

Batch = Sequence[Job]


def batches_of(jobs: Iterable[Job], count: int, workers: int) -> Iterator[Batch]:
    """Group ``count`` jobs into batches. With a single worker, every batch has one job.

    >>> {len(batch) for batch in batches_of([Job("m", (), {})] * 70, 70, 2)}
    {2}
    """
    size = 1 if workers == 1 else max(1, min(_MOST, count // (workers * _FOR_EACH_WORKER)))
    waiting = iter(jobs)
    while batch := list(itertools.islice(waiting, size)):
        yield batch


def answers_to(batch: Batch) -> list[JobAnswer]:
    """Simulate the models of a batch, and return the answers."""
    return [answer(job) for job in batch]
