"""The workspace of a pass. It has the nodes and tensors of one subgraph, and methods that add tensors and nodes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from ..foundation.late_numpy import MOST_ARRAY_DIMENSIONS, np
from ..foundation.limits import raised
from ..graph.analysis_cache import AnalysisCache
from ..hypothetical.model_editing import Editor
from ..model import schema
from ..model.model import NO_TENSOR, Allocation, Model, Node, Quantization, Tensor
from ..model.options import Options
from ..prepare.preparation import fold, prepare
from ..rules.operands import is_whole

if TYPE_CHECKING:
    import numpy.typing as npt

SMALL = 1 << 12
"""Constants with at most this number of elements are computed immediately.

Larger constants are computed when the rewritten model is written to a file.
"""
_MOST_ADDED = 200_000
"""Largest number of operands that a pass adds, and of tensors that it and earlier passes add, together."""
_MOST_ELEMENTS = 1 << 22
"""Largest number of elements of constants that one pass computes, together."""
_NUMBERS = itertools.count(1)

_GREATEST_SIZE = (1 << 31) - 1

WorkCount: TypeAlias = "Callable[[], npt.NDArray[Any]]"


class TooLargeError(Exception):
    """Raised if a pass needs a size or constant that the format cannot store or that exceeds a limit."""


class Growth:
    """The limits on what a pass adds to a model.

    A shape, not the size of the file, decides how many tensors and elements a pass adds for a node. ``original`` is the model in
    the file, and ``before`` is the model after earlier passes.
    """

    def __init__(self, original: Model, before: Model) -> None:
        self._tensors = raised(_MOST_ADDED) + _tensor_count(original) - _tensor_count(before)
        self._elements = raised(_MOST_ELEMENTS)

    def spend(self, tensors: int = 0, elements: int = 0) -> None:
        """Count added tensors or operands, and computed elements. Raise TooLargeError if there are too many."""
        self._tensors -= tensors
        self._elements -= elements
        if min(self._tensors, self._elements) < 0:
            raise TooLargeError("the pass adds too much to the model")


def _tensor_count(model: Model) -> int:
    return sum([len(subgraph.tensors) for subgraph in model.subgraphs])


class Work:
    """One subgraph that a pass rewrites.

    ``chosen`` has the nodes to rewrite. If ``chosen`` is None, all nodes may be rewritten.
    """

    def __init__(
        self,
        editor: Editor,
        chosen: Collection[int] | None,
        weights: dict[int, WorkCount],
        growth: Growth | None = None,
        cache: AnalysisCache | None = None,
    ) -> None:
        self.editor = editor
        self.model: Model = editor.model
        self._chosen = chosen
        self.weights = weights
        self._growth = growth or Growth(editor.model, editor.model)
        self._cache = AnalysisCache() if cache is None else cache

    def is_chosen(self, origin: int) -> bool:
        """Return whether the pass may rewrite a node. ``origin`` is the node's index before the pass."""
        return origin >= 0 and (self._chosen is None or origin in self._chosen)

    def tensor(self, index: int) -> Tensor:
        """Return the tensor with an index. A negative index marks an omitted tensor, so the result is then ``NO_TENSOR``."""
        return self.editor.tensors[index] if index >= 0 else NO_TENSOR

    def input(self, node: Node, position: int) -> Tensor:
        """Return an input of a node, or ``NO_TENSOR`` if the node has no input at this position."""
        return self.tensor(node.inputs[position]) if position < len(node.inputs) else NO_TENSOR

    def output(self, node: Node, position: int = 0) -> Tensor:
        """Return an output of a node, or ``NO_TENSOR`` if the node has no output at this position."""
        return self.tensor(node.outputs[position]) if position < len(node.outputs) else NO_TENSOR

    def options(self, node: Node) -> Options:
        """Return the options of a node."""
        return self.editor.options_of(node)

    def values(self, tensor: Tensor) -> npt.NDArray[Any] | None:
        """Return the elements of a small constant, in its shape. Return None for other tensors."""
        if not tensor.is_constant or tensor.element_count > SMALL:
            return None
        return self._stored(tensor)

    def integers(self, tensor: Tensor) -> npt.NDArray[Any] | None:
        """Return the elements of a small integer constant, such as axes, in its shape. Return None for other tensors."""
        values = self.values(tensor)
        return values if values is not None and values.dtype.kind in "iu" else None

    def _stored(self, tensor: Tensor) -> npt.NDArray[Any] | None:
        if tensor.buffer < 0:
            return self.weights[tensor.buffer]()
        constant = self.model.constant(tensor)
        if constant is None or len(constant) != tensor.element_count or tensor.rank > MOST_ARRAY_DIMENSIONS:
            return None
        return np.asarray(constant).reshape(tensor.shape)

    def has_elements(self, tensor: Tensor) -> bool:
        """Return whether a tensor is a completely stored constant. NumPy must support its type and rank."""
        if not tensor.is_constant or tensor.sparsity is not None or tensor.type not in schema.NUMPY_TYPES:
            return False
        if tensor.rank > MOST_ARRAY_DIMENSIONS:
            return False
        return tensor.data is None or tensor.data[1] == tensor.byte_size

    def later(self, tensor: Tensor) -> WorkCount:
        """Return a function that returns the elements of a constant in its shape."""
        if tensor.buffer < 0:
            return self.weights[tensor.buffer]
        model = self.model

        def read() -> npt.NDArray[Any]:
            constant = model.constant(tensor)
            assert constant is not None
            return np.asarray(constant).reshape(tensor.shape)

        return read

    def constant(self, name: str, kind: str, values: Any, quantization: Quantization | None = None) -> int:
        """Add a constant and return its index."""
        array, dtype = np.asarray(values), np.dtype(schema.NUMPY_TYPES[kind])
        self._growth.spend(elements=array.size if array.size > SMALL else 0)
        if dtype.kind in "iu" and array.size and not np.iinfo(dtype).min <= array.min() <= array.max() <= np.iinfo(dtype).max:
            raise TooLargeError(f"{name} is out of range")
        array = array.astype(dtype)
        return self.computed(name, kind, array.shape, lambda: array, quantization)

    def zeros(self, name: str, kind: str, count: int, quantization: Quantization | None = None) -> int:
        """Add a vector of zeros and return its index."""
        if count < 0:
            raise TooLargeError(f"{name} has a negative size")
        self._growth.spend(elements=count if count > SMALL else 0)
        # bounded: counted above, or small
        return self.computed(name, kind, (count,), lambda: np.zeros(count, schema.NUMPY_TYPES[kind]), quantization)

    def computed(
        self, name: str, kind: str, shape: Sequence[int], compute: WorkCount, quantization: Quantization | None = None
    ) -> int:
        """Add a constant and return its index. ``compute`` returns the elements.

        Small constants are computed immediately. Large constants are computed when the file is written.
        """
        tensor = _blank(name, kind, shape)._replace(quantization=quantization, allocation=Allocation.CONSTANT)
        if quantization is not None and len(quantization.scales) == 1:
            tensor = tensor._replace(scale=quantization.scale, zero_point=quantization.zero_point)
        return self._added(self.with_elements(tensor, compute))

    def _added(self, tensor: Tensor) -> int:
        self._growth.spend(tensors=1)
        return self.editor.add_tensor(tensor)

    def with_elements(self, tensor: Tensor, compute: WorkCount) -> Tensor:
        """Return the constant ``tensor`` with the elements that ``compute`` returns."""
        if tensor.element_count <= SMALL:
            self._growth.spend(elements=tensor.element_count)
            return tensor._replace(value=compute(), data=None, buffer=0, external_buffer=0)
        number = -next(_NUMBERS)
        self.weights[number] = compute
        zero = np.zeros((), schema.NUMPY_TYPES[tensor.type])
        zeros = np.broadcast_to(zero, (tensor.element_count,))  # bounded: a view of one element
        return tensor._replace(value=zeros, data=None, buffer=number, external_buffer=0)

    def reshaped(self, tensor: Tensor, shape: Sequence[int]) -> int:
        """Add a constant with the elements of ``tensor`` and another shape, and return its index. No data is copied."""
        value = None if tensor.value is None else np.asarray(tensor.value).reshape(-1)
        named = tensor._replace(name=f"{tensor.name}/of_rank_{len(shape)}", shape=tuple(shape), shape_signature=None, value=value)
        return self._added(named)

    def result(self, like: Tensor, label: str, shape: Sequence[int] | None = None, kind: str = "") -> int:
        """Add a tensor for a result, and return its index.

        By default, the tensor has the type, shape and quantization of ``like``.
        """
        tensor = _blank(f"{like.name}/{label}", kind or like.type, like.shape if shape is None else shape)
        if not kind or kind == like.type:
            tensor = tensor._replace(quantization=like.quantization, scale=like.scale, zero_point=like.zero_point)
        if shape is None:
            tensor = tensor._replace(shape_signature=like.shape_signature)
        return self._added(tensor)

    def node(self, op: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any) -> Node:
        """Return a new node. Its version is set when the pass ends."""
        table = schema.options_table(op)
        self._growth.spend(tensors=len(inputs) + len(outputs))
        node = Node(-1, op, schema.builtin_code(op), None, 1, tuple(inputs), tuple(outputs), (), None, None)
        return self.editor.with_new_options(node, table, options) if table else node

    def reshape(self, source: int, target: int) -> Node:
        """Return a RESHAPE from the tensor ``source`` to the tensor ``target``."""
        shape = self.tensor(target).shape
        index = self.constant(f"{self.tensor(target).name}/shape", "INT32", shape)
        return self.node("RESHAPE", [source, index], [target], new_shape=shape)

    def is_open(self, *tensors: Tensor) -> bool:
        """Return whether the shape of any of the given tensors may change at run time."""
        return any(tensor.has_unspecified_dimension or tensor.index in self._dynamic for tensor in tensors)

    @functools.cached_property
    def _dynamic(self) -> frozenset[int]:
        known = self._cache.get("dynamic tensors", (self.model,), lambda: _dynamic_tensors(self.model, self._cache))
        return known[self.editor.subgraph.index]

    def rewrite_each(self, ops: Collection[str], rewrite: Callable[[Work, Node], Sequence[Node] | None]) -> None:
        """Replace each chosen node that has an operator in ``ops``. ``rewrite`` returns the new nodes for a node.

        The new nodes must write the results of the replaced node. A node stays unchanged if ``rewrite`` returns None, or if the
        node lacks inputs or outputs.
        """
        nodes = []
        for origin, node in self.editor.nodes:
            replacement = None
            if node.op in ops and not node.is_custom and self.is_chosen(origin) and is_whole(node):
                with suppress(OverflowError):  # sizes or axes that do not fit into 32 bits
                    replacement = rewrite(self, node)
            nodes += [(origin, node)] if replacement is None else [(-1, new) for new in replacement]
        self.editor.nodes = nodes

    def fold_each(self, ops: Collection[str], fold: Callable[[int, Node], tuple[Tensor, WorkCount] | None]) -> None:
        """Replace nodes that have an operator in ``ops`` by constants. Nodes that write outputs of the graph stay.

        ``fold`` gets the index of the node before the pass, and the node. It returns the constant, and a function that returns
        the elements. It returns None if the node stays.
        """
        remaining = []
        outputs = frozenset(self.editor.outputs)
        for origin, node in self.editor.nodes:
            is_offered = node.op in ops and not node.is_custom and node.outputs and node.outputs[0] not in outputs
            folded = fold(origin, node) if is_offered else None
            if folded is None:
                remaining.append((origin, node))
            else:
                self.editor.tensors[node.outputs[0]] = self.with_elements(*folded)
        self.editor.nodes = remaining


def _dynamic_tensors(model: Model, cache: AnalysisCache) -> tuple[frozenset[int], ...]:
    """Return the tensors with shapes that are known only at run time, as one set for each subgraph.

    Few models have such tensors, and preparation alone finds out faster than folding.
    """
    if all(graph.dynamic is None and graph.failure is None for graph in prepare(model, cache=cache)):
        return (frozenset(),) * len(model.subgraphs)
    return tuple([folded.dynamic for folded in fold(model)])


def _blank(name: str, kind: str, shape: Sequence[int]) -> Tensor:
    if max(shape, default=0) > _GREATEST_SIZE:
        raise TooLargeError(f"{name} is out of range")
    return NO_TENSOR._replace(name=name, type=kind, shape=tuple(map(int, shape)), has_rank=True)
