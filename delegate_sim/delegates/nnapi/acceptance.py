"""Whether a partition can be built and the runtime refuses nothing of it, found out without building its NNAPI model.

What mapping a node does rests on the node's class (``Graph.node_classes``) and on what its tensors have become in the partition
so far. It is observed at the first such node, which is mapped by itself in a form that tells no more (``graph.watched``), and
holds for all others. A node whose mapping looks further is mapped by itself each time. Where anything is refused, or is not as
plain as this, nothing is said: the partition is then built as a whole.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from ...graph.graph import Graph, NodeView
from ...graph.last_found import LastFound
from ...graph.partition import Subset
from ...graph.watched import LooksFurther, NumberedView
from ...model.model import Node
from ...named_tuples import NamedTuple
from ...nnapi_runtime.builder import ModelBuilder
from ...nnapi_runtime.judging import key_of, needed_of, operand_of
from ...nnapi_runtime.model import check_level, combine
from ...nnapi_runtime.operands import Lifetime, NnOperand, OperandKey, operand_version
from ...nnapi_runtime.refusal import NnRefused
from ...nnapi_runtime.types import Version
from .builder import KernelError, PartitionBuilder
from .mapping import add_node, empty_pool, fold

_FOLDED = ("DENSIFY", "DEQUANTIZE")
"""Operators of nodes that may get no operation."""


class _State(NamedTuple):
    """What a tensor has become: an operand, and the results of dequantising it, by the type that was asked for.

    Without a runtime there is no more to an operand than that the tensor is mapped.
    """

    key: OperandKey | None
    lifetime: Lifetime
    dequantized: tuple[tuple[str, OperandKey | None], ...] = ()
    is_mapped: bool = True
    has_value: bool = False
    """Whether it is given to the partition, or has been written."""


_GIVEN = _State(None, Lifetime.TEMPORARY, is_mapped=False, has_value=True)
"""What is given to the partition, before any node is mapped that reads it."""


class _Effect(NamedTuple):
    """What mapping a node does; its operands and results are named by their positions among them all."""

    is_mapped: bool = False
    states: tuple[tuple[int, int], ...] = ()
    """What tensors have become that were something else before, by the number of the state."""
    needs: Version = Version(1)


_Key: TypeAlias = tuple[int | None, ...]
"""A node's class, and the states of its operands and results, None for those that are not mapped."""
_Mapping: TypeAlias = Callable[[PartitionBuilder, NodeView], bool]
"""Maps a node, or returns False where it is not to be mapped."""


class _Doubt(Exception):
    """A partition has to be built to tell what becomes of it."""


class Accepted(NamedTuple):
    """A partition of which nothing is refused; ``required`` is what its model needs of a device, None without a runtime."""

    required: Version | None


class _Observed(NamedTuple):
    """What mapping nodes was seen to do."""

    numbers: Iterator[int]
    """Those of states that are to come; none is given twice, even if several threads ask at once."""
    states: dict[_State, int]
    numbered: dict[int, _State]
    mapped: dict[_Key, _Effect]
    folded: dict[_Key, _Effect]
    apart: set[_Key]
    """Keys of nodes whose mapping looks further."""
    doubtful: set[_Key]
    """Keys of nodes that cannot be mapped by themselves."""
    classes: set[int]
    """Those of all nodes of graphs that were looked at."""


_KNOWN = LastFound(lambda: _Observed(itertools.count(), {}, {}, {}, {}, set(), set(), set()))
"""By what builders rest on. The numbers of classes hold for all graphs of a model, and of what is made of it."""


