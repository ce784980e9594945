"""Run commands in Pyodide, which runs in Node.js here and in a browser on the page."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_RUNNER = Path(__file__).with_name("commands.mjs")


class Pyodide:
    """A running Pyodide. ``boot`` is the milliseconds until it ran."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.boot: float = self._answer()["boot"]

    def run(self, arguments: Sequence[str]) -> dict[str, Any]:
        """Run a command. Return the answer of ``web.bridge.run`` and the time in milliseconds."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(arguments)) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("Pyodide ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def pyodide(application: Path, folder: Path) -> Iterator[Pyodide]:
    """Start the Python of the browser application. Commands can read the files in ``folder`` by their absolute paths."""
    command = ["node", str(_RUNNER), os.path.abspath(application), os.path.abspath(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield Pyodide(process)
    finally:
        process.kill()
        process.communicate()
