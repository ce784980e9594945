"""The graph of one subgraph as a delegate sees it, and the questions that several delegates ask of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from . import schema
from .control_dependencies import ControlEdges, control_dependencies
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
    execution_plan: tuple[int, ...]
    """Indices of the nodes that run, in order."""
    control_edges: ControlEdges | None = None
    """Order between nodes that the model gives, None if it gives none."""
    dynamic: DynamicTensor | None = None
    failure: PrepareFailure | None = None

    @functools.cached_property
    def resources(self) -> frozenset[int]:
        """The tensors that stand for variables and tables."""
        return frozenset(tensor.index for tensor in self.tensors if tensor.type == "RESOURCE")

    def view(self, node: Node) -> NodeView:
        """Return a node with its operands, for rules to ask questions of."""
        return NodeView(self, node)

    def with_inputs(self, inputs: Mapping[int, Sequence[int]]) -> Graph:
        """Return this graph with other inputs for some nodes (by node index)."""
        nodes = tuple(node._replace(inputs=tuple(inputs[node.index])) if node.index in inputs else node for node in self.nodes)
        return dataclasses.replace(self, nodes=nodes)


class NodeView:
    """A node with its operands as tensors. What is left out or missing reads as ``NO_TENSOR``."""

    __slots__ = ("_options", "graph", "node", "op", "version")

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node
        self.op = node.op
        self.version = node.version
        self._options: Options | None = None

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The operands."""
        tensors = self.graph.tensors
        return tuple([tensors[index] if index >= 0 else NO_TENSOR for index in self.node.inputs])

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The results."""
        tensors = self.graph.tensors
        return tuple([tensors[index] if index >= 0 else NO_TENSOR for index in self.node.outputs])

    @property
    def options(self) -> Options:
        """The builtin options."""
        if self._options is None:
            self._options = self.graph.model.options(self.node)
        return self._options

    def input(self, position: int) -> Tensor:
        """The operand at a position."""
        indices = self.node.inputs
        index = indices[position] if 0 <= position < len(indices) else OPTIONAL_TENSOR
        return self.graph.tensors[index] if index >= 0 else NO_TENSOR

    def output(self, position: int) -> Tensor:
        """The result at a position."""
        indices = self.node.outputs
        index = indices[position] if 0 <= position < len(indices) else OPTIONAL_TENSOR
        return self.graph.tensors[index] if index >= 0 else NO_TENSOR

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
    resources = graph.resources
    return bool(resources) and not (resources.isdisjoint(node.inputs) and resources.isdisjoint(node.outputs))


def file_graph(model: Model, subgraph: Subgraph) -> Graph:
    """Return a subgraph as the file has it, as delegates that accept dynamic tensors see it."""
    nodes = _added_nodes(subgraph)
    edges = control_dependencies(model)
    return Graph(
        model=model,
        index=subgraph.index,
        name=subgraph.name,
        tensors=subgraph.tensors,
        nodes=nodes,
        inputs=subgraph.inputs,
        outputs=subgraph.outputs,
        execution_plan=tuple(range(len(nodes))),
        control_edges=edges[subgraph.index] if edges else None,
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
