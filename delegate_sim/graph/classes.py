"""Numbers for the tensors and nodes of a model that are alike: what two have in common that have the same number.

A tensor's class tells type, shape, allocation, quantisation, small constants and the size of others, but neither name nor index
nor place in the file. A node's form tells operator, version, options, how many operands there are, and which of them are the
same; its class tells the form and the classes of all operands. Numbers hold for all graphs of a model, those that were changed
for a delegate included, and for all models that are made of it (``derived``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import add, attrgetter, eq, is_, itemgetter, not_
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from ..model.model import Model, Node, Quantization, Tensor
from ..model.numbers import kind_of, shape_of

if TYPE_CHECKING:
    from .graph import Graph

_SMALL_CONSTANT = 64
"""Bytes of a constant that counts for whether tensors are alike: shapes, axes, permutations."""

_CROWDED_AT_LEAST, _CROWDED = 2000, 4
"""Classes of nodes that are numbered together, and more for each node of a model, before what is made of it begins anew."""

ABSENT = -1
"""The class of what is not there, such as an operand that is left out."""

AlikeKey: TypeAlias = tuple[int, tuple[int, ...]]
"""A node's form, and the classes of its operands and results."""


def _fields(kind: type[tuple[Any, ...]], first: str, last: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return what takes fields out of a named tuple that stand side by side, which is several times faster than by name."""
    names = kind._fields  # type: ignore[attr-defined]
    return itemgetter(slice(names.index(first), names.index(last) + 1))


_SHAPE_OF = _fields(Tensor, "type", "allocation")
_SCALE_OF = _fields(Tensor, "scale", "sparsity")
_OPERATOR_OF = _fields(Node, "op", "version")
_INPUTS, _OUTPUTS = attrgetter("inputs"), attrgetter("outputs")


class Kin:
    """The numbers that a model's tensors and nodes have so far, and those of all that is made of it.

    No number is ever given twice, even if several threads ask at once: each takes the next one before it looks for a place.
    """

    def __init__(self) -> None:
        self.numbers = itertools.count()
        self.tensors: dict[Hashable, int] = {}
        self.forms: dict[Hashable, int] = {}
        self.nodes: dict[AlikeKey, int] = {}


class Classes:
    """Finds the numbers of one model's tensors and nodes.

    As there are many, all are numbered at once where that can be, in loops outside Python's bytecode.
    """

    def __init__(self, kin: Kin | None = None) -> None:
        self.kin = kin or Kin()
        self._file_tensors: dict[int, Sequence[int]] = {}
        self._file_forms: dict[int, Sequence[int]] = {}
        self._file_nodes: dict[int, Sequence[int]] = {}

    def of_tensor(self, model: Model, tensor: Tensor) -> int:
        """Return the class of one tensor, as it is at the moment."""
        return self._number_tensors(model, (tensor,))[0]

    def of_tensors(self, graph: Graph) -> Sequence[int]:
        """Return the classes of a graph's tensors, and behind them ABSENT, which the index -1 of what is left out leads to."""
        model = graph.model
        own = model.subgraphs[graph.index].tensors if graph.index < len(model.subgraphs) else ()
        known = self._file_tensors.get(graph.index)
        if known is None:
            known = self._file_tensors[graph.index] = [*self._number_tensors(model, own), ABSENT]
        if graph.tensors is own:
            return known
        changed = _different(is_, graph.tensors, own)
        if not changed:
            return known
        found = [*known[:-1], *[ABSENT] * (1 + max(0, len(graph.tensors) - len(own)))]
        for index, number in zip(changed, self._number_tensors(model, [graph.tensors[index] for index in changed]), strict=True):
            found[index] = number
        return found

    def of_form(self, model: Model, node: Node) -> int:
        """Return the form of one node."""
        return self._number_forms(model, (node,))[0]

    def of_forms(self, graph: Graph) -> Sequence[int]:
        """Return the forms of a graph's nodes."""
        model = graph.model
        own = model.subgraphs[graph.index].nodes if graph.index < len(model.subgraphs) else ()
        known = self._file_forms.get(graph.index)
        if known is None:
            known = self._file_forms[graph.index] = self._number_forms(model, own)
        if graph.nodes is own:
            return known
        changed = _different(is_, graph.nodes, own)
        found = [*known, *[ABSENT] * (len(graph.nodes) - len(known))]
        for index, number in zip(changed, self._number_forms(model, [graph.nodes[index] for index in changed]), strict=True):
            found[index] = number
        return found

    def of_node(self, form: int, node: Node, tensors: Sequence[int]) -> int:
        """Return the class of one node among tensors of these classes, as ``of_tensors`` gives them."""
        return self._number_nodes((form,), (node,), tensors)[0]

    def of_nodes(self, graph: Graph) -> Sequence[int]:
        """Return the classes of a graph's nodes."""
        nodes, forms, tensors = graph.nodes, graph.node_forms, graph.tensor_classes
        file_forms, file_tensors = self._file_forms.get(graph.index), self._file_tensors.get(graph.index)
        if graph.index >= len(graph.model.subgraphs) or file_forms is None or file_tensors is None:
            return self._number_nodes(forms, nodes, tensors)
        own = graph.model.subgraphs[graph.index].nodes
        known = self._file_nodes.get(graph.index)
        if known is None:
            known = self._file_nodes[graph.index] = self._number_nodes(file_forms, own, file_tensors)
        changed = set() if nodes is own else set(_different(is_, nodes, own))
        if tensors is not file_tensors:
            is_elsewhere = frozenset(_different(eq, tensors, file_tensors)).isdisjoint
            changed.update(itertools.compress(itertools.count(), map(not_, map(is_elsewhere, _operands(nodes)))))
        if not changed and len(nodes) == len(known):
            return known
        found = [*known, *[ABSENT] * (len(nodes) - len(known))]
        numbers = self._number_nodes([forms[index] for index in changed], [nodes[index] for index in changed], tensors)
        for index, number in zip(changed, numbers, strict=True):
            found[index] = number
        return found

    def _number_tensors(self, model: Model, tensors: Sequence[Tensor]) -> list[int]:
        quantizations = [None if tensor.quantization is None else _quantization(tensor.quantization) for tensor in tensors]
        contents = [_UNKNOWN if tensor.data is None and tensor.value is None else _content(model, tensor) for tensor in tensors]
        keys = zip(map(_SHAPE_OF, tensors), map(_SCALE_OF, tensors), quantizations, contents, strict=True)
        return list(map(self.kin.tensors.setdefault, keys, self.kin.numbers))

    def _number_forms(self, model: Model, nodes: Sequence[Node]) -> list[int]:
        options = [None if node.options is None else model.options(node) for node in nodes]
        keys = zip(
            map(_OPERATOR_OF, nodes),
            options,
            map(len, map(_INPUTS, nodes)),
            map(len, map(_OUTPUTS, nodes)),
            _repeated(nodes),
            strict=False,
        )
        return list(map(self.kin.forms.setdefault, keys, self.kin.numbers))

    def _number_nodes(self, forms: Iterable[int], nodes: Sequence[Node], tensors: Sequence[int]) -> list[int]:
        operands = map(map, itertools.repeat(tensors.__getitem__), _operands(nodes))
        keys = zip(forms, map(tuple, operands), strict=False)
        return list(map(self.kin.nodes.setdefault, keys, self.kin.numbers))


_KNOWN: WeakKeyDictionary[Model, Classes] = WeakKeyDictionary()


def classes_of(model: Model) -> Classes:
    """Return the classes of a model, which are kept as long as it is."""
    found = _KNOWN.get(model)
    return _KNOWN.setdefault(model, Classes()) if found is None else found


def derived(model: Model, **changes: object) -> Model:
    """Return a model of the same bytes with some fields changed, whose tensors and nodes are numbered with those of the first."""
    made = model.with_same_bytes(**changes)
    kin = classes_of(model).kin
    count = sum([len(subgraph.nodes) for subgraph in model.subgraphs])
    is_crowded = len(kin.nodes) > _CROWDED_AT_LEAST + _CROWDED * count
    _KNOWN[made] = Classes(None if is_crowded else kin)
    return made


def has_one_scale(quantization: Quantization) -> bool:
    """Whether a tensor's class tells scales and zero points: where there is at most one of each."""
    return len(quantization.scales) <= 1 and len(quantization.zero_points) <= 1


def is_told(tensor: Tensor) -> bool:
    """Whether a tensor's class tells its value: where that is small, or not known before the model runs."""
    if tensor.value is not None:
        return tensor.value.nbytes <= _SMALL_CONSTANT
    return tensor.data is None or tensor.data[1] <= _SMALL_CONSTANT


def _different(is_same: Callable[[Any, Any], Any], found: Sequence[Any], known: Sequence[Any]) -> list[int]:
    """Return the positions at which something else is found than what was known, or at which nothing was."""
    changed = list(itertools.compress(itertools.count(), map(not_, map(is_same, found, known))))
    return [*changed, *range(len(known), len(found))]


def _operands(nodes: Iterable[Node]) -> Iterator[tuple[int, ...]]:
    return map(add, map(_INPUTS, nodes), map(_OUTPUTS, nodes))


def _repeated(nodes: Sequence[Node]) -> Iterator[tuple[int, ...] | None]:
    """Tell of each node which of its operands are the same tensor; None where none are."""
    counts = list(map(len, _operands(nodes)))
    different = list(map(len, map(set, _operands(nodes))))
    if counts == different:
        return itertools.repeat(None)
    return iter(
        [
            None if count == own else tuple(map(operands.index, operands))
            for count, own, operands in zip(counts, different, _operands(nodes), strict=True)
        ]
    )


def _quantization(quantization: Quantization) -> Hashable:
    """Return what a class tells of a tensor's quantisation."""
    kind, scales, zero_points, *rest = quantization
    numbers = (scales.tobytes(), zero_points.tobytes()) if has_one_scale(quantization) else None
    return (kind, len(scales), len(zero_points), *rest, numbers)


_UNKNOWN = "unknown"
"""The content of a tensor that has no value before the model runs."""


def _content(model: Model, tensor: Tensor) -> Hashable:
    """Return what a class tells of a tensor's value: what is like nothing else where only the tensor itself is like it."""
    if tensor.value is not None:
        value = tensor.value
        return (kind_of(value), shape_of(value), value.tobytes()) if value.nbytes <= _SMALL_CONSTANT else object()
    if tensor.data is None:
        return _UNKNOWN
    offset, size = tensor.data
    return bytes(model.content[offset : offset + size]) if size <= _SMALL_CONSTANT else size
