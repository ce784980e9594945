"""Find the changes between two versions of a model, node by node. ``check`` takes the old version from a baseline."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ...foundation.columns import Declared
from ...foundation.work_budget import spend_steps
from .model_outline import Constant, NodeOutline, SubgraphOutline, operand_text, option_text

_STEPS_OF_A_SUBGRAPH, _STEPS_OF_A_NODE, _STEPS_OF_AN_OPERAND = 12, 10, 2
ADDED, REMOVED = "added", "removed"


@dataclass(frozen=True, slots=True)
class NodeChange(Declared):
    """One change of a node, or of an input of a subgraph.

    ``what`` is ``added``, ``removed``, ``version``, ``option NAME``, ``input N``, ``output N``, or ``subgraph input``. ``old``
    and ``new`` are the values before and after the change. If a value does not exist, the text is empty. ``old_node`` and
    ``node`` are the node's indices in the old and in the new version. An index is None if the version does not have the node, or
    if an input of the subgraph changed. ``name`` is the name of the node's first output tensor.
    """

    subgraph: int
    node: int | None
    old_node: int | None
    op: str
    name: str
    what: str
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Matching:
    """The matched nodes and the changes between two versions of a model."""

    old_of: tuple[dict[int, int], ...]
    """For each subgraph of the new model, the old index of each matched node, keyed by new index."""
    changes: tuple[NodeChange, ...]


def compare_outlines(
    old: Sequence[SubgraphOutline], new: Sequence[SubgraphOutline], origins: Sequence[Sequence[int]] = ()
) -> Matching:
    """Match the nodes of two versions of a model in each subgraph, and list the changes.

    ``origins`` has the old index of each node in each new subgraph. If the index is not known, it is -1, and the node is matched
    by names and structure. An outline may come from a stranger. Raises LimitError if ``old`` is so much larger than ``new`` that
    the work is too much.
    """
    allowed = 2 * sum(_steps(new))
    for steps in _steps(old):
        allowed -= steps
        if allowed < 0:
            spend_steps(-allowed, "comparing the model with the baseline")
            allowed = 0
    empty = SubgraphOutline("", (), ())
    old_of = []
    changes: list[NodeChange] = []
    for number in range(max(len(old), len(new))):
        before = old[number] if number < len(old) else empty
        after = new[number] if number < len(new) else empty
        matched = match_nodes(before, after, origins[number] if number < len(origins) else ())
        if number < len(new):
            old_of.append(matched)
        changes += _changes(number, before, after, matched)
    return Matching(tuple(old_of), tuple(changes))


def _steps(outline: Sequence[SubgraphOutline]) -> Iterator[int]:
    for subgraph in outline:
        yield _STEPS_OF_A_SUBGRAPH + _STEPS_OF_A_NODE * len(subgraph.nodes) + _STEPS_OF_AN_OPERAND * len(subgraph.inputs)
        for node in subgraph.nodes:
            yield _STEPS_OF_AN_OPERAND * (len(node.inputs) + len(node.outputs) + len(node.options or ()))


def _changes(number: int, old: SubgraphOutline, new: SubgraphOutline, old_of: dict[int, int]) -> Iterator[NodeChange]:
    before, after = dict(old.inputs), dict(new.inputs)
    if sorted(before.values()) != sorted(after.values()):
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                yield NodeChange(number, None, None, "", name, "subgraph input", before.get(name, ""), after.get(name, ""))
    for index, node in enumerate(new.nodes):
        if index not in old_of:
            yield NodeChange(number, index, None, node.op, node.name, ADDED, "", _summary(node))
            continue
        place = (number, index, old_of[index], node.op, node.name)
        for aspect, was, now in _differences(old.nodes[old_of[index]], node):
            yield NodeChange(*place, aspect, was, now)
    surviving = set(old_of.values())
    for index, node in enumerate(old.nodes):
        if index not in surviving:
            yield NodeChange(number, None, index, node.op, node.name, REMOVED, _summary(node))


def _differences(old: NodeOutline, new: NodeOutline) -> Iterator[tuple[str, str, str]]:
    if old.version != new.version:
        yield "version", str(old.version), str(new.version)
    if old.options is not None and new.options is not None:
        for name in sorted(old.options.keys() | new.options.keys()):
            was, now = (option_text(new.op, options, name) for options in (old.options, new.options))
            if was != now:
                yield f"option {name}", was, now
    for position in range(max(len(old.inputs), len(new.inputs))):
        was, now = (operand_text(node.inputs, position) for node in (old, new))
        if was != now:
            yield f"input {position}", was, now
    for position in range(max(len(old.outputs), len(new.outputs))):
        was, now = (node.outputs[position].type if position < len(node.outputs) else "none" for node in (old, new))
        if was != now:
            yield f"output {position}", was, now


def _summary(node: NodeOutline) -> str:
    return f"version {node.version}"


MatchingKey = Callable[[int], Hashable | None]
_UNKNOWN = -1
"""Stands for the number of a node that is not known yet."""


def match_nodes(old: SubgraphOutline, new: SubgraphOutline, origins: Sequence[int] = ()) -> dict[int, int]:
    """Return the old index of each matched node, keyed by new index.

    ``origins`` has the old index of each new node whose old index is known, and -1 for other nodes. Matched nodes always have
    the same operator. Each step matches nodes by one of these properties, most certain first:

    - the known old index
    - the names of the outputs, and the operators of all nodes that the node depends on
    - the operators of all nodes that the node depends on
    - the operators of all nodes that depend on the node
    - the names of the outputs (a late step, because converters may number tensors)
    - the operators of all nodes that the node depends on, and the position next to a matched node
    - the operators of all nodes that the node depends on; equal nodes are matched in order
    - the position next to a matched node
    - the preceding matched node; equal nodes are matched in order
    """
    matching = _Matching(old, new)
    matching.pair_known(origins)
    matching.pair_unique(lambda side, index: side.names[index] and (side.cones[index], side.names[index]))
    matching.pair_unique(lambda side, index: side.cones[index])
    matching.pair_unique(lambda side, index: side.cones_below[index])
    matching.pair_unique(lambda side, index: side.names[index])
    matching.pair_neighbors(lambda side, index: side.cones[index])
    matching.pair_in_order(lambda side, index, _: side.cones[index])
    matching.pair_neighbors(lambda side, index: side.nodes[index].op)
    matching.pair_in_order(lambda side, index, behind: (behind, side.nodes[index].op))
    return matching.old_of


class _StructureNumbers:
    """Numbers of values: equal values have equal numbers. So a value may have the numbers of other values as parts."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


