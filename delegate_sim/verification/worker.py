"""Run one model in a separate process: ``python worker.py JOB``. JOB is a folder.

The script imports nothing from this package. It reads ``job.json`` in the folder, runs the model on each sample, and writes the
results of each sample to a file. Then it writes ``found.json``. If the runtime crashes, ``stage.txt`` names the step in which it
crashed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

_THREADS = 1
_RESOLVERS = {"reference": "BUILTIN_REF", "cpu": "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "default": "BUILTIN"}
"""The resolver of the interpreter for each kind of kernels."""
_ERRORS = (RuntimeError, ValueError, TypeError, KeyError, AttributeError, ImportError, MemoryError)


def main(folder: Path) -> None:
    """Run the job in a folder."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    np.seterr(all="ignore")
    report: dict[str, Any] = {"error": "", "software": _software()}
    try:
        _set_stage(folder, "start")
        kind = _Interpreted if job["kernels"] in _RESOLVERS else _Compiled
        model = kind(job, folder)
        for number, sample in enumerate(job["samples"]):
            with np.load(folder / sample) as archive:
                inputs = [archive[f"input_{place}"] for place in range(len(job["inputs"]))]
            results = {f"output_{place}": value for place, value in enumerate(model.run(inputs))}
            np.savez(folder / f"result_{number}.npz", allow_pickle=False, **results, **dict(model.kept()))
    except _ERRORS as error:
        report["error"] = " ".join(str(error).split()) or type(error).__name__
    (folder / "found.json").write_text(json.dumps(report), "utf-8")


def _software() -> str:

    for name in ("ai-edge-litert", "ai-edge-litert-nightly"):
        try:
            return f"litert-{metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return ""


def _set_stage(folder: Path, stage: str) -> None:
    (folder / "stage.txt").write_text(stage, "utf-8")


class _Interpreted:
    def __init__(self, job: Mapping[str, Any], folder: Path) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter, OpResolverType
        except ImportError:  # TensorFlow includes the runtime
            from tensorflow.lite.python.interpreter import Interpreter, OpResolverType

        self._job, self._folder = job, folder
        _set_stage(folder, "load")
        self._interpreter = Interpreter(
            model_path=job["model"],
            num_threads=_THREADS,
            experimental_preserve_all_tensors=bool(job["kept"]),
            experimental_op_resolver_type=getattr(OpResolverType, _RESOLVERS[job["kernels"]]),
        )

    def run(self, inputs: list[Any]) -> list[Any]:
        if self._job["key"]:
            runner = self._interpreter.get_signature_runner(self._job["key"])
            _set_stage(self._folder, "run")
            results = runner(**dict(zip(self._job["inputs"], inputs, strict=True)))
            return [np.asarray(results[name]) for name in self._job["outputs"]]
        interpreter = self._interpreter
        details = interpreter.get_input_details()
        for detail, array in zip(details, inputs, strict=True):
            if tuple(detail["shape"]) != array.shape:
                interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        interpreter.reset_all_variables()
        for detail, array in zip(details, inputs, strict=True):
            interpreter.set_tensor(detail["index"], array)
        _set_stage(self._folder, "run")
        interpreter.invoke()
        return [np.asarray(interpreter.get_tensor(detail["index"])) for detail in interpreter.get_output_details()]

    def kept(self) -> Iterator[tuple[str, Any]]:
        for index in self._job["kept"]:
            try:
                yield f"tensor_{index}", np.asarray(self._interpreter.get_tensor(index, self._job["subgraph"]))
            except (ValueError, RuntimeError):
                continue


class _Compiled:
    def __init__(self, job: Mapping[str, Any], folder: Path) -> None:
        from ai_edge_litert.compiled_model import CompiledModel
        from ai_edge_litert.gpu_options import GpuOptions
        from ai_edge_litert.hardware_accelerator import HardwareAccelerator
        from ai_edge_litert.options import Options

        accelerators, precision = job["arguments"]
        requested = HardwareAccelerator.GPU
        if "cpu" in accelerators.split(","):
            requested |= HardwareAccelerator.CPU
        options = Options(hardware_accelerators=requested, gpu_options=GpuOptions(enforce_f32=precision == "fp32"))
        self._job, self._folder = job, folder
        _set_stage(folder, "load")
        self._model = CompiledModel.from_file(job["model"], options=options)

    def run(self, inputs: list[Any]) -> list[Any]:
        model = self._model
        signature = model.get_signature_index(self._job["key"]) if self._job["key"] else 0
        sources, targets = model.create_input_buffers(signature), model.create_output_buffers(signature)
        for place, array in zip(self._places("inputs"), inputs, strict=True):
            sources[place].write(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # some types have no buffers in Python
        _set_stage(self._folder, "run")
        model.run_by_index(signature, sources, targets)
        return [
            targets[place].read(size, np.uint8).view(np.dtype(kind)).reshape(shape)
            for place, (kind, shape, size) in zip(self._places("outputs"), self._job["expected"], strict=True)
        ]

    def _places(self, side: str) -> list[int]:
        """Return the position of each input or output among the runtime's buffers.

        If a tensor is listed twice, the runtime gives both the same name. The positions in the subgraph then count.
        """
        names, listed = self._job[side], []
        if self._job["key"]:
            listed = self._model.get_signature_list()[self._job["key"]][side]
        is_by_name = sorted(listed) == sorted(names) and len(set(names)) == len(names)
        return [listed.index(name) for name in names] if is_by_name else list(self._job["places"][side])

    def kept(self) -> Iterator[tuple[str, Any]]:
        return iter(())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # skip the runtime's clean-up, which may crash
