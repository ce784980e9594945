"""Measure the differences between the outputs of two models in the runtime on this CPU.

The measures are the mean and largest absolute error of each output, and the latency of both models. The runtime's Inference
Diff tool (``tools/evaluation/tasks/inference_diff``) has the same measures. The models run with the optimized CPU kernels, on
one thread and without XNNPACK. All differences therefore come from the models. The latency is measured with XNNPACK, which the
runtime uses on the CPU by default.
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

from ..bundles.ranged import pieces
from ..errors import FixError, MissingPackageError, NotRunningError
from ..foundation.columns import INTEGER, LIST, NUMBER, OBJECT, YES_OR_NO, Column, Declared, attributes, head
from ..foundation.late_numpy import np
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import install_command
from ..foundation.processes import python_file, run
from ..model.model import Model
from .inputs import InputArray

SECONDS = 1800
_REPETITIONS = 2
"""The largest number of repeated runs of the first model.

The first model is run again only if the outputs of the models differ.
"""
_PACKAGE = "ai_edge_litert"


@dataclass(frozen=True, slots=True)
class TensorDifference(Declared):
    """The difference between the values of one tensor in two models, over all samples.

    Errors are in units of the stored values.
    """

    name: str
    elements: int
    different: int
    """Number of elements whose values differ between the models. 0 and -0 are equal here, and two NaNs are equal."""
    bits: int
    """Number of elements whose bits differ between the models."""
    mean: float
    greatest: float
    range: float
    """The largest absolute value of the tensor in the first model."""
    problem: str
    """The reason why the tensor cannot be compared. Empty if it can be compared."""
    unsteady: int = 0
    """Number of elements that differ from run to run of the first model. Some CPU kernels read uninitialized memory."""
    least: float = 0.0
    """The largest error of the input with the smallest error."""
    median: float = 0.0
    """The median over all inputs of the largest error of an input."""
    is_constant: bool = False
    """True if the first model has the same value for all inputs, or, for a single input, the same value in all elements."""

    @property
    def is_same(self) -> bool:
        """True if all bits are equal."""
        return not self.bits and not self.problem

    @property
    def relative(self) -> float:
        """The largest error, as a fraction of ``range``."""
        return 0.0 if not self.greatest else self.greatest / self.range if self.range else math.inf


LEAST_CHANGE = 0.03
"""A relative difference in latency below this value is ignored."""


@dataclass(frozen=True, slots=True)
class Latency(Declared):
    """The latency of two models on this CPU, with XNNPACK on one thread. Runs of the two models alternate."""

    columns = (
        *(Column("seconds", LIST, source="medians"), Column("runs", INTEGER, source=lambda latency: len(latency.first))),
        Column("ratio", NUMBER, source=lambda latency: latency.ratios[1]),
        Column("ratio_quartiles", LIST, source=lambda latency: latency.ratios[::2]),
        Column("is_changed", YES_OR_NO),
    )

    first: tuple[float, ...]
    """The duration of each run of the first model, in seconds."""
    second: tuple[float, ...]

    @property
    def medians(self) -> tuple[float, float]:
        """Median latency of each model in seconds."""
        return statistics.median(self.first), statistics.median(self.second)

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Quartiles of the second model's latency divided by the first model's latency: lower, median, upper."""
        ratios = [other / one for one, other in zip(self.first, self.second, strict=True) if one > 0]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else (1.0, 1.0, 1.0)
        return low, middle, high

    @property
    def is_changed(self) -> bool:
        """True if the latencies differ by more than their spread."""
        low, middle, high = self.ratios
        return not low <= 1 <= high and abs(middle - 1) >= LEAST_CHANGE


