"""What one model costs, against targets that are ratios: the table in ``benchmarks/single.md``.

``python -m benchmarks.single --write`` remakes it where ``../shared`` has the models. Times are processor time (user and
system) of each process, measured by turns, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.graph.graph import Graph, file_graphs
from delegate_sim.graph.partition import partition
from delegate_sim.model.reader import load

from .chains import write_chain
from .machine import compile_all, described

SHARED = Path(__file__).resolve().parents[2] / "shared"
_TABLE = Path(__file__).with_suffix(".md")
_MOBILENET = ("real", "tensorflow+tflite-support/mobilenet_v1_0.25_224_1_default_1.tflite")
_DISTILBERT = ("keras", "distilbert_batch8.dyn_unfold.tf215.tflite")
_IMPORTS = "import numpy, click"
_TARGETS = tuple([name for name in DELEGATE_NAMES if not name.startswith("npu-")])
_MIXED = (*["RELU", "TANH", "LOGISTIC", "RELU6"] * 5, "CEIL")[1:]
"""Operators of the graph of a million nodes: every twentieth is refused."""
_ALTERNATING = ("RELU", "CEIL")
_SMALL, _LARGE, _CUT = 10_000, 1_000_000, 100_000
_MIB, _GIB = 1 << 20, 1 << 30
_IN_PROCESS = """
import gc, json, sys, time
import delegate_sim
from delegate_sim.delegates.registry import find_delegate
path, rounds, names = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
for name in names:
    find_delegate(name)
found = []
for _ in range(rounds):
    start = time.process_time()
    model = delegate_sim.load(path)
    for name in names:
        delegate_sim.analyze(model, name)
    found.append(time.process_time() - start)
    nodes = sum(len(subgraph.nodes) for subgraph in model.subgraphs)
print(json.dumps([nodes, min(found)]))
"""
_PAGE = """\
# What one model costs

Made by `python -m benchmarks.single --write`. {machine}

Processor time (user and system) of each process, or, where it says so, time elapsed; runs taken by turns: median, and in
brackets minimum and maximum. Other programs that run on the machine
meanwhile lengthen all times, ratios less. `mobilenet_v1` has 31 nodes, the DistilBERT 3,224; the graph of a million nodes is a
chain, of which a delegate refuses every twentieth node.

| what | measured | against | ratio or measure | target | runs | met |
|---|---|---|---:|---:|---:|---|
{rows}

## Partitioning {cut:,} nodes that alternate

NNAPI takes every other node, so that each is a partition. Beside it: a transcription of the runtime's own algorithm
(`PartitionGraphIntoIndependentNodeSubsets`), which passes over the whole plan for each partition.

