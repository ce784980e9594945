"""Run two models in a separate process: ``python worker.py JOB``. JOB is a folder.

The script imports nothing from this package. It reads ``job.json`` in the folder and runs both models on the same inputs. It
writes the comparison of each tensor to ``found.json``. If the runtime crashes, ``stage.txt`` names the step in which it
crashed.

Inputs with extreme values run after ordinary inputs, and the latency is measured last. If the runtime crashes or hangs in one
of these later steps, ``found.json`` still has the results of the ordinary inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

_THREADS = 1
_MOST_ROUNDS, _FEWEST_ROUNDS = 41, 5
"""The largest and the smallest number of timed runs of each model."""
_TIMED_SECONDS = 1.5
"""After this time in seconds, timing ends if each model has the smallest number of runs."""
_FEWEST_SAMPLES = 2
"""Number of inputs that run whatever the time limit."""
_PIECE = 1 << 20
"""Number of elements to compare in one step, to save memory."""
_EXTREME_SECONDS = 60.0
"""The time limit for extreme inputs, in seconds. With NaN as input, a loop may never end."""


def main(folder: Path) -> None:
    """Run the job in a folder."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    np.seterr(all="ignore")
    try:
        results = _compare(job, folder, job["samples"], "samples")
    except _Stopped as stopped:
        _write(folder, {"error": str(stopped), "side": stopped.side})
        return
    _write(folder, results)
    if job["edges"] or any(signature["edges"] for signature in job["signatures"]):
        watchdog = threading.Timer(_EXTREME_SECONDS, os._exit, (1,))
        watchdog.daemon = True
        watchdog.start()
        results["edges"] = _compare(job, folder, job["edges"], "edges")
        watchdog.cancel()
        _write(folder, results)
    if job["is_timed"]:
        results["latency"] = _latency(job, folder)
        _write(folder, results)


def _write(folder: Path, results: dict[str, Any]) -> None:
    part = folder / "found.part"
    part.write_text(json.dumps(results), "utf-8")
    os.replace(part, folder / "found.json")


class _Stopped(Exception):
    def __init__(self, side: str, message: str) -> None:
        super().__init__(message)
        self.side = side


class _ModelSide:
    def __init__(self, name: str, path: str, folder: Path, *, keeps_tensors: bool = False, has_xnnpack: bool = False) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:  # TensorFlow includes the runtime
            from tensorflow.lite.python.interpreter import Interpreter, OpResolverType

        self.name = name
        self._folder = folder
        self._interpreter = self._do(
            "load",
            lambda: Interpreter(
                model_path=path,
                num_threads=_THREADS,
                experimental_preserve_all_tensors=keeps_tensors,
                experimental_op_resolver_type=(
                    OpResolverType.BUILTIN if has_xnnpack else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
                ),
            ),
        )
        self._is_allocated = False
        details = self._interpreter.get_input_details(), self._interpreter.get_output_details()
        self.inputs, self.outputs = [[detail["index"] for detail in own] for own in details]
        self.stored_inputs, self.stored_outputs = [[_Stored(detail) for detail in own] for own in details]

    def _do(self, stage: str, action: Any) -> Any:
        (self._folder / "stage.txt").write_text(f"{self.name} {stage}", "utf-8")
        try:
            return action()
        except (RuntimeError, ValueError, TypeError, MemoryError) as error:
            raise _Stopped(self.name, " ".join(str(error).split())) from error

    def run(self, inputs: list[Any]) -> float:
        interpreter = self._interpreter
        shapes = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_input_details()}
        resized = False
        for index, array in zip(self.inputs, inputs, strict=True):
            if shapes[index] != array.shape:
                resized = True
                self._do("resize", lambda index=index, array=array: interpreter.resize_tensor_input(index, array.shape))
        if resized or not self._is_allocated:
            self._do("allocate", interpreter.allocate_tensors)
            self._is_allocated = True
        interpreter.reset_all_variables()
        for index, array in zip(self.inputs, inputs, strict=True):
            self._do("set inputs of", lambda index=index, array=array: interpreter.set_tensor(index, array))
        return float(self._do("run", lambda: _timed(interpreter.invoke)))

    def run_signature(self, key: str, inputs: dict[str, Any]) -> dict[str, Any]:
        runner = self._do("load", lambda: self._interpreter.get_signature_runner(key))
        outputs: dict[str, Any] = self._do("run", lambda: runner(**inputs))
        return outputs

    def output(self, number: int) -> Any:
        return self.tensor(self.outputs[number])

    def tensor(self, index: int) -> Any:
        try:
            return np.asarray(self._interpreter.get_tensor(index))
        except (ValueError, RuntimeError):
            return None


