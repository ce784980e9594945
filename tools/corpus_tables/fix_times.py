"""Measure whether the bounds of fixes hold on this computer, and make the table of docs/time.md.

The device is this computer, with one thread: XNNPACK is the delegate, and TFLite's own kernels are the CPU. A profile has the
time of each kernel and each node, run alone. The bounds that it gives are compared with the time that the fix really saves. Times
are those of the processor, because other programs may use the computer too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from delegate_sim import load
from delegate_sim.api.arguments import target_of
from delegate_sim.device.parse.log import read_log
from delegate_sim.errors import DelegateSimError
from delegate_sim.fixing.applying import start
from delegate_sim.fixing.flatbuffer.model_writing import write
from delegate_sim.fixing.passes.base import Exactness
from delegate_sim.fixing.search import search
from delegate_sim.fixing.splitting import Split, second_model
from delegate_sim.graph.graph import file_graphs
from delegate_sim.hypothetical.fixed_inputs import open_inputs
from delegate_sim.model.model import Model
from delegate_sim.results.compare.compared_runs import simulated_side
from delegate_sim.results.compare.comparison import compare
from delegate_sim.runtime.interpreter import Run, simulate
from delegate_sim.runtime.target import Target
from delegate_sim.timing.fixes import comparison_bounds
from delegate_sim.timing.matching import match_profile
from delegate_sim.timing.measured import Timing
from delegate_sim.timing.op_profile import OpProfile
from fixtures.op_profiles import ProfiledRow, profiled_rows, write_profile
from tools.corpus_tables.fixes import with_weights
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
PAGE = ROOT / "docs" / "time.md"
CORPORA = ("keras.zip", "real.zip", "torch.zip", "onnx.zip")
ROUNDS = 5
_LARGEST_FILE, _MOST_NODES, _LONGEST_SECONDS = 6 << 20, 400, 240
_SHORTEST_MS = 0.2
"""Shorter runs are left out, because the interpreter takes most of their time."""
_WORKER = """
import json, statistics, sys, time
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
RESOLVERS = {True: OpResolverType.BUILTIN, False: OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}
def opened(path, has_xnnpack, shapes=(), keeps=False):
    resolver = RESOLVERS[has_xnnpack]
    runner = Interpreter(path, num_threads=1, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=keeps)
    for tensor, shape in zip(runner.get_input_details(), shapes):
        if list(tensor["shape"]) != shape:
            runner.resize_tensor_input(tensor["index"], shape)
    runner.allocate_tensors()
    random = np.random.default_rng(0)
    for tensor in runner.get_input_details():
        kind, shape = np.dtype(tensor["dtype"]), tensor["shape"]
        values = random.random(shape).astype(kind) if kind.kind == "f" else np.zeros(shape, kind)
        runner.set_tensor(tensor["index"], values)
    runner.invoke()
    return runner
def milliseconds(runner, least):
    times, begin = [], time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - begin < least and len(times) < 200):
        start = time.thread_time()
        runner.invoke()
        times.append(1000 * (time.thread_time() - start))
    return statistics.median(times)
job = json.load(sys.stdin)
if "shapes_of" in job:
    details = opened(job["shapes_of"], False, keeps=True).get_tensor_details()
    print(json.dumps({tensor["index"]: [int(size) for size in tensor["shape"]] for tensor in details}))
    sys.exit()
