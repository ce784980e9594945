"""Start processes that load no code from the current folder. Only this module starts processes.

The current folder may come from a stranger: its ``socket.py`` must not run because a model beside it is read. Commands of Python
come from ``python_module`` and ``python_file``. ``clean_environment`` removes folders that depend on the current folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

_LAUNCHER = str(Path(__file__).resolve().with_name("launcher.py"))
_OWN = str(Path(__file__).resolve().parents[2])
"""The folder from which this package can be imported."""

_LISTS = (
    "PATH",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "DYLD_FALLBACK_FRAMEWORK_PATH",
)
"""Variables with a list of folders from which programs and code are loaded. An empty entry means the current folder."""
_FOLDERS = ("PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX")
"""Variables with one such folder."""
_REMOVED = ("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONEXECUTABLE")
"""Variables with which Python would run further code, or start as another program."""

Process = subprocess.Popen[bytes]
_MOST_OUTPUT = 1 << 20
"""Number of bytes of a program's output that are kept by default: half from its beginning, half from its end."""
_PIECE = 1 << 16
_SECONDS_AFTER_END = 2.0
"""Seconds in which the rest of a program's output is read after the program has ended."""
_SECONDS_BETWEEN_CHECKS = 0.1


def clean_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which no variable makes a process load code from its current folder.

    The default is the environment of this process. Absolute folders stay.
    """
    clean = dict(os.environ if environment is None else environment)
    for name in _REMOVED:
        clean.pop(name, None)
    for name in (*_LISTS, *_FOLDERS):
        if name in clean:
            clean[name] = os.pathsep.join([folder for folder in clean[name].split(os.pathsep) if os.path.isabs(folder)])
            if not clean[name]:
                del clean[name]
    clean["PYTHONSAFEPATH"] = "1"  # for further processes that the process starts; known since Python 3.11
    clean["NoDefaultCurrentDirectoryInExePath"] = "1"  # Windows searches programs in the current folder otherwise
    if sys.flags.ignore_environment:
        clean = {name: value for name, value in clean.items() if not name.startswith("PYTHON") or name == "PYTHONSAFEPATH"}
    if sys.flags.no_user_site:
        clean["PYTHONNOUSERSITE"] = "1"
    return clean


def python_module(name: str, *arguments: str) -> list[str]:
    """Return a command that runs a module in this Python, as ``python -m`` does, without the current folder in the path.

    The module is found as in this process. Modules of this package are found last, so that they do not hide other modules.
    """
    return [sys.executable, _LAUNCHER, os.pathsep.join([*sys.path, _OWN]), "module", name, *arguments]


def python_file(path: str, *arguments: str, python: str = "", options: Sequence[str] = ()) -> list[str]:
    """Return a command that runs a file, without the current folder or the folder of the file in the path.

    ``python`` is the path of an interpreter, by default of this Python. ``options`` are options of the interpreter.
    """
    return [python or sys.executable, *options, _LAUNCHER, "", "file", path, *arguments]


def isolated_python(*arguments: str, python: str = "") -> list[str]:
    """Return a command of an isolated Python (``-I``): it takes no variables, and has only its own folders in the path."""
    return [python or sys.executable, "-I", *arguments]


def start(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
    start_new_session: bool = False,
) -> Process:
    """Start a program with a clean environment. Raise OSError if the program cannot be started."""
    return subprocess.Popen(
        _checked(command),
        env=clean_environment(environment),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=start_new_session,
    )


def run(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    seconds: float,
    folder: str | None = None,
    stderr: int = subprocess.STDOUT,
    prepare: Callable[[], None] | None = None,
    check: Callable[[], None] = lambda: None,
    most_output: int = _MOST_OUTPUT,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program with a clean environment, without input, and return its exit status and output.

    By default, the output includes standard error. Of more than ``most_output`` bytes, the middle is left out. ``prepare`` is
    called in the new process on POSIX. ``check`` is called several times a second while the program is running; if it raises an
    error, the program is ended. Raise the errors of ``check``, OSError if the program cannot be started, and
    ``subprocess.TimeoutExpired``, with the output, if it is still running after some seconds. All processes that the program
    started are then ended as well, and also if they keep the output open after the program has ended.
    """
    with subprocess.Popen(
        _checked(command),
        cwd=folder,
        env=clean_environment(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=prepare if os.name == "posix" else None,  # noqa: PLW1509  # only sets limits
        start_new_session=True,
    ) as process:
        output, errors = (None if pipe is None else _Output(pipe, most_output) for pipe in (process.stdout, process.stderr))
        try:
            _wait(process, seconds, check)
        except subprocess.TimeoutExpired as expired:
            _end(process)
            raise subprocess.TimeoutExpired(process.args, seconds, _content(output), _content(errors)) from expired
        except BaseException:
            _end(process)
            raise
        if any(own is not None and not own.has_ended(_SECONDS_AFTER_END) for own in (output, errors)):
            _end(process)
        return subprocess.CompletedProcess(process.args, process.returncode, _content(output), _content(errors))


def _wait(process: Process, seconds: float, check: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > _SECONDS_BETWEEN_CHECKS:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_BETWEEN_CHECKS)
            return
        check()
    process.wait(max(left, 0))


class _Output:
    def __init__(self, pipe: IO[bytes], most: int) -> None:
        self._half = most // 2
        self._first, self._last = bytearray(), bytearray()
        # A process that the program leaves behind may keep the pipe open. The thread therefore closes a descriptor of its own.
        self._thread = threading.Thread(target=self._read, args=(os.dup(pipe.fileno()),), daemon=True)
        self._thread.start()

    def has_ended(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def content(self) -> bytes:
        return b"".join((self._first, self._last[-self._half :]))

    def _read(self, descriptor: int) -> None:
        try:
            while piece := os.read(descriptor, _PIECE):
                room = self._half - len(self._first)
                self._first += piece[:room]
                self._last += piece[room:]
                if len(self._last) > self._half + _PIECE:
                    del self._last[: -self._half]
        finally:
            os.close(descriptor)


def _content(output: _Output | None) -> bytes | None:
    if output is None:
        return None
    output.has_ended(_SECONDS_AFTER_END)
    return output.content


def signal_name(number: int) -> str:
    """Return the name of a signal, such as ``SIGKILL``. Python names only some signals; others become ``signal 40``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end(process: Process) -> None:
    if os.name == "posix":
        with suppress(OSError):  # it has just ended
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _checked(command: Sequence[str]) -> list[str]:
    if not os.path.isabs(command[0]):
        raise FileNotFoundError(f"the program {command[0]!r} is not named by an absolute path")
    return list(command)
