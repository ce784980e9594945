"""Run one model in a separate process, on a delegate's real code or with kernels of the CPU, on samples of inputs."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..bundles.ranged import pieces
from ..errors import DelegateSimError, FixError, LimitError, OptionError
from ..foundation.late_numpy import np
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import printable
from ..foundation.processes import python_file
from ..inference.inputs import InputArray, from_file, generated_samples, named_inputs
from ..live.engine import Finished, run_limited
from ..model.model import Model, Subgraph

REFERENCE, CPU, DEFAULT, ACCELERATOR = "reference", "cpu", "default", "accelerator"
"""Kinds of kernels.

The first three are the CPU's: reference kernels, optimized kernels, and the default delegate. The last is an accelerator of
``CompiledModel``.
"""
SECONDS = 600
"""The time limit for one run of a model, in seconds."""
_MOST_SECONDS = 1800
"""The time limit for all runs of a command, in seconds. A file decides how many signatures and parts are run."""


class RunningTime:
    """The time that the runs of one command may take together."""

    def __init__(self) -> None:
        self._most = raised(_MOST_SECONDS)
        self._end = time.monotonic() + self._most

    def seconds(self) -> int:
        """Return the time limit for the next run. Raise LimitError if no time is left."""
        left = math.ceil(self._end - time.monotonic())
        if left <= 0:
            raise LimitError(f"running the model and its parts takes more than {self._most:,} seconds{how_to_raise()}")
        return min(SECONDS, math.ceil(left / raised(1)))


class ExecutionError(DelegateSimError):
    """A model does not run. The message says what the runtime reports, or where the process ended."""

    def __init__(self, stage: str, words: str, *, is_crash: bool, is_timeout: bool = False) -> None:
        super().__init__(words)
        self.stage = stage
        """The step that failed: ``start``, ``load`` or ``run``."""
        self.is_crash = is_crash
        """Whether the process ended or was stopped, so that the runtime reported no error."""
        self.is_timeout = is_timeout
        """Whether the process was stopped because it took too long."""


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """The part of a model that a program runs: one signature, or the first subgraph.

    Inputs and outputs are pairs of a name and a tensor index.
    """

    key: str
    """The key of the signature. Empty for the first subgraph of a model without signatures."""
    subgraph: int
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]

    @property
    def input_tensors(self) -> tuple[int, ...]:
        """The tensors of the inputs."""
        return tuple([index for _, index in self.inputs])

    @property
    def output_tensors(self) -> tuple[int, ...]:
        """The tensors of the outputs."""
        return tuple([index for _, index in self.outputs])


def entries(model: Model) -> list[EntryPoint]:
    """Return the parts of a model that a program can run: its signatures, or the first subgraph if there are none."""
    if not model.signatures:
        graph = model.subgraphs[0]
        return [EntryPoint("", 0, _named(graph, graph.inputs), _named(graph, graph.outputs))]
    return [
        EntryPoint(signature.key, signature.subgraph, tuple(signature.inputs.items()), tuple(signature.outputs.items()))
        for signature in model.signatures
    ]


def _named(graph: Subgraph, indices: Sequence[int]) -> tuple[tuple[str, int], ...]:
    return tuple([(graph.tensors[index].name, index) for index in indices])


class ExecutionResults(NamedTuple):
    """The results of one sample: outputs in the order of the entry, and the values of kept tensors by index."""

    outputs: tuple[InputArray, ...]
    kept: Mapping[int, InputArray]


class ModelExecutor(ABC):
    """Interface to a program that runs a model."""

    @abstractmethod
    def run(
        self,
        model: Model,
        entry: EntryPoint,
        samples: Sequence[Sequence[InputArray]],
        *,
        kept: Sequence[int] = (),
        expected: Sequence[InputArray] = (),
    ) -> Sequence[ExecutionResults]:
        """Return the results of each sample.

        ``kept`` are tensors to return with the outputs. ``expected`` are arrays with the types and shapes of the outputs, which
        an accelerator needs. Raise ExecutionError if the model does not run.
        """


@dataclass(frozen=True, slots=True)
class ProcessExecutor(ModelExecutor):
    """Runs a model with one kind of kernels, in a separate process for each call.

    ``arguments`` are the accelerators and the precision. ``environment`` is the environment of the process. ``python`` is
    another interpreter that has the runtime; empty for this interpreter. ``on_software`` is called with the runtime's release.
    """

    kernels: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    python: str = ""
    on_software: Callable[[str], None] = lambda _: None
    adapter: str = ""
    """A text that the accelerator prints if it finds a device. Empty if no device is needed."""
    time: RunningTime = field(default_factory=RunningTime)

    def run(
        self,
        model: Model,
        entry: EntryPoint,
        samples: Sequence[Sequence[InputArray]],
        *,
        kept: Sequence[int] = (),
        expected: Sequence[InputArray] = (),
    ) -> Sequence[ExecutionResults]:
        """Run the model. See ``ModelExecutor``."""
        seconds = self.time.seconds()
        with self._job(model, entry, samples, kept, expected) as folder:
            command = python_file(
                str(Path(__file__).with_name("worker.py")), str(folder), python=self.python and os.path.abspath(self.python)
            )
            finished = run_limited(command, self.environment, str(folder), seconds)
            written = folder / "found.json"
            if finished.words or not written.is_file():
                raise _stopped(folder, finished)
            report = json.loads(written.read_text("utf-8"))
            self.on_software(report["software"])
            if report["error"] and _stage(folder) == "start":
                raise ExecutionError("start", report["error"], is_crash=False)
            if self.adapter not in finished.output:
                raise ExecutionError("start", "the accelerator found no device", is_crash=False)
            if report["error"]:
                raise ExecutionError(_stage(folder), report["error"], is_crash=False)
            return [_results(folder / f"result_{number}.npz", entry, kept) for number in range(len(samples))]

    @contextmanager
    def _job(
        self,
        model: Model,
        entry: EntryPoint,
        samples: Sequence[Sequence[InputArray]],
        kept: Sequence[int],
        expected: Sequence[InputArray],
    ) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = folder / "model.tflite"
            with path.open("wb") as file:
                file.writelines(pieces(model.content))
            for number, arrays in enumerate(samples):
                named = {f"input_{place}": array for place, array in enumerate(arrays)}
                np.savez(folder / f"sample_{number}.npz", allow_pickle=False, **named)
            job: dict[str, Any] = {
                "model": str(path),
                "kernels": self.kernels,
                "arguments": list(self.arguments),
                "key": entry.key,
                "subgraph": entry.subgraph,
                "inputs": [name for name, _ in entry.inputs],
                "outputs": [name for name, _ in entry.outputs],
                "places": {
                    "inputs": _places(model.subgraphs[entry.subgraph].inputs, entry.input_tensors),
                    "outputs": _places(model.subgraphs[entry.subgraph].outputs, entry.output_tensors),
                },
                "kept": list(kept),
                "samples": [f"sample_{number}.npz" for number, _ in enumerate(samples)],
                "expected": [[array.dtype.name, list(array.shape), array.nbytes] for array in expected],
            }
            (folder / "job.json").write_text(json.dumps(job), "utf-8")
            yield folder


def _places(listed: Sequence[int], indices: Sequence[int]) -> list[int]:
    """Return the position of each tensor in a list. A tensor that is asked for twice has its first and its second position."""
    positions: dict[int, list[int]] = {}
    for place, index in enumerate(listed):
        positions.setdefault(index, []).append(place)
    return [positions[index].pop(0) if len(positions[index]) > 1 else positions[index][0] for index in indices]


def _stage(folder: Path) -> str:
    stage = folder / "stage.txt"
    return stage.read_text("utf-8") if stage.is_file() else "start"


def _stopped(folder: Path, finished: Finished) -> ExecutionError:
    stage = _stage(folder)
    words = finished.words or "it wrote no results"
    last = finished.output.strip().splitlines()[-1:] if stage == "start" else []
    return ExecutionError(
        stage, " ".join([words, *[f"({line})" for line in last]]), is_crash=True, is_timeout=finished.status is None
    )


def _results(path: Path, entry: EntryPoint, kept: Sequence[int]) -> ExecutionResults:
    with np.load(path) as archive:
        return ExecutionResults(
            tuple([archive[f"output_{place}"] for place, _ in enumerate(entry.outputs)]),
            {index: archive[f"tensor_{index}"] for index in kept if f"tensor_{index}" in archive},
        )


def entry_inputs(
    model: Model, chosen: Sequence[EntryPoint], data: Sequence[str], samples: int
) -> Iterator[list[list[InputArray]]]:
    """Yield the samples of each entry: a list of arrays for each sample, in the order of the entry's inputs.

    A .npz file in ``data`` belongs to all entries that it fits. In every second generated sample, no float is positive. The
    samples of an entry are made when the entry is reached, because they may be large. Raise OptionError if a file fits no entry
    or inputs cannot be generated, and FixError if a signature does not name its inputs.
    """
    unused = dict.fromkeys(data, "")
    for entry in chosen:
        graph = model.subgraphs[entry.subgraph]
        if set(entry.input_tensors) != set(graph.inputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it does not name all its inputs"))
        if not graph.outputs or not set(entry.output_tensors) <= set(graph.outputs):
            raise FixError(printable(f"signature {entry.key!r} cannot be run, because it names a tensor that is no output"))
        for path in list(unused):
            try:
                named_inputs(path, model, graph)
                del unused[path]
            except OptionError as error:
                unused[path] = str(error)
    if unused:
        raise OptionError(next(iter(unused.values())))
    return (_samples_of(model, entry, data, samples) for entry in chosen)


def _samples_of(model: Model, entry: EntryPoint, data: Sequence[str], samples: int) -> list[list[InputArray]]:
    graph = model.subgraphs[entry.subgraph]
    own = []
    for path in data:
        try:
            own.append(from_file(path, model, graph))
        except OptionError:  # the file belongs to other entries
            continue
    for seed, arrays in enumerate(generated_samples(model, graph, samples)):
        own.append([_not_positive(array) for array in arrays] if seed % 2 else arrays)
    places = {index: place for place, index in reversed([*enumerate(graph.inputs)])}
    return [[arrays[places[index]] for index in entry.input_tensors] for arrays in own]


def _not_positive(array: InputArray) -> InputArray:
    negative: InputArray = -np.abs(array) if array.dtype.kind == "f" else array
    return negative
