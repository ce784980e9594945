"""The state of a search for causes: the changes that it assumes, the run with these changes, and the refusals of each cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from ...graph.effort import Effort, Tries
from ...graph.graph import NodeView, file_graphs
from ...hypothetical.hypothetical_changes import HypotheticalChanges, NodeKey, combined
from ...model.model import Model
from ...rules.kinds import Problem
from ...rules.rule import Reason
from ..examiner import Examined, RefusedNode
from .cause import Blockers, Cause, Identity, views_of
from .change import Advice, Remedy

Simulate: TypeAlias = Callable[[HypotheticalChanges], Examined]
"""A function that simulates the model with hypothetical changes."""


class Evidence(NamedTuple):
    """Refusals of one cause in a run, and the change that removes them. Several runs may add to the same cause."""

    identity: Identity
    cases: tuple[RefusedNode, ...] = ()
    remedy: Remedy | None = None
    """The fix of the cause. None if the fix is that the delegate accepts the nodes."""
    assumed: HypotheticalChanges | None = None
    """The changes that later runs assume, to show refusals behind this cause. None if they assume the remedy."""
    at_fault: frozenset[NodeKey] | None = None
    """The nodes at fault, if the cause keeps the whole graph on the CPU. None if all nodes of ``cases`` are at fault."""
    demanding: frozenset[NodeKey] = frozenset()
    """The nodes of the file with the features that raised a refused version.

    All nodes of an operator have this version, with or without the features.
    """
    guessed: frozenset[NodeKey] = frozenset()
    """The nodes that depend on an unknown size. The remedy must guess the sizes of their operands."""


class SearchState(NamedTuple):
    """A run of the model with hypothetical changes, and all refusals in this run and earlier runs.

    The changes fix the causes found so far. They show refusals that the unchanged model hides.
    """

    changes: HypotheticalChanges
    run: Examined
    evidence: tuple[Evidence, ...] = ()

    @property
    def of_model(self) -> HypotheticalChanges:
        """The changes without those of single nodes and of the delegate's options."""
        return replace(self.changes, accepted_nodes=frozenset(), node_versions={}, options={})


@dataclass(frozen=True, slots=True)
class CauseSearch:
    """The model and the limits of a search for causes."""

    model: Model
    simulate: Simulate
    effort: Effort
    first: Examined
    """The run of the unchanged model."""
    tries: Tries
    """The remaining simulations with other operator versions."""
    most_repairs: int
    """Largest number of CPU kernels that one step assumes to accept a node that they refuse."""
    not_simulated: list[str] = field(default_factory=list)
    """The hypothetical changes that exceed a limit. Each text names the limit."""

    @property
    def delegate(self) -> Any:
        """The applied delegate."""
        return self.first.run.delegate

    def problem_of(self, code: str) -> Problem:
        """Return the kind of problem that the delegate assigns to a refusal's code."""
        problem: Problem = self.delegate.kinds[code].problem
        return problem

    def refused_for(self, problem: Problem, hypothetical: HypotheticalChanges) -> set[NodeKey]:
        """Return the nodes that are refused for this kind of problem under hypothetical changes."""
        return {
            refused.key
            for refused in self.simulate(hypothetical).on_cpu
            if any(self.problem_of(reason.code) is problem for reason in refused.reasons)
        }

    def assume(self, state: SearchState, evidence: Iterable[Evidence]) -> SearchState:
        """Add causes, and simulate the model with their fixes."""
        added = tuple(evidence)
        fixes = [own.remedy if own.assumed is None else own.assumed for own in added]
        changes = combined(state.changes, *[fix for fix in fixes if fix is not None])
        run = state.run if changes == state.changes else self.simulate(changes)
        return SearchState(changes, run, (*state.evidence, *added))


FoundEvidence: TypeAlias = tuple[Evidence, ...]
"""The causes that a function finds in a run."""

EvidenceFinder: TypeAlias = Callable[[CauseSearch, SearchState], FoundEvidence]
"""A function that finds causes in the run of a state."""


def cases_of(nodes: Iterable[RefusedNode], reason: Reason | None = None) -> tuple[RefusedNode, ...]:
    """Return nodes with their own reasons, or with ``reason``."""
    return tuple(
        [refused._replace(reasons=(own,)) for refused in nodes for own in (refused.reasons if reason is None else (reason,))]
    )


def view_of(key: NodeKey, examined: Examined) -> NodeView:
    """Return a node of the model file, with the hypothetical changes of a simulated run."""
    now = examined.change.now(key)
    assert now is not None
    graph = file_graphs(examined.change.model)[now.subgraph]
    return graph.view(graph.nodes[now.node])


def by_cause(evidence: Sequence[Evidence]) -> Mapping[Identity, Sequence[Evidence]]:
    """Group evidence by cause. The cause with the earliest refusal comes first. Causes without a refusal are left out."""
    groups: dict[Identity, list[Evidence]] = {}
    for own in evidence:
        groups.setdefault(own.identity, []).append(own)
    return {identity: groups[identity] for identity in [own.identity for own in evidence if own.cases]}


def cases_in(group: Iterable[Evidence]) -> Sequence[RefusedNode]:
    """Return the different refusals of a cause. Two refusals of a node with the same code are one refusal."""
    cases: dict[tuple[NodeKey, str], RefusedNode] = {}
    for own in group:
        for case in own.cases:
            cases.setdefault((case.key, case.reason.code), case)
    return tuple(cases.values())


def blockers_of(model: Model, evidence: Sequence[Evidence], not_simulated: Sequence[str]) -> Blockers:
    """Return the causes of all refusals, without titles and advice, and the causes of each node.

    Nodes and operators are those of ``model``, although a refusal may be one of a converted model.
    """
    causes = []
    causes_of: dict[NodeKey, set[Identity]] = {}
    for identity, group in by_cause(evidence).items():
        cases = cases_in(group)
        remedies = [own.remedy for own in group if own.remedy is not None]
        nodes = tuple(dict.fromkeys([case.key for case in cases]))
        operators = tuple(Counter([view.op for view in views_of(model, nodes)]).most_common())
        codes = tuple(dict.fromkeys([case.reason.code for case in cases]))
        remedy = combined(*remedies) if remedies else Remedy(accepts=True)
        causes.append(Cause(identity, "", nodes, operators, codes, "", cases[0].reason.needed, Advice("", ()), remedy))
        for own in group:
            for key in [case.key for case in own.cases] if own.at_fault is None else own.at_fault:
                causes_of.setdefault(key, set()).add(identity)
    return Blockers(tuple(causes), {key: frozenset(own) for key, own in causes_of.items()}, tuple(not_simulated))
