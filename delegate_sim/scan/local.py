"""Judging models with processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from .job import Job, JobAnswer, answer, failed

_AHEAD = 4
"""Jobs that wait in front of each process, so that memory does not grow with their number."""


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers_here(jobs: Iterable[Job], processes: int) -> Iterator[JobAnswer]:
    """Return the answers as they come, in no order.

    A process that dies takes none of the others' work with it: what was under way is done again, each alone, and a model that
    ends its process a second time is said to do so.
    """
    if processes == 1:
        yield from map(answer, jobs)
        return
    waiting = iter(jobs)
    suspects: list[Job] = []
    while True:
        with _Pool(processes) as pool:
            suspects = yield from pool.answers(waiting)
        if not suspects:
            return
        for job in suspects:
            with _Pool(1) as alone:
                lost = yield from alone.answers(iter([job]))
            for each in lost:
                yield failed(each, f"{each.model}: ends the process that judges it; please report it with the model")


class _Pool:
    """Processes that end with it."""

    def __init__(self, processes: int) -> None:
        self._ahead = processes * _AHEAD
        self._executor = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin)
        self._under_way: dict[Future[JobAnswer], Job] = {}

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        processes = list((self._executor._processes or {}).values())
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()

    def answers(self, jobs: Iterator[Job]) -> Generator[JobAnswer, None, list[Job]]:
        """Return answers; the value returned at the end is the jobs that were under way when a process died."""
        lost: list[Job] = []
        is_whole = True
        while True:
            while is_whole and len(self._under_way) < self._ahead:
                job = next(jobs, None)
                if job is None:
                    break
                try:
                    self._under_way[self._executor.submit(answer, job)] = job
                except BrokenProcessPool:
                    lost.append(job)
                    is_whole = False
            if not self._under_way:
                return lost
            done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            for future in done:
                job = self._under_way.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(job)
                    is_whole = False


def _begin() -> None:
    """Leave Ctrl-C to the process that writes the output, and end if that one is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
