"""Explain a device log by nodes that an accelerator's driver rejected.

A table in execution order shows these nodes, a table of node types only their number per operator, and lines only totals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from operator import itemgetter
from types import MappingProxyType
from typing import Any, TypeVar

from ...delegates.driver import Driver, DriverQuestion, OperationSignature, signature
from ...graph.graph import NodeView
from ...runtime.interpreter import Run
from .trial_simulations import Account, Match, Trials

_MOST_ATTEMPTS = 256
_MOST_KINDS = 12

_Node = tuple[int, int]
_Key = TypeVar("_Key")


class RejectedNodes(Driver):
    """A driver that rejects certain nodes, and all operations that the driver ``other`` rejects."""

    def __init__(self, nodes: Mapping[int, Iterable[int]], other: Driver | None = None) -> None:
        self.nodes = {subgraph: frozenset(indices) for subgraph, indices in nodes.items()}
        self.other = other

    def __str__(self) -> str:
        return "as the log shows"

    def rejects(self, operation: str, view: NodeView) -> bool:
        """Return whether the node is one of these nodes, or ``other`` rejects the operation."""
        if view.node.index in self.nodes.get(view.graph.index, ()):
            return True
        return self.other is not None and self.other.rejects(operation, view)


@dataclass(frozen=True, slots=True)
class _NodeKind:
    op: str
    operations: tuple[OperationSignature, ...]

    @property
    def types(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((operation.operation, operation.types) for operation in self.operations)


@dataclass(frozen=True, slots=True)
class _Inquiry:
    trials: Trials
    option: str
    changes: Mapping[str, Any]
    text: str
    base: Run
    kinds: Mapping[_Node, _NodeKind]
    all_or_nothing: frozenset[_Node]
    """Nodes of partitions that are delegated either as a whole or not at all."""

    def fitting(self, rejected: Iterable[_Node]) -> Run | None:
        hypothesis = RejectedNodes(_by_subgraph(rejected), self.trials.setting.options[self.option])
        return self.trials.fitting({**self.changes, self.option: hypothesis})

    def match(self, run: Run, rejected: Iterable[_Node], undecided: Iterable[_Node], text: str, is_certain: bool = True) -> Match:
        account = Account("driver", text + self.text, self.changes, _by_subgraph(rejected), _by_subgraph(undecided), is_certain)
        return Match(run, account)

    def by_op(self, nodes: Iterable[_Node]) -> dict[str, list[_Node]]:
        return _grouped(nodes, lambda node: self.kinds[node].op)

    def by_kind(self, nodes: Iterable[_Node]) -> dict[_NodeKind, list[_Node]]:
        return _grouped(nodes, self.kinds.__getitem__)


def driver_match(trials: Trials, level: int | None = None) -> Match | None:
    """Return the best simulation that reproduces the log because the driver rejects nodes that the delegate accepts.

    ``level`` replaces the feature level. None if no rejections fit, or if the delegate asks the driver about no node.
    """
    inquiry = _inquiry(trials, level)
    if inquiry is None:
        return None
    search = _by_node if trials.facts.on_cpu else _by_operator if trials.facts.counts else _by_lines
    return search(inquiry)


def _inquiry(trials: Trials, level: int | None) -> _Inquiry | None:
    delegate = trials.setting.delegate
    interface = delegate.behind.driver
    if interface is None or trials.effort.is_over:
        return None
    changes = {} if level is None or delegate.levels is None else {delegate.levels.option: level}
    base = trials.simulate({**changes, interface.option: None})
    options = MappingProxyType({**trials.setting.options, **changes})
    kinds: dict[_Node, _NodeKind] = {}
    all_or_nothing: set[_Node] = set()
    for subgraph in base.subgraphs:
        questions = interface.questions(subgraph.graph, options, trials.release) if subgraph.decision is not None else None
        if questions is None:
            continue
        for partition in questions.partitions:
            for index in partition.nodes:
                op, operations = asked_operations(partition, index)
                if operations:
                    kinds[subgraph.graph.index, index] = _NodeKind(op, operations)
            if partition.is_all_or_nothing or questions.has_float16:
                all_or_nothing.update([(subgraph.graph.index, index) for index in partition.nodes])
    text = f", at feature level {level}" if changes else ""
    return _Inquiry(trials, interface.option, changes, text, base, kinds, frozenset(all_or_nothing)) if kinds else None


def asked_operations(partition: DriverQuestion, node: int) -> tuple[str, tuple[OperationSignature, ...]]:
    """Return the operator of a node, and the operations about which the delegate asks the driver for the node."""
    view = partition.graph.view(partition.graph.nodes[node])
    return view.op, tuple([signature(operation, view) for operation in partition.operations.get(node, ())])


def _by_node(inquiry: _Inquiry) -> Match | None:
    """If the delegate accepts a CPU node, either the driver rejected the node, or a limit dropped its partition."""
    kinds, all_or_nothing, known = inquiry.kinds, inquiry.all_or_nothing, inquiry.trials.facts.on_cpu
    left_out = {node for node in kinds if node[1] in known.get(node[0], ())}
    delegated = {node for node in kinds if node[0] in known and node not in left_out}
    accepted_kinds = {kinds[node] for node in delegated}
    rejected = {node for node in left_out if node in all_or_nothing or kinds[node] not in accepted_kinds}
    rejected_kinds = {kinds[node] for node in rejected - all_or_nothing}
    rejected |= {node for node, kind in kinds.items() if node[0] not in known and kind in rejected_kinds}
    text = "the driver rejects nodes that the delegate accepts"
    is_limited = inquiry.trials.setting.has_partition_limit
    for chosen in islice(_unions(inquiry, rejected), _MOST_ATTEMPTS) if is_limited else [rejected]:
        run = inquiry.fitting(chosen) if chosen else None
        if run is not None:
            # The driver may also have rejected nodes whose operations and types no delegated node has.
            accepted_types = {kinds[node].types for node in delegated}
            undecided = {node for node in rejected - chosen if kinds[node].types not in accepted_types}
            return inquiry.match(run, chosen, undecided, text)
    if not left_out or (run := inquiry.fitting(left_out)) is None:
        return None
    return inquiry.match(run, left_out, (), f"{text}, but accepts other nodes with the same operator, types and shapes")


def _unions(inquiry: _Inquiry, nodes: set[_Node]) -> Iterator[set[_Node]]:
    """Yield sets of nodes that the driver may have rejected. Several are tried because a limit may drop accepted nodes too."""
    apart = sorted(nodes - inquiry.all_or_nothing)
    by_op, by_kind = inquiry.by_op(apart).values(), inquiry.by_kind(apart).values()
    always = nodes & inquiry.all_or_nothing
    for number in (1, 2, 3):
        for chosen in islice(combinations(by_op, number), _MOST_ATTEMPTS // 4):
            yield always.union(*chosen)
    yield from map(always.union, by_kind)
    yield nodes
    yield from map(nodes.difference, by_kind)


def _by_operator(inquiry: _Inquiry) -> Match | None:
    fits: dict[frozenset[_Node], Run] = {}
    for rejected in islice(_selections(inquiry), _MOST_ATTEMPTS):
        if rejected and (run := inquiry.fitting(rejected)) is not None:
            fits.setdefault(rejected, run)
            if inquiry.trials.setting.has_partition_limit:
                break
    if not fits:
        return None
    rejected, run = next(iter(fits.items()))
    ops = ", ".join(sorted({inquiry.kinds[node].op for node in rejected}))
    text = f"the driver rejects nodes that the delegate accepts, by operator: {ops}"
    if len(fits) > 1:
        text += f"; this is one of {len(fits)} sets of nodes that fit the log"
    return inquiry.match(run, rejected, {node for other in fits for node in other ^ rejected}, text, len(fits) == 1)


def _selections(inquiry: _Inquiry) -> Iterator[frozenset[_Node]]:
    """Yield sets of nodes that fit the table of node types, those with few kinds of nodes first."""
    is_limited = inquiry.trials.setting.has_partition_limit
    choices: list[list[frozenset[_Node]]] = []
    for index, counts in inquiry.trials.facts.counts.items():
        subgraph = inquiry.base.subgraphs[index]
        ours = Counter([subgraph.graph.nodes[node].op for node in {*subgraph.graph.execution_plan} - subgraph.delegated])
        for op, nodes in inquiry.by_op([node for node in inquiry.kinds if node[0] == index]).items():
            more = counts.get(op, 0) - ours[op]
            if more or is_limited:
                sets = _choices(inquiry, nodes, counts.get(op, 0) if is_limited else more)
                choices.append(list(islice(sets, _MOST_ATTEMPTS)))  # no more are tried
    for chosen in product(*choices):
        yield frozenset(node for nodes in chosen for node in nodes)


def _choices(inquiry: _Inquiry, nodes: Sequence[_Node], wanted: int) -> Iterator[frozenset[_Node]]:
    """Yield sets of ``wanted`` nodes with all nodes of a kind or none. Smaller sets too if partitions are limited."""
    groups = list(inquiry.by_kind(nodes).values())
    if len(groups) > _MOST_KINDS:
        if wanted in (0, len(nodes)):
            yield frozenset(nodes[:wanted])
        return
    for number in range(len(groups) + 1):
        for chosen in combinations(groups, number):
            size = sum(map(len, chosen))
            if size == wanted or (inquiry.trials.setting.has_partition_limit and size < wanted):
                yield frozenset(node for group in chosen for node in group)


def _by_lines(inquiry: _Inquiry) -> Match | None:
    """Without operator tables, assume that the driver rejects all nodes of one or two operators."""
    by_op = inquiry.by_op(inquiry.kinds)
    for number in (1, 2):
        choices = islice(combinations(sorted(by_op), number), _MOST_ATTEMPTS)
        rejections = [(names, [node for name in names for node in by_op[name]]) for names in choices]
        fitting = [(names, nodes, run) for names, nodes in rejections if (run := inquiry.fitting(nodes)) is not None]
        if fitting:
            names, rejected, run = fitting[0]
            others = " or ".join([" and ".join(other) for other, _, _ in fitting[1:]])
            text = f"these lines fit a driver that rejects {' and '.join(names)}"
            text += f", or one that rejects {others}" if others else ""
            text += "; record a table of operators to see which nodes the driver rejects"
            return inquiry.match(run, rejected, rejected, text, is_certain=False)
    return None


def _grouped(nodes: Iterable[_Node], key: Callable[[_Node], _Key]) -> dict[_Key, list[_Node]]:
    groups: dict[_Key, list[_Node]] = defaultdict(list)
    for node in nodes:
        groups[key(node)].append(node)
    return groups


def _by_subgraph(nodes: Iterable[_Node]) -> dict[int, frozenset[int]]:
    groups = _grouped(sorted(set(nodes)), itemgetter(0))
    return {subgraph: frozenset([node for _, node in group]) for subgraph, group in groups.items()}
