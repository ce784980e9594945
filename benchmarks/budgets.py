"""Measure what commands cost against the budgets: the table in ``benchmarks/budgets.md``.

``python -m benchmarks.budgets --write`` remakes it. Times are processor time (user and system) of whole processes, taken by turns
with OPENBLAS_NUM_THREADS=1, so that other work on the machine counts little. The models are in ``../shared``; without it only
generated graphs are measured. No budget that is missed is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from delegate_sim.delegates.registry import DELEGATE_NAMES
from fixtures.builder import ModelBuilder

from .machine import compile_all, described

SHARED = Path(__file__).resolve().parents[2] / "shared"
_TABLE = Path(__file__).with_suffix(".md")
_MOBILENET = ("real", "tensorflow+tflite-support/mobilenet_v1_0.25_224_1_default_1.tflite")
_DISTILBERT = ("keras", "distilbert_batch8.dyn_unfold.tf215.tflite")
_IMPORTS = "import numpy, click"
_TARGETS = tuple(name for name in DELEGATE_NAMES if not name.startswith("npu-"))
_FEW, _MANY = 25_000, 100_000
_SHAPE = (1, 4)
_ANALYZE_ALL = """
import json, sys, time
import delegate_sim
from delegate_sim.delegates.registry import find_delegate
path, names = sys.argv[1], sys.argv[2].split(",")
for name in names:
    find_delegate(name)
start = time.process_time()
model = delegate_sim.load(path)
for name in names:
    delegate_sim.analyze(model, name, defaults="api")
print(json.dumps(time.process_time() - start))
"""


_REPORT = """
import json, sys
import delegate_sim
print(json.dumps(delegate_sim.analyze(sys.argv[1], "nnapi", defaults="benchmark").to_dict()))
"""


class Slow(NamedTuple):
    """A command on a model of the corpora, and the seconds that it took at commit 05372e2.

    ``simulations`` is the number of simulations that ``fix`` made then; 0 for a command that does not tell the number.
    """

    command: str
    corpus: str
    model: str
    before: float
    simulations: int = 0


_SLOWEST = (
    Slow("diagnose", "torch", "timm_xcit_nano_12_p16_224.f32.dyn4hr.tflite", 2.39),
    Slow("diagnose", "torch", "timm_xcit_nano_12_p16_224.f32.dyn4b64.tflite", 1.68),
    Slow("diagnose", "torch", "timm_xcit_nano_12_p16_224.f32.dyn2.tflite", 1.67),
    Slow("diagnose", "torch", "timm_xcit_nano_12_p16_224.f32.s8.tflite", 1.61),
    Slow("diagnose", "torch", "timm_xcit_nano_12_p16_224.f32.fp16.tflite", 1.36),
    Slow("fix", "torch", "timm_xcit_nano_12_p16_224.f32.s8.tflite", 4.23, 41),
    Slow("fix", "torch", "timm_xcit_nano_12_p16_224.f32.dyn8.tflite", 1.89, 28),
    Slow("fix", "torch", "timm_xcit_nano_12_p16_224.f32.dyn4hr.tflite", 1.63, 31),
    Slow("fix", "torch", "timm_xcit_nano_12_p16_224.f32.fp16.tflite", 1.41, 23),
    Slow("fix", "keras", "distilbert_batch8.dyn_unfold.tf215.tflite", 1.35, 10),
)
"""The five models that each command took longest for."""
_SLOW_OPTIONS = {"diagnose": ("--delegate", "nnapi"), "fix": ("--for", "nnapi", "--plan")}
_IMPORTS_BEFORE = 0.0967
"""Seconds that ``_IMPORTS`` took at the same time."""
_GROWTH = 1.5
_PAGE = """\
# What commands cost

Made by `make bench ARGS=--write`. {machine}

Processor time (user and system) of whole processes with OPENBLAS_NUM_THREADS=1, runs taken by turns: the median, in brackets
the least and the most. One import is `python -c '{imports}'`, which took {unit}.
`mobilenet` has 31 nodes, the DistilBERT 3,224. A chain of equal nodes repeats one RELU; in one of different nodes each ADD has
a constant of its own. A chain is loaded once and analyzed for {target_count} targets in one process.

