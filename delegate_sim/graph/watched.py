"""Nodes and tensors that hold no more than what alike ones share, and raise ``LooksFurther`` when asked for more.

What is found out about one node holds for all nodes of its class if it rests on what the class tells. That it does is not
declared but observed: whoever asks is shown the first node of a class in this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..model.model import NO_TENSOR, Node, Quantization, Tensor
from .classes import has_one_scale, is_told
from .graph import NodeView


class LooksFurther(BaseException):
    """Somebody asks for what the class of a node does not tell. As it must not be caught on the way, it is no ``Exception``."""


def further(*_: object) -> NoReturn:
    """Stand for what may not be asked for."""
    raise LooksFurther


_hidden: Any = property(further)


class Nothing:
    """An object of which nothing may be asked."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


class Numbering:
    """The tensors of one node, numbered among themselves."""

    def __init__(self, node: Node, shown_as: type[Node] | None = None) -> None:
        self.indices = tuple(dict.fromkeys([index for index in node.inputs + node.outputs if index >= 0]))
        """The tensor of each number."""
        numbers = {index: OwnNumber(number) for number, index in enumerate(self.indices)}
        inputs = tuple([numbers.get(index, index) for index in node.inputs])
        outputs = tuple([numbers.get(index, index) for index in node.outputs])
        self.node: Node = tuple.__new__(shown_as or WatchedNode, node._replace(inputs=inputs, outputs=outputs))
        """The node, whose operands are named by their numbers."""


class OwnNumber(int):
    """The number of a tensor among those of a node. What is computed from it is another number, which stands for no tensor.

    It tells that the tensor is given, and whether it is the same as another, but not its index nor which of two comes first.
    """

    __slots__ = ()
    __str__ = __repr__ = __format__ = further

    def __lt__(self, other: int) -> bool:
        return other > 0 and further()

    def __ge__(self, other: int) -> bool:
        return not self < other

    def __gt__(self, other: int) -> bool:
        return not self <= other

    def __le__(self, other: int) -> bool:
        return other >= 0 and further()


class _Hidden:
    """Numbers of which only the count is told."""

    __slots__ = ("_count",)
    __array__ = __iter__ = __getitem__ = __hash__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = further

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


class _Place:
    """Where the data of a constant lies, of which only the size is told."""

    __slots__ = ("_size",)
    __iter__ = __len__ = __hash__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __repr__ = further

    def __init__(self, size: int) -> None:
        self._size = size

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, part: int) -> int:
        if part != 1:
            raise LooksFurther
        return self._size


class _Size:
    """A value that Prepare computed, of which only the size is told."""

    __slots__ = ("nbytes",)
    __array__ = __iter__ = __len__ = __getitem__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __repr__ = further

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def __bool__(self) -> NoReturn:
        raise LooksFurther

    def __getattr__(self, name: str) -> NoReturn:
        raise LooksFurther


_DATA, _VALUE = Tensor._fields.index("data"), Tensor._fields.index("value")


def _shown_place(tensor: Tensor) -> _Place | None:
    place: Any = tuple.__getitem__(tensor, _DATA)
    return None if place is None else _Place(place[1])


def _shown_size(tensor: Tensor) -> _Size | None:
    value: Any = tuple.__getitem__(tensor, _VALUE)
    return None if value is None else _Size(value.nbytes)


class WatchedTensor(Tensor):
    """A tensor without its identity and its place in the file."""

    __slots__ = ()
    index = name = buffer = external_buffer = _hidden
    data: Any = property(_shown_place)
    value: Any = property(_shown_size)


def number_of(tensor: Tensor) -> int:
    """Return the number that a watched tensor has among those of its node."""
    if not isinstance(tensor, WatchedTensor):
        raise LooksFurther
    number: Any = tuple.__getitem__(tensor, 0)
    return int(number)


class WatchedNode(Node):
    """A node whose operands are numbered among themselves."""

    __slots__ = ()
    index = options = custom_options = custom_code = intermediates = _hidden


class _WatchedQuantization(Quantization):
    """The parameters of a quantisation by channels without the channels' numbers, and of others without their tensors."""

    __slots__ = ()
    scales_tensor = zero_points_tensor = _hidden


class WatchedOperands:
    """The tensors of a node, by their numbers."""

    __slots__ = ("_tensors",)
    __len__ = __iter__ = __contains__ = further

    def __init__(self, tensors: Sequence[Any]) -> None:
        self._tensors = tensors

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, OwnNumber):
            raise LooksFurther
        return self._tensors[index]


class WatchedGraph(Nothing):
    """A graph of which only a node's own tensors can be seen."""

    __slots__ = ("tensors",)

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = WatchedOperands(tensors)

    def tensor(self, index: int) -> Tensor:
        """Return a tensor of the node; ``NO_TENSOR`` for what is omitted or missing."""
        found: Tensor = self.tensors[index] if index >= 0 else NO_TENSOR
        return found


class WatchedView(NodeView):
    """A node with its operands."""

    __slots__ = ("_seen", "_view", "numbering")

    _node_type: type[Node] = WatchedNode
    _tensor_type: type[Tensor] = WatchedTensor

    def __init__(self, view: NodeView) -> None:
        self.numbering = Numbering(view.node, self._node_type)
        self._seen = [view.graph.tensors[index] for index in self.numbering.indices]
        self._view = view
        tensors = [watched_tensor(number, tensor, self._tensor_type) for number, tensor in enumerate(self._seen)]
        super().__init__(WatchedGraph(tensors), self.numbering.node)  # type: ignore[arg-type]
        self._options = view.options

    def value(self, tensor: Tensor) -> Any:
        """The elements of a constant whose bytes the class has; those of others are not for all nodes that are alike."""
        if tensor is NO_TENSOR:
            return None
        if not isinstance(tensor, WatchedTensor):
            raise LooksFurther
        number: Any = tuple.__getitem__(tensor, 0)
        own = self._seen[number]
        if not is_told(own):
            raise LooksFurther
        return self._view.value(own)


def watched_view(view: NodeView) -> NodeView:
    """Return a node in this form, which is made once for all who ask about it."""
    if view.watched is None:
        view.watched = WatchedView(view)
    return view.watched


class _NumberedTensor(WatchedTensor):
    """A tensor whose index is its number among those of the node."""

    __slots__ = ()
    index: Any = Tensor.index


class _NumberedNode(WatchedNode):
    """A node whose index is always 0."""

    __slots__ = ()
    index: Any = property(lambda _: 0)


class NumberedView(WatchedView):
    """A node with its operands, for those who keep something by index."""

    __slots__ = ()

    _node_type = _NumberedNode
    _tensor_type = _NumberedTensor


def watched_tensor(number: int, tensor: Tensor, shown_as: type[Tensor] = WatchedTensor) -> Tensor:
    """Return a tensor without what its class does not tell."""
    found = tuple.__new__(shown_as, (OwnNumber(number), *tensor[1:]))
    quantization = tensor.quantization
    if quantization is None:
        return found
    kind, scales, zero_points, *rest = quantization
    shown: Any = (scales, zero_points)
    if not has_one_scale(quantization):
        shown = (_Hidden(len(scales)), _Hidden(len(zero_points)))
    return found._replace(quantization=_WatchedQuantization(kind, *shown, *rest))