class _Side:
    def __init__(self, subgraph: SubgraphOutline, numbers: _StructureNumbers) -> None:
        self.nodes = subgraph.nodes
        self.producer: dict[str, tuple[int, int]] = {}
        """The writer of each tensor, as a node and the position of the output."""
        self.consumers: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """The readers of each tensor, as nodes and positions of operands."""
        for index, node in enumerate(self.nodes):
            for position, (name, _) in enumerate(node.outputs):
                self.producer.setdefault(name, (index, position))
            for position, operand in enumerate(node.inputs):
                if isinstance(operand, str):
                    self.consumers[operand].append((index, position))
        self.inputs = {name: position for position, (name, _) in enumerate(subgraph.inputs)}
        self._numbers = numbers

    @functools.cached_property
    def names(self) -> list[Hashable | None]:
        """The operator and the names of the outputs of each node. None if a name may have another number in the other version."""
        names = [[node.op, *[name for name, _ in node.outputs]] for node in self.nodes]
        return [tuple(parts) if len(parts) > 1 and "#" not in "".join(parts[1:]) else None for parts in names]

    @functools.cached_property
    def cones(self) -> list[int]:
        """A number for each node. Nodes with equal numbers have equal operators, and depend on nodes with equal operators.

        Shapes and versions may differ.
        """
        cones: list[int] = []
        for index, node in enumerate(self.nodes):
            parts: list[Hashable] = [node.op]
            for operand in node.inputs:
                if operand is None or isinstance(operand, Constant):
                    parts.append("constant" if operand else "none")
                elif operand in self.inputs:
                    parts.append(("input", self.inputs[operand]))
                else:
                    source, position = self.producer.get(operand, (index, 0))
                    parts.append((cones[source], position) if source < index else "unknown")
            cones.append(self._numbers.of(tuple(parts)))
        return cones

    @functools.cached_property
    def cones_below(self) -> list[int]:
        """A number for each node. Nodes with equal numbers have equal operators, and nodes with equal operators depend on them.

        If a tensor has several writers, its readers before the last writer are unknown to all writers.
        """
        cones = [_UNKNOWN] * len(self.nodes)
        of_readers: dict[str, int | None] = {}
        for index in reversed(range(len(self.nodes))):
            parts: list[Hashable] = [self.nodes[index].op]
            for position, (name, _) in enumerate(self.nodes[index].outputs):
                if name not in of_readers:
                    readers = sorted([(cones[reader], operand) for reader, operand in self.consumers.get(name, ())])
                    of_readers[name] = self._numbers.of(tuple(readers)) if readers else None
                if of_readers[name] is not None:
                    parts.append((position, of_readers[name]))
            cones[index] = self._numbers.of(tuple(parts))
        return cones

    def neighbors(self, index: int) -> Iterator[tuple[Hashable, int]]:
        """Yield the neighbors of a node. Each neighbor has the positions of the output and operand that connect the two nodes.

        Only the first writer of a tensor is a neighbor of its readers.
        """
        node = self.nodes[index]
        for position, operand in enumerate(node.inputs):
            if isinstance(operand, str) and operand in self.producer:
                source, output = self.producer[operand]
                yield ("input", position, output), source
        for output, (name, _) in enumerate(node.outputs):
            if self.producer[name] == (index, output):
                for reader, position in self.consumers.get(name, ()):
                    yield ("output", output, position), reader


