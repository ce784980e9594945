"""Causes. A cause groups the refusals that one change would remove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...foundation.columns import Column, group
from ...graph.graph import NodeView, file_graphs
from ...graph.reachability import called_subgraphs, subgraphs_from
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, combined
from ...model.model import Model
from ...rules.kinds import Problem
from .change import Advice, Change, ChangeKind, Remedy


class Identity(NamedTuple):
    """The key of a cause: the kind of problem, and its subject."""

    problem: Problem
    subject: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name in JSON and CSV: the problem and the subject."""
        return ":".join([self.problem.value, *self.subject])


LISTS = Identity(Problem.OPERATOR, ("lists",))
"""The cause of a loop that stores its results in lists."""


class Cause(NamedTuple):
    """One reason that keeps nodes on the CPU. ``advice`` says what to change, and ``remedy`` simulates the first change."""

    identity: Identity
    title: str
    nodes: tuple[NodeKey, ...]
    operators: tuple[tuple[str, int], ...]
    """Each operator with its number of nodes, the most frequent operator first."""
    codes: tuple[str, ...]
    """The codes of the refusals."""
    found: str
    needed: str
    advice: Advice
    remedy: Remedy

    @property
    def suggestion(self) -> str:
        """The code of the change: a key of ``SUGGESTIONS``."""
        return self.advice.code

    @property
    def change(self) -> str:
        """The instructions, as text."""
        return self.advice.text

    @property
    def alternatives(self) -> tuple[Change, ...]:
        """The changes that were simulated in place of each other, with their results."""
        return self.advice.tried

    @property
    def name(self) -> str:
        """The cause's name in JSON and CSV: the problem and the subject."""
        return self.identity.name

    @property
    def label(self) -> str:
        """The cause's name in text. For a limit, the name leaves out the value, because the advice may name another value."""
        if self.identity.problem is Problem.LIMIT and self.remedy.options:
            return ":".join([self.identity.problem.value, next(iter(self.remedy.options))])
        return self.name

    @property
    def has_no_known_change(self) -> bool:
        """True if all changes that were tried have a known result, and no change helps."""
        known = [change.cost is not None and not change.helps for change in self.alternatives]
        return bool(known) and all(known)

    @property
    def is_simulated(self) -> bool:
        """False if the result of the change cannot be simulated, for example the result of a compiler."""
        return self.remedy != Remedy()

    @property
    def advised(self) -> Remedy:
        """The first change of the advice that can be simulated, or ``remedy`` if there is none."""
        return next((change.remedy for change in self.advice.changes if change.remedy is not None), self.remedy)

    @property
    def node_versions(self) -> Mapping[NodeKey, int]:
        """The operator versions that would make the delegate accept the nodes."""
        return self.remedy.node_versions


SUGGESTION = group("suggestion", Column("code", source="suggestion"), Column("change"))
"""The column of a cause's change."""


def views_of(model: Model, nodes: Iterable[NodeKey]) -> list[NodeView]:
    """Return nodes of the model file."""
    graphs = file_graphs(model)
    return [graphs[key.subgraph].view(graphs[key.subgraph].nodes[key.node]) for key in nodes]


class Blockers(NamedTuple):
    """All causes that keep nodes of a run on the CPU. ``causes_of`` has the causes of each node.

    ``not_simulated`` lists the hypothetical changes that exceed a limit. Each text names the limit.
    """

    causes: tuple[Cause, ...]
    causes_of: Mapping[NodeKey, frozenset[Identity]]
    not_simulated: tuple[str, ...] = ()

    def without_other_delegates(self) -> Blockers:
        """Return the causes without changes that name other delegates."""
        causes = []
        for cause in self.causes:
            changes = tuple([change for change in cause.advice.changes if change.kind is not ChangeKind.DELEGATE])
            causes.append(cause._replace(advice=replace(cause.advice, changes=changes)))
        return self._replace(causes=tuple(causes))

    def without(self, removed: Iterable[Cause]) -> HypotheticalChanges:
        """Return the hypothetical changes that fix the causes in ``removed``.

        A node is accepted only if all its causes are in ``removed``.
        """
        fixed = tuple(removed)
        identities = {cause.identity for cause in fixed}
        accepted = [
            key
            for cause in fixed
            if cause.remedy.accepts
            for key in cause.nodes
            if cause.identity in (own := self.causes_of.get(key, frozenset())) and own <= identities
        ]
        return combined(HypotheticalChanges(accepted_nodes=frozenset(accepted)), *[cause.remedy for cause in fixed])


UNROLL = "unroll-control-flow"
"""The code of the suggestion to unroll a loop, whose result is not known."""

_UNROLLED = "unroll the loop (unroll=True in Keras' recurrent layers): the converter then writes other nodes in place of these"
_OF_WHOLE_MODEL = (ChangeKind.APPLICATION, ChangeKind.CONVERSION, ChangeKind.OPTIONS)
"""Kinds of change that can be made without a change of the loop's layer."""

LOOPS = (("control-flow", "WHILE"), ("lists",))
"""Subjects of causes that are loops."""


def loops_around(model: Model, causes: Sequence[Cause]) -> Mapping[Identity, Identity]:
    """Return the cause of a loop for each cause whose nodes are all in the subgraphs of this loop."""
    inside = {cause.identity: _subgraphs_of_loop(model, cause) for cause in causes if cause.identity.subject in LOOPS}
    return {
        cause.identity: loop
        for loop, subgraphs in inside.items()
        for cause in causes
        if cause.identity != loop and cause.nodes and all(key.subgraph in subgraphs for key in cause.nodes)
    }


def advised_in_loops(model: Model, blockers: Blockers) -> Blockers:
    """Return the causes with the advice to unroll the loop before any change of a node inside the loop.

    The source of the model does not have the tensors of a loop that a recurrent layer writes.
    """
    inside = loops_around(model, blockers.causes)
    causes = [_unrolled(cause) if cause.identity in inside else cause for cause in blockers.causes]
    return blockers._replace(causes=tuple(causes))


def _unrolled(cause: Cause) -> Cause:
    advice = cause.advice
    is_single = advice.are_alternatives or sum(change.kind is not ChangeKind.DELEGATE for change in advice.changes) == 1
    if not is_single or any(change.kind in _OF_WHOLE_MODEL for change in advice.changes):
        return cause
    return cause._replace(advice=Advice(advice.code, (Change(_UNROLLED), *advice.changes), are_alternatives=True))


def _subgraphs_of_loop(model: Model, cause: Cause) -> frozenset[int]:
    loops = [view.node for view in views_of(model, cause.nodes) if view.op == "WHILE" and not view.node.is_custom]
    return subgraphs_from(model, [index for node in loops for index in called_subgraphs(model, node)]) - {0}
