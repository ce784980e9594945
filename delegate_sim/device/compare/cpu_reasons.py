"""Reasons why nodes ran on the CPU of a device."""

from __future__ import annotations

from typing import NamedTuple

from ...delegates.base import Delegate
from ...delegates.decision import Decision
from ...rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM
from ...runtime.interpreter import Run
from .observed_delegation import Facts
from .trial_simulations import Account

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
    """Return the nodes that ran on the device's CPU, with their causes.

    If the log does not show the CPU nodes of a subgraph, return the simulated CPU nodes of the subgraph.
    """
    result = []
    for subgraph in run.subgraphs:
        graph, decision = subgraph.graph, subgraph.decision
        nodes = facts.on_cpu.get(graph.index, facts.listed.get(graph.index))
        if nodes is None:
            nodes = frozenset(graph.execution_plan) - subgraph.delegated
        rejected = account.rejected.get(graph.index, frozenset()) if account else frozenset()
        undecided = account.undecided.get(graph.index, frozenset()) if account else frozenset()
        for index in sorted(nodes):
            verdict = decision.verdicts.get(index) if decision else None
            is_accepted = verdict is not None and verdict.is_supported
            if not is_accepted:
                cause = REFUSED
            elif index in undecided:
                cause = UNDECIDED
            elif index in rejected:
                cause = DRIVER
            else:
                cause = _simulated_cause(run.delegate, decision, index)
            result.append(CpuNode(graph.index, index, graph.nodes[index].op, cause, is_accepted))
    return tuple(result)


def nodes_set_aside(decision: Decision, code: str) -> frozenset[int]:
    """Return the nodes that a decision leaves to the CPU for the reason ``code``."""
    return frozenset(node for node, reason in decision.set_aside.items() if reason.code == code)


def _simulated_cause(delegate: Delegate, decision: Decision | None, node: int) -> str:
    """Return the cause for a node that the delegate accepts but the simulation leaves on the CPU."""
    reason = decision.set_aside.get(node) if decision is not None else None
    if reason is None:
        return UNDECIDED
    return LIMIT if reason.code in _LIMITS or delegate.behind.driver is None else DRIVER
