"""The models that a delegate builds for its backend as text, one line for each call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from delegate_sim.delegates.lowered_model import LoweredCall, LoweredModel, LoweredOperand, LoweredOperation
from delegate_sim.export.lowered import Lowered
from delegate_sim.graph.graph import Graph

from ..console.layout import counted, message, name, node_list, options_text
from ..console.terminal import Line
from .elements.paragraphs import BAD, HEADING, HINT, paragraph


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
        text, style = _operation(model.operations[call.subject], graph), HINT
    else:
        text, style = _operand(function, model.operands[call.subject] if call.subject < len(model.operands) else None, graph), ""
    return paragraph(f"{function} {call.subject} {text}".rstrip(), width, "  ", "      ", style=style)


def _operation(operation: LoweredOperation, graph: Graph) -> str:
    place = "" if operation.node is None else f" for node {operation.node} ({name(graph.nodes[operation.node].op)})"
    return f"{operation.name}{place}: {_indices(operation.inputs)} -> {_indices(operation.outputs)}"


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
