"""Whether the delegate's model of a partition can be built, found out without building it, where that is plain.

What a node adds to the model rests on the node's class: it is built by itself at the first of them (``graph.alike``). What else
can go wrong comes of how nodes are joined: two that write one tensor, and one that reads what an identity gives beside what it
was given. Where either may be, or a node adds something that the clean-up looks at further, nothing is said: the model is then
built as a whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ....graph.alike import AlikeAnswers
from ....graph.graph import Graph, NodeView
from ....graph.partition import Subset
from ....model.model import Node
from ....named_tuples import NamedTuple
from ....releases.catalogue import Release
from .model import BuildError, GpuModel, Operation
from .reader import Values
from .recurrent import GATE_SUM
from .transformations import is_identity

Build: TypeAlias = Callable[[GpuModel, Values, NodeView], None]
"""Adds a node to a model."""

_LOOKED_AT_FURTHER = frozenset({"DENSIFY", GATE_SUM})


class _Addition(NamedTuple):
    """What a node adds to the model, if that is plain; ``identities`` are pairs of what is read and given, by positions."""

    is_plain: bool
    identities: tuple[tuple[int, int], ...] = ()


_UNCLEAR = _Addition(False)
_PLAIN = _Addition(True)
"""What most nodes add."""


def is_accepted(graph: Graph, subset: Subset, build: Build, allow_quant_ops: bool, release: Release) -> bool:
    """Whether it is known that the model of a partition, between whose borders nothing is wrong, can be built."""
    additions = _additions(graph, build, allow_quant_ops, release)
    written, origins, nodes = list[int](), dict[int, int](), [graph.nodes[index] for index in subset.nodes]
    for node in nodes:
        addition = additions.answer(node)
        if addition is None or not addition.is_plain:
            return False
        written += node.outputs
        for source, result in addition.identities:
            origins[node.outputs[result]] = origins.get(node.inputs[source], node.inputs[source])
    return len(set(written)) == len(written) and not (origins and _is_read_twice(nodes, origins))


@functools.lru_cache(maxsize=2)
def _additions(graph: Graph, build: Build, allow_quant_ops: bool, release: Release) -> AlikeAnswers[_Addition]:
    """Tell what nodes add, for all partitions of a graph."""

    def addition(view: NodeView) -> _Addition:
        model = GpuModel()
        if any(tensor.is_variable for tensor in view.inputs):
            return _UNCLEAR
        try:
            build(model, Values(view.graph, allow_quant_ops, release), view)
            found = tuple(_identities(model, view.node))
        except (BuildError, _NotPlain):
            return _UNCLEAR
        return _Addition(True, found) if found else _PLAIN

    return AlikeAnswers(graph, addition)


class _NotPlain(Exception):
    """A node adds something whose fate depends on others."""


def _identities(model: GpuModel, node: Node) -> Iterator[tuple[int, int]]:
    for operation in model.operations:
        if operation.kind in _LOOKED_AT_FURTHER:
            raise _NotPlain
        if operation.kind == "CONSTANT" and not _is_read_once_within(operation):
            raise _NotPlain
        if any(value.tensor is not None and value.tensor.index in node.outputs for value in operation.inputs):
            raise _NotPlain
        if is_identity(operation):
            yield from _ends(operation, node)


def _is_read_once_within(operation: Operation) -> bool:
    """Whether nothing but one operation of the same node reads a constant."""
    return all(value.tensor is None and len(value.consumers) == 1 for value in operation.outputs)


def _ends(operation: Operation, node: Node) -> Iterator[tuple[int, int]]:
    """Return the operand and the result that an identity joins; none if it reads what nothing else does."""
    source, result = operation.input(0), operation.output(0)
    if len(operation.outputs) != 1 or source.shape != result.shape or result.tensor is None:
        raise _NotPlain
    if source.tensor is not None:
        yield node.inputs.index(source.tensor.index), node.outputs.index(result.tensor.index)
    elif len(source.consumers) != 1:
        raise _NotPlain


def _is_read_twice(nodes: Sequence[Node], origins: Mapping[int, int]) -> bool:
    """Whether a node may read one tensor twice once identities are removed."""
    for node in nodes:
        operands = set(node.inputs)
        if len(operands) > 1 and len({origins.get(operand, operand) for operand in operands}) < len(operands):
            return True
    return False
