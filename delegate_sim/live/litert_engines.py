"""Engines for the default delegate of LiteRT's Python interpreter, and for an accelerator of LiteRT's ``CompiledModel``.

For the GPU accelerator, the Vulkan loader searches for drivers in system folders. If the system lacks a loader or a driver, use
the loader and the SwiftShader driver of an installed Chromium.
"""

from __future__ import annotations

import ctypes.util
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..delegates.base import Delegate
from ..delegates.options import OptionValues, parse_options
from ..delegates.registry import ACCELERATORS, FALLBACK_OPTION
from ..delegates.traits import AcceleratorTraits
from ..errors import OptionError
from ..foundation import packages
from ..foundation.processes import python_file
from ..graph.graph import file_graphs
from ..model.model import Model
from ..results.report.accelerator_stack import Stack, parse_accelerators, simulate_stack
from ..results.report.measures import measure
from ..runtime.delegate_application import VALIDATION_PREFIX
from ..runtime.interpreter import Run
from .engine import BuiltPartition, Engine, LiveDecision, LiveNode, LivePartition, SecondStage, run_limited, run_module

_MODULE = "delegate_sim.live.execution_plans"
_FAILED_KERNEL = re.compile(r"Node number (\d{1,9}) \(TfLite\w{1,100}Delegate\w{0,100}\) failed")
"""Matches the runtime's message about a delegate kernel. Kernels have the numbers after those of the nodes."""


class RuntimeEngine(Engine):
    """An engine that loads a model in the interpreter, allocates tensors, and reads the execution plans."""

    def __init__(self, delegate: Delegate) -> None:
        is_there = packages.package_folder(packages.RUNTIME) is not None
        super().__init__(delegate, "" if is_there else "ai-edge-litert: pip install ai-edge-litert")

    @property
    def software(self) -> str:
        """The release of the interpreter."""
        return packages.runtime_release()

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Run the interpreter in a separate process."""
        if options != parse_options(self.delegate.name, self.delegate.options, {}):
            raise OptionError(
                f"{self.delegate.name} can run only with its default options, because the interpreter applies it without options"
            )
        with tempfile.TemporaryDirectory() as folder:
            source, result = Path(folder, "model.tflite"), Path(folder, "plans.json")
            source.write_bytes(bytes(model.content))
            finished = run_module(_MODULE, [str(source), str(result), *(["run"] if to_end else [])], os.environ, folder)
            if not result.is_file() or (finished.words and not to_end):
                return LiveDecision(True, finished.words or "it wrote nothing")
            output = json.loads(result.read_text(encoding="utf-8"))
        if output["error"]:
            return LiveDecision(True, f"it failed: {output['error']}")
        partitions = self._partitions(model, output["plans"])
        second_stage = _second_stage(model, partitions, output, finished.words) if to_end and partitions else None
        return LiveDecision(False, partitions=partitions, second_stage=second_stage)

    def _partitions(self, model: Model, plans: list[list[list[int] | int]]) -> tuple[LivePartition, ...]:
        return tuple(
            [
                tuple([_node(model, subgraph, node) for node in step])
                for subgraph, plan in zip(
                    [graph.index for graph in model.subgraphs if not graph.name.startswith(VALIDATION_PREFIX)],
                    plans,
                    strict=False,
                )
                for step in plan
                if isinstance(step, list)
            ]
        )

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the simulated partitions."""
        if not (run.is_loaded and run.is_prepared) or _fails_later(run):
            return LiveDecision(True, "" if run.refusal is None else f"it fails: {run.refusal.text}")
        partitions = [
            tuple([_node(model, subgraph.graph.index, node) for node in subset.nodes])
            for subgraph in run.subgraphs
            for subset in subgraph.subsets
            if subset.is_delegated
        ]
        return LiveDecision(False, partitions=tuple(partitions))


