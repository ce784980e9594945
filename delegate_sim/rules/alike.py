"""Nodes that are alike get one verdict: each kind of node is judged once for a graph and a target.

What a verdict may rest on without being judged again is the node's signature: operator, version, options, and of each operand
what ``Graph.tensor_classes`` tells apart (type, shape, allocation, quantisation, small constants, but no name, index or place in
the file). That a verdict rests on nothing else is not declared but observed: the rules are shown the first node of a signature
through ``_Watched...`` objects, which hold only that and raise ``LooksFurther`` when asked for more. Such nodes, as those whose
neighbours or large constants count, are judged one by one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, NoReturn, TypeVar

from ..graph.graph import Graph, NodeView
from ..model.model import NO_TENSOR, Node, Quantization, Tensor
from .book import RuleBook, RuleTarget
from .rule import ACCEPTED, Verdict

T = TypeVar("T", bound=RuleTarget)


class LooksFurther(BaseException):
    """A rule asks for what the signature does not hold. No rule may catch it, so that it is no ``Exception``."""


class Judge(Generic[T]):
    """The verdicts of rules on the nodes of one graph, for one target that does not change meanwhile.

    ``watched`` stands for the target while it is observed what a verdict rests on, where part of the target does change: asked
    for that part it must raise ``LooksFurther``.
    """

    def __init__(self, graph: Graph, rules: RuleBook[T], target: T, watched: T | None = None) -> None:
        self._graph = graph
        self._rules = rules
        self._target = target
        self._watched = target if watched is None else watched
        self._kept: dict[Hashable, Verdict | None] = {}
        """The verdict by signature; None for nodes that are judged one by one."""

    def verdict(self, view: NodeView) -> Verdict:
        """Return the verdict on a node."""
        if view.node.index in self._graph.assumed:
            return ACCEPTED
        signature = node_signature(view)
        try:
            kept = self._kept[signature]
        except KeyError:
            try:
                kept = self._rules.judge(_WatchedView(view), self._watched)
            except LooksFurther:
                kept = None
            self._kept[signature] = kept
        return self._rules.judge(view, self._target) if kept is None else kept


def node_signature(view: NodeView) -> Hashable:
    """Return what nodes have in common that are alike, within one graph."""
    node, classes = view.node, view.graph.tensor_classes
    operands = node.inputs + node.outputs
    kinds = [classes[index] if index >= 0 else -1 for index in operands]
    # Whether operands are the same tensor counts too.
    repeated = None if len(set(operands)) == len(operands) else tuple(map(operands.index, operands))
    return (node.op, node.builtin_code, node.version, view.options, len(node.inputs), tuple(kinds), repeated)


def _further(*_: object) -> NoReturn:
    raise LooksFurther


_hidden: Any = property(_further)


class _Hidden:
    """Numbers of which only the count is told."""

    __slots__ = ("_count",)
    __array__ = __iter__ = __getitem__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _further

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


class _WatchedTensor(Tensor):
    """A tensor without its identity and its place in the file."""

    __slots__ = ()
    index = name = buffer = external_buffer = data = value = _hidden


class _WatchedNode(Node):
    """A node whose operands are numbered among themselves."""

    __slots__ = ()
    index = options = custom_options = intermediates = _hidden


class _WatchedOperands:
    """The tensors of a node, by the numbers that its operands have among themselves."""

    __slots__ = ("_tensors",)
    __len__ = __iter__ = __contains__ = _further

    def __init__(self, tensors: list[Tensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, index: int) -> Tensor:
        if not isinstance(index, int) or index < 0:
            raise LooksFurther
        return self._tensors[index]


class _WatchedGraph:
    """A graph of which only a node's own tensors can be seen."""

    def __init__(self, tensors: list[Tensor]) -> None:
        self.tensors = _WatchedOperands(tensors)

    def tensor(self, index: int) -> Tensor:
        return self.tensors[index] if index >= 0 else NO_TENSOR

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


class _WatchedView(NodeView):
    """A node as rules see it, which holds no more than its signature."""

    __slots__ = ("_seen", "_view")

    def __init__(self, view: NodeView) -> None:
        graph, node = view.graph, view.node
        numbers: dict[int, int] = {}
        for index in (*node.inputs, *node.outputs):
            if index >= 0:
                numbers.setdefault(index, len(numbers))
        self._seen = [graph.tensors[index] for index in numbers]
        self._view = view
        numbers[-1] = -1
        own = node._replace(inputs=tuple([numbers[i] for i in node.inputs]), outputs=tuple([numbers[i] for i in node.outputs]))
        tensors = [_watched(number, tensor) for number, tensor in enumerate(self._seen)]
        super().__init__(_WatchedGraph(tensors), _WatchedNode(*own))  # type: ignore[arg-type]
        self._options = view.options

    def value(self, tensor: Tensor) -> Any:
        """The elements of a constant whose bytes the signature has; those of others are not for all nodes that are alike."""
        if tensor is NO_TENSOR:
            return None
        if not isinstance(tensor, _WatchedTensor):
            raise LooksFurther
        number: Any = tuple.__getitem__(tensor, 0)
        own = self._seen[number]
        if own.data is None and own.value is None:
            return None
        if not self._view.graph.is_small_constant(own):
            raise LooksFurther
        return self._view.value(own)


def _watched(number: int, tensor: Tensor) -> Tensor:
    found = tensor._replace(index=number)
    quantization = tensor.quantization
    if quantization is not None:
        kind, scales, zero_points, *rest = quantization
        shown: Any = (scales, zero_points)
        if not Graph.has_one_scale(quantization):
            shown = (_Hidden(len(scales)), _Hidden(len(zero_points)))
        found = found._replace(quantization=_WatchedQuantization(kind, *shown, *rest))
    return _WatchedTensor(*found)


class _WatchedQuantization(Quantization):
    """The parameters of a quantisation by channels without the channels' numbers, and of others without their tensors."""

    __slots__ = ()
    scales_tensor = zero_points_tensor = _hidden
