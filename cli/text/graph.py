"""A graph as text and as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from delegate_sim.foundation.documents import head
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.graph import Graph
from delegate_sim.model.model import Model, Node, Quantization, Signature, Tensor
from delegate_sim.refusal import Refusal
from delegate_sim.releases.catalogue import Release
from delegate_sim.releases.notes import cpu_kernels_note
from delegate_sim.results.report.report import Report

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.paragraphs import paragraph

_HEADING = "bold"
_NODE = "cyan"
_NOTE = "yellow"


def model_lines(model: Model, graphs: Iterable[Graph], shapes: str, width: int, release: Release) -> Iterator[Line]:
    """Return the text of a model and some of its graphs."""
    graphs = tuple(graphs)
    yield from paragraph(_verdict(graphs, shapes, release), width, "", "  ", style=_HEADING)
    yield Line(f"{printable(model.path or '-')}: {counted(model.size, 'byte')}, schema version {model.version}")
    if model.description:
        yield Line(f"  description: {name(model.description)}")
    for signature in model.signatures:
        yield from _signature(signature, width)
    for graph in graphs:
        yield Line("")
        yield from graph_lines(graph, shapes, width)


def _verdict(graphs: Sequence[Graph], shapes: str, release: Release) -> str:
    """Return the sizes of graphs in words, and the number of graphs in which Prepare stops."""
    nodes = counted(sum([len(graph.nodes) for graph in graphs]), "node")
    text = f"{nodes} in {counted(len(graphs), 'subgraph')}"
    if shapes == "file":
        return f"{text}, as in the file"
    stopped = sum([graph.failure is not None or graph.dynamic is not None for graph in graphs])
    stops = f"preparation stops early in {counted(stopped, 'subgraph')}"
    note = cpu_kernels_note(release)
    unchecked = "" if note is None else f" ({note})"
    return f"{text}; {stops}{unchecked}" if stopped else f"{text}, all prepared by the CPU kernels{unchecked}"


def graph_lines(graph: Graph, shapes: str, width: int) -> Iterator[Line]:
    """Return the text of one graph, node by node."""
    title = f"Subgraph {graph.index} ({name(graph.name)})"
    sizes = f"{counted(len(graph.nodes), 'node')}, {counted(len(graph.tensors), 'tensor')}, {_SHAPES[shapes]}"
    yield Line(f"{title}: {sizes}", _HEADING)
    for note in _notes(graph):
        yield from paragraph(message(note), width, "  ", "    ", style=_NOTE)
    yield from _operands(graph, "  inputs  ", graph.inputs, width)
    yield from _operands(graph, "  outputs ", graph.outputs, width)
    for node in graph.nodes:
        yield Line(f"  {node.index} {_operator(node)}", _NODE)
        yield from _operands(graph, "    in    ", node.inputs, width)
        yield from _operands(graph, "    out   ", node.outputs, width)


def model_entry(model: Model, graphs: Iterable[Graph], shapes: str) -> dict[str, Any]:
    """Return a model and some of its graphs as plain data."""
    report = Report(model, ()).to_dict()
    return {
        **head("inspect"),
        "model": report["model"],
        "shapes": shapes,
        "signatures": [
            {"key": entry.key, "subgraph": entry.subgraph, "inputs": dict(entry.inputs), "outputs": dict(entry.outputs)}
            for entry in model.signatures
        ],
        "subgraphs": [_graph_entry(graph) for graph in graphs],
    }


_SHAPES = {"prepared": "shapes as prepared", "file": "shapes as in the file"}


def _signature(signature: Signature, width: int) -> list[Line]:
    arguments = [f"{side} {_arguments(tensors)}" for side, tensors in (("in", signature.inputs), ("out", signature.outputs))]
    text = f"signature {name(signature.key)}: subgraph {signature.subgraph}; {'; '.join(arguments)}"
    return paragraph(text, width, "  ", "    ")


def _arguments(tensors: Mapping[str, int]) -> str:
    return ", ".join([f"{name(argument)} = {index}" for argument, index in tensors.items()]) or "nothing"


def _notes(graph: Graph) -> Iterator[str]:
    """Yield notes about the node or tensor at which preparation stopped. Later tensors are shown as in the model file."""
    if graph.dynamic is not None:
        tensor, node, cause = graph.dynamic.tensor, graph.dynamic.node, graph.dynamic.cause
        maker = "" if node is None else f", set by node {node} ({graph.nodes[node].op})"
        blame = "" if cause is None else f" because tensor {cause} ({graph.tensors[cause].name}) is not constant"
        yield f"tensor {tensor} ({graph.tensors[tensor].name}) is dynamic-sized{maker}{blame}; later shapes are as in the file"
    if graph.failure is not None and graph.failure.node is not None:
        op = graph.nodes[graph.failure.node].op
        yield f"node {graph.failure.node} ({op}) cannot be prepared: {graph.failure.message}; later shapes are as in the file"


def _operator(node: Node) -> str:
    custom = ", custom" if node.is_custom else ""
    return f"{name(node.op)}, version {node.version}{custom}"


def _operands(graph: Graph, title: str, indices: Iterable[int], width: int) -> Iterator[Line]:
    """Yield a line for each tensor. The first line starts with the title."""
    last = str(max(len(graph.tensors) - 1, 0))
    digits = len(last)
    for index in indices:
        text = f"{index:{digits}} {_tensor(graph.tensors[index])}" if index >= 0 else f"{'-':>{digits}} omitted"
        yield from paragraph(text, width, title, " " * (len(title) + len(last) + 5))
        title = " " * len(title)


def _tensor(tensor: Tensor) -> str:
    marks = [tensor.allocation.value]
    if tensor.shape_signature is not None and tensor.shape_signature != tensor.shape:
        marks.append(f"signature {list(tensor.shape_signature)}")
    if tensor.quantization is not None:
        marks.append(_quantization(tensor.quantization))
    if tensor.sparsity is not None:
        marks.append("sparse")
    return f"{name(tensor.name)}  {tensor.type} {list(tensor.shape)}  {', '.join(marks)}"


def _quantization(quantization: Quantization) -> str:
    if not quantization.is_affine:
        return f"{quantization.kind} quantization"
    if quantization.is_per_channel:
        return f"{len(quantization.scales)} scales along dimension {quantization.dimension}"
    zero_point = int(quantization.zero_points[0]) if len(quantization.zero_points) else 0
    return f"scale {quantization.scales[0]:g}, zero point {zero_point}"


def _failure_entry(failure: Refusal) -> dict[str, Any]:
    values = failure.values
    return {
        "node": failure.node,
        "message": failure.message,
        "lines": list(failure.log_lines),
        "unregistered": values["unregistered"],
        "kernel": values["kernel"],
    }


def _graph_entry(graph: Graph) -> dict[str, Any]:
    return {
        "index": graph.index,
        "name": graph.name,
        "inputs": list(graph.inputs),
        "outputs": list(graph.outputs),
        "dynamic": asdict(graph.dynamic) if graph.dynamic else None,
        "failure": None if graph.failure is None else _failure_entry(graph.failure),
        "nodes": [_node_entry(node) for node in graph.nodes],
        "tensors": [_tensor_entry(tensor) for tensor in graph.tensors],
    }


def _node_entry(node: Node) -> dict[str, Any]:
    return {
        "index": node.index,
        "op": node.op,
        "version": node.version,
        "custom": node.is_custom,
        "inputs": list(node.inputs),
        "outputs": list(node.outputs),
    }


def _tensor_entry(tensor: Tensor) -> dict[str, Any]:
    return {
        "index": tensor.index,
        "name": tensor.name,
        "type": tensor.type,
        "shape": list(tensor.shape),
        "shape_signature": None if tensor.shape_signature is None else list(tensor.shape_signature),
        "allocation": tensor.allocation.value,
        "quantization": _quantization_entry(tensor.quantization) if tensor.quantization else None,
        "sparse": tensor.sparsity is not None,
    }


def _quantization_entry(quantization: Quantization) -> dict[str, Any]:
    """Return quantization as plain data. Infinity and NaN are strings, because JSON has no infinity and no NaN."""
    return {
        "kind": quantization.kind,
        "scales": [scale if math.isfinite(scale) else str(scale) for scale in quantization.scales.tolist()],
        "zero_points": quantization.zero_points.tolist(),
        "dimension": quantization.dimension,
    }
