"""Engine for the default delegate of LiteRT's Python interpreter."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..delegates.base import Delegate
from ..delegates.options import OptionValues, parse_options
from ..errors import OptionError
from ..foundation import packages
from ..graph.graph import file_graphs
from ..model.model import Model
from ..runtime.delegate_application import VALIDATION_PREFIX
from ..runtime.interpreter import Run
from .engine import BuiltPartition, Engine, LiveDecision, LiveNode, LivePartition, SecondStage
from .process import run_module

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
