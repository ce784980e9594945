"""Measure whether the bounds and estimates of fixes hold on this computer, and make the table of docs/time.md.

The device is this computer, with one thread: XNNPACK is the delegate, and TFLite's own kernels are the CPU. A profile has the
time of an inference, and of each kernel and each node, run alone. Bounds and estimates from the profiles are compared with the
time that the fix really saves. Times are those of the processor, because other programs may use the computer too. Each time is
the shortest of many repetitions.

Models are chosen before anything is known of the saving. The corpora give one model of each network, with the largest computation
on the CPU first, if the nodes that the fix moves take a tenth of the inference or more. Own models follow (``time_models.py``).
"""

from __future__ import annotations

import argparse
import json
import math
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
from delegate_sim.results.compare.comparison import compare, simulated_side
from delegate_sim.results.report.multiply_adds import multiply_adds
from delegate_sim.runtime.interpreter import Run, simulate
from delegate_sim.runtime.target import Target
from delegate_sim.timing.fixes import ChangeTimes
from delegate_sim.timing.matching import match_profile
from delegate_sim.timing.measured import OpProfile, Timing
from fixtures.op_profiles import ProfiledRow, profiled_rows, write_profile
from tools.corpus_tables.fixes import with_weights
from tools.corpus_tables.time_models import own_models
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
PAGE = ROOT / "docs" / "time.md"
CORPORA = ("keras.zip", "real.zip", "torch.zip", "onnx.zip")
ROUNDS = 5
_SECONDS_OF_PART, _SECONDS_OF_RUN = 0.03, 0.8
_LARGEST_FILE, _MOST_NODES, _LONGEST_SECONDS = 12 << 20, 700, 400
_SHORTEST_MS = 0.2
"""Shorter runs are left out, because the interpreter takes most of their time."""
_LEAST_SHARE = 0.1
"""The smallest share of an inference that the moved nodes of a chosen model take."""
_WORKER = """
import json, sys, time
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
RESOLVERS = {True: OpResolverType.BUILTIN, False: OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES}
def opened(path, has_xnnpack, values="", inputs=(), keeps=False):
    resolver = RESOLVERS[has_xnnpack]
    runner = Interpreter(path, num_threads=1, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=keeps)
    details = runner.get_input_details()
    random = np.random.default_rng(0)
    if values:
        with np.load(values) as known:
            given = [known[str(index)] for index in inputs]
    else:
        given = [
            random.random(tensor["shape"]).astype(tensor["dtype"])
            if np.dtype(tensor["dtype"]).kind == "f"
            else np.zeros(tensor["shape"], tensor["dtype"])
            for tensor in details
        ]
    for tensor, value in zip(details, given):
        if tuple(tensor["shape"]) != value.shape:
            runner.resize_tensor_input(tensor["index"], value.shape)
    runner.allocate_tensors()
    for tensor, value in zip(details, given):
        runner.set_tensor(tensor["index"], value)
    runner.invoke()
    return runner
def saved(path, file):
    runner, values = opened(path, False, keeps=True), {}
    for tensor in runner.get_tensor_details():
        try:
            values[str(tensor["index"])] = runner.get_tensor(tensor["index"])
        except ValueError:
            pass  # a tensor that no node writes
    np.savez(file, **values)
def shortest(runners, seconds):
    # The runners take turns, so that a change of the computer's speed concerns all of them.
    times, begin = [[] for _ in runners], time.perf_counter()
    while len(times[0]) < 10 or (time.perf_counter() - begin < seconds and len(times[0]) < 2000):
        for runner, own in zip(runners, times):
            start = time.thread_time_ns()
            runner.invoke()
            own.append(time.thread_time_ns() - start)
    return [min(own) / 1e6 for own in times]
job = json.load(sys.stdin)
if "values_of" in job:
    saved(job["values_of"], job["file"])
    print("null")
    sys.exit()
runners = [opened(*part) for part in job["parts"]]
groups = [runners] if job["together"] else [[runner] for runner in runners]
print(json.dumps([[ms for group in groups for ms in shortest(group, job["seconds"])] for _ in range(job["rounds"])]))
"""


class Measured(NamedTuple):
    """One model: times in milliseconds. A saving is the time before the fix minus the time after it, in each of five runs."""

    model: str
    before: float
    after: float
    savings: tuple[float, ...]
    at_most: float
    is_limited: bool
    """Whether the bound is the time of a whole inference."""
    estimate: tuple[float, float] | None
    no_estimate: str

    @property
    def saved(self) -> float:
        """The median of the savings."""
        return statistics.median(self.savings)

    @property
    def is_positive(self) -> bool:
        """Whether every run shows a saving."""
        return min(self.savings) > 0

    @property
    def holds(self) -> bool:
        """Whether the saving is at most the bound, considering the spread of the runs."""
        return min(self.savings) <= self.at_most

    @property
    def place(self) -> str:
        """The place of the saving beside the estimate, considering the spread of the runs; empty without an estimate."""
        if self.estimate is None:
            return ""
        low, high = self.estimate
        return "below" if max(self.savings) < low else "above" if min(self.savings) > high else "within"


