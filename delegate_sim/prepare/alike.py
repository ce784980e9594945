"""What a kernel's Prepare did to a node, so that it can be done again to nodes that are alike.

That it rests on no more than the node's form and the present classes of its operands is observed (``graph.watched``): a kernel
first runs on copies of the operands that tell no more than that. One that looks further, refuses, or changes more than a tensor's
type, shape, allocation and value has no effect that could be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..graph.classes import classes_of, is_told
from ..graph.watched import LooksFurther, Nothing, Numbering, OwnNumber, watched_tensor
from ..model.model import Allocation, Model, Node
from ..model.numbers import FlatNumbers
from ..named_tuples import NamedTuple
from .kernel import KernelNode, KernelSubgraph, KernelTensor, PrepareError


class Change(NamedTuple):
    """What becomes of one operand or result, by its position among them all; ``number`` is its class from then on."""

    position: int
    type: str
    shape: tuple[int, ...]
    allocation: Allocation
    computed: FlatNumbers | None
    number: int


class Effect(NamedTuple):
    """What preparing a node does to its tensors; ``cause`` is the operand to blame for dynamic results, by its position.

    It holds where as many ``elements`` may be computed (``kernel.ComputedElements``).
    """

    changes: tuple[Change, ...]
    is_dynamic: bool
    """Whether a result is dynamic afterwards."""
    cause: int | None
    elements: int = 0

    def apply(self, subgraph: KernelSubgraph, node: Node) -> tuple[bool, int | None]:
        """Do it to a node that is alike; return whether a result is dynamic then, and the tensor to blame."""
        changes, is_dynamic, cause, _ = self
        operands = node.inputs + node.outputs
        for position, kind, shape, allocation, computed, number in changes:
            index = operands[position]
            tensor = subgraph.tensors[index]
            tensor.type, tensor.shape, tensor.allocation, tensor.computed = kind, shape, allocation, computed
            subgraph.set_class(index, number)
        return is_dynamic, None if cause is None else operands[cause]


NO_EFFECT = Effect((), False, None)
"""That of most kernels, whose results have in the file what they are to have."""


def effect_of(node: KernelNode, run: Callable[[KernelNode], None]) -> Effect | None:
    """Return what running a kernel does to this node and to all that are alike, if that can be said; the node stays as it is."""
    numbering = Numbering(node.node)
    copies = _Copies(node, numbering.indices)
    nothing: Any = Nothing()
    elements = node.elements.copy()
    copy = KernelNode(nothing, numbering.node, copies, nothing, node.release, elements)
    copy.use_options(node.options)
    try:
        run(copy)
    except (LooksFurther, PrepareError):
        return None
    copied = list(copies.made.values())
    if elements.has_refused or copy.node is not numbering.node or any(after.has_other_source for after in copied):
        return None
    taken = node.elements.left - elements.left
    node.elements.take(taken)
    operands = node.node.inputs + node.node.outputs
    changes = tuple([
        _change(node.model, operands.index(after.own.index), after) for after in copied if after.has_changed
    ])  # fmt: skip
    is_dynamic = copy.has_dynamic_result
    if not changes and not is_dynamic and not taken:
        return NO_EFFECT
    cause = None if copy.cause is None else operands.index(numbering.indices[copy.cause])
    return Effect(changes, is_dynamic, cause, taken)


def _change(model: Model, position: int, after: _WatchedKernelTensor) -> Change:
    state = after.type, after.shape, after.allocation
    kind, shape, allocation = state
    changed = after.own.source._replace(type=kind, shape=shape, allocation=allocation, value=after.computed)
    return Change(position, *state, after.computed, classes_of(model).of_tensor(model, changed))


class _Copies:
    """The copies of a node's operands, by their numbers, each made when it is first asked for."""

    def __init__(self, node: KernelNode, indices: Sequence[int]) -> None:
        self._node = node
        self._indices = indices
        self.made: dict[int, _WatchedKernelTensor] = {}

    def __getitem__(self, index: int) -> _WatchedKernelTensor:
        found = self.made.get(index)
        if not isinstance(index, OwnNumber):
            raise LooksFurther
        if found is None:
            found = self.made[index] = _WatchedKernelTensor(index, self._node.tensors[self._indices[index]])
        return found


class _WatchedKernelTensor(KernelTensor):
    """A copy of a tensor that tells no more than its class does."""

    __slots__ = ("_number", "_shown", "_value", "own")

    def __init__(self, number: int, own: KernelTensor) -> None:
        nothing: Any = Nothing()
        self._shown = watched_tensor(number, own.source)
        self._number = number
        self.own = own
        """The tensor itself."""
        self._value = own.computed
        self.model = nothing
        self.source = self._shown
        self.type, self.shape, self.allocation, self.computed = own.type, own.shape, own.allocation, own.computed

    @property
    def index(self) -> int:
        """Its number among the node's tensors."""
        return self._number

    @property
    def has_changed(self) -> bool:
        """Whether a kernel changed the copy."""
        own = self.own
        return (
            self.computed is not own.computed
            or self.shape != own.shape
            or self.type != own.type
            or self.allocation is not own.allocation
        )

    @property
    def has_other_source(self) -> bool:
        """Whether a kernel changed what the file says of the tensor."""
        return self.source is not self._shown

    def known_value(self) -> FlatNumbers | None:
        """The elements, if all tensors of the class have the same."""
        if self.computed is None and not self.is_constant:
            return None
        if self.computed is self._value and not is_told(self.own.source._replace(value=self._value)):
            raise LooksFurther
        twin = KernelTensor(self.own.model, self.own.source)
        twin.type, twin.shape, twin.allocation, twin.computed = self.type, self.shape, self.allocation, self.computed
        return twin.known_value()
