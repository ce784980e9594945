"""A graph as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from delegate_sim.delegates.driver import LoweredCall, LoweredModel, LoweredOperand
from delegate_sim.export import Lowered
from delegate_sim.foundation.printable import printable
from delegate_sim.graph.graph import Graph
from delegate_sim.model.model import Model, Quantization, Signature, Tensor
from delegate_sim.releases.catalogue import Release
from delegate_sim.releases.wording import cpu_kernels_note
from delegate_sim.runtime.invoke_types import refused_when_run

from ..console.layout import counted, message, name, node_list, options_text
from ..console.terminal import Line
from .elements.paragraphs import BAD, CODE, HEADING, HINT, paragraph


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
    nodes = counted(sum([len(graph.nodes) for graph in graphs]), "node")
    text = f"{nodes} in {counted(len(graphs), 'subgraph')}"
    if shapes == "file":
        return f"{text}, as in the file"
    stopped = sum([graph.failure is not None or graph.dynamic is not None for graph in graphs])
    stops = f"preparation stops early in {counted(stopped, 'subgraph')}"
    note = cpu_kernels_note(release)
    unchecked = "" if note is None else f" ({note})"
    if stopped:
        return f"{text}; {stops}{unchecked}"
    refusals = [refused_when_run(graph, graph.nodes, release) for graph in graphs]
    fails = next((f"; without a delegate, {message(own.message)}" for own in refusals if own is not None), "")
    return f"{text}, all prepared by the CPU kernels{unchecked}{fails}"


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
        yield Line(f"  {node.index} {name(node.op)}, version {node.version}{', custom' if node.is_custom else ''}", HINT)
        yield from _operands(graph, "    in    ", node.inputs, width)
        yield from _operands(graph, "    out   ", node.outputs, width)


_SHAPES = {"prepared": "shapes as prepared", "file": "shapes as in the file"}


def _signature(signature: Signature, width: int) -> list[Line]:
    arguments = []
    for side, tensors in (("in", signature.inputs), ("out", signature.outputs)):
        listed = ", ".join([f"{name(argument)} = {index}" for argument, index in tensors.items()])
        arguments.append(f"{side} {listed or 'nothing'}")
    text = f"signature {name(signature.key)}: subgraph {signature.subgraph}; {'; '.join(arguments)}"
    return paragraph(text, width, "  ", "    ")


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


def _operands(graph: Graph, title: str, indices: Iterable[int], width: int) -> Iterator[Line]:
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


def lowered_lines(result: Lowered, graphs: Sequence[Graph], width: int) -> Iterator[Line]:
    """Yield the text of the models that a delegate builds from its partitions."""
    target = result.target
    text = f"{target.delegate.name} on {target.release}: {options_text(target.delegate.options, target.options)}"
    yield from paragraph(message(text), width, "", "    ", style=HEADING)
    by_index = {graph.index: graph for graph in graphs}
    number = -1
    for number, model in enumerate(result.models):
        graph = by_index[model.subgraph]
        yield Line("")
        sizes = f"{counted(len(model.operands), 'operand')}, {counted(len(model.operations), 'operation')}"
        yield Line(f"Model {number}, subgraph {graph.index} ({name(graph.name)}): {sizes}", HEADING)
        yield from paragraph(f"nodes {node_list(list(model.nodes))}", width, "  ", "    ")
        for call in model.calls:
            yield from _call(call, model, graph, width)
        for refusal in model.refusals:
            place = "" if refusal.node is None else f", node {refusal.node} ({name(graph.nodes[refusal.node].op)})"
            text = f"rejected: {refusal.call or 'mapping'}{place}: {message(refusal.text)}"
            yield from paragraph(text, width, "  ", "    ", style=BAD)
    if number < 0:
        yield Line("")
        yield Line("This delegate does not build a model for another program to run.")


def _call(call: LoweredCall, model: LoweredModel, graph: Graph, width: int) -> list[Line]:
    function = call.function.partition("_")[2]
    if call.subject is None:
        lists = {"identifyInputsAndOutputs": f" {_indices(model.inputs)} -> {_indices(model.outputs)}"}
        value = "" if call.value is None else f" {str(call.value).lower()}"
        return paragraph(f"{function}{lists.get(function, value)}", width, "  ", "      ")
    if function == "addOperation":
        operation, style = model.operations[call.subject], HINT
        place = "" if operation.node is None else f" for node {operation.node} ({name(graph.nodes[operation.node].op)})"
        text = f"{operation.name}{place}: {_indices(operation.inputs)} -> {_indices(operation.outputs)}"
    else:
        text, style = _operand(function, model.operands[call.subject] if call.subject < len(model.operands) else None, graph), ""
    return paragraph(f"{function} {call.subject} {text}".rstrip(), width, "  ", "      ", style=style)


def _operand(function: str, operand: LoweredOperand | None, graph: Graph) -> str:
    if operand is None:
        return "which does not exist"
    if function == "addOperand":
        return ", ".join([f"{operand.type} {list(operand.dimensions)}", *_marks(operand, graph)])
    if function == "setOperandValue":
        return operand.lifetime if operand.value is None else f"{operand.lifetime}, {operand.value}"
    return f"{counted(len(operand.scales), 'scale')} along dimension {operand.channel_dimension}"


def _marks(operand: LoweredOperand, graph: Graph) -> Iterator[str]:
    if operand.scale or operand.zero_point:
        yield f"scale {operand.scale:g}, zero point {operand.zero_point}"
    if operand.tensor is not None:
        yield f"tensor {operand.tensor} ({name(graph.tensors[operand.tensor].name)})"


def _indices(indices: Iterable[int]) -> str:
    return " ".join(map(str, indices)) or "nothing"
