"""Engine for Arm's compiler Vela, and Vela's messages and files: the debug database, the summary and the compiled file."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..delegates.base import Delegate
from ..delegates.decision import FileNode
from ..delegates.options import OptionValues
from ..delegates.traits import VelaTraits
from ..errors import DelegateSimError
from ..foundation.files import alone_with, cache_folder, read_whole, write_whole
from ..foundation.printable import install_command, printable, shortened
from ..model.ethosu_programs import ETHOS_U
from ..model.model import Model
from ..model.reader import load
from ..runtime.interpreter import Run
from ..version import __version__
from .engine import (
    CPU,
    GONE,
    NPU,
    NUMBERED_NAME,
    UNKNOWN,
    BuiltPartition,
    Engine,
    Finished,
    LiveDecision,
    LivePlacement,
    SecondStage,
    numbered_name,
    run_module,
    with_numbered_names,
)

_ON_CPU = "Passthrough"
_REFUSED = re.compile(
    r"^Warning \(supported operators\) operator: ([^,\n]*), ofm: '([^\n]*)'\nReason: (.*?)(?=\n\n|\nWarning |\nTraceback |\Z)",
    re.M | re.S,
)
_LARGE_SCALE = "Quantization scale of any tensor must be positive."
"""The only failed check that Vela prints without the node (``QuantizationScaleShiftMustBePositive`` in
``regor/tflite/tflite_supported_operators.cpp``). It fails if a scale is so large that its shift is negative."""
_SMALLEST_LARGE_SCALE = 2.0**31
_KIBIBYTE = 1024
_MEMORIES = ("sram", "dram", "on_chip_flash", "off_chip_flash")
_COUNTS = {"npu_cycles": "cycles_npu", "total_cycles": "cycles_total", "macs": "nn_macs"}

DatabaseTable = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Reasons:
    """Vela's messages about failed checks, by node. ``others`` has the messages about nodes that cannot be identified."""

    by_node: Mapping[FileNode, str]
    others: tuple[str, ...]
    large_scales: int = 0
    """The number of nodes with a scale that is too large. Vela does not name these nodes."""


def with_own_names(model: Model, text: str) -> str:
    """Replace the numbered names of tensors in a text by the names in the model."""

    def own_name(match: re.Match[str]) -> str:
        subgraph, tensor = int(match[1]), int(match[2])
        if subgraph < len(model.subgraphs) and tensor < len(model.subgraphs[subgraph].tensors):
            return model.subgraphs[subgraph].tensors[tensor].name
        return match[0]

    return NUMBERED_NAME.sub(own_name, text)


def printed_reasons(model: Model, output: str) -> Reasons:
    """Return the failed checks. Vela prints the first failed check of a node, with the name of the node's output."""
    nodes = {
        numbered_name(graph.index, output): (graph.index, node.index)
        for graph in model.subgraphs
        for node in graph.nodes
        for output in node.outputs
    }
    by_node: dict[FileNode, str] = {}
    others = []
    lines = output.split("\n")
    named = "\n".join([line for line in lines if line != _LARGE_SCALE])
    for op, name, printed in _REFUSED.findall(named):
        reason = printable(with_own_names(model, "; ".join([line.strip() for line in printed.splitlines() if line.strip()])))
        if name in nodes:
            by_node.setdefault(nodes[name], reason)
        else:
            others.append(printable(with_own_names(model, f"{op} '{name}': {reason}")))
    return Reasons(by_node, tuple(others), lines.count(_LARGE_SCALE))


def with_large_scales(model: Model, placements: Sequence[LivePlacement], count: int) -> tuple[LivePlacement, ...]:
    """Add the reason of CPU nodes with a scale that is too large, if Vela printed this reason at least as often."""
    scales = {
        position: scale
        for position, placement in enumerate(placements)
        if placement.place == CPU and not placement.reason
        if (scale := _largest_scale(model, placement)) >= _SMALLEST_LARGE_SCALE
    }
    if len(scales) > count:
        return tuple(placements)
    reasons = {position: f"Operation has a scale of {scale:.3g}; {_LARGE_SCALE}" for position, scale in scales.items()}
    return tuple(
        [replace(placement, reason=reasons.get(position, placement.reason)) for position, placement in enumerate(placements)]
    )