def _timed(action: Any) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


class _Stored:
    def __init__(self, details: dict[str, Any]) -> None:
        self.scale, self.zero_point = details["quantization"]
        self.kind = details["dtype"]

    def real(self, values: Any) -> Any:
        numbers = values.astype(np.float64)
        return (numbers - self.zero_point) * self.scale if self.scale else numbers

    def stored(self, numbers: Any) -> Any:
        if not self.scale:
            return numbers.astype(self.kind)
        limits = np.iinfo(self.kind)
        return np.clip(np.rint(numbers / self.scale) + self.zero_point, limits.min, limits.max).astype(self.kind)


class _Facing:
    """Makes the second model look like the first model.

    ``run`` takes inputs in the order and types of the first model. ``output`` returns outputs in the order of the first model.
    If the type of an output differs between the two models, ``output`` returns real numbers.
    """

    def __init__(self, first: _ModelSide, second: _ModelSide, facing: dict[str, Any]) -> None:
        self._first, self._second = first, second
        self._order, self._is_real = facing["order"], facing["in_real_numbers"]
        self.inputs = [second.inputs[place] for place in self._order["inputs"]]
        self.outputs = [second.outputs[place] for place in self._order["outputs"]]

    def run(self, inputs: list[Any]) -> float:
        own = list(inputs)
        for number, place in enumerate(self._order["inputs"]):
            values = inputs[number]
            if self._is_real["inputs"][number]:
                values = self._second.stored_inputs[place].stored(self._first.stored_inputs[number].real(values))
            own[place] = values
        return self._second.run(own)

    def output(self, number: int) -> Any:
        place = self._order["outputs"][number]
        value = self._second.output(place)
        return self._second.stored_outputs[place].real(value) if self._is_real["outputs"][number] and value is not None else value

    def first_output(self, number: int) -> Any:
        value = self._first.output(number)
        return self._first.stored_outputs[number].real(value) if self._is_real["outputs"][number] and value is not None else value

    def tensor(self, index: int) -> Any:
        return self._second.tensor(index)


class _ModelChain:
    def __init__(self, first: _ModelSide, second: _ModelSide, wiring: dict[str, Any]) -> None:
        self._parts = first, second
        self._wiring = wiring
        self.inputs = first.inputs
        self.outputs = wiring["outputs"]

    def run(self, inputs: list[Any]) -> float:
        first, second = self._parts
        seconds = first.run(inputs)
        own = [first.output(number) if between else inputs[number] for between, number in self._wiring["inputs"]]
        return seconds + second.run(own)

    def output(self, number: int) -> Any:
        part, place = self.outputs[number]
        return self._parts[part].output(place)

    def tensor(self, index: int) -> Any:
        place = self._wiring["tensors"].get(str(index))
        return self._parts[0].tensor(index) if place is None else self._parts[1].tensor(place)


_OtherSide = _ModelSide | _ModelChain | _Facing


def _sides(job: dict[str, Any], folder: Path, **options: bool) -> tuple[_ModelSide, _OtherSide]:
    first, other = (_ModelSide(name, job[name], folder, **options) for name in ("a", "b"))
    if job["then"] is not None:
        return first, _ModelChain(other, _ModelSide("then", job["then"]["path"], folder, **options), job["then"])
    return first, other if job["facing"] is None else _Facing(first, other, job["facing"])


