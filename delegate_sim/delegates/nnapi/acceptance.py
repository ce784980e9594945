"""Whether a partition can be built and the runtime refuses nothing of it, found out without building its NNAPI model.

What mapping a node does rests on the node's class (``Graph.node_classes``) and on what its tensors have become in the partition
so far. It is observed at the first such node, which is mapped by itself in a form that tells no more (``graph.watched``), and
holds for all others. A node whose mapping looks further is mapped by itself each time. Where anything is refused, or is not as
plain as this, nothing is said: the partition is then built as a whole.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...graph.graph import Graph, NodeView
from ...graph.partition import Subset
from ...graph.watched import LooksFurther, NumberedView
from ...model.model import Node
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

    Without a runtime there is no more to it than that the tensor is mapped.
    """

    key: OperandKey | None
    lifetime: Lifetime
    dequantized: tuple[tuple[str, OperandKey | None], ...] = ()


class _Effect(NamedTuple):
    """What mapping a node does; its operands and results are named by their positions among them all."""

    is_mapped: bool = False
    states: tuple[tuple[int, int], ...] = ()
    """What tensors have become that were something else before, by the number of the state."""
    reads: tuple[int, ...] = ()
    """The tensors that have to be given or written before."""
    writes: tuple[int, ...] = ()
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


class Acceptance:
    """Tells of partitions of one graph whether they are accepted, as far as that is known without building them.

    ``make_builder`` returns a builder of a partition of a graph.
    """

    def __init__(self, graph: Graph, make_builder: Callable[[Graph], PartitionBuilder], *, checks_pools: bool) -> None:
        self._graph = graph
        self._make_builder = make_builder
        self._checks_pools = checks_pools
        self._states: dict[_State, int] = {}
        self._state_list: list[_State] = []
        self._mapped: dict[_Key, _Effect] = {}
        self._folded: dict[_Key, _Effect] = {}
        self._apart: set[_Key] = set()
        """Keys of nodes whose mapping looks further."""

    @functools.cached_property
    def _is_worthwhile(self) -> bool:
        """Whether most nodes are like another; if not, building partitions takes no longer."""
        return 2 * len(set(self._graph.node_classes)) < len(self._graph.nodes)

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
        known = set(given)
        needs = set[Version]()
        classes, state_of, effects = graph.node_classes, states.get, self._mapped
        for index in subset.nodes:
            if index in folded:
                continue
            node = nodes[index]
            operands = node.inputs + node.outputs
            key = (classes[index], *map(state_of, operands))
            effect = effects.get(key) or self._found(key, node, states, _add, effects)
            _follow(effect, operands, states, known)
            needs.add(effect.needs)
        given = [index for index in given if index in states]
        if self._checks_pools and empty_pool(tensors, given, subset.outputs) is not None:
            raise _Doubt
        if self._level is None:
            return None
        self._check_boundary(given, [index for index in subset.outputs if index in states], states, known)
        required = combine(needs)
        check_level(required, self._level)
        return required

    def _check_boundary(self, given: Sequence[int], results: Sequence[int], states: Mapping[int, int], known: set[int]) -> None:
        """Every operand has a value or is written, and the model's inputs and outputs are among those without a value."""
        free = {index for index, state in states.items() if self._state_list[state].lifetime is Lifetime.TEMPORARY}
        is_plain = free <= known and free.issuperset(given) and free.issuperset(results) and set(given).isdisjoint(results)
        if not (is_plain and given and results):
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
                _follow(effect, operands, states, set())
                found.append(index)
        return frozenset(found)

    def _found(self, key: _Key, node: Node, states: Mapping[int, int], mapping: _Mapping, known: dict[_Key, _Effect]) -> _Effect:
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
        operands = {*node.inputs, *node.outputs}
        return self._observed(view, {index: states[index] for index in operands if index in states}, mapping)

    def _observed(self, view: NodeView, present: Mapping[int, int], mapping: _Mapping) -> _Effect:
        """Map a node by itself, whose tensors are what they have become so far."""
        builder = self._make_builder(view.graph)
        for index, number in present.items():
            state = self._state_list[number]
            own = builder.take_up(index, _operand(state.key, state.lifetime))
            for wanted, key in state.dequantized:
                builder.take_up_dequantized(own, wanted, _operand(key, Lifetime.TEMPORARY))
        before = builder.operand_count
        if not mapping(builder, view):
            return _Effect()
        has_more = builder.inputs or builder.outputs or builder.state_tensors or builder.densified or builder.widened
        if builder.refused or builder.lines or has_more:
            raise _Doubt
        operands = view.node.inputs + view.node.outputs
        after = {index: self._number(_state(builder, index)) for index in builder.mapped}
        states = tuple([(operands.index(index), state) for index, state in after.items() if present.get(index) != state])
        if builder.model is None:
            return _Effect(True, states)
        if len(builder.model.operands) != builder.operand_count:
            raise _Doubt
        places = {own: operands.index(index) for index, own in builder.mapped.items()}
        reads, writes = _traffic(builder.model, places, before)
        versions = [needed_of(verdict) for verdict in builder.model.verdicts]
        versions += [operand_version(operand) for operand in builder.model.operands[before:]]
        return _Effect(True, states, reads, writes, combine(versions))

    def _number(self, state: _State) -> int:
        found = self._states.get(state)
        if found is None:
            found = self._states[state] = len(self._state_list)
            self._state_list.append(state)
        return found