def _largest_scale(model: Model, placement: LivePlacement) -> float:
    graph = model.subgraphs[placement.subgraph]
    node = graph.nodes[placement.node]
    tensors = [graph.tensors[index] for index in (*node.inputs, *node.outputs) if index >= 0]
    quantizations = [tensor.quantization for tensor in tensors if tensor.quantization is not None]
    return max([max(quantization.scales) for quantization in quantizations if len(quantization.scales)], default=0.0)


def database(text: str) -> Mapping[str, DatabaseTable]:
    """Return the tables of a debug database."""
    tables = {}
    for part in text.split('<table name="')[1:]:
        name, _, rest = part.partition('">\n<![CDATA[\n')
        body, end, _ = rest.partition("]]>")
        if end:
            tables[name] = list(csv.DictReader(io.StringIO(body)))
    return tables


def placements(model: Model, tables: Mapping[str, DatabaseTable], compiled: Model, reasons: Reasons) -> tuple[LivePlacement, ...]:
    """Return the place of every node.

    The table ``perf`` lists the operations of one subgraph, including CPU operations. A node of this subgraph was removed if it
    has no operation in the table. The places of nodes in all other subgraphs follow from the NPU's commands and from the compiled
    file.
    """
    nodes = [(graph.index, node.index) for graph in model.subgraphs for node in graph.nodes]
    sources = {row["id"]: node for row, node in zip(tables.get("source", ()), nodes, strict=False)}
    listed: dict[FileNode, str] = {}
    for row in tables.get("perf", ()):
        node = sources.get(row["source_id"])
        if node is not None and (row["operator"] != _ON_CPU or node not in listed):
            listed[node] = CPU if row["operator"] == _ON_CPU else NPU
    kernels = _kernels(tables, sources)
    further = {} if len(model.subgraphs) == 1 else _unlisted(model, compiled, kernels)
    return tuple(
        [
            LivePlacement(
                *node,
                model.subgraphs[node[0]].nodes[node[1]].op,
                listed.get(node) or further.get(node, GONE),
                reasons.by_node.get(node, ""),
                node in listed,
                kernels.get(node),
            )
            for node in nodes
        ]
    )


def _kernels(tables: Mapping[str, DatabaseTable], sources: Mapping[str, FileNode]) -> Mapping[FileNode, int]:
    source_of = {row["id"]: row["source_id"] for row in tables.get("optimised", ())}
    kernels: dict[FileNode, int] = {}
    for row in tables.get("queue", ()):
        node = sources.get(source_of.get(row["optimised_id"], ""))
        if node is not None:
            kernels.setdefault(node, int(row["cmdstream_id"]))
    return kernels


def _unlisted(model: Model, compiled: Model, kernels: Collection[FileNode]) -> Mapping[FileNode, str]:
    remaining = [(graph, node) for graph in compiled.subgraphs for node in graph.nodes if node.op != ETHOS_U]
    names = [graph.tensors[output].name for graph, node in remaining for output in node.outputs if output >= 0]
    kept = {match[0] for match in map(NUMBERED_NAME.match, names) if match}
    without_outputs = {node.op for _, node in remaining if not node.outputs}  # nodes without outputs have no name
    places = dict.fromkeys(kernels, NPU)
    for graph in model.subgraphs:
        for node in graph.nodes:
            is_kept = any(numbered_name(graph.index, output) in kept for output in node.outputs)
            if is_kept or (not node.outputs and node.op in without_outputs):
                places.setdefault((graph.index, node.index), CPU)
    return places