def _compare(job: dict[str, Any], folder: Path, files: Sequence[str], kind: str) -> dict[str, Any]:
    first, second = _sides(job, folder, keeps_tensors=bool(job["tensors"]))
    if (len(first.inputs), len(first.outputs)) != (len(second.inputs), len(second.outputs)):
        raise _Stopped("b", "the models have different numbers of inputs or outputs")
    outputs = [ErrorTally() for _ in first.outputs]
    tensors = {index: ErrorTally() for index in job["tensors"]}
    refused = ""
    begin, done = time.perf_counter(), 0
    for arrays in _samples(files, folder):
        is_late = job["seconds"] is not None and time.perf_counter() - begin > job["seconds"]
        if kind == "samples" and done >= _FEWEST_SAMPLES and is_late:
            break
        done += 1
        inputs = [arrays[f"input_{number}"] for number in range(len(first.inputs))]
        results, fault = _results([partial(side.run, inputs) for side in (first, second)], kind)
        refused = refused or fault
        if results is None:
            del first, second  # frees their memory before the models are loaded again
            first, second = _sides(job, folder, keeps_tensors=bool(job["tensors"]))
            continue
        for number, tally in enumerate(outputs):
            own = second.first_output(number) if isinstance(second, _Facing) else first.output(number)
            tally.add(own, second.output(number))
        for index, tally in tensors.items():
            tally.add(first.tensor(index), second.tensor(index))
    for signature in job["signatures"]:
        tallies, fault = _compare_signature(signature, folder, first, second, kind)
        outputs += tallies
        refused = refused or fault
    return {
        "outputs": [tally.found() for tally in outputs],
        "tensors": {index: tally.found() for index, tally in tensors.items()},
        "refused": refused,
        "samples": done,
    }


def _results(runs: Sequence[Callable[[], Any]], kind: str) -> tuple[list[Any] | None, str]:
    """Run both models. Return the results, and an empty string.

    If a model reports an error on extreme inputs, return None and a message. The message is empty if both models report errors.
    """
    if kind != "edges":
        return [run() for run in runs], ""
    results, errors = [], []
    for run in runs:
        try:
            results.append(run())
            errors.append("")
        except _Stopped as stopped:
            errors.append(str(stopped))
    if not any(errors):
        return results, ""
    if all(errors):
        return None, ""
    return None, f"only the {'first' if errors[0] else 'second'} model reports an error ({errors[0] or errors[1]})"


def _compare_signature(
    signature: dict[str, Any], folder: Path, first: _ModelSide, second: _OtherSide, kind: str
) -> tuple[list[ErrorTally], str]:
    """Run one signature of both models. Return the differences of its outputs in the order of ``outputs``, and a message.

    The message is about an extreme input on which only one model reports an error. The message is empty if there is no such
    input.
    """
    tallies = [ErrorTally() for _ in signature["outputs"]]
    refused = ""
    if not isinstance(second, _ModelSide):
        raise _Stopped("b", "other signatures cannot be compared for this pair of models")
    for arrays in _samples(signature[kind], folder):
        inputs = {name: arrays[f"input_{number}"] for number, name in enumerate(signature["inputs"])}
        results, fault = _results([partial(side.run_signature, signature["key"], inputs) for side in (first, second)], kind)
        refused = refused or fault
        if results is None:
            continue
        for name, tally in zip(signature["outputs"], tallies, strict=True):
            tally.add(*[np.asarray(result[name]) for result in results])
    return tallies, refused


def _samples(files: Sequence[str], folder: Path) -> Iterator[dict[str, Any]]:
    for sample in files:
        with np.load(folder / sample) as archive:
            yield dict(archive)


