"""Measure how the outputs of two models differ, as the runtime computes them on this CPU.

In the manner of the runtime's Inference Diff tool (``tools/evaluation/tasks/inference_diff``): mean and greatest absolute error
of each output, and the latency of both. Both run with the optimized CPU kernels, on one thread and without XNNPACK, so that what
differs comes from the models.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import FixError, MissingPackageError
from ..foundation.late_numpy import np
from ..foundation.limits import how_to_raise, raised
from ..model.model import Model
from .inputs import InputArray

SECONDS = 1800
_REPETITIONS = 2
"""How often the first model runs beside itself at most where it differs from the second."""
_PACKAGE = "ai_edge_litert"


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """How one tensor differs, over all samples. Errors are in the unit of the tensor as it is stored."""

    name: str
    elements: int
    different: int
    """Elements whose values differ; zeros of either sign are equal, and so are two that are no number."""
    bits: int
    """Elements of which a bit differs."""
    mean: float
    greatest: float
    range: float
    """The greatest size of a value in the first model."""
    problem: str
    """Why it cannot be compared, empty if it can."""
    unsteady: int = 0
    """Elements of which a bit differs when the first model runs beside itself: some CPU kernels read memory never written."""

    @property
    def is_same(self) -> bool:
        """True if every bit is the same."""
        return not self.bits and not self.problem

    @property
    def relative(self) -> float:
        """The greatest error as a share of the range."""
        return 0.0 if not self.greatest else self.greatest / self.range if self.range else math.inf


@dataclass(frozen=True, slots=True)
class Difference:
    """How two models differ in what they compute."""

    outputs: tuple[TensorDifference, ...]
    tensors: tuple[TensorDifference, ...]
    """The tensors between nodes that correspond."""
    seconds: tuple[float, float]
    """Latency of both on this CPU, the median."""
    samples: int

    @property
    def is_same(self) -> bool:
        """True if every bit of every output, and of every tensor between that was compared, is the same."""
        return all(each.is_same for each in (*self.outputs, *self.tensors))

    @property
    def unsteady(self) -> str:
        """An output that the first model computes differently from run to run, empty if there is none."""
        return next((each.name for each in self.outputs if each.unsteady), "")

    @property
    def problem(self) -> str:
        """What makes outputs incomparable, empty if nothing does."""
        return next((f"{each.name}: {each.problem}" for each in self.outputs if each.problem), "")

    @property
    def relative(self) -> float:
        """The greatest error of an output as a share of that output's range."""
        return max([each.relative for each in self.outputs], default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "is_same": self.is_same,
            "samples": self.samples,
            "seconds": list(self.seconds),
            "outputs": [asdict(each) for each in self.outputs],
            "tensors_compared": len(self.tensors),
            "tensors_that_differ": [asdict(each) for each in self.tensors if not each.is_same],
        }


@dataclass(frozen=True, slots=True)
class Continuation:
    """A model that goes on where another ends, so that both together compute what one did."""

    path: str
    inputs: tuple[tuple[bool, int], ...]
    """For each input whether it is an output of the model before or an input of the whole, and which."""
    outputs: tuple[tuple[int, int], ...]
    """For each output of the whole the model that computes it, 0 or 1, and which of its outputs that is."""
    tensors: Mapping[int, int]
    """What tensors of the whole are in it."""


@dataclass(frozen=True, slots=True)
class Facing:
    """Which inputs and outputs of a second model are those of the first, by position, and which compare as real numbers.

    Values that the two models store in different types, with a scale or without, compare as the numbers that they stand for.
    """

    order: Mapping[str, Sequence[int]]
    """Under ``inputs`` and ``outputs``: for each of the first model, where the second has it."""
    in_real_numbers: Mapping[str, Sequence[bool]]
    """Likewise, whether the values are stored in different types."""


