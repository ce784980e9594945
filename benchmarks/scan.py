"""Measure the rate and memory of scans with several processes and with Dask: benchmarks/scan.md.

Run by ``make bench-scan``, on two cores of the machine; it takes some minutes. Nothing is asserted.
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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import described
from fixtures.image_models import image_model

PAGE = Path(__file__).with_suffix(".md")
MODELS, FEWER = 2_000, 200
DELEGATES = ("nnapi", "gpu", "vx", "xnnpack")
RUNS = 5
_LEAST_NODES, _SIZES = 40, 107
"""Sizes from 40 to 146 nodes: 93 on average, as the models of Keras have that conformance is measured with."""
_CORES = 2
_NAME = b"generated: "
_MEASURED = """
import json, resource, sys
from delegate_sim_cli.start import main
sys.argv = ["delegate-sim", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
used = [[each.ru_utime + each.ru_stime, each.ru_maxrss] for each in (own, workers)]
print(json.dumps(used), file=sys.stderr)
"""
"""Runs the command line in its process, and says what that and its workers used: CPU time, and the peak of the greatest."""
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Used(NamedTuple):
    """The costs of one scan: seconds of wall time, of CPU time here and in workers, and peak memory in MiB of both."""

    seconds: float
    own_cpu: float
    workers_cpu: float
    own_peak: float
    worker_peak: float


def main() -> None:
    """Measure, print the page, and with ``--write`` put it into its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    with tempfile.TemporaryDirectory(prefix="delegate-sim-bench-") as directory:
        folder = Path(directory)
        make_zoo(folder / "zoo", given.models)
        make_zoo(folder / "fewer", FEWER)
        measured = measure(folder, given.runs)
        peaks = {name: scanned(folder, name, "--processes", "2", suffix="parquet") for name in ("fewer", "zoo")}
    page = as_page(measured, peaks, given.models)
    print(page)
    if given.write:
        PAGE.write_text(page, encoding="utf-8")


def make_zoo(folder: Path, count: int) -> None:
    """Write so many models, all with different content."""
    folder.mkdir()
    contents = [image_model(_LEAST_NODES + number).bytes() for number in range(_SIZES)]
    for number in range(count):
        at = contents[number % _SIZES].index(_NAME)
        content = bytearray(contents[number % _SIZES])
        content[at : at + len(_NAME)] = f"{number:0{len(_NAME)}}".encode()
        (folder / f"{number:05}.tflite").write_bytes(content)


def measure(folder: Path, runs: int) -> dict[str, list[Used]]:
    """Scan the zoo in each way, by turns."""
    ways: dict[str, Callable[[], Used]] = {
        "one process": lambda: scanned(folder, "zoo", "--processes", "1"),
        "two processes": lambda: scanned(folder, "zoo", "--processes", "2"),
        "Dask, two workers": lambda: on_cluster(folder),
    }
    measured: dict[str, list[Used]] = {name: [] for name in ways}
    for _ in range(runs):
        for name, way in ways.items():
            measured[name].append(way())
            print(f"{name}: {measured[name][-1].seconds:.1f} s", file=sys.stderr)
    return measured


def scanned(folder: Path, name: str, *arguments: str, suffix: str = "jsonl") -> Used:
    """Scan a folder into a new output, in a process of its own."""
    output = folder / f"found.{suffix}"
    targets = [word for delegate in DELEGATES for word in ("--delegate", delegate)]
    command = [sys.executable, "-c", _MEASURED, "scan", str(folder / name), "-o", str(output), *targets, *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    for file in folder.glob("found.*"):
        file.unlink()
    (own_cpu, own_peak), (workers_cpu, worker_peak) = json.loads(done.stderr.splitlines()[-1])
    return Used(seconds, own_cpu, workers_cpu, own_peak * _RSS_UNIT / 2**20, worker_peak * _RSS_UNIT / 2**20)


def on_cluster(folder: Path) -> Used:
    """Scan the zoo on a new cluster of two worker processes of one thread each."""
    distributed: Any = importlib.import_module("distributed")
    psutil: Any = importlib.import_module("psutil")
    with distributed.LocalCluster(n_workers=_CORES, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        before = time.process_time()  # the scheduler is in this process
        used = scanned(folder, "zoo", "--scheduler", cluster.scheduler_address)
        workers = [psutil.Process(worker.pid).cpu_times() for worker in cluster.workers.values()]
        elsewhere = time.process_time() - before + sum([times.user + times.system for times in workers])
    return used._replace(workers_cpu=elsewhere)


def medians(used: Sequence[Used]) -> list[float]:
    """Return the median of each figure."""
    return [statistics.median(figures) for figures in zip(*used, strict=True)]


def as_page(measured: dict[str, list[Used]], peaks: dict[str, Used], models: int) -> str:
    """Return the figures as a page of Markdown."""
    alone = statistics.median([used.seconds for used in measured["one process"]])
    lines = [
        "# Scanning many models",
        "",
        f"Made by `make bench-scan`: {models:,} generated models of {_LEAST_NODES} to {_LEAST_NODES + _SIZES - 1} nodes on "
        f"{len(DELEGATES)} targets ({', '.join(DELEGATES)}), whole processes from their start to the written output, "
        f"{len(measured['one process'])} runs by turns, medians (least to most).",
        "",
        described(),
        "",
        "CPU is in seconds; that of others is that of workers, with Dask since they were started, and of Dask's scheduler.",
        "",
        "| way | seconds | models a second | times one process | goal | CPU, main | CPU, others |",
        "|---|---|---|---|---|---|---|",
    ]
    goals = {"two processes": "1.8", "Dask, two workers": "1.6"}
    for name, used in measured.items():
        median = Used(*medians(used))
        seconds = [run.seconds for run in used]
        ratios = [one.seconds / other.seconds for one, other in zip(measured["one process"], used, strict=True)]
        spread = f"{alone / median.seconds:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(
            f"| {name} | {median.seconds:.1f} ({min(seconds):.1f} to {max(seconds):.1f}) | {models / median.seconds:,.0f} "
            f"| {spread if name in goals else 1} | {goals.get(name, '')} | {median.own_cpu:.1f} "
            f"| {median.workers_cpu:.1f} |"
        )
    fewer, all_of_them = peaks["fewer"], peaks["zoo"]
    lines += [
        "",
        "Peak memory of one scan with two processes, into Parquet:",
        "",
        f"| process | {FEWER:,} models, MiB | {models:,} models, MiB | ratio | goal |",
        "|---|---|---|---|---|",
        f"| main | {fewer.own_peak:.0f} | {all_of_them.own_peak:.0f} | {all_of_them.own_peak / fewer.own_peak:.2f} | 1.2 |",
        f"| greatest worker | {fewer.worker_peak:.0f} | {all_of_them.worker_peak:.0f} "
        f"| {all_of_them.worker_peak / fewer.worker_peak:.2f} | 1.2 |",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