class Acceptance:
    """Tells of partitions of one graph whether they are accepted, as far as that is known without building them.

    ``make_builder`` returns a builder of a partition of a graph, which rests on nothing else but ``given``.
    """

    def __init__(
        self, graph: Graph, given: object, make_builder: Callable[[Graph], PartitionBuilder], *, checks_pools: bool
    ) -> None:
        self._graph = graph
        self._make_builder = make_builder
        self._checks_pools = checks_pools
        known = _KNOWN.of(graph.model, given)
        self._numbers, self._states, self._numbered = known[:3]
        self._mapped, self._folded, self._apart, self._doubtful, self._classes = known[3:]
        self._given = self._number(_GIVEN)

    @functools.cached_property
    def _is_worthwhile(self) -> bool:
        """Whether most nodes are like another, or were seen before; if not, building partitions takes no longer."""
        new = set(self._graph.node_classes) - self._classes
        self._classes.update(new)
        return 2 * len(new) < len(self._graph.nodes)

    @functools.cached_property
    def _level(self) -> int | None:
        """The feature level of the runtime; None without one."""
        model = self._make_builder(self._graph).model
        return None if model is None else model.level

    def accepted(self, subset: Subset) -> Accepted | None:
        """Return what is known of a partition; None if it has to be built."""
        graph = self._graph
        if not self._is_worthwhile or not graph.assumed.isdisjoint(subset.nodes):
            return None
        try:
            return Accepted(self._required(subset))
        except (_Doubt, KernelError, NnRefused):
            return None

    def _required(self, subset: Subset) -> Version | None:
        """Map the nodes in order as ``AddOpsAndTensors`` does, and return what the model needs of a device."""
        graph = self._graph
        tensors, nodes = graph.tensors, graph.nodes
        given = [index for index in subset.inputs if not tensors[index].is_constant]
        states: dict[int, int] = {}
        folded = self._fold([index for index in subset.nodes if nodes[index].op in _FOLDED], states)
        for index in given:
            own = states.get(index)
            states[index] = self._given if own is None else self._number(self._numbered[own]._replace(has_value=True))
        needs = set[Version]()
        classes, state_of, effects = graph.node_classes, states.get, self._mapped
        for index in subset.nodes:
            if index in folded:
                continue
            node = nodes[index]
            operands = node.inputs + node.outputs
            key = (classes[index], *map(state_of, operands))
            _, changes, needed = effects.get(key) or self._found(key, node, states, _add, effects)
            for position, state in changes:
                states[operands[position]] = state
            needs.add(needed)
        given = [index for index in given if states[index] != self._given]
        if self._checks_pools and empty_pool(tensors, given, subset.outputs) is not None:
            raise _Doubt
        if self._level is None:
            return None
        self._check_boundary(given, [index for index in subset.outputs if index in states], states)
        required = combine(needs)
        check_level(required, self._level)
        return required

    def _check_boundary(self, given: Sequence[int], results: Sequence[int], states: Mapping[int, int]) -> None:
        """Every operand has a value or is written, and the model's inputs and outputs are among those without a value."""
        known = self._numbered
        if not (given and results and set(given).isdisjoint(results)):
            raise _Doubt
        if any(known[number].lifetime is not Lifetime.TEMPORARY for number in {states[index] for index in (*given, *results)}):
            raise _Doubt
        for state in map(known.__getitem__, set(states.values())):
            if state.lifetime is Lifetime.TEMPORARY and not state.has_value:
                raise _Doubt

    def _fold(self, indices: Sequence[int], states: dict[int, int]) -> frozenset[int]:
        """Take note of nodes that get no operation, which are looked for before any other is mapped; return them."""
        graph, found = self._graph, list[int]()
        for index in indices:
            node = graph.nodes[index]
            operands = node.inputs + node.outputs
            key = (graph.node_classes[index], *map(states.get, operands))
            effect = self._folded.get(key) or self._found(key, node, states, fold, self._folded)
            if effect.is_mapped:
                states.update([(operands[position], state) for position, state in effect.states])
                found.append(index)
        return frozenset(found)

    def _found(self, key: _Key, node: Node, states: Mapping[int, int], mapping: _Mapping, known: dict[_Key, _Effect]) -> _Effect:
        if key in self._doubtful:
            raise _Doubt
        view = self._graph.view(node)
        if key not in self._apart:
            watched = NumberedView(view)
            indices = watched.numbering.indices
            own = {number: states[index] for number, index in enumerate(indices) if index in states}
            try:
                effect = known[key] = self._observed(watched, own, mapping)
                return effect
            except LooksFurther:
                self._apart.add(key)
            except _Doubt:
                self._doubtful.add(key)
                raise
        operands = {*node.inputs, *node.outputs}
        return self._observed(view, {index: states[index] for index in operands if index in states}, mapping)

    def _observed(self, view: NodeView, present: Mapping[int, int], mapping: _Mapping) -> _Effect:
        """Map a node by itself, whose tensors are what they have become so far."""
        builder = self._make_builder(view.graph)
        before = {index: self._numbered[number] for index, number in present.items()}
        for index, state in before.items():
            if not state.is_mapped:
                continue
            own = builder.take_up(index, _operand(state.key, state.lifetime))
            for wanted, key in state.dequantized:
                builder.take_up_dequantized(own, wanted, _operand(key, Lifetime.TEMPORARY))
        first = builder.operand_count
        if not mapping(builder, view):
            return _Effect()
        has_more = builder.inputs or builder.outputs or builder.state_tensors or builder.densified or builder.widened
        if builder.refused or builder.lines or has_more:
            raise _Doubt
        having = {index for index, state in before.items() if state.has_value}
        needs = Version(1)
        if builder.model is not None:
            if len(builder.model.operands) != builder.operand_count:
                raise _Doubt
            having |= _written(builder.model, builder.mapped, having, first)
            versions = [needed_of(verdict) for verdict in builder.model.verdicts]
            needs = combine({*versions, *[operand_version(operand) for operand in builder.model.operands[first:]]})
        operands = view.node.inputs + view.node.outputs
        positions = dict(zip(reversed(operands), range(len(operands) - 1, -1, -1), strict=True))
        after = {index: self._number(_state(builder, index, has_value=index in having)) for index in builder.mapped}
        states = tuple([(positions[index], state) for index, state in after.items() if present.get(index) != state])
        return _Effect(True, states, needs)

    def _number(self, state: _State) -> int:
        found = self._states.get(state)
        if found is None:
            number = next(self._numbers)
            self._numbered[number] = state
            found = self._states.setdefault(state, number)
        return found