@dataclass(frozen=True, slots=True)
class EdgeDifference(Declared):
    """The differences on inputs with extreme values: zeros of both signs, denormals, the largest values, infinities and NaN."""

    columns = (Column("is_same", YES_OR_NO), Column("outputs", LIST), *attributes("refused", "problem"))

    outputs: tuple[TensorDifference, ...] = ()
    tensors: tuple[TensorDifference, ...] = ()
    refused: str = ""
    """Text about an input on which only one model reports an error. Empty if there is no such input."""
    problem: str = ""
    """The reason why the runs on extreme inputs did not finish. Empty if all runs finished."""

    @property
    def wrong(self) -> TensorDifference | None:
        """The first tensor with bits that differ between the models. None if there is no such tensor."""
        return next((tensor for tensor in (*self.tensors, *self.outputs) if not tensor.is_same and not tensor.unsteady), None)

    @property
    def is_same(self) -> bool:
        """True if both models give the same bits and the same errors on all extreme inputs."""
        return self.wrong is None and not self.refused and not self.problem


@dataclass(frozen=True, slots=True)
class SignatureInputs:
    """Inputs for a signature whose subgraph is not the first subgraph. Arrays are in the order of ``inputs``."""

    key: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    samples: Sequence[Sequence[InputArray]]
    edges: Sequence[Sequence[InputArray]]


@dataclass(frozen=True, slots=True)
class Difference(Declared):
    """The differences between the results of two models."""

    columns = (
        *attributes("is_same", "shows_nothing", type=YES_OR_NO),
        *(Column("samples", INTEGER), Column("latency", OBJECT, parts=Latency.columns)),
        *(Column("outputs", LIST), Column("tensors_compared", INTEGER, source=lambda difference: len(difference.tensors))),
        Column("tensors_that_differ", LIST, source=lambda own: [tensor for tensor in own.tensors if not tensor.is_same]),
        Column("edges", OBJECT, parts=EdgeDifference.columns),
    )

    outputs: tuple[TensorDifference, ...]
    """The differences of outputs: first the outputs of the first subgraph, then the outputs of signatures that were run."""
    tensors: tuple[TensorDifference, ...]
    """The differences of intermediate tensors that both models have."""
    samples: int
    latency: Latency | None = None
    """The latency of the models. None if it was not measured, or if a model does not run with XNNPACK."""
    edges: EdgeDifference | None = None
    """The differences on inputs with extreme values. None if no such inputs were run."""

    @property
    def is_same(self) -> bool:
        """True if all bits are equal in all outputs and in all compared intermediate tensors."""
        return all(output.is_same for output in (*self.outputs, *self.tensors))

    @property
    def shows_nothing(self) -> bool:
        """True if no compared tensor depends on the inputs, so that equal outputs say nothing about other inputs."""
        return all(tensor.is_constant for tensor in (*self.outputs, *self.tensors))

    @property
    def unsteady(self) -> str:
        """The name of an output that differs from run to run of the first model. Empty if there is no such output."""
        return next((output.name for output in self.outputs if output.unsteady), "")

    @property
    def problem(self) -> str:
        """The first reason why an output cannot be compared. Empty if all outputs can be compared."""
        return next((f"{output.name}: {output.problem}" for output in self.outputs if output.problem), "")

    @property
    def relative(self) -> float:
        """The largest relative error of any output. A relative error is a fraction of the output's ``range``."""
        return max([output.relative for output in self.outputs], default=0.0)


def diff_document(first: str, second: str, difference: Difference) -> dict[str, Any]:
    """Return the comparison of two model files as plain data (schema ``delegate-sim/diff/2``)."""
    return {**head("diff"), "a": first, "b": second, **difference.to_dict()}


@dataclass(frozen=True, slots=True)
class Continuation:
    """A model that runs after another model, as its continuation. Together, the two models replace one original model."""

    path: str
    inputs: tuple[tuple[bool, int], ...]
    """The source of each input, as a pair.

    The pair is True and an output index of the first model, or False and an input index of the original model.
    """
    outputs: tuple[tuple[int, int], ...]
    """The source of each original output, as a pair.

    The pair is 0 and an output index of the first model, or 1 and an output index of this model.
    """
    tensors: Mapping[int, int]
    """Indices in this model of tensors that the original model also has, keyed by index in the original model."""