runners = [opened(*part) for part in job["parts"]]
print(json.dumps([[milliseconds(runner, job["seconds"]) for runner in runners] for _ in range(job["rounds"])]))
"""


class Measured(NamedTuple):
    """One model: times in milliseconds, and whether the measured saving is within the bound and within the estimate."""

    model: str
    before: float
    after: float
    lowest: float
    """The saving of the fastest run before the fix and the slowest run after it."""
    highest: float
    at_most: float
    rest: float
    estimate: tuple[float, float] | None
    profiled: float

    @property
    def holds(self) -> bool:
        """Whether the saving is at most the bound, considering the spread of the runs."""
        return self.lowest <= self.at_most

    @property
    def is_estimated_well(self) -> bool | None:
        """Whether the saving overlaps the estimate; None without an estimate."""
        return None if self.estimate is None else self.lowest <= self.estimate[1] and self.highest >= self.estimate[0]


@dataclass(frozen=True)
class Part:
    """A model file, and whether it runs with XNNPACK."""

    path: Path
    has_xnnpack: bool
    shapes: tuple[tuple[int, ...], ...] = ()
    """The shapes of the inputs, if they differ from those in the file."""


def _worker(job: Mapping[str, Any]) -> Any:
    """Run a job in a process of its own, because the runtime may crash. Raises OSError if it fails."""
    command = [sys.executable, "-c", _WORKER]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, timeout=_LONGEST_SECONDS, check=False)
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def times_of(parts: Sequence[Part], rounds: int, seconds: float) -> list[list[float]]:
    """Return the milliseconds of each part in each round. Raises OSError if a part does not run."""
    entries = [[str(part.path), part.has_xnnpack, part.shapes] for part in parts]
    result: list[list[float]] = _worker({"parts": entries, "rounds": rounds, "seconds": seconds})
    return result


def part_of(model: Model, nodes: Sequence[int]) -> tuple[bytes, tuple[int, ...]]:
    """Return a model with only some nodes of the first subgraph, and the tensors that are its inputs."""
    graph = file_graphs(model)[0]
    chosen = [graph.nodes[index] for index in nodes]
    written = {tensor for node in chosen for tensor in node.outputs if tensor >= 0}
    read = dict.fromkeys([tensor for node in chosen for tensor in node.inputs if tensor >= 0 and tensor not in written])
    inputs = tuple([tensor for tensor in read if not graph.tensors[tensor].is_constant])
    rest = {tensor for node in graph.nodes if node.index not in set(nodes) for tensor in node.inputs}
    outputs = tuple([tensor for tensor in written if tensor in rest or tensor in graph.outputs])
    chunks, _ = second_model(Split(start(model), tuple(chosen), inputs, outputs or tuple(written), ()))
    return b"".join(map(bytes, chunks)), inputs


def profiled(model: Model, run: Run, target: Target, folder: Path, *, has_delegate: bool) -> Timing:
    """Measure each kernel and node alone, and return the matched profile."""
    rows = profiled_rows(run, lambda op, node: 1.0) if has_delegate else _cpu_rows(run)
    kernels = iter([subset.nodes for subset in run.subgraphs[0].subsets if subset.is_delegated])
    whole = folder / "whole.tflite"
    whole.write_bytes(bytes(model.content))
    shapes = _worker({"shapes_of": str(whole)})
    parts = []
    for number, row in enumerate(rows):
        is_kernel = row.op in target.delegate.kernel_names
        path = folder / f"{'delegate' if has_delegate else 'cpu'}{number}.tflite"
        content, inputs = part_of(model, next(kernels) if is_kernel else [row.node])
        path.write_bytes(content)
        parts.append(Part(path, is_kernel, tuple([tuple(shapes[str(index)]) for index in inputs])))
    (times,) = times_of(parts, 1, 0.02)
    text = write_profile([row._replace(ms=ms) for row, ms in zip(rows, times, strict=True)])
    return match_profile(OpProfile("profile", read_log(text)), model, target)


def _cpu_rows(run: Run) -> list[ProfiledRow]:
    graph = run.subgraphs[0].graph
    names = {
        index: ", ".join([graph.tensors[tensor].name for tensor in graph.nodes[index].outputs]) for index in graph.execution_plan
    }
    return [ProfiledRow(graph.nodes[index].op, f"[{names[index]}]", index, 1.0) for index in graph.execution_plan]


def measured(name: str, content: bytes, target: Target) -> Measured | None:
    """Fix a model, and return its times and bounds; None if no pass helps, or if the model is too large or has open sizes."""
    model = load(with_weights(content))
    nodes = len(model.subgraphs[0].nodes)
    if len(model.subgraphs) != 1 or not 1 < nodes <= _MOST_NODES or open_inputs(model):
        return None
    run = simulate(model, target)
    if run.outcome != "delegated" or run.refusal is not None or len(run.subgraphs[0].delegated) == nodes:
        return None
    plan = search(model, (target,), Exactness.ROUNDING)
    if not plan.steps:
        return None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        before, after = folder / "before.tflite", folder / "after.tflite"
        before.write_bytes(bytes(model.content))
        after.write_bytes(b"".join(map(bytes, write(plan.model, plan.rewritten.change, plan.rewritten.weights))))
        timings = [profiled(model, run, target, folder, has_delegate=has_delegate) for has_delegate in (True, False)]
        pairs = times_of([Part(before, True), Part(after, True)], ROUNDS, 0.4)
    first, second = zip(*pairs, strict=True)
    if statistics.median(first) < _SHORTEST_MS:
        return None
    bounds = comparison_bounds(compare(simulated_side(model, target), simulated_side(plan.rewritten.model, target)), timings)
    return Measured(
        model=name,
        before=statistics.median(first),
        after=statistics.median(second),
        lowest=min(first) - max(second),
        highest=max(first) - min(second),
        at_most=bounds.at_most_ms,
        rest=bounds.rest_ms,
        estimate=None if bounds.estimate is None else (bounds.estimate.low_ms, bounds.estimate.high_ms),
        profiled=timings[0].total_ms,
    )


def models(every: int) -> Iterator[tuple[str, bytes]]:
    """Yield small models of the corpora, one in ``every``, alternating between the corpora."""
    archives = [zipfile.ZipFile(SHARED / corpus) for corpus in CORPORA]
    names = [
        [
            entry.filename
            for entry in archive.infolist()
            if entry.filename.endswith(".tflite") and entry.file_size < _LARGEST_FILE
        ][every // 2 :: every]
        for archive in archives
    ]
    for number in range(max(map(len, names))):
        for archive, own in zip(archives, names, strict=True):
            if number < len(own):
                yield own[number], archive.read(own[number])


def table(rows: Sequence[Measured]) -> str:
    """Return the section of the page."""
    lines = [
        "| model | before, ms | after, ms | saved, ms | spread | at most, ms | estimate, ms | within |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        estimate = "none" if row.estimate is None else f"{row.estimate[0]:.3f} to {row.estimate[1]:.3f}"
        cells = [f"`{row.model}`", *[f"{value:.3f}" for value in (row.before, row.after, row.before - row.after)]]
        cells += [f"{row.lowest:.3f} to {row.highest:.3f}", f"{row.at_most:.3f}", estimate, "yes" if row.holds else "no"]
        lines.append(f"| {' | '.join(cells)} |")
    estimated = [row for row in rows if row.estimate is not None]
    well = sum([bool(row.is_estimated_well) for row in estimated])
    estimates = "No model has an estimate."
    if estimated:
        estimates = f"{len(estimated)} models have an estimate; the saving overlaps {well} of the estimates."
    holding = sum([row.holds for row in rows])
    lines.append("")
    lines.append(f"The bound holds for {holding} of {len(rows)} models. {estimates}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure models until enough have a fix, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=20, help="the number of models with a fix to measure")
    parser.add_argument("--every", type=int, default=7, help="try one in so many models of the corpora")
    parser.add_argument("--write", action="store_true", help="write the table into docs/time.md")
    arguments = parser.parse_args()
    target = target_of("xnnpack", {}, None, "benchmark")
    rows: list[Measured] = []
    for name, content in models(arguments.every):
        try:
            row = measured(name, content, target)
        except (DelegateSimError, OSError, subprocess.TimeoutExpired) as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if row is not None:
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
        if len(rows) == arguments.models:
            break
    section: Any = table(rows)
    if arguments.write:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), "fix times", section), encoding="utf-8")
    print(section)
    return 0 if sum([row.holds for row in rows]) >= len(rows) * 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
