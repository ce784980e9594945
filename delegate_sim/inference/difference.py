"""Measure the differences between the outputs that the runtime computes for two models on this CPU.

Like the runtime's Inference Diff tool (``tools/evaluation/tasks/inference_diff``), this module measures the mean and largest
absolute error of each output, and the latency of both models. Both models run with the optimized CPU kernels, on one thread and
without XNNPACK, so that all differences come from the models. The latency is measured with XNNPACK, which the runtime uses on the
CPU by default.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import statistics
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
"""The largest number of repeated runs of the first model, if its outputs differ from the second model's outputs."""
_PACKAGE = "ai_edge_litert"


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """The difference between the two models' values of one tensor, over all samples. Errors are in units of the stored values."""

    name: str
    elements: int
    different: int
    """Number of elements with different values. Zeros of either sign count as equal, and so do two NaNs."""
    bits: int
    """Number of elements with different bits."""
    mean: float
    greatest: float
    range: float
    """The largest absolute value of the tensor in the first model."""
    problem: str
    """The reason why the tensor cannot be compared; empty if it can be compared."""
    unsteady: int = 0
    """Number of elements that differ between runs of the first model. (Some CPU kernels read uninitialized memory.)"""

    @property
    def is_same(self) -> bool:
        """True if every bit is the same."""
        return not self.bits and not self.problem

    @property
    def relative(self) -> float:
        """The largest error, as a fraction of ``range``."""
        return 0.0 if not self.greatest else self.greatest / self.range if self.range else math.inf


