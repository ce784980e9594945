"""Measure what commands cost against the budgets: the table in ``benchmarks/budgets.md``.

``python -m benchmarks.budgets --write`` remakes it. Times are processor time (user and system) of whole processes, taken by turns
with OPENBLAS_NUM_THREADS=1, so that other work on the machine counts little. The models are in ``../shared``; without it only
generated graphs are measured. No budget that is missed is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
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


class Command(NamedTuple):
    """The words of a command, in which {} is the model, and the seconds that it may take."""

    words: tuple[str, ...]
    budget: float


_COMMANDS = (
    Command(("analyze", "{}", "--delegate", "nnapi"), 0.5),
    Command(("analyze", "{}"), 0.8),
    Command(("diagnose", "{}"), 0.8),
    Command(("fix", "--plan", "{}"), 1.5),
    Command(("report", "{}", "-o", "{}.html", "--force"), 3.0),
    Command(("releases", "{}"), 0.8),
)
_CHECK = "`check` of two such models on three targets"
_CHECKED = ("first.tflite", "second.tflite")
_MODELS = "models = ['*.tflite']\n"
_CONFIGURATION = _MODELS + "".join(f"[targets.{name}]\ndelegate = '{name}'\n" for name in ("nnapi", "gpu", "xnnpack"))
_ANALYZE_ALL = """
import json, sys, time
import delegate_sim
from delegate_sim.api.arguments import targets_with
from delegate_sim.graph.analysis_cache import AnalysisCache
from delegate_sim.runtime.interpreter import simulate
path, names = sys.argv[1], sys.argv[2].split(",")
targets = [target for name in names for target in targets_with(None, name, None, None, "api", False, is_live=False)]
start = time.process_time()
model, cache = delegate_sim.load(path), AnalysisCache()
for target in targets:
    simulate(model, target, cache=cache)
print(json.dumps(time.process_time() - start))
"""

_PAGE = """\
# What commands cost

Made by `make bench ARGS=--write`. {machine}

Processor time (user and system) of whole processes with OPENBLAS_NUM_THREADS=1, runs taken by turns: the median, in brackets
the least and the most. One import is `python -c '{imports}'`, which took {unit}.
`mobilenet` has 31 nodes, the DistilBERT 3,224. A chain of equal nodes repeats one RELU; in one of different nodes each ADD has
a constant of its own. A chain is loaded once and analyzed for {target_count} targets, as by one command.

| what | measured | value | budget | met |
|---|---|---:|---:|---|
{rows}
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
    for copy in _CHECKED:
        shutil.copy(distilbert, folder / copy)
    configuration = folder / "delegate-sim.toml"
    configuration.write_text(_CONFIGURATION, encoding="utf-8")
    check = (program, "check", "--config", str(configuration))
    _cpu_seconds([*check, "--update"])
    unit, first, *others = measure(
        runs,
        imports,
        (program, "analyze", mobilenet, "--delegate", "nnapi"),
        *((program, *(word.format(distilbert) for word in command.words)) for command in _COMMANDS),
        check,
    )
    rows = [Row(("`analyze mobilenet --delegate nnapi`", first.text()), first.median / unit.median, 2.0, " imports")]
    names = (
        *(f"`{' '.join(command.words).replace('{}', 'DistilBERT')}`" for command in _COMMANDS),
        "`check` of two such models on three targets",
    )
    budgets = (*(command.budget for command in _COMMANDS), 3.0)
    rows += [Row((name, now.text()), now.median, budget, " s") for name, now, budget in zip(names, others, budgets, strict=True)]
    return rows


def chain_rows(folder: Path, runs: int) -> list[Row]:
    """Measure graphs of many nodes: microseconds a node and target, and how these grow with the graph."""
    rows = []
    for kind, is_different, budget in (("equal", False, 5.0), ("different", True, 20.0)):
        for count in (_FEW, _MANY):
            write_chain(folder / f"{kind}{count}.tflite", count, is_different=is_different)
        few, many = (analyze_all(runs, folder / f"{kind}{count}.tflite") for count in (_FEW, _MANY))
        scale_few, scale_many = (1e6 / (count * len(_TARGETS)) for count in (_FEW, _MANY))
        value = scale_many * many.median
        growth = value / (scale_few * few.median)
        rows.append(Row((f"{_MANY:,} {kind} nodes, for each node and target", many.text(scale_many, "us")), value, budget, " us"))
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
    page = _PAGE.format(
        machine=described(),
        imports=_IMPORTS,
        unit=unit.text(),
        target_count=len(_TARGETS),
        rows="\n".join(row.text() for row in rows),
    )
    if given.write:
        _TABLE.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