def check_installed() -> None:
    """Raise MissingPackageError unless the runtime is installed."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise MissingPackageError("models are run with the package ai-edge-litert: pip install 'delegate-sim[fix]'")


def compare(
    first: Model,
    second: Model,
    samples: Sequence[Sequence[InputArray]],
    tensors: Mapping[int, str],
    repeats: int = 2,
    then: Continuation | None = None,
    facing: Facing | None = None,
    looks_for_unsteady: bool = True,
) -> Difference:
    """Run two models on the same inputs in a process of their own, and compare them.

    ``tensors`` are those of the first model's first subgraph, with their names, that the second has at the same
    index; ``then`` goes on where the second one ends; ``facing`` is for a second model whose inputs and outputs are
    in another order or stored otherwise. Where something differs the first model runs beside itself too, unless
    nobody ``looks_for_unsteady`` outputs. Raises FixError with the runtime's message where a model does not run.
    """
    check_installed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = []
        for number, arrays in enumerate(samples):
            files.append(f"sample_{number}.npz")
            np.savez(folder / files[-1], allow_pickle=False, **{f"input_{place}": array for place, array in enumerate(arrays)})
        job = {
            "a": _file(first, folder / "a.tflite"),
            "b": _file(second, folder / "b.tflite"),
            "samples": files,
            "tensors": list(tensors),
            "repeats": repeats,
            "then": None if then is None else {**asdict(then), "path": os.path.abspath(then.path)},
            "facing": None if facing is None else asdict(facing),
        }
        found = _run(folder, job)
        for _ in range(_REPETITIONS if looks_for_unsteady and any(entry["bits"] for entry in _entries(found)) else 0):
            if _note_unsteady(found, _run(folder, {**job, "b": job["a"], "then": None, "facing": None, "repeats": 0})):
                break
    graph = first.subgraphs[0]
    names = [graph.tensors[index].name for index in graph.outputs]
    return Difference(
        tuple([TensorDifference(name, **entry) for name, entry in zip(names, found["outputs"], strict=True)]),
        tuple([TensorDifference(tensors[int(index)], **entry) for index, entry in found["tensors"].items()]),
        (found["seconds"][0], found["seconds"][1]),
        len(samples),
    )


def _file(model: Model, path: Path) -> str:
    """Return the file of a model; one that comes from an archive, an address or memory is written to ``path``."""
    if model.path is not None and os.path.isfile(model.path):
        return os.path.abspath(model.path)
    path.write_bytes(model.content)
    return str(path)


_SIDES = {"a": "the original model", "b": "the other model", "then": "the model of trailing nodes"}


def _entries(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [*found["outputs"], *found["tensors"].values()]


def _note_unsteady(found: dict[str, Any], alike: dict[str, Any]) -> bool:
    """Note of how many elements the first model computes other bits in the place of the second one; whether of any."""
    for entry, own in zip(_entries(found), _entries(alike), strict=True):
        entry["unsteady"] = own["bits"]
    return any(own["bits"] for own in _entries(alike))


def _own_process(folder: Path) -> int:
    """Do a job in a process of its own; return how that ended."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("worker.py")), str(folder)],
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=raised(SECONDS),
        check=False,
    )
    return done.returncode


def _run(folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    (folder / "job.json").write_text(json.dumps(job), "utf-8")
    (folder / "found.json").unlink(missing_ok=True)
    try:
        status = _own_process(folder)
    except subprocess.TimeoutExpired:
        raise FixError(
            f"the models did not run to their end on the CPU within {raised(SECONDS):,} seconds{how_to_raise()}"
        ) from None
    result, stage = folder / "found.json", folder / "stage.txt"
    if status or not result.is_file():
        side, _, what = (stage.read_text("utf-8") if stage.is_file() else "a start").partition(" ")
        raise FixError(f"the runtime crashed when it was to {what} {_SIDES[side]} on the CPU (status {status})")
    found: dict[str, Any] = json.loads(result.read_text("utf-8"))
    if "error" in found:
        raise FixError(f"the runtime does not run {_SIDES[found['side']]} on the CPU: {found['error']}")
    return found
