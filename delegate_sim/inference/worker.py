"""Run two models in a separate process: ``python worker.py JOB``, where JOB is a folder.

The script imports nothing from this package. It reads ``job.json`` in the folder, runs both models on the same inputs, and writes
the comparison of each tensor to ``found.json``. ``stage.txt`` holds the current step, so that the step is known after a crash.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_THREADS = 1


def main(folder: Path) -> None:
    """Run the job in a folder."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    results: dict[str, Any] = {}
    np.seterr(all="ignore")
    try:
        results = _compare(job, folder)
    except _Stopped as stopped:
        results = {"error": str(stopped), "side": stopped.side}
    (folder / "found.json").write_text(json.dumps(results), "utf-8")


class _Stopped(Exception):
    def __init__(self, side: str, message: str) -> None:
        super().__init__(message)
        self.side = side


class _ModelSide:
    """One of the two models, loaded in the runtime."""

    def __init__(self, name: str, path: str, keeps_tensors: bool, folder: Path) -> None:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        self.name = name
        self._folder = folder
        self.seconds: list[float] = []
        self._interpreter = self._do(
            "load",
            lambda: Interpreter(
                model_path=path,
                num_threads=_THREADS,
                experimental_preserve_all_tensors=keeps_tensors,
                experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            ),
        )
        details = self._interpreter.get_input_details(), self._interpreter.get_output_details()
        self.inputs, self.outputs = [[detail["index"] for detail in own] for own in details]
        self.stored_inputs, self.stored_outputs = [[_Stored(detail) for detail in own] for own in details]

    def _do(self, stage: str, action: Any) -> Any:
        (self._folder / "stage.txt").write_text(f"{self.name} {stage}", "utf-8")
        try:
            return action()
        except (RuntimeError, ValueError, TypeError, MemoryError) as error:
            raise _Stopped(self.name, " ".join(str(error).split())) from error

    def run(self, inputs: list[Any], repeats: int) -> None:
        """Run the model on some inputs once, and then ``repeats`` times more.

        If ``repeats`` is not 0, only the repeated runs are timed.
        """
        interpreter = self._interpreter
        shapes = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_input_details()}
        for index, array in zip(self.inputs, inputs, strict=True):
            if shapes[index] != array.shape:
                self._do("resize", lambda index=index, array=array: interpreter.resize_tensor_input(index, array.shape))
        self._do("allocate", interpreter.allocate_tensors)
        for number in range(repeats + 1):  # bounded: callers pass constants
            interpreter.reset_all_variables()
            for index, array in zip(self.inputs, inputs, strict=True):
                self._do("set inputs of", lambda index=index, array=array: interpreter.set_tensor(index, array))
            begin = time.perf_counter()
            self._do("run", interpreter.invoke)
            if number or not repeats:
                self.seconds.append(time.perf_counter() - begin)

    def output(self, number: int) -> Any:
        """Return the value of an output; None if the runtime has no value for it."""
        return self.tensor(self.outputs[number])

    def tensor(self, index: int) -> Any:
        """Return the value of a tensor; None if the runtime has no value for it."""
        try:
            return np.asarray(self._interpreter.get_tensor(index))
        except (ValueError, RuntimeError):
            return None


class _Stored:
    """Scale and zero point of a tensor; a scale of 0 means that the tensor is not quantized."""

    def __init__(self, details: dict[str, Any]) -> None:
        self.scale, self.zero_point = details["quantization"]
        self.kind = details["dtype"]

    def real(self, values: Any) -> Any:
        """Return the real numbers that stored values represent."""
        numbers = values.astype(np.float64)
        return (numbers - self.zero_point) * self.scale if self.scale else numbers

    def stored(self, numbers: Any) -> Any:
        """Return the stored values that are nearest to the real numbers ``numbers``."""
        if not self.scale:
            return numbers.astype(self.kind)
        limits = np.iinfo(self.kind)
        return np.clip(np.rint(numbers / self.scale) + self.zero_point, limits.min, limits.max).astype(self.kind)


class _Facing:
    """Runs the second model with the first model's order and types of inputs, and returns outputs in the first model's order.

    Outputs whose types differ between the models are returned as real numbers.
    """

    def __init__(self, first: _ModelSide, second: _ModelSide, facing: dict[str, Any]) -> None:
        self._first, self._second = first, second
        self._order, self._is_real = facing["order"], facing["in_real_numbers"]
        self.inputs = [second.inputs[place] for place in self._order["inputs"]]
        self.outputs = [second.outputs[place] for place in self._order["outputs"]]

    @property
    def seconds(self) -> list[float]:
        """Duration of each run."""
        return self._second.seconds

    def run(self, inputs: list[Any], repeats: int) -> None:
        """Run the second model on the inputs of the first model."""
        own = list(inputs)
        for number, place in enumerate(self._order["inputs"]):
            values = inputs[number]
            if self._is_real["inputs"][number]:
                values = self._second.stored_inputs[place].stored(self._first.stored_inputs[number].real(values))
            own[place] = values
        self._second.run(own, repeats)

    def output(self, number: int) -> Any:
        """Return the value of the second model's output that corresponds to an output of the first model."""
        place = self._order["outputs"][number]
        value = self._second.output(place)
        return self._second.stored_outputs[place].real(value) if self._is_real["outputs"][number] and value is not None else value

    def first_output(self, number: int) -> Any:
        """Return the value of the first model's output, in the form that ``output`` returns."""
        value = self._first.output(number)
        return self._first.stored_outputs[number].real(value) if self._is_real["outputs"][number] and value is not None else value

    def tensor(self, index: int) -> Any:
        """Return the value of a tensor; None if the runtime has no value for it."""
        return self._second.tensor(index)