Some commands do more than at commit 05372e2, where `analyze` simulated a model once. The function of the Python API, whose report
has every node and reason, still does, and has the budget that `analyze` had for the DistilBERT. The command makes a second
simulation, for the result with the defaults of the delegate's API. Its hints have the simulated result of each change that they
offer, so it makes 12 simulations of the DistilBERT. For both reasons, `diagnose` makes 17 of them in place of 10.

| what | measured | value | budget | met |
|---|---|---:|---:|---|
{rows}

## The slowest models

`diagnose MODEL --delegate nnapi` and `fix MODEL --for nnapi --plan`, each on the five models of the corpora that it took longest
for at commit 05372e2. There one import took {unit_before}. The value is how much longer they take now, counted in imports. For
`fix`, which tries more passes than at that commit, it is how much longer each simulation takes.

| what | before | measured | simulations | value | budget | met |
|---|---:|---|---|---:|---:|---|
{slow_rows}
"""


class Sample(NamedTuple):
    """Seconds of processor time of several runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.seconds)

    def text(self, scale: float = 1, unit: str = "s") -> str:
        """Return the median with the extremes."""
        low, high = scale * min(self.seconds), scale * max(self.seconds)
        return f"{scale * self.median:.3g} {unit} ({low:.3g} to {high:.3g})"


class Row(NamedTuple):
    """A line of a table: cells, and a value that is to be at most the budget."""

    cells: tuple[str, ...]
    value: float
    budget: float
    unit: str = ""

    def text(self) -> str:
        """Return it in Markdown."""
        met = "yes" if self.value <= self.budget else "no"
        value, budget = (f"{number:.2f}{self.unit}" for number in (self.value, self.budget))
        return f"| {' | '.join(self.cells)} | {value} | {budget} | {met} |"


def measure(runs: int, *commands: Sequence[str]) -> list[Sample]:
    """Run the commands in turn, several times, and return what each took."""
    samples: list[list[float]] = [[] for _ in commands]
    for _ in range(runs):
        for seconds, command in zip(samples, commands, strict=True):
            seconds.append(_cpu_seconds(command))
    return [Sample(tuple(seconds)) for seconds in samples]


def _cpu_seconds(command: Sequence[str]) -> float:
    output = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = os.posix_spawn(command[0], list(command), environment, file_actions=output)
    _, status, usage = os.wait4(process, 0)
    # 1 tells of findings.
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def command_rows(folder: Path, runs: int, program: str, imports: Sequence[str]) -> list[Row]:
    """Measure commands on two models of the corpora."""
    mobilenet, distilbert = (str(extract(folder, *model)) for model in (_MOBILENET, _DISTILBERT))
    unit, first, report, second, overview, diagnose, releases = measure(
        runs,
        imports,
        [program, "analyze", mobilenet, "--delegate", "nnapi"],
        [sys.executable, "-c", _REPORT, distilbert],
        [program, "analyze", distilbert, "--delegate", "nnapi"],
        [program, "analyze", distilbert],
        [program, "diagnose", distilbert],
        [program, "releases", distilbert],
    )
    return [
        Row(("`analyze mobilenet --delegate nnapi`", first.text()), first.median / unit.median, 1.7, " imports"),
        Row(('`analyze("DistilBERT", "nnapi").to_dict()`', report.text()), report.median / unit.median, 3.3, " imports"),
        Row(("`analyze DistilBERT --delegate nnapi`", second.text()), second.median / unit.median, 19.5, " imports"),
        Row((f"`analyze DistilBERT`, {len(DELEGATE_NAMES)} targets", overview.text()), overview.median, 1.2, " s"),
        Row(("`diagnose DistilBERT`", diagnose.text()), diagnose.median, 3.7, " s"),
        Row(("`releases DistilBERT`", releases.text()), releases.median, 1.5, " s"),
    ]


