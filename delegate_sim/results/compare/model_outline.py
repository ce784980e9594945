"""The outline of a model. A baseline stores the outline, so that a later check finds changed nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...graph.graph import Graph, file_graphs
from ...model import schema
from ...model.model import OPTIONAL_TENSOR, Model, Node, Tensor

_ENUMS = {"fused_activation_function": "ActivationFunctionType", "padding": "Padding"}
"""The options that are shown with the name of an enum's member."""
_LONGEST_NAME = 96
_DIGEST = 12


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant operand. ``type`` contains the data type and the shape, such as ``INT8[3,3,8,16]``."""

    type: str


class Output(NamedTuple):
    """An output of a node, or an input of a subgraph. ``type`` contains the data type and the shape.

    The name is unique in the subgraph.
    """

    name: str
    type: str


OutlineOperand = str | Constant | None
"""An operand of a node: the name of a computed tensor, a constant, or None if the operand is omitted."""


@dataclass(frozen=True, slots=True)
class NodeOutline:
    """One node of the model file."""

    op: str
    version: int
    inputs: tuple[OutlineOperand, ...]
    outputs: tuple[Output, ...]
    options: Mapping[str, str] | None = field(default=None, compare=False)
    """The builtin options that are not 0 or empty, as text. None in the baselines of older versions."""

    @property
    def name(self) -> str:
        """The name of the first output. Messages identify the node by this name."""
        return self.outputs[0].name if self.outputs else ""


@dataclass(frozen=True, slots=True)
class SubgraphOutline:
    """One subgraph: its inputs, and its nodes in index order."""

    name: str
    inputs: tuple[Output, ...]
    nodes: tuple[NodeOutline, ...]


def outline(model: Model) -> tuple[SubgraphOutline, ...]:
    """Return the outline of every subgraph.

    An unknown size is written as ``?``. Long names are shortened, but remain unique. Empty and repeated names get the suffix
    ``#`` with the tensor index.
    """
    return tuple(map(_subgraph, file_graphs(model)))


def operand_text(inputs: Sequence[OutlineOperand], position: int) -> str:
    """Return an operand as text: ``none``, ``computed``, or ``constant`` with the type."""
    operand = inputs[position] if position < len(inputs) else None
    if operand is None:
        return "none"
    return f"constant {operand.type}" if isinstance(operand, Constant) else "computed"


def option_text(op: str, options: Mapping[str, str], name: str) -> str:
    """Return an option of an operator as text. An option that is missing in ``options`` is 0 or empty."""
    declared = schema.table_fields(schema.options_table(op)).get(name)
    return options.get(name) or ("0" if declared is None else _value_text(declared, type(declared.default)()))


def _options(model: Model, node: Node) -> dict[str, str]:
    """Return the options that are not 0 or empty. The option ``new_shape`` is left out if the runtime does not read it."""
    unread = "new_shape" if len(node.inputs) > 1 else ""
    fields = schema.table_fields(schema.options_table(node.op))
    return {
        name: _value_text(fields[name], value)
        for name, value in model.options(node)
        if value and name != unread and fields[name].target is None
    }


def _value_text(declared: schema.Field, value: Any) -> str:
    if declared.name in _ENUMS:
        return schema.enum_names(_ENUMS[declared.name]).get(value, str(value))
    if declared.type == "bool":
        return "true" if value else "false"
    if isinstance(value, tuple):
        return _short(f"[{','.join(map(str, value))}]")
    return f"{value:.7g}" if isinstance(value, float) else _short(str(value))


def _subgraph(graph: Graph) -> SubgraphOutline:
    names = _names(graph.tensors)

    def results(indices: Iterable[int]) -> tuple[Output, ...]:
        return tuple([Output(names[index], _type(graph.tensors[index])) for index in indices if index != OPTIONAL_TENSOR])

    nodes = tuple(
        [
            NodeOutline(
                node.op,
                node.version,
                tuple([_operand(graph.tensors, names, index) for index in node.inputs]),
                results(node.outputs),
                _options(graph.model, node),
            )
            for node in graph.nodes
        ]
    )
    return SubgraphOutline(_short(graph.name), results(graph.inputs), nodes)


def _operand(tensors: Sequence[Tensor], names: Mapping[int, str], index: int) -> OutlineOperand:
    if index == OPTIONAL_TENSOR:
        return None
    return Constant(_type(tensors[index])) if tensors[index].is_constant else names[index]


def _type(tensor: Tensor) -> str:
    sizes = tensor.shape if tensor.shape_signature is None else tensor.shape_signature
    return f"{tensor.type}[{','.join(['?' if size < 0 else str(size) for size in sizes])}]"


def _names(tensors: Sequence[Tensor]) -> dict[int, str]:
    names: dict[int, str] = {}
    used = {""}
    for tensor in tensors:
        name = _short(tensor.name)
        names[tensor.index] = f"{name}#{tensor.index}" if name in used else name
        used.add(names[tensor.index])
    return names


def _short(name: str) -> str:
    """Shorten a long name. A digest in the short name keeps the name unique."""
    if len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{name[: _LONGEST_NAME - _DIGEST - 1]}~{digest[:_DIGEST]}"
