"""Run whole commands, each in a process of its own with little memory and time.

A command that fails, that takes more than 10 s of processor time ("time") or more than 1 GiB of memory ("memory"), or that is
stopped at the higher limits of its process ("timeout", "crash") is a finding. So is a command that changes its input, writes
outside the folder of the input, starts a program or runs code from the folder ("escape").
"""

from __future__ import annotations

import faulthandler
import hashlib
import os
import random
import re
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.fuzz.changes import OUTSIDE, SECRET
from tools.fuzz.children import Ended, in_child
from tools.fuzz.findings import MODEL, Finding
from tools.fuzz.kinds import KINDS, chosen, input_steps
from tools.fuzz.targets import OUT_OF_MEMORY, Step, command_steps

_MOST_CPU_SECONDS = 10
_MOST_BYTES = 1 << 30
"""The limits that SECURITY.md promises. A command that ends as it should but takes more is a finding as well."""
_ADDRESS_SPACE = 3 << 29
"""Bytes beyond which a command gets no more memory. The imports of the program take a third of them, mostly without using it."""
_CPU_SECONDS = 15
"""Time after which a command is stopped."""
_SECONDS = 120
"""Time after which a command hangs, although it takes no time of the processor."""
_MOST_WRITTEN = 1 << 30
"""Bytes of the largest file that a command may write."""
_ESCAPE = "fuzz: escape: "
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES_OF_FILES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "socket.connect")
_WORKER = "delegate_sim.scan.worker"
"""The program that ``scan`` starts for a model that it maps into memory."""
_UPDATES = ("--update", "--prune", "--learn")
"""Options with which a command changes its input, as asked."""


class CommandRun(NamedTuple):
    """The time and memory that a command took, and its fault, if any."""

    finding: Finding | None
    seconds: float
    peak: int


def run_in_child(content: bytes, seed: str, kind: str = MODEL) -> CommandRun:
    """Give a file to the command that a seed stands for, and to those that follow on it."""
    seconds, peak, what, printed, suffix = 0.0, 0, "", "", ".tflite"
    with tempfile.TemporaryDirectory() as outer:
        folder, log = os.path.join(outer, "in"), Path(outer, "log")
        for name in ("in", "tmp"):
            os.mkdir(os.path.join(outer, name))
        Path(folder, OUTSIDE).resolve().write_text(SECRET, "utf-8")
        generator = random.Random(f"{seed}:command")
        if kind == MODEL:
            steps = command_steps(content, generator, folder)
        else:
            original = chosen(kind, seed)[0]
            steps = input_steps(original, content, KINDS[kind].commands, generator, folder)
            suffix = original.name[original.name.index(".") :]
        inputs, around = _digests(folder), sorted(os.listdir(outer))
        for step in steps:
            ended = in_child(lambda: _run(step, log, "" if kind == MODEL else folder), _ADDRESS_SPACE, _CPU_SECONDS)  # noqa: B023
            seconds, peak = max(seconds, ended.seconds), max(peak, ended.peak)
            printed = log.read_text("utf-8", "replace").replace(f"{outer}/", "")
            what = _what_went_wrong(ended, printed)
            if what:
                break
        if not what and kind != MODEL:
            changed = _changed_inputs(inputs, folder, steps)
            changed += [name for name in os.listdir(outer) if name not in (*around, "log")]
            if changed:
                what, printed = "escape", f"{printed}{_ESCAPE}changed {', '.join(changed)}\n"
    finding = Finding(seed, what, printed, content, kind, suffix) if what else None
    return CommandRun(finding, seconds, peak)


def _digests(folder: str) -> dict[str, str]:
    paths = [path for path in Path(folder).iterdir() if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _changed_inputs(before: dict[str, str], folder: str, steps: Sequence[Step]) -> list[str]:
    """Return the names of the files that commands changed or removed unasked."""
    words = [word for step in steps for word in step.words]
    if any(word in words for word in _UPDATES):
        return []
    outputs = [os.path.splitext(words[place + 1])[0] for place, word in enumerate(words[:-1]) if word in ("-o", "--output")]
    now = _digests(folder)
    return [name for name, digest in before.items() if now.get(name) != digest and not name.startswith(tuple(outputs))]


def _run(step: Step, log: Path, folder: str) -> bool:
    """Run a command in this process, and let it print to a file; return whether it ended as it should.

    ``folder`` is the only one in which it may write, "" if it may write anywhere.
    """
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGXCPU, file=2, all_threads=False, chain=True)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS)
    warnings.simplefilter("error", RuntimeWarning)
    try:
        os.write(2, f"$ delegate-sim {' '.join(step.words)[:2000]}\n".encode("utf-8", "replace"))
        if folder:
            _confine(folder)
        step.run()
    except Exception:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        return False
    return True


def _confine(folder: str) -> None:
    """Make a folder the current one, and report from now on what leaves it."""
    import resource

    above = os.path.dirname(os.path.realpath(folder))
    own = (f"{above}/in/", f"{above}/tmp/")
    os.chdir(folder)
    os.environ.update(HOME=f"{above}/tmp", XDG_CACHE_HOME=f"{above}/tmp", TMPDIR=f"{above}/tmp")
    tempfile.tempdir = f"{above}/tmp"
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_WRITTEN, _MOST_WRITTEN))
    sys.dont_write_bytecode = True

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        paths: Sequence[Any] = ()
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING:
            paths = arguments[:1]
        elif event in _CHANGES_OF_FILES:
            paths = arguments[:2]
        elif event in _STARTS and not (event == "subprocess.Popen" and list(arguments[1])[-1:] == [_WORKER]):
            os.write(2, f"{_ESCAPE}{event} {arguments!r}\n".encode("utf-8", "replace"))
        elif event == "exec" and getattr(arguments[0], "co_filename", "").startswith((*own, "./")):
            os.write(2, f"{_ESCAPE}runs {arguments[0].co_filename}\n".encode("utf-8", "replace"))
        for path in paths:
            if isinstance(path, str | bytes):
                place = os.path.realpath(os.fsdecode(path))
                if not f"{place}/".startswith(own) and place != os.devnull:
                    os.write(2, f"{_ESCAPE}{event} {place}\n".encode("utf-8", "replace"))

    sys.addaudithook(watch)


def _what_went_wrong(ended: Ended[bool], printed: str) -> str:
    """Return the kind of finding, "" if there is none."""
    if ended.result is None:
        is_slow = os.WIFSIGNALED(ended.status) and os.WTERMSIG(ended.status) in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
        return "timeout" if is_slow else "crash"
    if _ESCAPE in printed:
        return "escape"
    if not ended.result:
        return "memory" if re.search(OUT_OF_MEMORY, printed) else "error"
    if ended.peak > _MOST_BYTES:
        return "memory"
    return "time" if ended.seconds > _MOST_CPU_SECONDS else ""
