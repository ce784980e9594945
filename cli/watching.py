"""Run a command again whenever a model's file changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import click

from .console.terminal import Line, write_lines
from .models import STANDARD_INPUT, model_paths

_INTERVAL = 0.4
"""Seconds between two checks of the files."""

Files = dict[str, tuple[int, int] | None]


def run_watching(given: Sequence[str], run: Callable[[], int], sleep: Callable[[float], None] = time.sleep) -> int:
    """Run once, and again if one of the given files appears, changes or disappears. Stop if the user presses Ctrl-C.

    Raises UsageError for standard input.
    """
    if STANDARD_INPUT in given:
        raise click.UsageError("--watch needs files, because standard input can be read only once")
    while True:
        seen = _files(given)
        run()
        write_lines([Line(""), Line("Waiting for a change (press Ctrl-C to stop) ...", "dim")])
        changed = _wait(given, seen, sleep)
        write_lines([Line(""), Line(f"=== {time.strftime('%H:%M:%S')} {_names(changed)} ===", "bold"), Line("")])


def _wait(given: Sequence[str], seen: Files, sleep: Callable[[float], None]) -> list[str]:
    """Wait until files have changed, and return the changed files.

    The function also waits until the files are stable, because a converter may still be writing a file.
    """
    last = seen
    while True:
        sleep(_INTERVAL)
        now = _files(given)
        if now != seen and now == last:
            return [path for path in {**seen, **now} if seen.get(path) != now.get(path)]
        last = now


def _files(given: Sequence[str]) -> Files:
    return {path: _state(path) for path in model_paths(given)}


def _state(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _names(paths: Sequence[str]) -> str:
    from delegate_sim.foundation.printable import printable

    return printable(paths[0]) if len(paths) == 1 else f"{len(paths):,} files"