def _second_stage(model: Model, partitions: tuple[LivePartition, ...], output: Mapping[str, Any], end: str) -> SecondStage:
    """Return the result of a run. Before the run, the runtime has built the kernels of all partitions."""
    failure = output.get("run_error") or end
    kernel = _FAILED_KERNEL.search(failure)
    at_fault = int(kernel[1]) - len(model.subgraphs[0].nodes) if kernel else -1
    built = [
        BuiltPartition(len(partition), True, message=failure if number == at_fault else "")
        for number, partition in enumerate(partitions)
    ]
    return SecondStage(
        True, tuple(built), seconds=output.get("built"), run_seconds=output.get("ran"), run_failure=failure.strip()
    )


def _fails_later(run: Run) -> bool:
    refusal = run.refusal
    return run.outcome == "delegated" and refusal is not None and not (refusal.is_predicted or refusal.is_at_invoke)


def _node(model: Model, subgraph: int, node: int) -> LiveNode:
    return LiveNode(file_graphs(model)[subgraph].nodes[node].op, (subgraph, node))


INSTALL = "a Vulkan driver: apt install chromium-common, which includes SwiftShader"
_NAMED_BY = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
_DRIVER_FOLDERS = ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d")
_BROWSER_FOLDERS = (
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/opt/google/chrome",
    "/opt/chromium.org/chromium",
)
_LOADER, _SWIFTSHADER = "libvulkan.so.1", "vk_swiftshader_icd.json"


def driver_environment() -> Mapping[str, str] | None:
    """Return the environment variables that a process needs to find a Vulkan driver, or None if there is no driver."""
    has_loader = ctypes.util.find_library("vulkan") is not None
    if has_loader and (
        any(os.environ.get(name) for name in _NAMED_BY) or any(any(Path(folder).glob("*.json")) for folder in _DRIVER_FOLDERS)
    ):
        return {}
    for folder in map(Path, _BROWSER_FOLDERS):
        if (folder / _LOADER).is_file() and (folder / _SWIFTSHADER).is_file():
            return {"LD_LIBRARY_PATH": str(folder), "VK_ICD_FILENAMES": str(folder / _SWIFTSHADER)}
    return None


