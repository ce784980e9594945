"""Parts of TFLite's ``SimpleDelegate`` that NXP's delegates share (``delegates/utils/simple_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..refusal import Effect, Refusal, Stage
from ..rules.book import RuleBook
from ..rules.kinds import Kind, Problem
from ..rules.rule import Reason
from .decision import Decision

READS_BEYOND_OPERANDS = Kind(
    "reads-beyond-operands",
    Problem.OPERANDS,
    "missing operand that the delegate reads",
    "The node lacks an operand or a result, so the delegate reads memory behind the list of operands. Usually the delegate "
    "then refuses the node, but the process may also crash.",
    "Give the node the operand, or replace the operator before you convert the model.",
    "give the node the operand, or convert without this operator",
)
"""A problem that probably causes a refusal.

The refusal is not certain, because the delegate reads memory with unknown content.
"""


def summary_line(name: str, decision: Decision) -> str:
    """Return the line that a SimpleDelegate prints before nodes are replaced (``DelegatePrepare``).

    The line counts all candidate partitions, including partitions that the delegate later drops.
    """
    total = len(decision.graph.execution_plan)
    return f"{name}: {len(decision.nodes)} nodes delegated out of {total} nodes with {len(decision.candidates)} partitions."


def crash_while_checking(decision: Decision, rules: RuleBook[Any], crash: Kind) -> Refusal | None:
    """Return the failure for a delegate that crashes while it checks nodes, or None if no node has the problem ``crash``.

    The first node with the problem, in plan order, causes the crash.
    """
    first = next(_refused_for(decision, rules, crash), None)
    if first is None:
        return None
    node, reason = first
    message = f"the delegate crashes while it checks this node: {reason.found}, but the delegate reads its value without a check"
    return Refusal(reason.code, message, reason.hint, node=node, stage=Stage.ACCEPTING, effect=Effect.CRASH)


def chance_warnings(decision: Decision, rules: RuleBook[Any]) -> Iterator[str]:
    """Yield a warning if the delegate reads an operand or a result that a node lacks."""
    nodes = [node for node, _ in _refused_for(decision, rules, READS_BEYOND_OPERANDS)]
    if nodes:
        op = decision.graph.nodes[nodes[0]].op
        lack = "1 node lacks" if len(nodes) == 1 else f"{len(nodes)} nodes lack"
        yield (
            f"subgraph {decision.graph.index}: {lack} an operand or a result that the delegate reads (first: node {nodes[0]}, "
            f"{op}). Usually the delegate refuses the node, but the process may also crash"
        )


def _refused_for(decision: Decision, rules: RuleBook[Any], kind: Kind) -> Iterator[tuple[int, Reason]]:
    code = rules.code_of(kind)
    for index in decision.graph.execution_plan:
        yield from ((index, reason) for reason in decision.verdicts[index].reasons if reason.code == code)
