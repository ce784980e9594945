"""What a delegate would do if something about the model, the delegate or the target were different."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..delegates.base import Delegate, Options
from ..errors import OptionError
from ..graph.graph import file_graphs
from ..model.model import Model, Node, OperatorCode, Subgraph, Tensor
from ..releases.catalogue import Release
from .interpreter import Assumptions, Run, simulate


class NodeKey(NamedTuple):
    """A node: its subgraph and its index there."""

    subgraph: int
    node: int


@dataclass(frozen=True)
class Supposition:
    """What is assumed to be different.

    ``op_versions`` and ``node_versions`` give operators, or single nodes, another version; ``batch`` is the leading dimension of
    every input; ``fixed_shapes`` says that every tensor has the shape that the file gives it.
    """

    accepted_ops: frozenset[str] = frozenset()
    accepted_nodes: frozenset[NodeKey] = frozenset()
    op_versions: Mapping[str, int] = field(default_factory=dict)
    node_versions: Mapping[NodeKey, int] = field(default_factory=dict)
    batch: int | None = None
    fixed_shapes: bool = False
    has_own_resolver: bool = False
    """Whether the application registers every operator that the runtime's own resolver does not have."""


def simulate_if(
    model: Model, delegate: Delegate, options: Options, release: Release, defaults: str, supposition: Supposition
) -> Run:
    """Apply a delegate to a model under a supposition. Raises OptionError for an operator or node that the model lacks."""
    _check(model, supposition)
    assumptions = Assumptions(_accepted(model, supposition), supposition.fixed_shapes, supposition.has_own_resolver)
    return simulate(changed_model(model, supposition), delegate, options, release, defaults, assumptions)


def changed_model(model: Model, supposition: Supposition) -> Model:
    """Return the model with the versions and the batch of a supposition, the same model if it has none."""
    if not supposition.op_versions and not supposition.node_versions and supposition.batch is None:
        return model
    subgraphs = tuple([_changed_subgraph(subgraph, supposition) for subgraph in model.subgraphs])
    return dataclasses.replace(model, subgraphs=subgraphs, operator_codes=_changed_codes(model, subgraphs))


def _changed_codes(model: Model, subgraphs: Sequence[Subgraph]) -> tuple[OperatorCode, ...]:
    """Return the operators that the file would list: those that no node uses stay."""
    used: dict[OperatorCode, dict[OperatorCode, None]] = {}
    for old, new in zip(model.subgraphs, subgraphs, strict=True):
        for before, after in zip(old.nodes, new.nodes, strict=True):
            used.setdefault(_code(before), {})[_code(after)] = None
    return tuple(dict.fromkeys([code for listed in model.operator_codes for code in used.get(listed, (listed,))]))


def _code(node: Node) -> OperatorCode:
    return OperatorCode(node.op, node.builtin_code, node.custom_code, node.version)


def _changed_subgraph(subgraph: Subgraph, supposition: Supposition) -> Subgraph:
    nodes, tensors = subgraph.nodes, subgraph.tensors
    if supposition.op_versions or supposition.node_versions:
        nodes = tuple([_with_version(node, subgraph.index, supposition) for node in nodes])
    # Subgraphs that others call get their shapes from these.
    if supposition.batch is not None and subgraph.index == 0:
        inputs = frozenset(subgraph.inputs)
        tensors = tuple([_with_batch(tensor, tensor.index in inputs, supposition.batch) for tensor in tensors])
    return subgraph._replace(nodes=nodes, tensors=tensors)


def _with_version(node: Node, subgraph: int, supposition: Supposition) -> Node:
    of_op = supposition.op_versions.get(node.op)
    version = supposition.node_versions.get(NodeKey(subgraph, node.index), of_op)
    return node if version is None else node._replace(version=version)


def _with_batch(tensor: Tensor, is_input: bool, batch: int) -> Tensor:
    """Give an input another leading dimension; a leading dimension that the file leaves open becomes known everywhere."""
    signature = tensor.shape_signature
    if signature and signature[0] == -1:
        signature = (batch, *signature[1:])
    shape = (batch, *tensor.shape[1:]) if is_input and tensor.shape else tensor.shape
    if shape == tensor.shape and signature == tensor.shape_signature:
        return tensor
    return tensor._replace(shape=shape, shape_signature=None if signature == shape else signature)


def _accepted(model: Model, supposition: Supposition) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for key in supposition.accepted_nodes:
        found.setdefault(key.subgraph, set()).add(key.node)
    if supposition.accepted_ops:
        for graph in file_graphs(model):
            found.setdefault(graph.index, set()).update(node.index for node in graph.nodes if node.op in supposition.accepted_ops)
    return {subgraph: frozenset(nodes) for subgraph, nodes in found.items()}


def _check(model: Model, supposition: Supposition) -> None:
    """Refuse names that would change nothing."""
    graphs = file_graphs(model)
    ops = {node.op for graph in graphs for node in graph.nodes}
    for op in _named(supposition):
        if op not in ops:
            raise OptionError(f"the model has no node of {op}; its operators are {', '.join(sorted(ops))}")
    for key in _keys(supposition):
        if not (0 <= key.subgraph < len(graphs) and 0 <= key.node < len(graphs[key.subgraph].nodes)):
            raise OptionError(f"the model has no node {key.node} in subgraph {key.subgraph}")
    if supposition.batch is not None and supposition.batch < 1:
        raise OptionError(f"a batch has at least 1 element, not {supposition.batch}")


def _named(supposition: Supposition) -> Iterator[str]:
    yield from sorted(supposition.accepted_ops)
    yield from supposition.op_versions


def _keys(supposition: Supposition) -> Iterable[NodeKey]:
    return [*supposition.accepted_nodes, *supposition.node_versions]