def _add(builder: PartitionBuilder, view: NodeView) -> bool:
    add_node(builder, view)
    return True


def _operand(key: OperandKey | None, lifetime: Lifetime) -> NnOperand | None:
    if key is None:
        return None
    operand = operand_of(key)
    operand.lifetime = lifetime
    return operand


def _state(builder: PartitionBuilder, index: int, *, has_value: bool) -> _State:
    own, model = builder.mapped[index], builder.model
    dequantized = builder.dequantized
    results = [(wanted, result) for (source, wanted), result in dequantized.items() if source == own] if dequantized else []
    if model is None:
        return _State(None, Lifetime.TEMPORARY, tuple([(wanted, None) for wanted, _ in results]), has_value=has_value)
    keys = tuple([(wanted, key_of(model.operands[result])) for wanted, result in results])
    return _State(key_of(model.operands[own]), model.operands[own].lifetime, keys, has_value=has_value)


def _written(model: ModelBuilder, mapped: Mapping[int, int], having: Set[int], before: int) -> set[int]:
    """Return the tensors that the operations of a node write.

    They have to be without a value, and what is read has to have one: ``having`` are the tensors that had one before the node.
    What lies between the operations must be written once, before it is read. ``before`` is how many operands were there.
    """
    operands = model.operands
    tensor_of = {own: index for index, own in mapped.items()}
    written = list[int]()
    for operation in model.operations:
        for own in operation.inputs:
            is_there = tensor_of[own] in having if own in tensor_of else own < before
            if operands[own].lifetime is Lifetime.TEMPORARY and own not in written and not is_there:
                raise _Doubt
        for own in operation.outputs:
            if operands[own].lifetime is not Lifetime.TEMPORARY or own in written or (own < before and own not in tensor_of):
                raise _Doubt
            if tensor_of.get(own) in having:
                raise _Doubt
            written.append(own)
    for own in range(before, len(operands)):
        if operands[own].lifetime is Lifetime.TEMPORARY and own not in tensor_of and own not in written:
            raise _Doubt
    return {tensor_of[own] for own in written if own in tensor_of}