LEAST_CHANGE = 0.03
"""Smallest relative change of the latency that counts as a change."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of both models on this CPU with XNNPACK, on one thread. The runs of the two models alternate."""

    first: tuple[float, ...]
    """Seconds of each run of the first model."""
    second: tuple[float, ...]

    @property
    def medians(self) -> tuple[float, float]:
        """Median latency of each model in seconds."""
        return statistics.median(self.first), statistics.median(self.second)

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of the second model's latency as a multiple of the first model's."""
        ratios = [other / one for one, other in zip(self.first, self.second, strict=True) if one > 0]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (1.0, 1.0, 1.0)
        return low, middle, high

    @property
    def is_changed(self) -> bool:
        """True if the latencies differ by more than their spread."""
        low, middle, high = self.ratios
        return not low <= 1 <= high and abs(middle - 1) >= LEAST_CHANGE

    def to_dict(self) -> dict[str, Any]:
        """Return the latency as plain data."""
        low, middle, high = self.ratios
        return {
            "seconds": list(self.medians),
            "runs": len(self.first),
            "ratio": middle,
            "ratio_quartiles": [low, high],
            "is_changed": self.is_changed,
        }


@dataclass(frozen=True, slots=True)
class EdgeDifference:
    """The differences on inputs with extreme values: zeros of either sign, denormals, the largest values, infinities and NaN."""

    outputs: tuple[TensorDifference, ...] = ()
    tensors: tuple[TensorDifference, ...] = ()
    refused: str = ""
    """The model that alone reports an error on such an input, for example on an index out of range; empty if there is none."""
    problem: str = ""
    """The reason why the runs on such inputs did not finish; empty if all runs finished."""

    @property
    def wrong(self) -> TensorDifference | None:
        """The first tensor with different bits; None if there is none."""
        return next((tensor for tensor in (*self.tensors, *self.outputs) if not tensor.is_same and not tensor.unsteady), None)

    @property
    def is_same(self) -> bool:
        """True if the models behave alike on all these inputs, bit for bit."""
        return self.wrong is None and not self.refused and not self.problem

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as plain data."""
        return {
            "is_same": self.is_same,
            "outputs": [asdict(output) for output in self.outputs],
            "refused": self.refused,
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True)
class SignatureInputs:
    """Inputs for a signature of another subgraph than the first. Arrays are in the order of ``inputs``."""

    key: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    samples: Sequence[Sequence[InputArray]]
    edges: Sequence[Sequence[InputArray]]


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between the results of two models."""

    outputs: tuple[TensorDifference, ...]
    """The outputs of the first subgraph, and then those of other signatures that were run."""
    tensors: tuple[TensorDifference, ...]
    """The differences of intermediate tensors that both models have."""
    samples: int
    latency: Latency | None = None
    """None if the latency was not measured, or if a model does not run with XNNPACK."""
    edges: EdgeDifference | None = None
    """The differences on extreme inputs; None if none were run."""

    @property
    def is_same(self) -> bool:
        """True if every bit of every output, and of every compared intermediate tensor, is the same."""
        return all(output.is_same for output in (*self.outputs, *self.tensors))

    @property
    def unsteady(self) -> str:
        """The name of an output whose value differs between runs of the first model; empty if there is no such output."""
        return next((output.name for output in self.outputs if output.unsteady), "")

    @property
    def problem(self) -> str:
        """The first reason why an output cannot be compared; empty if all outputs can be compared."""
        return next((f"{output.name}: {output.problem}" for output in self.outputs if output.problem), "")

    @property
    def relative(self) -> float:
        """The largest error of any output, as a fraction of that output's ``range``."""
        return max([output.relative for output in self.outputs], default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "is_same": self.is_same,
            "samples": self.samples,
            "latency": None if self.latency is None else self.latency.to_dict(),
            "outputs": [asdict(output) for output in self.outputs],
            "tensors_compared": len(self.tensors),
            "tensors_that_differ": [asdict(tensor) for tensor in self.tensors if not tensor.is_same],
            "edges": None if self.edges is None else self.edges.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Continuation:
    """A model that continues where another model ends. Together, the two models replace one original model."""

    path: str
    inputs: tuple[tuple[bool, int], ...]
    """For each input: True and the index of an output of the other model, or False and the index of an original input."""
    outputs: tuple[tuple[int, int], ...]
    """For each output of the original model: 0 if the other model computes it, 1 if this model does; and its index there."""
    tensors: Mapping[int, int]
    """The index in this model of each tensor that both this model and the original have, by the index in the original model."""


@dataclass(frozen=True, slots=True)
class Facing:
    """The correspondence of the inputs and outputs of two models.

    Values that the two models store in different types are compared as real numbers, dequantized if they have a scale.
    """

    order: Mapping[str, Sequence[int]]
    """The keys are ``inputs`` and ``outputs``. For each input or output of the first model: its position in the second model."""
    in_real_numbers: Mapping[str, Sequence[bool]]
    """The keys are ``inputs`` and ``outputs``. For each input or output of the first model: true if the models' types differ."""


def is_installed() -> bool:
    """Return whether this Python has the runtime."""
    return importlib.util.find_spec(_PACKAGE) is not None


def check_installed() -> None:
    """Raise MissingPackageError unless the runtime is installed."""
    if not is_installed():
        raise MissingPackageError("models are run with the package ai-edge-litert: pip install 'delegate-sim[fix]'")


def compare(
    first: Model,
    second: Model,
    samples: Sequence[Sequence[InputArray]],
    tensors: Mapping[int, str],
    *,
    then: Continuation | None = None,
    facing: Facing | None = None,
    looks_for_unsteady: bool = True,
    is_timed: bool = True,
    edges: Sequence[Sequence[InputArray]] = (),
    signatures: Sequence[SignatureInputs] = (),
    python: str = "",
) -> Difference:
    """Run two models on the same inputs in a separate process, and compare their results.

    ``tensors`` names intermediate tensors of the first subgraph by index; both models have these tensors at the same index.
    ``then`` is a model that continues the second model. ``facing`` gives the correspondence if the second model's inputs and
    outputs have another order or other types. If results differ, the first model is run again to see whether its own results
    vary, unless ``looks_for_unsteady`` is false. ``edges`` are inputs with extreme values, whose results are reported apart.
    ``signatures`` are inputs for other signatures. ``python`` is another interpreter that has the runtime, or TensorFlow.
    Raise FixError with the runtime's message if a model does not run.
    """
    if not python:
        check_installed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job: dict[str, Any] = {
            "a": _file(first, folder / "a.tflite"),
            "b": _file(second, folder / "b.tflite"),
            "samples": _stored(folder, "sample", samples),
            "edges": _stored(folder, "edge", edges),
            "signatures": [
                {
                    "key": own.key,
                    "inputs": list(own.inputs),
                    "outputs": list(own.outputs),
                    "samples": _stored(folder, f"signature_{number}_sample", own.samples),
                    "edges": _stored(folder, f"signature_{number}_edge", own.edges),
                }
                for number, own in enumerate(signatures)
            ],
            "tensors": list(tensors),
            "is_timed": is_timed,
            "then": None if then is None else {**asdict(then), "path": os.path.abspath(then.path)},
            "facing": None if facing is None else asdict(facing),
        }
        results = _run(folder, job, python)
        alone = {**job, "b": job["a"], "then": None, "facing": None, "is_timed": False}
        for _ in range(_REPETITIONS if looks_for_unsteady and any(entry["bits"] for entry in _entries(results)) else 0):
            if _note_unsteady(results, _run(folder, alone, python)):
                break
    graph = first.subgraphs[0]
    names = [graph.tensors[index].name for index in graph.outputs]
    names += [f"{own.key}/{output}" for own in signatures for output in own.outputs]
    outputs, between = _differences(results, names, tensors)
    latency = results.get("latency")
    return Difference(
        outputs,
        between,
        len(samples),
        None if latency is None else Latency(tuple(latency["first"]), tuple(latency["second"])),
        _edges(results, names, tensors) if job["edges"] else None,
    )


def _stored(folder: Path, label: str, samples: Sequence[Sequence[InputArray]]) -> list[str]:
    """Write samples to files in a folder, and return the names of the files."""
    files = []
    for number, arrays in enumerate(samples):
        files.append(f"{label}_{number}.npz")
        np.savez(folder / files[-1], allow_pickle=False, **{f"input_{place}": array for place, array in enumerate(arrays)})
    return files


def _differences(
    results: Mapping[str, Any], names: Sequence[str], tensors: Mapping[int, str]
) -> tuple[tuple[TensorDifference, ...], tuple[TensorDifference, ...]]:
    return (
        tuple([TensorDifference(name, **entry) for name, entry in zip(names, results["outputs"], strict=True)]),
        tuple([TensorDifference(tensors[int(index)], **entry) for index, entry in results["tensors"].items()]),
    )


def _edges(results: Mapping[str, Any], names: Sequence[str], tensors: Mapping[int, str]) -> EdgeDifference:
    edges = results.get("edges")
    if edges is None:
        return EdgeDifference(problem="the runtime did not finish on them")
    return EdgeDifference(*_differences(edges, names, tensors), edges["refused"])


def _file(model: Model, path: Path) -> str:
    """Return the path of a model's file; a model from an archive, a URL or memory is written to ``path``."""
    if model.path is not None and os.path.isfile(model.path):
        return os.path.abspath(model.path)
    path.write_bytes(model.content)
    return str(path)


_SIDES = {"a": "the original model", "b": "the other model", "then": "the model of trailing nodes"}


def _entries(results: dict[str, Any]) -> list[dict[str, Any]]:
    edges = results.get("edges")
    return [*results["outputs"], *results["tensors"].values(), *([] if edges is None else _entries(edges))]


def _note_unsteady(results: dict[str, Any], alike: dict[str, Any]) -> bool:
    """Record how many elements differ between runs of the first model; return whether there are any.

    ``alike`` are the results of comparing the first model with itself.
    """
    for entry, own in zip(_entries(results), _entries(alike), strict=False):  # extreme inputs may not have run
        entry["unsteady"] = own["bits"]
    return any(own["bits"] for own in _entries(alike))


def _own_process(folder: Path, python: str = "") -> int:
    """Run a job in a separate process of an interpreter, by default this one, and return its exit status."""
    process = subprocess.run(
        [python or sys.executable, str(Path(__file__).with_name("worker.py")), str(folder)],
        env={**os.environ, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=raised(SECONDS),
        check=False,
    )
    return process.returncode


def _run(folder: Path, job: dict[str, Any], python: str = "") -> dict[str, Any]:
    (folder / "job.json").write_text(json.dumps(job), "utf-8")
    (folder / "found.json").unlink(missing_ok=True)
    try:
        status = _own_process(folder, python) if python else _own_process(folder)
    except subprocess.TimeoutExpired:
        raise FixError(f"the models did not finish on the CPU within {raised(SECONDS):,} seconds{how_to_raise()}") from None
    result, stage = folder / "found.json", folder / "stage.txt"
    if not result.is_file():
        side, _, action = (stage.read_text("utf-8") if stage.is_file() else "a start").partition(" ")
        raise FixError(f"the runtime crashed when it tried to {action} {_SIDES[side]} on the CPU (status {status})")
    results: dict[str, Any] = json.loads(result.read_text("utf-8"))
    if "error" in results:
        raise FixError(f"the runtime does not run {_SIDES[results['side']]} on the CPU: {results['error']}")
    return results
