"""Run a process with limits on time and memory. A crash is a result, not an exception."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..foundation.limits import how_to_raise, raised
from ..foundation.processes import python_module, run, signal_name

SECONDS = 120
MEMORY = 16 << 30
"""Limit on the address space, in bytes. Above the limit, a process prints an error or crashes."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a process. ``status`` is the exit code, a negative signal number, or None after a timeout."""

    status: int | None
    output: str
    seconds: int | None = None
    """The time limit in seconds, or None for ``SECONDS``."""

    @property
    def words(self) -> str:
        """Description of the failure, or "" if the process succeeded."""
        if self.status is None:
            return f"it was stopped after {raised(self.seconds or SECONDS):,} seconds{how_to_raise()}"
        if self.status < 0:
            return f"it crashed ({signal_name(-self.status)})"
        return "" if self.status == 0 else f"it failed with status {self.status}"


def run_module(name: str, arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> Finished:
    """Run a module as a process of this Python in a folder, and wait until the process ends."""
    return run_limited(python_module(name, *arguments), environment, folder)


def run_limited(command: Sequence[str], environment: Mapping[str, str], folder: str, seconds: int | None = None) -> Finished:
    """Run a command in a folder, and wait until the process ends. The default of ``seconds`` is ``SECONDS``."""
    try:
        process = run(command, environment, seconds=raised(seconds or SECONDS), folder=folder, prepare=_limit_memory)
    except subprocess.TimeoutExpired as expired:
        return Finished(None, (expired.output or b"").decode("utf-8", "replace"), seconds)
    except OSError as error:
        return Finished(127, str(error), seconds)
    return Finished(process.returncode, process.stdout.decode("utf-8", "replace"), seconds)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # the process then runs without this limit
        return

    most = min(raised(MEMORY), sys.maxsize)
    limits = [limit for limit in (most, *resource.getrlimit(resource.RLIMIT_AS)) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), min(limits)))  # a limit above the hard limit is an error