def _add(builder: PartitionBuilder, view: NodeView) -> bool:
    add_node(builder, view)
    return True


def _follow(effect: _Effect, operands: tuple[int, ...], states: dict[int, int], known: set[int]) -> None:
    """Note what becomes of a node's tensors. It has to find what it reads, and to write nothing that is there."""
    _, changes, reads, writes, _ = effect
    for position, state in changes:
        states[operands[position]] = state
    for position in reads:
        if operands[position] not in known:
            raise _Doubt
    for position in writes:
        written = operands[position]
        if written in known:
            raise _Doubt
        known.add(written)


def _operand(key: OperandKey | None, lifetime: Lifetime) -> NnOperand | None:
    if key is None:
        return None
    operand = operand_of(key)
    operand.lifetime = lifetime
    return operand


def _state(builder: PartitionBuilder, index: int) -> _State:
    own, model = builder.mapped[index], builder.model
    dequantized = builder.dequantized
    results = [(wanted, result) for (source, wanted), result in dequantized.items() if source == own] if dequantized else []
    if model is None:
        return _State(None, Lifetime.TEMPORARY, tuple([(wanted, None) for wanted, _ in results]))
    keys = tuple([(wanted, key_of(model.operands[result])) for wanted, result in results])
    return _State(key_of(model.operands[own]), model.operands[own].lifetime, keys)


def _traffic(model: ModelBuilder, places: Mapping[int, int], before: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which tensors the operations of a node read before they write them, and which they write, by position.

    What lies between the operations must be written once, before it is read. ``before`` is how many operands were there.
    """
    operands = model.operands
    reads, written = list[int](), list[int]()
    for operation in model.operations:
        for own in operation.inputs:
            if operands[own].lifetime is Lifetime.TEMPORARY and own not in written:
                if own in places:
                    reads.append(places[own])
                elif own >= before:
                    raise _Doubt
        for own in operation.outputs:
            if operands[own].lifetime is not Lifetime.TEMPORARY or own in written or (own < before and own not in places):
                raise _Doubt
            written.append(own)
    for own in range(before, len(operands)):
        if operands[own].lifetime is Lifetime.TEMPORARY and own not in places and own not in written:
            raise _Doubt
    return tuple(dict.fromkeys(reads)), tuple([places[own] for own in written if own in places])
