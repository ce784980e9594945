"""Run simulations under several assumptions, and compare each simulation with a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ...delegates.decision import Decision
from ...foundation.columns import LIST, OBJECT, YES_OR_NO, Column, Declared, attributes
from ...graph.analysis_cache import AnalysisCache
from ...graph.effort import Effort
from ...model.model import Model
from ...releases.catalogue import Release
from ...rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM
from ...runtime.interpreter import Run, simulate
from ...runtime.run import option_values
from ...runtime.target import Target
from ..parse.applied_target import DeviceSetting
from .differences import differences
from .observed_delegation import Facts

_LINES_LIKE_A_NODE = 4
"""Number of lines of the log with which a simulation is compared that cost as much as a node."""
_NODES_LIKE_A_LINE = 10
"""Number of nodes that cost as much as reading a line of the simulation."""


def _entries(by_subgraph: Mapping[int, frozenset[int]]) -> list[dict[str, Any]]:
    return [{"subgraph": index, "nodes": sorted(nodes)} for index, nodes in by_subgraph.items()]


@dataclass(frozen=True, slots=True)
class Account(Declared):
    """Assumptions under which a simulation reproduces the log. ``options`` has the changed options.

    ``kind`` is ``options``, ``driver``, ``compilation``, ``driver-profile`` or ``not-created``.
    """

    columns = (
        *(*attributes("kind", "text"), Column("options", OBJECT, source=lambda own: option_values(own.options))),
        Column("rejected", LIST, source=lambda own: _entries(own.rejected)),
        Column("undecided", LIST, source=lambda own: _entries(own.undecided)),
        Column("is_certain", YES_OR_NO),
    )

    kind: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    rejected: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The nodes that the driver rejects, by subgraph."""
    undecided: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The nodes that the driver may or may not have rejected, by subgraph."""
    is_certain: bool = True
    """True if no other assumptions explain the log equally well."""


@dataclass(frozen=True, slots=True)
class Match:
    """A simulation that reproduces the log, and its assumptions."""

    run: Run
    account: Account


@dataclass(frozen=True, slots=True)
class AssumptionTrial(Declared):
    """A simulation with assumptions that leaves differences from the log, or that contradicts an option in the log."""

    columns = (Column("options", OBJECT, source=lambda own: option_values(own.options)), Column("differences", LIST))

    options: Mapping[str, Any]
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trials:
    """The values that all trial simulations have in common."""

    model: Model
    setting: DeviceSetting
    release: Release
    facts: Facts
    effort: Effort
    _cache: AnalysisCache = field(default_factory=AnalysisCache, repr=False, compare=False)
    tried: list[AssumptionTrial] = field(default_factory=list, repr=False, compare=False)

    def simulate(self, changes: Mapping[str, Any]) -> Run:
        """Simulate the model with the changed options ``changes``. Comparing the lines costs effort too."""
        self.effort.spend(self.setting.delegate.effort_with({**self.setting.options, **changes}))
        run = as_observed(simulate_setting(self.model, self.setting, self.release, changes, self._cache), self.facts)
        own = len(self.facts.log.statements) + len(self.facts.log.replacements)
        self.effort.spend_nodes(own // _LINES_LIKE_A_NODE + len(run.log_lines) * _NODES_LIKE_A_LINE)
        return run

    def fitting(self, changes: Mapping[str, Any]) -> Run | None:
        """Return the simulation with changed options if it agrees with the log. None otherwise, or if the effort is over."""
        if self.effort.is_over:
            return None
        run = self.simulate(changes)
        if not (left := differences(self.facts, run, self.effort.cache)):
            return run
        self.tried.append(AssumptionTrial(changes, tuple(left)))
        return None

    def match(self, changes: Mapping[str, Any], text: str, kind: str = "options") -> Match | None:
        """Return the simulation with changed options as an explanation, or None if it does not agree with the log."""
        if (run := self.fitting(changes)) is None:
            return None
        driver = self.setting.delegate.behind.driver
        decided = [(own.graph.index, own.decision) for own in run.subgraphs if own.decision is not None]
        code = driver.code if driver is not None and driver.option in changes else ""
        rejected = {index: nodes for index, decision in decided if (nodes := nodes_set_aside(decision, code))}
        return Match(run, Account(kind, text, changes, rejected))

    def closest(self, most: int) -> AssumptionTrial | None:
        """Return the simulation with the fewest differences, if it has fewer than ``most``. The first of equal ones is taken."""
        best = min(self.tried, key=lambda trial: len(trial.differences), default=None)
        return best if best is not None and len(best.differences) < most else None


def as_observed(run: Run, facts: Facts) -> Run:
    """Return a run whose predicted rejection is certain if the log shows a failure."""
    refusal = run.refusal
    if refusal is None or not refusal.is_predicted or not facts.has_failed or run.delegate.accelerator.fails_with_model:
        return run
    return replace(run, outcome="restored", subgraphs=tuple([subgraph.without_kernels() for subgraph in run.subgraphs]))


def simulate_setting(
    model: Model,
    setting: DeviceSetting,
    release: Release,
    changes: Mapping[str, Any] = MappingProxyType({}),
    cache: AnalysisCache | None = None,
) -> Run:
    """Simulate a model with the setting that a log shows, but with the changed options ``changes``."""
    options = MappingProxyType({**setting.options, **changes})
    # The device loaded the model, so its resolver had all operators.
    target = Target(setting.delegate, options, release, setting.defaults, assume_ops_registered=True)
    return simulate(model, target, cache=cache)


DRIVER, LIMIT, UNDECIDED, REFUSED = "driver", "limit", "undecided", "refused"
"""Causes that kept a node on the CPU.

