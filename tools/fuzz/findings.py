"""Mutants that went wrong: raised an error, took long or took much memory."""

from __future__ import annotations

import hashlib
import re
import resource
import signal
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple, NoReturn

_MOST_SECONDS = 5
_MOST_BYTES = 512 << 20
MODEL = "model"
"""The kind of input whose mutants tools/fuzz/mutate.py makes. tools/fuzz/kinds.py has the others."""


class Finding(NamedTuple):
    """A mutant that went wrong: what it does, and where, by which others like it are recognized."""

    seed: str
    what: str
    detail: str
    content: bytes
    kind: str = MODEL
    suffix: str = ".tflite"


class _TooLong(BaseException):
    """Raised in a mutant that takes longer than allowed; no handler of errors catches it."""


def _stop(_: int, frame: FrameType | None) -> NoReturn:
    raise _TooLong("".join(traceback.format_stack(frame)[-6:]))


def watched(seed: str, content: bytes, action: Callable[[], None], held: int = 0, slowness: float = 1) -> Finding | None:
    """Do something with a mutant; return how that went wrong, None if it did not.

    ``held`` are bytes that the process holds beside what the program needs, ``slowness`` how many times as long code takes in it.
    """
    before = memory_peak()
    signal.signal(signal.SIGPROF, _stop)  # time of the processor, which other processes do not change
    signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS * slowness)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # numpy's, of numbers that are no surprise in a stranger's file
            action()
    except _TooLong as error:
        return Finding(seed, "timeout", str(error), content)
    except Exception:
        return Finding(seed, "error", traceback.format_exc(), content)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if memory_peak() > max(before, held + _MOST_BYTES):
        return Finding(seed, "memory", f"{memory_peak() >> 20} MiB", content)
    return None


def memory_peak() -> int:
    """Return the bytes of memory that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory_held() -> int:
    """Return the bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


MODEL_NAME = "mutant.tflite"
"""The file that a command is given."""
_NOISE = re.compile(r"0x[0-9a-f]+|/tmp/\S+|\d{4,}")


def place(finding: Finding) -> str:
    """Return what findings of the same cause have in common: the innermost place in the program's own code."""
    places = [
        line.strip()
        for line in finding.detail.splitlines()
        if re.search(r"(delegate_sim|delegate_sim_cli|/cli)/", line) and "line" in line
    ]
    innermost = 0 if "most recent call first" in finding.detail else -1
    common = places[innermost] if places else _NOISE.sub("", finding.detail)[-200:]
    return f"{finding.kind} {finding.what} {common}"


class Findings:
    """The first finding of each place, kept in a folder for each kind of input."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, int] = {}

    def add(self, finding: Finding, minimize: Callable[[Finding], bytes]) -> None:
        """Count a finding; if it is the first of its place, make it small and write it to the folder."""
        where = place(finding)
        self._known[where] = self._known.get(where, 0) + 1
        if self._known[where] == 1:
            folder, stem = self._folder / finding.kind, hashlib.sha256(where.encode("utf-8", "replace")).hexdigest()[:10]
            folder.mkdir(parents=True, exist_ok=True)
            kept = folder / f"{stem}{finding.suffix}"
            text = f"{finding.seed}\n{finding.what}\n{finding.detail}\n".replace(MODEL_NAME, kept.name)
            (folder / f"{stem}.output.txt").write_text(text, "utf-8", "replace")
            kept.write_bytes(finding.content)
            print(f"{finding.seed} {stem} {where!a}", flush=True)
            kept.write_bytes(minimize(finding))

    def __len__(self) -> int:
        return len(self._known)

    def __str__(self) -> str:
        return f"{sum(self._known.values()):,} findings at {len(self._known):,} places"