def _latency(job: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """Time runs of both models with XNNPACK. Return the seconds of each run, or None if a model does not run with XNNPACK.

    Runs of the two models alternate.
    """
    try:
        sides = _sides(job, folder, has_xnnpack=True)
        arrays = next(_samples(job["samples"], folder))
        inputs = [arrays[f"input_{number}"] for number in range(len(sides[0].inputs))]
        seconds: tuple[list[float], list[float]] = [], []
        for side in sides:
            side.run(inputs)  # the first run is slower
        begin = time.perf_counter()
        for number in range(_MOST_ROUNDS):
            if number >= _FEWEST_ROUNDS and time.perf_counter() - begin > _TIMED_SECONDS:
                break
            order = (0, 1) if number % 2 else (1, 0)
            for place in order:
                seconds[place].append(sides[place].run(inputs))
    except _Stopped:
        return None
    return {"first": seconds[0], "second": seconds[1]}


class ErrorTally:
    """Statistics on the differences of one tensor, collected over all samples."""

    def __init__(self) -> None:
        self.elements = self.different = self.bits = 0
        self.sum = self.greatest = self.range = 0.0
        self.each: list[float] = []
        self.problem = ""
        self._samples = 0
        self._values: set[bytes] = set()
        self._is_flat = False

    def add(self, one: Any, other: Any) -> None:
        """Add the differences between two values of the tensor."""
        if one is None or other is None:
            self.problem = "" if one is None and other is None else "only one of the models has a value"
            return
        if one.shape != other.shape or one.dtype != other.dtype:
            self.problem = f"{one.dtype} {list(one.shape)} in one model, but {other.dtype} {list(other.shape)} in the other"
            return
        if not one.size:
            return
        self._note_value(one)
        self.elements += one.size
        if one.dtype.kind in "SUO":
            self.different += int((one != other).sum())
            self.bits = self.different
            return
        flat = [np.ascontiguousarray(value).reshape(-1) for value in (one, other)]
        before, self.greatest = self.greatest, 0.0
        for start in range(0, len(flat[0]), _PIECE):
            self._add_numbers(*[values[start : start + _PIECE] for values in flat])
        self.each.append(self.greatest)
        self.greatest = max(self.greatest, before)

    def _note_value(self, value: Any) -> None:
        """Count the samples and their different values. Only digests are kept, for a value can be large."""
        self._samples += 1
        if len(self._values) < 2:
            is_object = value.dtype.kind == "O"
            plain = value + 0 if value.dtype.kind in "fc" else value  # makes zeros of both signs equal
            content = repr(value.tolist()).encode() if is_object else np.ascontiguousarray(plain).tobytes()
            self._values.add(hashlib.sha256(content).digest())
            self._is_flat = value.size > 1 and bool((value == value.flat[0]).all())

    def _add_numbers(self, one: Any, other: Any) -> None:
        wide = np.complex128 if one.dtype.kind == "c" else np.float64
        first = one.astype(wide)
        finite = np.abs(first[np.isfinite(first)])
        self.range = max(self.range, float(finite.max(initial=0.0)))
        bytes_of = [value.view(np.uint8).reshape(one.size, -1) for value in (one, other)]
        if np.array_equal(*bytes_of):
            return
        self.bits += int((bytes_of[0] != bytes_of[1]).any(axis=-1).sum())
        second = other.astype(wide)
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        self.different += int((~same).sum())
        error = np.where(same, 0.0, np.abs(first - second))
        if not np.isfinite(error).all():
            self.problem = "a value is finite in only one of the models"
            error = np.where(np.isfinite(error), error, 0.0)
        self.sum += float(error.sum())
        self.greatest = max(self.greatest, float(error.max(initial=0.0)))

    def found(self) -> dict[str, Any]:
        """Return the statistics."""
        return {
            "elements": self.elements,
            "different": self.different,
            "bits": self.bits,
            "mean": self.sum / self.elements if self.elements else 0.0,
            "greatest": self.greatest,
            "least": min(self.each, default=0.0),
            "median": float(np.median(self.each)) if self.each else 0.0,
            "range": self.range,
            "problem": self.problem,
            "is_constant": len(self._values) == 1 and (self._samples > 1 or self._is_flat),
        }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # skip the runtime's clean-up, which may crash