def with_driver(driver: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of this process with the variables of a driver. The driver's library folders come first."""
    further = dict(driver or {})
    library_path = os.environ.get("LD_LIBRARY_PATH")
    if library_path and "LD_LIBRARY_PATH" in further:
        further["LD_LIBRARY_PATH"] += os.pathsep + library_path
    return {**os.environ, **further}


_PROGRAM = str(Path(__file__).with_name("compiled_model.py"))
_PREFIX = "ERROR: "
_TAKEN = "delegation: "
_BUILT, _RAN, _ERROR = "built: ", "ran: ", "error: "
_MOST_ERRORS = 3
_TAKEN_NODES = re.compile(r"(\d{1,9}) operations will run on")
_ACCELERATOR_OF = {delegate: name for name, delegate in ACCELERATORS.items()}


class AcceleratorEngine(Engine):
    """An engine that compiles a model, reads messages about refused nodes, and records whether compilation fails.

    The accelerator prints only the number of delegated nodes, without their indices.
    """

    def __init__(self, delegate: Delegate, traits: AcceleratorTraits, runtime: packages.Runtime | None = None) -> None:
        self._runtime = runtime or packages.installed_runtime()
        root = self._runtime.folder
        self._traits = traits
        self._driver = driver_environment()
        lacks = ""
        if root is None or not (root / traits.library).is_file():
            lacks = "ai-edge-litert 2.1.3 or newer for Linux, with its accelerator: pip install ai-edge-litert"
        elif self._driver is None:
            lacks = INSTALL
        super().__init__(delegate, lacks)

    @property
    def software(self) -> str:
        """The installed release of LiteRT."""
        return self._runtime.release

    @property
    def fixed_options(self) -> OptionValues:
        """LiteRT's values for options that its Python API cannot set."""
        return self._traits.fixed

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Compile the model in a separate process."""
        for name, value in self._traits.fixed.items():
            if options[name] != value:
                text = str(value).lower()
                raise OptionError(
                    f"on this host, {self.delegate.name} can run only with {name}={text}: add --option {name}={text}"
                )
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "model.tflite")
            source.write_bytes(bytes(model.content))
            arguments = [*self._traits.arguments(options), *(["run"] if to_end else [])]
            command = python_file(_PROGRAM, str(source), *arguments, python=self._runtime.python)
            finished = run_limited(command, with_driver(self._driver), folder)
        output = finished.output.splitlines()
        if finished.words and not any(self._traits.adapter in line for line in output):
            return LiveDecision(True, finished.words, lacks=INSTALL, output=finished.output)
        printed = {
            key: json.loads(line.removeprefix(key)) for key in (_TAKEN, _BUILT, _RAN) for line in output if line.startswith(key)
        }
        counts = printed.get(_TAKEN)
        taken = {name: (nodes, partitions) for name, (nodes, partitions) in counts.items() if nodes} if counts else None
        if _BUILT in printed:
            second_stage = SecondStage(
                True,
                self._built(output, taken),
                seconds=printed[_BUILT],
                run_seconds=printed.get(_RAN),
                run_failure="" if _RAN in printed else _run_failure(output, finished.words),
            )
            return LiveDecision(False, "", self._messages(output), taken=taken, second_stage=second_stage)
        failed = bool(finished.words)
        return LiveDecision(failed, finished.words, self._messages(output), output=finished.output if failed else "", taken=taken)

    def _built(self, output: Iterable[str], taken: Mapping[str, tuple[int, int]] | None) -> tuple[BuiltPartition, ...]:
        """Return the accelerator's only partition. Older releases print its nodes only if nodes are left."""
        counts = [int(match[1]) for match in map(_TAKEN_NODES.search, output) if match]
        nodes = next(iter(counts), None) if taken is None else taken.get(_ACCELERATOR_OF[self.delegate.name], (0, 0))[0]
        return () if nodes == 0 else (BuiltPartition(nodes, True),)

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Return the simulated messages, and whether compilation fails.

        Compilation may fail in the accelerator, or later in the CPU delegate that runs the remaining nodes.
        """
        lines = self._messages(run.log_lines)
        if run.refusal is not None and not run.refusal.is_at_invoke:
            return LiveDecision(True, f"it fails: {run.refusal.text}", lines)
        accelerators, *_ = self._traits.arguments(run.options)
        options = {name: value for name, value in run.options.items() if name != FALLBACK_OPTION}
        result = simulate_stack(model, Stack(parse_accelerators(accelerators), options=options, release=run.release))
        if not result.is_created:
            return LiveDecision(True, f"it fails: {'; '.join(result.notes)}", lines)
        measures = {_ACCELERATOR_OF[part.delegate.name]: measure(part) for part in result.runs}
        taken = {name: (own.delegated_nodes, own.delegate_kernels) for name, own in measures.items() if own.is_delegated}
        return LiveDecision(False, lines=lines, taken=taken)

    def _messages(self, lines: Iterable[str]) -> tuple[str, ...]:
        messages: list[tuple[str, ...]] = []
        current: list[str] | None = None
        for line in lines:
            text = line.removeprefix(_PREFIX)
            if text == self._traits.heading:
                current = []
            if current is not None:
                current.append(text)
                if re.fullmatch(self._traits.last, text):
                    if tuple(current) not in messages:
                        messages.append(tuple(current))
                    current = None
        return tuple([text for message in messages for text in message])


def _run_failure(output: Sequence[str], end: str) -> str:
    """Return the errors that were printed after the kernels were built, or how the process ended."""
    start = next(number for number, line in enumerate(output) if line.startswith(_BUILT))
    errors = [re.sub(f"^(?:{_PREFIX}|{_ERROR})", "", line) for line in output[start:] if line.startswith((_PREFIX, _ERROR))]
    return "; ".join(errors[:_MOST_ERRORS]) or end