def kernels(placements: Sequence[LivePlacement], compiled: Model) -> list[tuple[int, int | None]]:
    """Return the nodes of each NPU operator, and the bytes of its commands. The bytes are None if they cannot be assigned."""
    counts = Counter([placement.kernel for placement in placements if placement.kernel is not None])
    programs = [graph.tensors[node.inputs[0]] for graph in compiled.subgraphs for node in graph.nodes if node.op == ETHOS_U]
    are_same = len(programs) == len(counts)
    sizes = dict(zip(sorted(counts), [program.element_count for program in programs], strict=True)) if are_same else {}
    return [(counts[kernel], sizes.get(kernel)) for kernel in sorted(counts)]


def unknown_placements(model: Model, reasons: Reasons) -> tuple[LivePlacement, ...]:
    """Return placements for a file that Vela did not compile: printed reasons, and no places."""
    return tuple(
        [
            LivePlacement(graph.index, node.index, node.op, UNKNOWN, reasons.by_node.get((graph.index, node.index), ""), False)
            for graph in model.subgraphs
            for node in graph.nodes
        ]
    )


def figures(summary: str, compiled: Model) -> Mapping[str, int | float | str]:
    """Return Vela's figures for the compiled file: configuration, memory in bytes, cycles and NPU operators."""
    row = next(csv.DictReader(io.StringIO(summary)), None)
    if row is None:
        return {}
    result: dict[str, int | float | str] = {name: printable(row[name]) for name in ("system_config", "memory_mode")}
    result["clock_hz"] = int(float(row["core_clock"]))
    result |= {f"{name}_bytes": round(float(row[f"{name}_memory_used"]) * _KIBIBYTE) for name in _MEMORIES}
    result |= {name: int(float(row[column])) for name, column in _COUNTS.items()}
    result["inference_seconds"] = float(row["inference_time"])
    result["ethos_u_operators"] = sum(node.op == ETHOS_U for graph in compiled.subgraphs for node in graph.nodes)
    return result


_FORMAT = 4


