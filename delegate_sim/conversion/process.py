"""Run a command with limits on time, memory and output. All its processes end when the current process ends."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..foundation.processes import clean_environment, isolated_python, start

_SUPERVISOR = str(Path(__file__).with_name("programs") / "supervisor.py")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a command: seconds, bytes of memory, bytes of files and bytes printed."""

    seconds: float
    memory: int
    output: int
    printed: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a command."""

    status: int | None
    """The exit code. It is negative for a signal, and None if the command could not be started."""
    broken: str
    """The exceeded limit: ``time``, ``memory``, ``output`` or ``printed``. "" if no limit was exceeded.

    The value is ``start`` if the command did not start, or ``left`` if the current process was interrupted or ended.
    """
    printed: str
    """The last part of the command's output."""
    seconds: float
    memory: int
    """Peak memory in bytes, or 0 if memory cannot be measured."""


def run_bounded(command: Sequence[str], folder: str, environment: Mapping[str, str], bounds: Bounds) -> Ended:
    """Run a command in a folder until the command ends.

    A supervisor process runs the command in its own session. The supervisor ends all processes of the command if a limit is
    exceeded, or if the current process is interrupted or ends.
    """
    job = {"command": list(command), "folder": folder, "environment": clean_environment(environment), **asdict(bounds)}
    process = start(
        isolated_python("-S", _SUPERVISOR),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # the process has already ended
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        answer = process.stdout.read()
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.wait()
        process.stdout.close()
    try:
        return Ended(**json.loads(answer))
    except (ValueError, TypeError):
        return Ended(process.returncode, "", "another process ended the supervisor of the converter", 0.0, 0)
