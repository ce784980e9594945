"""A process between delegate-sim and a converter. It runs one command within limits.

This file needs only the standard library.

The job is a line of JSON on standard input, and the outcome is JSON on standard output. When the parent process ends, standard
input closes, and the supervisor kills every process of the command. On Linux, orphaned processes of the command become
children of the supervisor. The supervisor can therefore find all processes and measure their total memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any

_POLL = 0.1
"""Seconds between two checks."""
_KEPT = 64 << 10
"""Number of bytes to keep from the end of the output."""
_IS_LINUX = sys.platform.startswith("linux")
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_ENDING_SECONDS = 10.0


class _Printed:
    def __init__(self, pipe: IO[bytes]) -> None:
        self.size = 0
        self._kept = bytearray()
        self._pipe = pipe
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        descriptor = self._pipe.fileno()
        while piece := os.read(descriptor, 1 << 16):
            self.size += len(piece)
            self._kept += piece
            if len(self._kept) > 2 * _KEPT:
                del self._kept[:-_KEPT]

    @property
    def text(self) -> str:
        return bytes(self._kept[-_KEPT:]).decode("utf-8", "replace")


def _control_process(option: int, value: int) -> None:
    if _IS_LINUX:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _limited(most_file: int) -> None:
    import resource  # not available on every system

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limits = [limit for limit in (most_file, *resource.getrlimit(resource.RLIMIT_FSIZE)) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(limits), min(limits)))  # a limit above the hard limit is an error
    _control_process(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(name))
    processes = list(children.get(os.getpid(), ()))
    for process in processes:
        processes += children.get(process, ())
    return processes


def _held(processes: list[int]) -> int:
    pages = 0
    for process in processes:
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process}/statm", "rb") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _written(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _end(command: subprocess.Popen[bytes]) -> None:
    if not _IS_LINUX:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(command.pid, signal.SIGKILL)
            else:
                command.kill()
        command.wait()
        return
    deadline = time.monotonic() + _ENDING_SECONDS
    while (left := _descendants()) and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        command.poll()
        _reap(command.pid)
        time.sleep(0.01)
    command.wait()


def _reap(command: int) -> None:
    """Collect the exit statuses of orphaned processes. The Popen object collects the command's own status."""
    for process in _descendants():
        if process != command:
            with contextlib.suppress(OSError):
                os.waitpid(process, os.WNOHANG)


def _watch(command: subprocess.Popen[bytes], job: dict[str, Any], printed: _Printed, is_left: threading.Event) -> tuple[str, int]:
    deadline = time.monotonic() + job["seconds"]
    most = looks = 0
    while True:
        try:
            command.wait(_POLL)
        except subprocess.TimeoutExpired:
            pass
        else:
            return ("output" if _written(job["folder"]) >= job["output"] else ""), most
        looks += 1
        if is_left.is_set():
            return "left", most
        if time.monotonic() > deadline:
            return "time", most
        if printed.size > job["printed"]:
            return "printed", most
        if _IS_LINUX:
            most = max(most, _held(_descendants()))
            if most > job["memory"]:
                return "memory", most
        if looks % 5 == 0 and _written(job["folder"]) > job["output"]:
            return "output", most


def _wait_for_end(lifeline: IO[bytes], is_left: threading.Event) -> None:
    lifeline.read()
    is_left.set()


def main() -> None:
    """Run the job on standard input."""
    lifeline = sys.stdin.buffer
    job = json.loads(lifeline.readline())
    is_left = threading.Event()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: is_left.set())
    _control_process(_PR_SET_CHILD_SUBREAPER, 1)
    begin = time.monotonic()
    is_posix = os.name == "posix"
    try:
        command = subprocess.Popen(
            job["command"],
            cwd=job["folder"],
            env=job["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=is_posix,
            preexec_fn=(lambda: _limited(job["output"])) if is_posix else None,  # noqa: PLW1509 - no other thread is there yet
        )
    except OSError as error:
        _answer({"status": None, "broken": "start", "printed": str(error), "seconds": 0.0, "memory": 0})
        return
    assert command.stdout is not None
    printed = _Printed(command.stdout)
    threading.Thread(target=_wait_for_end, args=(lifeline, is_left), daemon=True).start()
    broken, memory = _watch(command, job, printed, is_left)
    seconds = time.monotonic() - begin
    _end(command)
    printed.thread.join(1.0)
    _answer({"status": command.returncode, "broken": broken, "printed": printed.text, "seconds": seconds, "memory": memory})


def _answer(outcome: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(json.dumps(outcome))
        sys.stdout.flush()
    os._exit(0)  # a thread may still wait for the parent


if __name__ == "__main__":
    main()