@dataclass(frozen=True)
class Part:
    """A model file, and whether it runs with XNNPACK."""

    path: Path
    has_xnnpack: bool
    values: str = ""
    """The file with the values of all tensors of the whole model; empty for made-up inputs."""
    inputs: tuple[int, ...] = ()
    """The tensors of the whole model that are the inputs."""


def _worker(job: Mapping[str, Any]) -> Any:
    """Run a job in a process of its own, because the runtime may crash. Raises OSError if it fails."""
    command = [sys.executable, "-c", _WORKER]
    done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True, timeout=_LONGEST_SECONDS, check=False)
    if done.returncode:
        raise OSError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout.strip().splitlines()[-1])


def times_of(parts: Sequence[Part], rounds: int, seconds: float, *, together: bool) -> list[list[float]]:
    """Return the milliseconds of each part in each round. Raises OSError if a part does not run.

    With ``together``, the parts take turns, inference by inference.
    """
    entries = [[str(part.path), part.has_xnnpack, part.values, part.inputs] for part in parts]
    result: list[list[float]] = _worker({"parts": entries, "rounds": rounds, "seconds": seconds, "together": together})
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
    """Measure an inference, and each kernel and node alone, and return the matched profile."""
    rows = profiled_rows(run, lambda op, node: 1.0) if has_delegate else _cpu_rows(run)
    kernels = iter([subset.nodes for subset in run.subgraphs[0].subsets if subset.is_delegated])
    whole = folder / "whole.tflite"
    whole.write_bytes(bytes(model.content))
    values = str(folder / "values.npz")
    _worker({"values_of": str(whole), "file": values})
    parts = []
    for number, row in enumerate(rows):
        is_kernel = row.op in target.delegate.kernel_names
        path = folder / f"{'delegate' if has_delegate else 'cpu'}{number}.tflite"
        content, inputs = part_of(model, next(kernels) if is_kernel else [row.node])
        path.write_bytes(content)
        parts.append(Part(path, is_kernel, values, inputs))
    ((inference_ms,),) = times_of([Part(whole, has_delegate)], 1, _SECONDS_OF_RUN, together=False)
    (times,) = times_of(parts, 1, _SECONDS_OF_PART, together=False)
    text = write_profile([row._replace(ms=ms) for row, ms in zip(rows, times, strict=True)], inference_ms=inference_ms)
    return match_profile(OpProfile("profile", read_log(text)), model, target)


def _cpu_rows(run: Run) -> list[ProfiledRow]:
    graph = run.subgraphs[0].graph
    names = {
        index: ", ".join([graph.tensors[tensor].name for tensor in graph.nodes[index].outputs]) for index in graph.execution_plan
    }
    return [ProfiledRow(graph.nodes[index].op, f"[{names[index]}]", index, 1.0) for index in graph.execution_plan]


def measured(name: str, content: bytes, target: Target) -> Measured | None:
    """Fix a model, and return its times and bounds; None if no pass helps, or if the moved nodes take little time."""
    model = load(with_weights(content))
    run = simulate(model, target)
    shapes = {tensor.index: tuple([max(size, 1) for size in tensor.shape]) for tensor in open_inputs(model)}
    plan = search(model, (target,), Exactness.APPROXIMATE, shapes)
    if not plan.is_changed:
        return None
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        before, after = folder / "before.tflite", folder / "after.tflite"
        before.write_bytes(bytes(model.content))
        after.write_bytes(b"".join(map(bytes, write(plan.model, plan.rewritten.change, plan.rewritten.weights))))
        timings = [profiled(model, run, target, folder, has_delegate=has_delegate) for has_delegate in (True, False)]
        sides = [simulated_side(side, target) for side in (model, plan.rewritten.model)]
        bounds = ChangeTimes(compare(*sides), tuple(timings)).bounds
        if not bounds.is_whole or bounds.moved.ms < _LEAST_SHARE * bounds.whole_ms or bounds.whole_ms < _SHORTEST_MS:
            return None
        pairs = times_of([Part(before, True), Part(after, True)], ROUNDS, _SECONDS_OF_RUN, together=True)
    return Measured(
        model=name,
        before=statistics.median([pair[0] for pair in pairs]),
        after=statistics.median([pair[1] for pair in pairs]),
        savings=tuple([first - second for first, second in pairs]),
        at_most=bounds.at_most_ms,
        is_limited=bounds.is_limited,
        estimate=None if bounds.estimate is None else (bounds.estimate.low_ms, bounds.estimate.high_ms),
        no_estimate=bounds.no_estimate,
    )


