"""A graph as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from delegate_sim.foundation.printable import printable
from delegate_sim.graph.graph import Graph
from delegate_sim.model.model import Model, Node, Quantization, Signature, Tensor
from delegate_sim.releases.catalogue import Release
from delegate_sim.releases.wording import cpu_kernels_note

from ..console.layout import counted, message, name
from ..console.terminal import Line
from .elements.paragraphs import CODE, HEADING, HINT, paragraph


def model_lines(model: Model, graphs: Iterable[Graph], shapes: str, width: int, release: Release) -> Iterator[Line]:
    """Return the text of a model and some of its graphs."""
    graphs = tuple(graphs)
    yield from paragraph(_verdict(graphs, shapes, release), width, "", "  ", style=HEADING)
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
    yield Line(f"{title}: {sizes}", HEADING)
    for note in _notes(graph):
        yield from paragraph(message(note), width, "  ", "    ", style=CODE)
    yield from _operands(graph, "  inputs  ", graph.inputs, width)
    yield from _operands(graph, "  outputs ", graph.outputs, width)
    for node in graph.nodes:
        yield Line(f"  {node.index} {_operator(node)}", HINT)
        yield from _operands(graph, "    in    ", node.inputs, width)
        yield from _operands(graph, "    out   ", node.outputs, width)


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