@dataclass(frozen=True, slots=True)
class Facing:
    """The correspondence between the inputs and outputs of two models.

    If two corresponding tensors have unequal types, their values are compared as real numbers. Quantized values are dequantized
    first.
    """

    order: Mapping[str, Sequence[int]]
    """The position in the second model of each input or output of the first model. The keys are ``inputs`` and ``outputs``."""
    in_real_numbers: Mapping[str, Sequence[bool]]
    """Whether the types in the two models differ, for each input or output of the first model.

    The keys are ``inputs`` and ``outputs``.
    """


def is_installed() -> bool:
    """Return whether this Python has the runtime."""
    return importlib.util.find_spec(_PACKAGE) is not None


def check_installed() -> None:
    """Raise MissingPackageError if the runtime is not installed."""
    if not is_installed():
        raise MissingPackageError(f"running models needs the package ai-edge-litert: {install_command('fix')}")


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
    seconds: float | None = None,
) -> Difference:
    """Run two models on the same inputs in a separate process, and compare their results.

    ``tensors`` maps indices of intermediate tensors to names. Both models have these tensors in the first subgraph at the same
    index. ``then`` is a model that continues the second model. ``facing`` is needed if the models' inputs or outputs differ
    from each other in order or type.

    If ``looks_for_unsteady`` is true and results differ, the first model runs again. These runs detect results that vary from
    run to run. ``edges`` are inputs with extreme values, which are reported separately. ``signatures`` are inputs for other
    signatures. ``python`` is another interpreter that has the runtime or TensorFlow. After ``seconds``, no further inputs run;
    two inputs always run. Raise FixError with the runtime's message if a model does not run.
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
            "seconds": seconds,
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
        results["samples"],
        None if latency is None else Latency(tuple(latency["first"]), tuple(latency["second"])),
        _edges(results, names, tensors) if job["edges"] else None,
    )


def _stored(folder: Path, label: str, samples: Sequence[Sequence[InputArray]]) -> list[str]:
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
        return EdgeDifference(problem="the runtime did not finish these runs")
    return EdgeDifference(*_differences(edges, names, tensors), edges["refused"])


def _file(model: Model, path: Path) -> str:
    if model.path is not None and os.path.isfile(model.path):
        return os.path.abspath(model.path)
    with path.open("wb") as file:
        file.writelines(pieces(model.content))
    return str(path)


_SIDES = {"a": "the original model", "b": "the other model", "then": "the model of trailing nodes"}


def _entries(results: dict[str, Any]) -> list[dict[str, Any]]:
    edges = results.get("edges")
    return [*results["outputs"], *results["tensors"].values(), *([] if edges is None else _entries(edges))]


def _note_unsteady(results: dict[str, Any], alike: dict[str, Any]) -> bool:
    """Record how many elements differ from run to run of the first model. Return whether any element differs.

    ``alike`` are the results of comparing the first model with itself.
    """
    for entry, own in zip(_entries(results), _entries(alike), strict=False):  # extreme inputs may not have run
        entry["unsteady"] = own["bits"]
    return any(own["bits"] for own in _entries(alike))


def _own_process(folder: Path, python: str) -> int:
    command = python_file(str(Path(__file__).with_name("worker.py")), str(folder), python=python)
    return run(command, seconds=raised(SECONDS)).returncode


def _run(folder: Path, job: dict[str, Any], python: str) -> dict[str, Any]:
    (folder / "job.json").write_text(json.dumps(job), "utf-8")
    (folder / "found.json").unlink(missing_ok=True)
    try:
        status = _own_process(folder, python)
    except subprocess.TimeoutExpired:
        raise FixError(f"the models did not finish on the CPU within {raised(SECONDS):,} seconds{how_to_raise()}") from None
    except OSError as error:
        raise FixError(f"cannot start the interpreter {python or sys.executable}: {error.strerror}") from None
    result, stage = folder / "found.json", folder / "stage.txt"
    if not result.is_file():
        side, _, action = (stage.read_text("utf-8") if stage.is_file() else "a start").partition(" ")
        raise FixError(f"the runtime crashed when it tried to {action} {_SIDES[side]} on the CPU (status {status})")
    results: dict[str, Any] = json.loads(result.read_text("utf-8"))
    if "error" in results:
        raise NotRunningError(f"{_SIDES[results['side']]} does not run on the CPU; the runtime reports: {results['error']}")
    return results
