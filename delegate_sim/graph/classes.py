"""Numbers for the tensors and nodes of a model that are alike: what two have in common that have the same number.

A tensor's class tells type, shape, allocation, quantisation, small constants and the size of others, but neither name nor index
nor place in the file. A node's form tells operator, version, options, how many operands there are, and which of them are the
same; its class tells the form and the classes of all operands. Numbers hold for all graphs of a model, those that were changed
for a delegate included.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from ..model.model import Model, Node, Quantization, Tensor
from ..model.numbers import kind_of, shape_of

if TYPE_CHECKING:
    from .graph import Graph

_SMALL_CONSTANT = 64
"""Bytes of a constant that counts for whether tensors are alike: shapes, axes, permutations."""

ABSENT = -1
"""The class of what is not there, such as an operand that is left out."""

AlikeKey: TypeAlias = tuple[int, ...]
"""A node's form, and the classes of its operands and results."""


class Classes:
    """The numbers that one model's tensors and nodes have so far.

    No number is ever given twice, even if several threads ask at once: each takes the next one before it looks for a place.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._tensors: dict[Hashable, int] = {}
        self._forms: dict[Hashable, int] = {}
        self._nodes: dict[AlikeKey, int] = {}
        self._file_tensors: dict[int, Sequence[int]] = {}
        self._file_nodes: dict[int, Sequence[int]] = {}

    def of_tensor(self, model: Model, tensor: Tensor) -> int:
        """Return the class of one tensor, as it is at the moment."""
        content = _content(model, tensor)
        if content is None:
            return next(self._numbers)
        quantization = tensor.quantization
        if quantization is not None:
            kind, scales, zero_points, *rest = quantization
            numbers = (scales.tobytes(), zero_points.tobytes()) if has_one_scale(quantization) else None
            quantization = (kind, len(scales), len(zero_points), *rest, numbers)  # type: ignore[assignment]
        key = (*tensor[2:8], quantization, tensor.scale, tensor.zero_point, tensor.sparsity, content)
        found = self._tensors.get(key)
        return self._tensors.setdefault(key, next(self._numbers)) if found is None else found

    def of_tensors(self, graph: Graph) -> Sequence[int]:
        """Return the classes of a graph's tensors, and behind them ABSENT, which the index -1 of what is left out leads to."""
        model = graph.model
        own = model.subgraphs[graph.index].tensors if graph.index < len(model.subgraphs) else ()
        known = self._file_tensors.get(graph.index)
        if known is None:
            known = self._file_tensors[graph.index] = [*[self.of_tensor(model, tensor) for tensor in own], ABSENT]
        if graph.tensors is own:
            return known
        found = [
            known[index] if index < len(own) and tensor is own[index] else self.of_tensor(model, tensor)
            for index, tensor in enumerate(graph.tensors)
        ]
        return [*found, ABSENT]

    def of_form(self, model: Model, node: Node) -> int:
        """Return the form of one node."""
        operands = node.inputs + node.outputs
        # Whether operands are the same tensor counts too.
        repeated = None if len(set(operands)) == len(operands) else tuple(map(operands.index, operands))
        options = None if node.options is None else model.options(node)
        key = (node.op, node.builtin_code, node.version, options, len(node.inputs), len(node.outputs), repeated)
        return self._forms.setdefault(key, next(self._numbers))

    def of_forms(self, graph: Graph) -> Sequence[int]:
        """Return the forms of a graph's nodes."""
        model = graph.model
        own = model.subgraphs[graph.index].nodes if graph.index < len(model.subgraphs) else ()
        known = self._file_nodes.get(graph.index)
        if known is None:
            known = self._file_nodes[graph.index] = [self.of_form(model, node) for node in own]
        if graph.nodes is own:
            return known
        return [
            known[index] if index < len(own) and node is own[index] else self.of_form(model, node)
            for index, node in enumerate(graph.nodes)
        ]

    def of_node(self, form: int, node: Node, tensors: Sequence[int]) -> int:
        """Return the class of one node among tensors of these classes."""
        return self._nodes.setdefault(node_key(form, node, tensors), next(self._numbers))

    def of_nodes(self, graph: Graph) -> Sequence[int]:
        """Return the classes of the nodes that a graph's plan has; of others, which hardly anybody asks about, ABSENT."""
        nodes, forms, tensors = graph.nodes, graph.node_forms, graph.tensor_classes
        numbers, counter = self._nodes, self._numbers
        found = [ABSENT] * len(nodes)
        for index in graph.execution_plan:
            found[index] = numbers.setdefault(node_key(forms[index], nodes[index], tensors), next(counter))
        return found


_KNOWN: WeakKeyDictionary[Model, Classes] = WeakKeyDictionary()


def classes_of(model: Model) -> Classes:
    """Return the classes of a model, which are kept as long as it is."""
    found = _KNOWN.get(model)
    return _KNOWN.setdefault(model, Classes()) if found is None else found


def node_key(form: int, node: Node, tensors: Sequence[int]) -> AlikeKey:
    """Return what nodes have in common that are alike, among tensors of these classes (``Classes.of_tensors``)."""
    return (form, *map(tensors.__getitem__, node.inputs), *map(tensors.__getitem__, node.outputs))


def has_one_scale(quantization: Quantization) -> bool:
    """Whether a tensor's class tells scales and zero points: where there is at most one of each."""
    return len(quantization.scales) <= 1 and len(quantization.zero_points) <= 1


def is_told(tensor: Tensor) -> bool:
    """Whether a tensor's class tells its value: where that is small, or not known before the model runs."""
    if tensor.value is not None:
        return tensor.value.nbytes <= _SMALL_CONSTANT
    return tensor.data is None or tensor.data[1] <= _SMALL_CONSTANT


def _content(model: Model, tensor: Tensor) -> Hashable:
    """Return what a class tells of a tensor's value; None where only the tensor itself is like it."""
    if tensor.value is not None:
        value = tensor.value
        return (kind_of(value), shape_of(value), value.tobytes()) if value.nbytes <= _SMALL_CONSTANT else None
    if tensor.data is None:
        return "unknown"
    offset, size = tensor.data
    return bytes(model.content[offset : offset + size]) if size <= _SMALL_CONSTANT else size
