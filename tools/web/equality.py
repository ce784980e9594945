"""Compare the JSON of ``analyze`` in Pyodide with that of the command line: ``python -m tools.web.equality ARCHIVE...``.

The archives are zip files of models. Models that need numpy are counted but not compared, because Pyodide runs without numpy.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from tools.docs.web import build

from .in_pyodide import pyodide

_QUESTION = ("--delegate", "all", "--format", "json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=Path, metavar="ARCHIVE")
    parser.add_argument("--models", type=int, default=200, help="how many models to compare, from all archives alike")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = sampled(arguments.archives, arguments.models, Path(folder))
        build(application := Path(folder) / "application")
        return compare(models, arguments.models, application, Path(folder))


def sampled(archives: Sequence[Path], count: int, folder: Path) -> Iterator[Path]:
    """Yield evenly spread models of the archives in turn. There are some more than ``count``, because some models need numpy."""
    members = [zipfile.ZipFile(archive) for archive in archives]
    names = [_evenly(_models(archive), -(-count * 6 // (5 * len(archives)))) for archive in members]
    for number, row in enumerate(zip_longest(*names)):
        for archive, path, name in zip(members, archives, row, strict=True):
            if name is not None:
                model = folder / f"{path.stem}-{number}.tflite"
                model.write_bytes(archive.read(name))
                yield model


def _models(archive: zipfile.ZipFile) -> list[str]:
    return sorted([name for name in archive.namelist() if name.endswith((".tflite", ".lite"))])


def _evenly(names: Sequence[str], count: int) -> list[str]:
    wanted = min(len(names), count)
    return [names[number * len(names) // wanted] for number in range(wanted)]


def compare(models: Iterable[Path], count: int, application: Path, folder: Path) -> int:
    """Compare up to ``count`` models. Print those with different answers and the totals, and return the exit code."""
    equal, need_numpy, different = 0, [], []
    with pyodide(application, folder) as browser:
        for path in models:
            command = ["analyze", str(path), *_QUESTION]
            answer = browser.run(command)
            if answer["needs"]:
                need_numpy.append(path.name)
                continue
            if of_command_line(command) == (answer["exit"], answer["output"], answer["error"]):
                equal += 1
            else:
                different.append(path.name)
                print(f"different: {path.name}", flush=True)
            if equal + len(different) == count:
                break
    print(f"{equal} of {equal + len(different)} models have the same JSON for all delegates; {len(need_numpy)} more need numpy")
    return 1 if different else 0


def of_command_line(command: Sequence[str]) -> tuple[int, str, str]:
    """Return the exit code of a command in a process of its own, and what the command wrote to its outputs."""
    done = subprocess.run([sys.executable, "-m", "delegate_sim", *command], check=False, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode().rstrip("\n")


if __name__ == "__main__":
    sys.exit(main())