def chain_rows(folder: Path, runs: int) -> list[Row]:
    """Measure graphs of many nodes: microseconds a node and target, and how these grow with the graph."""
    rows = []
    for kind, is_different in (("equal", False), ("different", True)):
        for count in (_FEW, _MANY):
            write_chain(folder / f"{kind}{count}.tflite", count, is_different=is_different)
        few, many = (analyze_all(runs, folder / f"{kind}{count}.tflite") for count in (_FEW, _MANY))
        scale_few, scale_many = (1e6 / (count * len(_TARGETS)) for count in (_FEW, _MANY))
        value = scale_many * many.median
        growth = value / (scale_few * few.median)
        rows.append(Row((f"{_MANY:,} {kind} nodes, for each node and target", many.text(scale_many, "us")), value, 30, " us"))
        rows.append(Row((f"the same for {_FEW:,} nodes, and the ratio", few.text(scale_few, "us")), growth, 1.2))
    return rows


def write_chain(path: Path, count: int, *, is_different: bool) -> None:
    """Write a model of so many nodes, each fed by the one before."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    last = graph.input("input", "FLOAT32", _SHAPE)
    for number in range(count):
        result = graph.tensor(f"output{number}", "FLOAT32", _SHAPE)
        if is_different:
            constant = graph.tensor(f"constant{number}", "FLOAT32", _SHAPE[1:], data=[float(number)] * _SHAPE[1])
            graph.node("ADD", (last, constant), (result,), options={})
        else:
            graph.node("RELU", (last,), (result,))
        last = result
    graph.outputs(last)
    builder.write(path)


def analyze_all(runs: int, model: Path) -> Sample:
    """Load a model and analyze it for several targets, in one process for each run."""
    command = [sys.executable, "-c", _ANALYZE_ALL, str(model), ",".join(_TARGETS)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    outputs = [subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout for _ in range(runs)]
    return Sample(tuple(json.loads(output) for output in outputs))


def slow_rows(folder: Path, runs: int, program: str, imports: Sequence[str]) -> list[Row]:
    """Measure the slowest models of the corpora against what they took before."""
    rows = []
    for command, corpus, model, before, simulations in _SLOWEST:
        line = [program, command, str(extract(folder, corpus, model)), *_SLOW_OPTIONS[command]]
        unit, now = measure(runs, imports, line)
        value, counts = now.median / unit.median / (before / _IMPORTS_BEFORE), ""
        if simulations:
            more = count_simulations(line)
            value, counts = value * simulations / more, f"{simulations} before, {more} now"
        rows.append(Row((f"`{command}` of {model}", f"{before:.3g} s", now.text(), counts), value, _GROWTH))
    return rows


def count_simulations(fix: Sequence[str]) -> int:
    """Return the number of simulations that a ``fix`` command makes."""
    result = subprocess.run([*fix, "--format", "json"], stdout=subprocess.PIPE, check=False)
    return int(json.loads(result.stdout)["simulations"])


def extract(folder: Path, corpus: str, name: str) -> Path:
    """Write a model of a corpus into a folder."""
    path = folder / Path(name).name
    if not path.exists():
        with zipfile.ZipFile(SHARED / "corpus" / f"{corpus}.zip") as archive:
            path.write_bytes(archive.read(name))
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print or write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of commands that take less than a second or two")
    parser.add_argument("--long-runs", type=int, default=1, help="runs of what takes longer")
    parser.add_argument("--write", action="store_true", help=f"write {_TABLE.name}")
    given = parser.parse_args(arguments)
    has_models = (SHARED / "corpus").is_dir()
    if not has_models:
        print(f"only generated graphs are measured: there are no models in {SHARED}", file=sys.stderr)
        if given.write:
            parser.error("writes only a complete table")
    compile_all()
    program, imports = str(Path(sys.executable).with_name("delegate-sim")), (sys.executable, "-c", _IMPORTS)
    with tempfile.TemporaryDirectory(prefix="delegate-sim-budgets-") as directory:
        folder = Path(directory)
        (unit,) = measure(given.runs, imports)
        rows = command_rows(folder, given.runs, program, imports) if has_models else []
        rows += chain_rows(folder, given.long_runs)
        slow = slow_rows(folder, given.long_runs, program, imports) if has_models else []
    page = _PAGE.format(
        machine=described(),
        imports=_IMPORTS,
        unit=unit.text(),
        unit_before=f"{_IMPORTS_BEFORE:.3g} s",
        target_count=len(_TARGETS),
        rows="\n".join(row.text() for row in rows),
        slow_rows="\n".join(row.text() for row in slow),
    )
    if given.write:
        _TABLE.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