class _ModelChain:
    """Two models that replace one original model. The second reads inputs of the original and outputs of the first."""

    def __init__(self, first: _ModelSide, second: _ModelSide, wiring: dict[str, Any]) -> None:
        self._parts = first, second
        self._wiring = wiring
        self.inputs = first.inputs
        self.outputs = wiring["outputs"]

    @property
    def seconds(self) -> list[float]:
        """Duration of each run of both models together."""
        return [one + other for one, other in zip(*[part.seconds for part in self._parts], strict=True)]

    def run(self, inputs: list[Any], repeats: int) -> None:
        """Run both models on the inputs of the original model."""
        first, second = self._parts
        first.run(inputs, repeats)
        second.run([first.output(number) if between else inputs[number] for between, number in self._wiring["inputs"]], repeats)

    def output(self, number: int) -> Any:
        """Return the value of an output of the original model."""
        part, place = self.outputs[number]
        return self._parts[part].output(place)

    def tensor(self, index: int) -> Any:
        """Return the value of a tensor of the original model."""
        place = self._wiring["tensors"].get(str(index))
        return self._parts[0].tensor(index) if place is None else self._parts[1].tensor(place)


def _compare(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    keeps = bool(job["tensors"])
    first = _ModelSide("a", job["a"], keeps, folder)
    other = _ModelSide("b", job["b"], keeps, folder)
    second: _ModelSide | _ModelChain | _Facing = other
    if job["then"] is not None:
        second = _ModelChain(other, _ModelSide("then", job["then"]["path"], keeps, folder), job["then"])
    elif job["facing"] is not None:
        second = _Facing(first, other, job["facing"])
    if (len(first.inputs), len(first.outputs)) != (len(second.inputs), len(second.outputs)):
        raise _Stopped("b", "the models have different numbers of inputs or outputs")
    outputs = [_Tally() for _ in first.outputs]
    tensors = {index: _Tally() for index in job["tensors"]}
    for inputs in _samples(job, folder, first):
        first.run(inputs, job["repeats"])
        second.run(inputs, job["repeats"])
        for number, tally in enumerate(outputs):
            own = second.first_output(number) if isinstance(second, _Facing) else first.output(number)
            tally.add(own, second.output(number))
        for index, tally in tensors.items():
            tally.add(first.tensor(index), second.tensor(index))
    return {
        "outputs": [tally.found() for tally in outputs],
        "tensors": {index: tally.found() for index, tally in tensors.items()},
        "seconds": [sorted(side.seconds)[len(side.seconds) // 2] for side in (first, second)],
    }


def _samples(job: dict[str, Any], folder: Path, side: _ModelSide) -> Iterator[list[Any]]:
    for sample in job["samples"]:
        with np.load(folder / sample) as archive:
            yield [archive[f"input_{number}"] for number in range(len(side.inputs))]


class _Tally:
    """Statistics on the differences of one tensor, collected over all samples."""

    def __init__(self) -> None:
        self.elements = self.different = self.bits = 0
        self.sum = self.greatest = self.range = 0.0
        self.problem = ""

    def add(self, one: Any, other: Any) -> None:
        """Add the differences between two values of the tensor."""
        if one is None or other is None:
            self.problem = "" if one is None and other is None else "only one of the models has a value"
            return
        if one.shape != other.shape or one.dtype != other.dtype:
            self.problem = f"{one.dtype} {list(one.shape)} against {other.dtype} {list(other.shape)}"
            return
        if not one.size:
            return
        self.elements += one.size
        if one.dtype.kind in "SUO":
            self.different += int((one != other).sum())
            self.bits = self.different
            return
        bytes_of = [np.ascontiguousarray(value).view(np.uint8).reshape(one.size, -1) for value in (one, other)]
        self.bits += int((bytes_of[0] != bytes_of[1]).any(axis=-1).sum())
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        one, other = one.astype(wide), other.astype(wide)
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        self.different += int((~same).sum())
        error = np.where(same, 0.0, np.abs(one - other))
        if not np.isfinite(error).all():
            self.problem = "a value is finite in only one of the models"
            error = np.where(np.isfinite(error), error, 0.0)
        finite = np.abs(one[np.isfinite(one)])
        self.sum += float(error.sum())
        self.greatest = max(self.greatest, float(error.max(initial=0.0)))
        self.range = max(self.range, float(finite.max(initial=0.0)))

    def found(self) -> dict[str, Any]:
        """Return the statistics."""
        return {
            "elements": self.elements,
            "different": self.different,
            "bits": self.bits,
            "mean": self.sum / self.elements if self.elements else 0.0,
            "greatest": self.greatest,
            "range": self.range,
            "problem": self.problem,
        }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # skip the runtime's clean-up, which may crash after the results are written
