"""Forms of nodes. Nodes of one form share what depends only on a node and its operands.

Nodes of one form have the same operator, version, options and operands. They differ only in the indices and names of nodes and
tensors, and in buffers. Large constants and lists of scales are equal only if they are the same, or if they repeat one number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, TypeVar

from ..model.model import Model, Node, Quantization, Tensor
from ..model.numbers import FlatNumbers, RepeatedNumber, StoredNumbers
from .analysis_cache import AnalysisCache
from .graph import Graph

_Key = TypeVar("_Key", bound=Hashable)
_Result = TypeVar("_Result")

_SMALL_CONSTANT = 64
"""Largest size in bytes of a constant that is compared by value, such as a shape, axes or a permutation."""
OMITTED = -1
"""The form of an omitted operand."""


class FormTable(dict[_Key, _Result]):
    """A table of results by form. It is emptied when it is full, so a result can be missing, but is never wrong."""

    most: ClassVar[int] = 1 << 14
    """Number of results that are kept at most, so that models with many different nodes need little memory."""

    def add(self, key: _Key, result: _Result) -> _Result:
        """Add a result and return it."""
        if len(self) >= self.most:
            self.clear()
        self[key] = result
        return result


class _LargeTable(FormTable[_Key, _Result]):
    """A table of numbers, and of tensors and nodes with a known number."""

    most: ClassVar[int] = 1 << 16


class Forms:
    """Numbers for the forms of nodes and tensors in all models with the same bytes. Equal numbers mean equal forms."""

    def __init__(self) -> None:
        self._numbers: _LargeTable[Hashable, int] = _LargeTable()
        self._next = 0
        self._tensors: _LargeTable[int, tuple[Tensor, int]] = _LargeTable()
        self._nodes: _LargeTable[int, tuple[Node, Sequence[Tensor], int]] = _LargeTable()
        self._kinds: _LargeTable[Hashable, int] = _LargeTable()
        self._kinds_at: _LargeTable[Hashable, int] = _LargeTable()
        """The forms of nodes without operands, by operator, operand counts and place of the options."""
        self._quantizations: _LargeTable[int, tuple[Quantization, Hashable]] = _LargeTable()
        self._compared: _LargeTable[int, object] = _LargeTable()
        """The objects that are compared by identity. As long as they are here, no other object gets their identity."""

    def number(self, form: Hashable) -> int:
        """Return the number of a form."""
        number = self._numbers.get(form)
        if number is None:
            number = self._next
            self._next += 1
            self._numbers.add(form, number)
        return number

    def tensor(self, model: Model, tensor: Tensor) -> int:
        """Return the form of a tensor."""
        known = self._tensors.get(id(tensor))
        if known is None or known[0] is not tensor:
            known = self._tensors.add(id(tensor), (tensor, self.state(model, tensor)))
        return known[1]

    def state(self, model: Model, tensor: Tensor) -> int:
        """Return the form of a tensor that is not seen again."""
        shape = tensor.has_rank, tensor.shape, tensor.shape_signature
        place: Hashable = tensor.data
        if tensor.data is not None and tensor.data[1] <= _SMALL_CONSTANT:
            offset, size = tensor.data
            place = bytes(model.content[offset : offset + size])
        storage = (
            tensor.allocation,
            tensor.is_variable,
            tensor.external_buffer,
            tensor.sparsity,
            place,
            self._values(tensor.value),
        )
        own = tensor.scale, tensor.zero_point
        return self.number((tensor.type, *shape, *storage, *own, self._quantization(tensor)))

    def _quantization(self, tensor: Tensor) -> Hashable:
        given = tensor.quantization
        if given is None:
            return None
        known = self._quantizations.get(id(given))
        if known is None or known[0] is not given:
            is_plain = given.is_affine and len(given.scales) == len(given.zero_points) == 1 and given.scale > 0
            own: Hashable = self._identity(given)
            if is_plain:
                own = given.scale, given.zero_point, given.dimension
            elif given.is_affine and isinstance(given.scales, RepeatedNumber) and isinstance(given.zero_points, RepeatedNumber):
                own = given.scales.form, given.zero_points.form, given.dimension
            known = self._quantizations.add(id(given), (given, own))
        return known[1]

    def _values(self, values: FlatNumbers | None) -> Hashable:
        if values is None:
            return None
        if isinstance(values, RepeatedNumber):
            return values.form
        if values.nbytes > _SMALL_CONSTANT:
            return self._identity(values)
        if isinstance(values, StoredNumbers):
            return values.kind, values.tobytes()
        dtype = getattr(values, "dtype", None)  # an array of numpy, which is imported late
        return self._identity(values) if dtype is None or dtype.hasobject else (dtype.str, values.tobytes())

    def _identity(self, item: object) -> int:
        if id(item) not in self._compared:
            if len(self._compared) >= self._compared.most:
                self._numbers.clear()
                self._quantizations.clear()
            self._compared.add(id(item), item)
        return id(item)

    def kind(self, model: Model, node: Node) -> int:
        """Return the form of a node without the forms of its operands."""
        content = node[1:]  # without the index, which a change of other nodes changes
        known = self._kinds.get(content)
        return self._kinds.add(content, self._kind(model, node)) if known is None else known

    def _kind(self, model: Model, node: Node) -> int:
        _, op, builtin_code, _, version, inputs, outputs, intermediates, options, custom_options = node
        repeated = _repeated(inputs + outputs + intermediates)
        own = op, builtin_code, version, options is None, custom_options, len(inputs), len(outputs), repeated
        place = own, options
        known = self._kinds_at.get(place)
        if known is None:
            known = self._kinds_at.add(place, self.number((own, _options(model, node))))
        return known

    def nodes(self, model: Model, tensors: Sequence[Tensor], nodes: Iterable[Node]) -> Sequence[int]:
        """Return the forms of nodes. A changed model shares the nodes and tensors that the change keeps, and their forms."""
        known = self._nodes
        changed: dict[int, set[int]] = {}
        of_tensor = {OMITTED: OMITTED}
        forms = []
        for node in nodes:
            own = known.get(id(node))
            if own is not None and own[0] is node:
                before = own[1]
                if before is tensors:
                    forms.append(own[2])
                    continue
                if id(before) not in changed:
                    changed[id(before)] = {
                        index for index, pair in enumerate(zip(before, tensors, strict=False)) if pair[0] is not pair[1]
                    }
                if changed[id(before)].isdisjoint(node.inputs + node.outputs + node.intermediates):
                    forms.append(own[2])
                    continue
            operands = node.inputs + node.outputs + node.intermediates
            for index in operands:
                if index not in of_tensor:
                    of_tensor[index] = self.tensor(model, tensors[index])
            form = self.number((self.kind(model, node), *map(of_tensor.__getitem__, operands)))
            known.add(id(node), (node, tensors, form))
            forms.append(form)
        return forms


def _options(model: Model, node: Node) -> Hashable:
    """Return the options of a node. Equal options of the file are one object. Changed options are compared by their fields."""
    options = model.options(node)
    if node.options is None or node.options[1] >= 0 or options.table is None:
        return options
    fields = sorted(options)
    return (options.table, repr(fields)) if all(_is_plain(value) for _, value in fields) else node.options


def _is_plain(value: object) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, tuple) else isinstance(value, (bool, int, float, str, bytes))


def _repeated(operands: Sequence[int]) -> Hashable:
    if len(set(operands)) == len(operands):
        return None
    first = dict(zip(reversed(operands), range(len(operands)), strict=True))
    return tuple([first[operand] for operand in operands])


def forms_of(cache: AnalysisCache, model: Model) -> Forms:
    """Return the forms of all models of an analysis that have the same bytes as a model."""
    return cache.get("forms", (model.same_bytes,), Forms)


def node_forms(graph: Graph) -> Sequence[int]:
    """Return the form of each node of a graph, as a number."""
    forms = forms_of(graph.shared, graph.model)
    return graph.results.get("forms", (forms,), lambda: forms.nodes(graph.model, graph.tensors, graph.nodes))
