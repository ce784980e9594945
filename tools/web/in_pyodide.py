"""Run commands in Pyodide, which runs in Node.js here and in a browser on the page."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import web

PYODIDE = Path(web.__file__).parent / "node_modules" / "pyodide"
_PACKAGES = ("click", "delegate_sim", "delegate_sim_cli", "flatbuffers", "rich", "tabulate", "web.bridge", "web")
"""The modules that the browser application needs, without numpy."""
_RUNNER = Path(__file__).with_name("commands.mjs")
_SUFFIXES = (".py", ".js", ".css", ".html", ".json", ".svg")


class Pyodide:
    """A running Pyodide. ``boot`` and ``imports`` are milliseconds."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        started = self._answer()
        self.boot: float = started["boot"]
        self.imports: float = started["imports"]

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
def pyodide(folder: Path, archive: Path, pyodide_folder: Path = PYODIDE) -> Iterator[Pyodide]:
    """Start Pyodide with the packages in ``archive``. Commands can read the files in ``folder`` by their absolute paths."""
    command = ["node", str(_RUNNER), str(pyodide_folder), str(archive), os.path.abspath(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield Pyodide(process)
    finally:
        process.kill()
        process.communicate()


def write_packages(archive: Path) -> None:
    """Write a zip file with the installed packages that the browser application needs."""
    with zipfile.ZipFile(archive, "w") as target:
        for name in _PACKAGES:
            spec = find_spec(name)
            assert spec is not None, name
            if spec.submodule_search_locations is None or name == "web":
                assert spec.origin is not None, name
                target.write(spec.origin, f"{name.replace('.', '/')}{'/__init__' if name == 'web' else ''}.py")
                continue
            (top,) = spec.submodule_search_locations
            for path in sorted(Path(top).rglob("*")):
                if path.suffix in _SUFFIXES:
                    target.write(path, f"{name}/{path.relative_to(top).as_posix()}")