| nodes | microseconds a node | of the runtime's own algorithm |
|---:|---:|---:|
{partitions}
"""


class Sample(NamedTuple):
    """Seconds of processor time of several runs of a process, seconds elapsed, and the greatest memory of any in bytes."""

    seconds: tuple[float, ...]
    peak: int = 0
    elapsed: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)

    def text(self, scale: float = 1e3, unit: str = "ms") -> str:
        """Return the median with the extremes."""
        low, high = scale * min(self.seconds), scale * max(self.seconds)
        return f"{scale * self.median:,.1f} {unit} ({low:,.1f} to {high:,.1f})"


class Row(NamedTuple):
    """A line of the table."""

    what: str
    measured: str
    against: str
    value: float
    target: float
    unit: str
    runs: int

    def text(self) -> str:
        """Return it in Markdown."""
        met = "yes" if self.value <= self.target else "no"
        value, target = (f"{each:.2f}{self.unit}" for each in (self.value, self.target))
        return f"| {self.what} | {self.measured} | {self.against} | {value} | {target} | {self.runs} | {met} |"


def by_turns(runs: int, *commands: Sequence[str]) -> list[Sample]:
    """Run commands in turn, so often, and return what each took."""
    seconds: list[list[float]] = [[] for _ in commands]
    elapsed: list[list[float]] = [[] for _ in commands]
    peaks = [0] * len(commands)
    for _ in range(runs):
        for number, command in enumerate(commands):
            output = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
            start = time.perf_counter()
            process = os.posix_spawn(command[0], list(command), os.environ, file_actions=output)
            _, status, usage = os.wait4(process, 0)
            if status:
                raise RuntimeError(f"{' '.join(command)} ended with {status}")
            elapsed[number].append(time.perf_counter() - start)
            seconds[number].append(usage.ru_utime + usage.ru_stime)
            peaks[number] = max(peaks[number], usage.ru_maxrss * 1024)
    return [Sample(tuple(cpu), peak, tuple(wall)) for cpu, peak, wall in zip(seconds, peaks, elapsed, strict=True)]


def in_process(runs: int, rounds: int, model: Path, names: Sequence[str]) -> tuple[int, Sample]:
    """Load a model and analyse it in processes of their own; return its nodes and the least time of the rounds of each."""
    found = []
    for _ in range(runs):
        command = [sys.executable, "-c", _IN_PROCESS, str(model), str(rounds), ",".join(names)]
        found.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
    return found[0][0], Sample(tuple([seconds for _, seconds in found]))


def rows(folder: Path, runs: int, large_runs: int) -> list[Row]:
    """Measure everything but the partitioner."""
    program = str(Path(sys.executable).with_name("delegate-sim"))

    def analyze(model: Path, *delegate: str) -> list[str]:
        return [program, "analyze", str(model), *(f"--delegate={name}" for name in delegate)]

    mobilenet, distilbert = (_extracted(folder, *model) for model in (_MOBILENET, _DISTILBERT))
    small, large = folder / "small.tflite", folder / "large.tflite"
    write_chain(small, _MIXED, _SMALL)
    write_chain(large, _MIXED, _LARGE)
    imports, first, second = by_turns(
        runs, [sys.executable, "-c", _IMPORTS], analyze(mobilenet, "nnapi"), analyze(distilbert, "nnapi")
    )
    found = []
    for name, one, target in (("mobilenet_v1", first, 1.25), ("DistilBERT", second, 1.6)):
        for what, own, base in (("", one, imports), (", elapsed", Sample(one.elapsed), Sample(imports.elapsed))):
            against = f"`python -c '{_IMPORTS}'`: {base.text()}"
            label = f"`analyze {name} --delegate nnapi`{what}"
            found.append(Row(label, own.text(), against, own.median / base.median, target, "", runs))
    for names in (("nnapi",), _TARGETS):
        nodes, sample = in_process(runs, 3, distilbert, names)
        each = 1e6 / (nodes * len(names))
        targets = "NNAPI" if len(names) == 1 else f"{len(names)} targets in a row"
        what = f"load to report in one process, DistilBERT, {targets}: a node and target"
        found.append(Row(what, sample.text(each, "us"), "", each * sample.median, 15, " us", runs))
    (whole,) = by_turns(large_runs, analyze(large, "nnapi"))
    found += [
        Row(f"`analyze` of {_LARGE:,} nodes, time", whole.text(1, "s"), "", whole.median, 15, " s", large_runs),
        Row(
            f"`analyze` of {_LARGE:,} nodes, memory",
            f"{whole.peak / _MIB:,.0f} MiB",
            "",
            whole.peak / _GIB,
            1.5,
            " GiB",
            large_runs,
        ),
    ]
    (_, few), (_, many) = in_process(runs, 1, small, ("nnapi",)), in_process(large_runs, 1, large, ("nnapi",))
    found.append(
        Row(
            f"load to report, a node of {_LARGE:,}",
            many.text(1e6 / _LARGE, "us"),
            f"a node of {_SMALL:,}: {few.text(1e6 / _SMALL, 'us')}",
            many.median / _LARGE / (few.median / _SMALL),
            1.2,
            "",
            large_runs,
        )
    )
    overview, *single = by_turns(runs, analyze(distilbert), *[analyze(distilbert, name) for name in _TARGETS])
    slowest = max(range(len(single)), key=lambda number: single[number].median)
    found.append(
        Row(
            f"overview of all {len(DELEGATE_NAMES)} targets, DistilBERT",
            overview.text(),
            f"{_TARGETS[slowest]} alone: {single[slowest].text()}",
            overview.median / single[slowest].median,
            2,
            "",
            runs,
        )
    )
    return found


def partition_rows(folder: Path) -> list[str]:
    """Measure the partitioner on alternating graphs."""
    original = importlib.import_module("tests.graph.test_partition").passes_over_the_plan
    sizes = [_CUT >> shift for shift in (8, 7, 6, 5, 3, 2, 1, 0)]
    found = []
    for size in sizes:
        path = folder / "cut.tflite"
        write_chain(path, _ALTERNATING, size)
        own = min(_partitioning(path, partition) for _ in range(5))
        theirs = f"{1e6 * _partitioning(path, original) / size:,.0f}" if size <= _CUT >> 5 else ""
        found.append(f"| {size:,} | {1e6 * own / size:.1f} | {theirs} |")
    return found


def _partitioning(path: Path, cut: Callable[[Graph, list[int]], object]) -> float:
    """Return the seconds that it takes a partitioner; what is known of a graph is kept, so that each run has one of its own."""
    (graph,) = file_graphs(load(path))
    taken = [node.index for node in graph.nodes if node.op == _ALTERNATING[0]]
    start = time.process_time()
    cut(graph, taken)
    return time.process_time() - start


def _extracted(folder: Path, corpus: str, name: str) -> Path:
    path = folder / Path(name).name
    with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as archive:
        path.write_bytes(archive.read(name))
    return path


def main() -> None:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large-runs", type=int, default=5, help="of what has a million nodes")
    parser.add_argument("--write", action="store_true", help=f"write {_TABLE.name}, up to what is said there by hand")
    given = parser.parse_args()
    if not (SHARED / "corpus").is_dir():
        parser.exit(0, f"{__spec__.name}: needs the models in {SHARED}\n")
    compile_all()
    with tempfile.TemporaryDirectory(prefix="delegate-sim-single-") as directory:
        measured = rows(Path(directory), given.runs, given.large_runs)
        cut = partition_rows(Path(directory))
    table = "\n".join([row.text() for row in measured])
    page = _PAGE.format(machine=described(), rows=table, cut=_CUT, partitions="\n".join(cut))
    if not given.write:
        print(page)
        return
    before = _TABLE.read_text(encoding="utf-8") if _TABLE.exists() else ""
    _, mark, rest = before.partition(_BY_HAND)
    _TABLE.write_text(page + "\n" + mark + rest, encoding="utf-8")


_BY_HAND = "## Where the time goes"
"""From this heading on the page is written by hand."""


if __name__ == "__main__":
    main()
