"""Run whole commands, each in a process of its own with little memory and time.

A command that fails, that takes more than 10 s of processor time ("time") or more than 1 GiB of memory ("memory"), or that is
stopped at the higher limits of its process ("timeout", "crash") is a finding.
"""

from __future__ import annotations

import faulthandler
import os
import random
import re
import signal
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

from tools.fuzz.children import Ended, in_child
from tools.fuzz.findings import Finding
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


class CommandRun(NamedTuple):
    """The time and memory that a command took, and its fault, if any."""

    finding: Finding | None
    seconds: float
    peak: int


def run_in_child(content: bytes, seed: str) -> CommandRun:
    """Give a file to the command that a seed stands for, and to those that follow on it."""
    seconds, peak, what, printed = 0.0, 0, "", ""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        for step in command_steps(content, random.Random(f"{seed}:command"), folder):
            ended = in_child(lambda: _run(step, log), _ADDRESS_SPACE, _CPU_SECONDS)  # noqa: B023
            seconds, peak = max(seconds, ended.seconds), max(peak, ended.peak)
            printed = log.read_text("utf-8", "replace").replace(f"{folder}/", "")
            what = _what_went_wrong(ended, printed)
            if what:
                break
    return CommandRun(Finding(seed, what, printed, content) if what else None, seconds, peak)


def _run(step: Step, log: Path) -> bool:
    """Run a command in this process, and let it print to a file; return whether it ended as it should."""
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGXCPU, file=2, all_threads=False, chain=True)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS)
    warnings.simplefilter("error", RuntimeWarning)
    try:
        os.write(2, f"$ delegate-sim {' '.join(step.words)}\n".encode())
        step.run()
    except Exception:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
        return False
    return True


def _what_went_wrong(ended: Ended[bool], printed: str) -> str:
    """Return the kind of finding, "" if there is none."""
    if ended.result is None:
        is_slow = os.WIFSIGNALED(ended.status) and os.WTERMSIG(ended.status) in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
        return "timeout" if is_slow else "crash"
    if not ended.result:
        return "memory" if re.search(OUT_OF_MEMORY, printed) else "error"
    if ended.peak > _MOST_BYTES:
        return "memory"
    return "time" if ended.seconds > _MOST_CPU_SECONDS else ""