class _Matching:
    def __init__(self, old: SubgraphOutline, new: SubgraphOutline) -> None:
        numbers = _StructureNumbers()
        self.old, self.new = _Side(old, numbers), _Side(new, numbers)
        self.old_of: dict[int, int] = {}
        self.new_of: dict[int, int] = {}

    @property
    def is_done(self) -> bool:
        """True if all nodes of a version are matched."""
        return len(self.old_of) in (len(self.old.nodes), len(self.new.nodes))

    def pair_known(self, origins: Sequence[int]) -> None:
        """Pair nodes whose old index is known, and which still have the same operator."""
        for index, origin in enumerate(origins):
            if origin >= 0 and self.old.nodes[origin].op == self.new.nodes[index].op:
                self._pair(origin, index)

    def pair_unique(self, key: Callable[[_Side, int], Hashable | None]) -> None:
        """Pair unmatched nodes with the same key. The key must be unique in both versions."""
        if self.is_done:
            return
        old = _unique(self._unmatched(self.old, self.new_of), lambda index: key(self.old, index))
        new = _unique(self._unmatched(self.new, self.old_of), lambda index: key(self.new, index))
        for value, index in new.items():
            if value in old:
                self._pair(old[value], index)

    def pair_neighbors(self, key: Callable[[_Side, int], Hashable]) -> None:
        """Pair unmatched neighbors of matched nodes, and continue with the neighbors of each new pair.

        Paired neighbors have the same position and the same key. If two neighbors of a node have the same position and key,
        neither neighbor is paired.
        """
        waiting = list(self.old_of)
        while waiting and not self.is_done:
            index = waiting.pop()
            old = _unique_neighbors(self.old, self.old_of[index], self.new_of, key)
            new = _unique_neighbors(self.new, index, self.old_of, key) if old else {}
            for place, neighbor in new.items():
                candidate = old.get(place)
                if candidate is not None and candidate not in self.new_of and neighbor not in self.old_of:
                    self._pair(candidate, neighbor)
                    waiting.append(neighbor)

    def pair_in_order(self, key: Callable[[_Side, int, int | None], Hashable]) -> None:
        """Pair unmatched nodes with the same key, in order."""
        if self.is_done:
            return
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        behind: int | None = None
        for index in range(len(self.old.nodes)):
            if index in self.new_of:
                behind = self.new_of[index]
            else:
                waiting[key(self.old, index, behind)].append(index)
        for members in waiting.values():
            members.reverse()
        behind = None
        matched_before = set(self.old_of)
        for index in range(len(self.new.nodes)):
            if index in matched_before:
                behind = index
            elif queue := waiting.get(key(self.new, index, behind)):
                self._pair(queue.pop(), index)

    def _pair(self, old: int, new: int) -> None:
        self.old_of[new] = old
        self.new_of[old] = new

    @staticmethod
    def _unmatched(side: _Side, matched: dict[int, int]) -> list[int]:
        return [index for index in range(len(side.nodes)) if index not in matched]


def _unique(indices: list[int], key: MatchingKey) -> dict[Hashable, int]:
    first: dict[Hashable, int] = {}
    repeated = set()
    for index in indices:
        value = key(index)
        if value is not None and first.setdefault(value, index) != index:
            repeated.add(value)
    return {value: index for value, index in first.items() if value not in repeated}


def _unique_neighbors(
    side: _Side, index: int, matched: dict[int, int], key: Callable[[_Side, int], Hashable]
) -> dict[Hashable, int]:
    """Return the unmatched neighbors of a node, keyed by position and key.

    If several neighbors have the same position and key, none of these neighbors is returned.
    """
    by_key: dict[Hashable, set[int]] = defaultdict(set)
    for place, neighbor in side.neighbors(index):
        if neighbor not in matched:
            by_key[place, key(side, neighbor)].add(neighbor)
    return {place: members.pop() for place, members in by_key.items() if len(members) == 1}
