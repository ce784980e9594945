"""The graph of one subgraph as a delegate sees it, and the questions that several delegates ask of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy.typing as npt

from . import schema
from .model import NO_TENSOR, OPTIONAL_TENSOR, Model, Node, Options, Subgraph, Tensor


class DynamicTensor(NamedTuple):
    """The first tensor whose size is known only while running, the node that makes it so and the operand that is to blame.

    ``node`` is None for a tensor that is dynamic from the start; ``cause`` is the tensor that would have to be constant,
    None if no constant would help.
    """

    tensor: int
    node: int | None
    cause: int | None


class PrepareFailure(NamedTuple):
    """A node that the CPU runtime cannot prepare."""

    node: int
    message: str


@dataclass(frozen=True)
class Graph:
    """One subgraph: tensors and nodes in index order, and what preparing it found.

    ``inputs`` and ``outputs`` are tensor indices; an input that control flow found unused is -1.
    """

    model: Model
    index: int
    name: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dynamic: DynamicTensor | None = None
    failure: PrepareFailure | None = None

    def view(self, node: Node) -> NodeView:
        """Return a node with its operands, for rules to ask questions of."""
        return NodeView(self, node)

    def with_inputs(self, inputs: Mapping[int, Sequence[int]]) -> Graph:
        """Return this graph with other inputs for some nodes (by node index)."""
        nodes = tuple(node._replace(inputs=tuple(inputs[node.index])) if node.index in inputs else node for node in self.nodes)
        return dataclasses.replace(self, nodes=nodes)


class NodeView:
    """A node with its operands as tensors. What is left out or missing reads as ``NO_TENSOR``."""

    __slots__ = ("_options", "graph", "inputs", "node", "outputs")

    def __init__(self, graph: Graph, node: Node) -> None:
        tensors = graph.tensors
        self.graph = graph
        self.node = node
        self.inputs = tuple(tensors[index] if index >= 0 else NO_TENSOR for index in node.inputs)
        self.outputs = tuple(tensors[index] if index >= 0 else NO_TENSOR for index in node.outputs)
        self._options: Options | None = None

    @property
    def op(self) -> str:
        """The operator's name."""
        return self.node.op

    @property
    def version(self) -> int:
        """The operator's version."""
        return self.node.version

    @property
    def options(self) -> Options:
        """The builtin options."""
        if self._options is None:
            self._options = self.graph.model.options(self.node)
        return self._options

    def input(self, position: int) -> Tensor:
        """The operand at a position."""
        return self.inputs[position] if 0 <= position < len(self.inputs) else NO_TENSOR

    def output(self, position: int) -> Tensor:
        """The result at a position."""
        return self.outputs[position] if 0 <= position < len(self.outputs) else NO_TENSOR

    def value(self, tensor: Tensor) -> npt.NDArray[Any] | None:
        """The elements of a constant or persistent tensor, flat; None for others."""
        return self.graph.model.constant(tensor)

    @property
    def is_constant_float16_dequantize(self) -> bool:
        """Whether this node only widens constant float16 weights (``FP16GraphPartitionHelper`` in ``delegates/utils.cc``)."""
        return self.op == "DEQUANTIZE" and self.input(0).type == "FLOAT16" and self.input(0).is_constant


def has_side_effects(graph: Graph, node: Node) -> bool:
    """Whether the order of this node against others like it must be kept (``OpMightHaveSideEffect``, ``core/subgraph.cc``)."""
    if node.op in ("IF", "WHILE", "CALL_ONCE"):
        return True
    return any(index >= 0 and graph.tensors[index].type == "RESOURCE" for index in (*node.inputs, *node.outputs))


def file_graph(model: Model, subgraph: Subgraph) -> Graph:
    """Return a subgraph as the file has it, as delegates that accept dynamic tensors see it."""
    return Graph(
        model=model,
        index=subgraph.index,
        name=subgraph.name,
        tensors=subgraph.tensors,
        nodes=_added_nodes(subgraph),
        inputs=subgraph.inputs,
        outputs=subgraph.outputs,
    )


def _added_nodes(subgraph: Subgraph) -> tuple[Node, ...]:
    """Leave out the nodes that the runtime refuses to add, which shifts the indices behind them.

    A builtin node with parameters whose output is also its input is one (``AddNodeWithParameters``, ``core/subgraph.cc``).
    """
    kept = [node for node in subgraph.nodes if not (_has_parameters(node) and _feeds_itself(node))]
    if len(kept) == len(subgraph.nodes):
        return subgraph.nodes
    return tuple(node._replace(index=index) for index, node in enumerate(kept))


def _feeds_itself(node: Node) -> bool:
    return not set(node.inputs).isdisjoint(node.outputs)


def _has_parameters(node: Node) -> bool:
    return node.builtin_code != schema.CUSTOM and node.op not in OPS_WITHOUT_PARAMETERS


OPS_WITHOUT_PARAMETERS: frozenset[str] = frozenset()
"""Builtin operators for which the runtime allocates no parameters (``ParseOpDataTfLite``, ``flatbuffer_conversions.cc``)."""

__all__ = [
    "OPTIONAL_TENSOR",
    "DynamicTensor",
    "Graph",
    "MappingProxyType",
    "NodeView",
    "PrepareFailure",
    "file_graph",
    "has_side_effects",
]
