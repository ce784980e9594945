"""Simulate models with processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from ..bundles.address import split_address
from ..foundation.files import LARGEST_IN_MEMORY
from .batches import Batch, answers_to, batches_of
from .job import Job, JobAnswer, failed

_AHEAD = 3
"""The largest number of running and queued batches per process. This number limits the memory that batches take."""


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers_here(jobs: Iterable[Job], count: int, processes: int) -> Iterator[list[JobAnswer]]:
    """Yield lists of answers as they arrive, in any order. ``count`` is the number of jobs.

    If a process dies, the running jobs are repeated one at a time. If a process dies during a repeated job, the answer for the
    model is an error.

    If ``processes`` is 1, this process simulates all models that are not memory-mapped. Memory-mapped models need a separate
    process, because the operating system kills a process if a mapped file shrinks.
    """
    if processes == 1:
        mapped = []
        for job in jobs:
            if _is_mapped(job):
                mapped.append(job)
            else:
                yield answers_to([job])
        yield from _answers_alone(mapped)
        return
    waiting = batches_of(jobs, count, processes)
    while True:
        with _Pool(processes, processes * _AHEAD) as pool:
            lost = yield from pool.answers(waiting)
        if not lost:
            return
        yield from _answers_alone(lost)


def _answers_alone(jobs: Sequence[Job]) -> Iterator[list[JobAnswer]]:
    """Run jobs one at a time, because each job may kill its process. Yield the answers."""
    waiting = iter([[job] for job in jobs])
    guilty = jobs
    while guilty:
        with _Pool(1, 1) as pool:
            guilty = yield from pool.answers(waiting)
        message = (
            "the process that simulated the model died. A model file that becomes shorter during the scan can cause this. If "
            "yours did not, please report this problem, and attach the model"
        )
        yield [failed(job, f"{job.model}: {message}") for job in guilty]


def _is_mapped(job: Job) -> bool:
    with suppress(OSError, ValueError):
        return os.path.getsize(split_address(job.model)[0]) > LARGEST_IN_MEMORY
    return False


class _Pool:
    """Worker processes, which end when this process ends."""

    def __init__(self, processes: int, ahead: int) -> None:
        self._ahead = ahead
        self._executor = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin)
        self._under_way: dict[Future[list[JobAnswer]], Batch] = {}

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        processes = list((self._executor._processes or {}).values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()

    def answers(self, batches: Iterator[Batch]) -> Generator[list[JobAnswer], None, list[Job]]:
        """Yield answers. Return the jobs that were lost because a process died."""
        lost: list[Job] = []
        is_whole = True
        while True:
            while is_whole and len(self._under_way) < self._ahead:
                batch = next(batches, None)
                if batch is None:
                    break
                try:
                    self._under_way[self._executor.submit(answers_to, batch)] = batch
                except BrokenProcessPool:
                    lost += batch
                    is_whole = False
            if not self._under_way:
                return lost
            finished, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            for future in finished:
                batch = self._under_way.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost += batch
                    is_whole = False


def _begin() -> None:
    """Prepare a worker process: ignore Ctrl-C, and end when the parent process ends. The parent process handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