def find_decision(key: Sequence[str]) -> LiveDecision | None:
    """Return the cached decision of a key, or None if there is no readable cached decision."""
    try:
        entry = json.loads(read_whole(_path(key)))
        if entry["key"] != _full(key):
            return None
        return LiveDecision(
            bool(entry["failed"]),
            str(entry["end"]),
            tuple(map(str, entry["lines"])),
            placements=tuple([_placement(*fields) for fields in entry["nodes"]]),
            figures=dict(entry["figures"]),
            second_stage=_second_stage(entry["built"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_decision(key: Sequence[str], decision: LiveDecision) -> None:
    """Store a decision. If the folder is not writable, do nothing."""
    nodes = [[*node.to_dict().values()] for node in decision.placements or ()]
    entry = {
        "key": _full(key),
        "failed": decision.has_failed,
        "end": decision.end,
        "lines": decision.lines,
        "nodes": nodes,
        "figures": dict(decision.figures),
        "built": [(part.nodes, part.size) for part in decision.second_stage.partitions] if decision.second_stage else [],
    }
    path = _path(key)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with alone_with(path):
            write_whole(path, json.dumps(entry), is_updated=True)
    except OSError:
        return


def _placement(subgraph: int, node: int, op: str, place: str, reason: str, is_listed: bool, kernel: int | None) -> LivePlacement:
    number = None if kernel is None else int(kernel)
    return LivePlacement(int(subgraph), int(node), str(op), str(place), str(reason), bool(is_listed), number)


def _full(key: Sequence[str]) -> list[str]:
    return [str(_FORMAT), __version__, *key]


def _path(key: Sequence[str]) -> str:
    name = hashlib.sha256(json.dumps(_full(key)).encode()).hexdigest()
    return os.path.join(cache_folder("vela"), f"{name}.json")


_SINCE = (5, 2)
_ERRORS = ("RuntimeError: ", "Error: ", "error: ")


class VelaEngine(Engine):
    """An engine that compiles a file, and reads the place of every node from Vela's debug database.

    Tensors get numbered names, so that Vela's messages identify nodes. Decisions are cached.
    """

    def __init__(self, delegate: Delegate, traits: VelaTraits) -> None:
        super().__init__(delegate, _lacks(traits.version))
        self._traits = traits

    @property
    def software(self) -> str:
        """The version of Vela, such as ``vela-5.2.0``."""
        return self._traits.software

    @property
    def installation(self) -> str:
        """The version of Vela. One installation of Vela compiles for every configuration."""
        return self.software

    def decide(self, model: Model, options: OptionValues, *, to_end: bool = False) -> LiveDecision:
        """Run Vela in a separate process, or return the cached decision. Vela always compiles."""
        arguments = list(self._traits.arguments(options))
        key = (model.sha256, self.software, *arguments)
        cached = find_decision(key)
        if cached is not None:
            return cached
        decision, is_final = self._run(model, arguments)
        if is_final:
            keep_decision(key, decision)
        return decision

    def expected(self, model: Model, run: Run) -> LiveDecision:
        """Raise NotImplementedError. This method is never called, because Vela is not simulated."""
        raise NotImplementedError

    def _run(self, model: Model, arguments: list[str]) -> tuple[LiveDecision, bool]:
        """Return Vela's decision, and whether the decision can be cached.

        A decision cannot be cached if Vela crashed or reached a limit, because the next run may end differently.
        """
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "model.tflite")
            source.write_bytes(with_numbered_names(model))
            options = [source.name, "--enable-debug-db", "--output-dir=out", *arguments]
            finished = run_module("ethosu.vela", options, {**os.environ, "PYTHONUNBUFFERED": "1"}, folder)
            written = {path.name: path for path in sorted(Path(folder, "out").glob("model_*"))}
            reasons = printed_reasons(model, finished.output)
            compiled, tables = written.get("model_vela.tflite"), written.get("model_debug.xml")
            if finished.words or compiled is None or tables is None:
                end = _failure(model, finished)
                decision = LiveDecision(True, end, reasons.others, placements=unknown_placements(model, reasons))
                return decision, finished.status is not None and finished.status > 0
            try:
                result = load(compiled.read_bytes())
            except DelegateSimError as error:
                return LiveDecision(True, f"the compiled file cannot be read ({error})", reasons.others), False
            summary = next((path for name, path in written.items() if name.startswith("model_summary_")), None)
            placed = placements(model, database(tables.read_text(encoding="utf-8", errors="replace")), result, reasons)
            placed = with_large_scales(model, placed, reasons.large_scales)
            stated = {} if summary is None else figures(summary.read_text(encoding="utf-8", errors="replace"), result)
            stage = _second_stage(kernels(placed, result))
        return LiveDecision(False, "", reasons.others, placements=placed, figures=stated, second_stage=stage), True


def _second_stage(built: Iterable[tuple[int, int | None]]) -> SecondStage | None:
    partitions = tuple([BuiltPartition(int(nodes), True, None if size is None else int(size)) for nodes, size in built])
    return SecondStage(True, partitions) if partitions else None


def _lacks(version: str) -> str:
    numbers = tuple([int(part) for part in version.split(".")[:2] if part.isdecimal()])
    return "" if version and numbers >= _SINCE else f"ethos-u-vela 5.2 or newer: {install_command('vela')}"


def _failure(model: Model, finished: Finished) -> str:
    if finished.status is None or finished.status < 0:
        return finished.words
    for beginning in _ERRORS:
        _, marker, text = finished.output.rpartition(beginning)
        if marker and text.strip():
            lines = [line.strip() for line in with_own_names(model, text).splitlines() if line.strip()]
            return shortened(f"it refuses the file: {printable('; '.join(lines))}")
    return finished.words or "it wrote nothing"
