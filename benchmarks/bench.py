"""Measure what delegate-sim costs, and print it as ratios that can be compared between machines. Nothing is asserted.

Run it from the root of the repository as ``python -m benchmarks.bench``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import delegate_sim
from benchmarks.graphs import image_model, large_model
from delegate_sim.delegates.registry import DELEGATE_NAMES

_SMALL, _LARGE = 3_000, 200_000
_RUNS = 11
_ROUNDS = 5
_SPARSE_SIZE = 3 << 30
_CHECKED_MODELS, _CHECKED_NODES = 50, 300
_CHECKED_TARGETS = ("nnapi", "gpu", "vx", "xnnpack")
_IMPORTS = "import numpy, click, rich"
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in the unit of ``ru_maxrss``."""


class Row(NamedTuple):
    """One line of the table: two measures and, implied, their ratio."""

    what: str
    unit: str
    measure: float
    reference: float


def main() -> None:
    """Generate the models, measure and print the table."""
    with tempfile.TemporaryDirectory(prefix="delegate-sim-bench-") as directory:
        small, large, sparse = (Path(directory) / f"{name}.tflite" for name in ("small", "large", "sparse"))
        image_model(_SMALL).write(small)
        image_model(_LARGE).write(large)
        large_model().write_sparse(sparse, _SPARSE_SIZE)
        rows = [
            process_time(small),
            overview_time(small),
            time_per_node(large, small),
            peak_memory(sparse, small),
            check_time(Path(directory) / "gate"),
            diagnosis_time(small),
        ]
    print(table(rows))


def process_time(model: Path) -> Row:
    """Wall time of the whole command against that of an interpreter that only imports what it needs, run by turns."""
    command, reference = [], []
    for _ in range(_RUNS):
        command.append(_seconds(_analyze(model)))
        reference.append(_seconds([sys.executable, "-c", _IMPORTS]))
    what = f"delegate-sim analyze --delegate nnapi, {_SMALL:,} nodes, against python -c '{_IMPORTS}'"
    return Row(what, "ms", 1e3 * statistics.median(command), 1e3 * statistics.median(reference))


def overview_time(model: Path) -> Row:
    """Wall time of the overview of all delegates against that of the slowest of them alone."""
    single = [min(_seconds(_analyze(model, name)) for _ in range(_ROUNDS)) for name in DELEGATE_NAMES]
    overview = min(_seconds(_analyze(model)[:-2]) for _ in range(_ROUNDS))
    slowest = DELEGATE_NAMES[single.index(max(single))]
    return Row(f"overview of all delegates, {_SMALL:,} nodes, against {slowest} alone", "ms", 1e3 * overview, 1e3 * max(single))


def time_per_node(large: Path, small: Path) -> Row:
    """Time to load and analyse, for each node, in a large and in a small graph."""
    what = f"load and analyse a node of {_LARGE:,}, against one of {_SMALL:,}"
    reference = _analysis(small, _RUNS) / _SMALL
    return Row(what, "us", 1e6 * _analysis(large, 1) / _LARGE, 1e6 * reference)


def peak_memory(sparse: Path, small: Path) -> Row:
    """Peak memory of the whole command for a large file, against a small one."""
    what = f"peak memory, file of {_SPARSE_SIZE / 2**30:g} GiB against one of {small.stat().st_size / 2**20:.1f} MiB"
    return Row(what, "MiB", _peak_bytes(_analyze(sparse)) / 2**20, _peak_bytes(_analyze(small)) / 2**20)


def diagnosis_time(model: Path) -> Row:
    """Wall time of a diagnosis against that of an analysis, run by turns."""
    analyze = _analyze(model)
    diagnose = [_program(), "diagnose", *analyze[2:]]
    diagnosis, analysis = [], []
    for _ in range(_ROUNDS):
        diagnosis.append(_seconds(diagnose))
        analysis.append(_seconds(analyze))
    return Row(f"diagnose {_SMALL:,} nodes, against analyze", "ms", 1e3 * min(diagnosis), 1e3 * min(analysis))


def check_time(folder: Path) -> Row:
    """Wall time of a check of many models on several targets, against that of the same without anything to check but one."""
    folder.mkdir()
    for number in range(_CHECKED_MODELS):
        image_model(_CHECKED_NODES + number).write(folder / f"{number:02}.tflite")
    targets = "".join(f'[targets.{name}]\ndelegate = "{name}"\n' for name in _CHECKED_TARGETS)
    (folder / "delegate-sim.toml").write_text(f'models = ["*.tflite"]\n{targets}', encoding="utf-8")
    check = [_program(), "check", "--config", str(folder / "delegate-sim.toml")]
    _seconds([*check, "--update"])
    one = [*check, "--target", _CHECKED_TARGETS[0], str(folder / "00.tflite")]
    what = f"check {_CHECKED_MODELS} models of {_CHECKED_NODES} nodes on {len(_CHECKED_TARGETS)} targets, against one on one"
    everything, single = ([_seconds(command) for _ in range(_ROUNDS)] for command in (check, one))
    return Row(what, "ms", 1e3 * min(everything), 1e3 * min(single))


def table(rows: Sequence[Row]) -> str:
    """Lay the rows out as text."""
    width = max(len(row.what) for row in rows)
    lines = [f"{'':{width}} {'measured':>13} {'against':>13} {'ratio':>7}"]
    for what, unit, measure, reference in rows:
        lines.append(f"{what:{width}} {measure:9.1f} {unit:3} {reference:9.1f} {unit:3} {measure / reference:7.2f}")
    return "\n".join(lines)


def _analyze(model: Path, delegate: str = "nnapi") -> list[str]:
    return [_program(), "analyze", str(model), "--delegate", delegate]


def _program() -> str:
    return str(Path(sys.executable).with_name("delegate-sim"))


def _seconds(command: Sequence[str]) -> float:
    """Run a command to its end and return the wall time it took."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def _peak_bytes(command: Sequence[str]) -> int:
    """Run a command to its end and return its peak memory.

    It is run by a small process, since a process starts with the peak of the one that it was forked from.
    """
    done = subprocess.run([sys.executable, "-c", _PEAK, *command], stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * _RSS_UNIT


def _analysis(model: Path, runs: int) -> float:
    """Return the least time in seconds to load and analyse a model."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        delegate_sim.analyze(delegate_sim.load(model))
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