``DRIVER``: the driver rejected the node. ``LIMIT``: a limit dropped the node's partition. ``UNDECIDED``: the log does not show
whether the driver or a limit is the cause. ``REFUSED``: the delegate refused the node.
"""

_LIMITS = (PARTITION_LIMIT.name, PARTITION_MINIMUM.name)


class CpuNode(NamedTuple):
    """A node that ran on the CPU, and the cause. ``accepted`` is true if the delegate's own rules accept the node."""

    subgraph: int
    node: int
    op: str
    cause: str
    accepted: bool


def cpu_nodes(facts: Facts, run: Run, account: Account | None) -> tuple[CpuNode, ...]:
    """Return the CPU nodes of the device with their causes. Nodes that the log does not show are those of the simulation."""
    result = []
    for subgraph in run.subgraphs:
        graph, decision = subgraph.graph, subgraph.decision
        nodes = facts.on_cpu.get(graph.index, facts.listed.get(graph.index))
        nodes = frozenset(graph.execution_plan) - subgraph.delegated if nodes is None else nodes
        rejected, undecided = (own.get(graph.index, ()) for own in (account.rejected, account.undecided)) if account else ((), ())
        for index in sorted(nodes):
            verdict = decision.verdicts.get(index) if decision else None
            is_accepted = verdict is not None and verdict.is_supported
            reason = decision.set_aside.get(index) if decision is not None else None
            if not is_accepted:
                cause = REFUSED
            elif index in undecided or (index not in rejected and reason is None):
                cause = UNDECIDED
            elif reason is None or index in rejected:
                cause = DRIVER
            else:
                cause = LIMIT if reason.code in _LIMITS or run.delegate.behind.driver is None else DRIVER
            result.append(CpuNode(graph.index, index, graph.nodes[index].op, cause, is_accepted))
    return tuple(result)


def nodes_set_aside(decision: Decision, code: str) -> frozenset[int]:
    """Return the nodes that a decision leaves to the CPU for the reason ``code``."""
    return frozenset(node for node, reason in decision.set_aside.items() if reason.code == code)
