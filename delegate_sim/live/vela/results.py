"""Read Vela's messages and files: the debug database, the summary and the compiled file."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...delegates.decision import FileNode
from ...foundation.printable import printable
from ...model.model import Model
from ..engine import CPU, GONE, NPU, UNKNOWN, LivePlacement
from ..naming import NUMBERED_NAME, numbered_name

KERNEL = "ethos-u"
_ON_CPU = "Passthrough"
_REFUSED = re.compile(
    r"^Warning \(supported operators\) operator: ([^,\n]*), ofm: '([^\n]*)'\nReason: (.*?)(?=\n\n|\nWarning |\nTraceback |\Z)",
    re.M | re.S,
)
_KIBIBYTE = 1024
_MEMORIES = ("sram", "dram", "on_chip_flash", "off_chip_flash")
_COUNTS = {"npu_cycles": "cycles_npu", "total_cycles": "cycles_total", "macs": "nn_macs"}

DatabaseTable = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Reasons:
    """Vela's messages about failed checks, by node. ``others`` has the messages about nodes that cannot be identified."""

    by_node: Mapping[FileNode, str]
    others: tuple[str, ...]


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
    for op, name, printed in _REFUSED.findall(output):
        reason = printable(with_own_names(model, "; ".join([line.strip() for line in printed.splitlines() if line.strip()])))
        if name in nodes:
            by_node.setdefault(nodes[name], reason)
        else:
            others.append(printable(with_own_names(model, f"{op} '{name}': {reason}")))
    return Reasons(by_node, tuple(others))


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
    remaining = [(graph, node) for graph in compiled.subgraphs for node in graph.nodes if node.op != KERNEL]
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
    programs = [graph.tensors[node.inputs[0]] for graph in compiled.subgraphs for node in graph.nodes if node.op == KERNEL]
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
    result["ethos_u_operators"] = sum(node.op == KERNEL for graph in compiled.subgraphs for node in graph.nodes)
    return result