def candidates(target: Target) -> Iterator[tuple[str, bytes]]:
    """Yield the models of the corpora that keep nodes on the CPU, with the largest computation on the CPU first."""
    archives = [zipfile.ZipFile(SHARED / corpus) for corpus in CORPORA]
    ranked = []
    for archive in archives:
        for entry in archive.infolist():
            if entry.filename.endswith(".tflite") and entry.file_size < _LARGEST_FILE:
                try:
                    amount = computation_on_cpu(load(archive.read(entry)), target)
                except DelegateSimError:
                    continue
                if amount:
                    ranked.append((-amount, entry.filename, archive))
    for _, name, archive in sorted(ranked, key=lambda one: one[:2]):
        yield name, archive.read(name)


def computation_on_cpu(model: Model, target: Target) -> int:
    """Return the multiply-adds of CPU nodes plus the elements of their results; 0 for models that are not measured."""
    nodes = len(model.subgraphs[0].nodes)
    if len(model.subgraphs) != 1 or not 1 < nodes <= _MOST_NODES:
        return 0
    run = simulate(model, target)
    if run.outcome != "delegated" or run.refusal is not None:
        return 0
    subgraph = run.subgraphs[0]
    graph = subgraph.graph
    left = [graph.nodes[index] for subset in subgraph.subsets if not subset.is_delegated for index in subset.nodes]
    sizes = [math.prod(graph.tensors[tensor].shape) for node in left for tensor in node.outputs if tensor >= 0]
    return sum([multiply_adds(graph.view(node)) for node in left]) + sum(map(abs, sizes))


def network(name: str) -> str:
    """Return the name of the network without the kind of quantization.

    >>> network("keras/unet_transpose.int8.tf221.tflite")
    'unet_transpose'
    """
    return name.rpartition("/")[2].partition(".")[0]


def table(rows: Sequence[Measured]) -> str:
    """Return the section of the page."""
    lines = [
        "| model | before, ms | after, ms | saved, ms | spread | at most, ms | holds | estimate, ms | saving and estimate |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        estimate = "none" if row.estimate is None else f"{row.estimate[0]:.3f} to {row.estimate[1]:.3f}"
        name = f"`{row.model}`" if row.model.endswith(".tflite") else row.model
        cells = [name, *[f"{value:.3f}" for value in (row.before, row.after, row.saved)]]
        cells += [f"{min(row.savings):.3f} to {max(row.savings):.3f}", f"{row.at_most:.3f}{' *' if row.is_limited else ''}"]
        cells += ["yes" if row.holds else "no", estimate, row.place]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_sums(rows)]) + "\n"


def _sums(rows: Sequence[Measured]) -> Iterator[str]:
    positive = sum([row.is_positive for row in rows])
    yield f"- {positive} of {len(rows)} models save time in every run."
    exact = sum([row.saved <= row.at_most for row in rows])
    holds = sum([row.holds for row in rows])
    yield f"- For {holds} of {len(rows)} models, the smallest saving is within the bound. For {exact}, the median saving is too."
    limited = sum([row.is_limited for row in rows])
    yield (
        f"- An asterisk marks the {limited} bounds that were lowered to the time of a whole inference, because the times of the "
        "moved nodes and the merged kernels add up to more."
    )
    estimated = [row for row in rows if row.estimate is not None]
    if not estimated:
        yield "- No model has an estimate."
        return
    places = [row.place for row in estimated]
    yield (
        f"- {len(estimated)} models have an estimate. The saving is within the estimate for {places.count('within')} models, "
        f"above the estimate for {places.count('above')}, and below the estimate for {places.count('below')}."
    )
    distances = [abs(row.saved - sum(row.estimate) / 2) / row.saved for row in estimated if row.estimate and row.saved > 0]
    if distances:
        median, largest = 100 * statistics.median(distances), 100 * max(distances)
        yield (
            "- The middle of the estimate is typically off by "
            f"{median:.0f} % of the saving (median), and by {largest:.0f} % at most. Models that save no time are left out."
        )


def chosen(count: int, target: Target) -> Iterator[Measured]:
    """Yield the results of as many models of the corpora, and of the own models."""
    networks: set[str] = set()
    for name, content in candidates(target):
        if len(networks) == count:
            break
        if network(name) not in networks and (row := _tried(name, content, target)) is not None:
            networks.add(network(name))
            yield row
    for name, content in own_models():
        if (row := _tried(name, content, target)) is not None:
            yield row


def _tried(name: str, content: bytes, target: Target) -> Measured | None:
    try:
        row = measured(name, content, target)
    except (DelegateSimError, OSError, subprocess.TimeoutExpired) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    print(f"{name}: {'left out' if row is None else row}", file=sys.stderr, flush=True)
    return row


def main() -> int:
    """Measure models until enough have a fix, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=12, help="the number of models from the corpora")
    parser.add_argument("--write", action="store_true", help="write the table into docs/time.md")
    arguments = parser.parse_args()
    rows = list(chosen(arguments.models, target_of("xnnpack", {}, None, "benchmark")))
    section: Any = table(rows)
    if arguments.write:
        PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), "fix times", section), encoding="utf-8")
    print(section)
    return 0 if sum([row.holds for row in rows]) >= len(rows) * 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
