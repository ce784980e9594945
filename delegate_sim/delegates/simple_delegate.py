"""Parts of TFLite's ``SimpleDelegate`` that NXP's delegates share (``delegates/utils/simple_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..rules.book import RuleBook
from ..rules.kinds import Kind, Problem
from ..rules.rule import Reason
from .decision import Decision, KernelFailure

READS_BEYOND_OPERANDS = Kind(
    "reads-beyond-operands",
    Problem.OPERANDS,
    "operand that the delegate reads although the node lacks it",
    "The delegate reads an operand or a result that the node does not have, from memory behind the list of operands. Usually it "
    "refuses the node, but the process may also crash.",
    "Convert the model so that the node has the operand, or without this operator.",
    "convert without this operator, or give the node the operand",
)
"""A problem for which the delegate may or may not refuse a node, because it reads memory with unknown content."""


def summary_line(name: str, decision: Decision) -> str:
    """Return the line that a SimpleDelegate prints before nodes are replaced (``DelegatePrepare``).

    "partitions" are all that the delegate could take.
    """
    total = len(decision.graph.execution_plan)
    return f"{name}: {len(decision.nodes)} nodes delegated out of {total} nodes with {len(decision.candidates)} partitions."


def crash_while_checking(decision: Decision, rules: RuleBook[Any], crash: Kind) -> KernelFailure | None:
    """Return the crash of a delegate while it checks nodes; None if no node is refused for the problem ``crash``.

    The delegate checks nodes in plan order, so the first such node crashes it.
    """
    first = next(_refused_for(decision, rules, crash), None)
    if first is None:
        return None
    node, reason = first
    message = f"the delegate crashes while it checks this node: {reason.found}, but it reads the value without a test"
    return KernelFailure(node, None, reason.code, message, reason.hint, is_crash=True)


def chance_warnings(decision: Decision, rules: RuleBook[Any]) -> Iterator[str]:
    """Yield a warning if the delegate reads operands that nodes do not have."""
    nodes = [node for node, _ in _refused_for(decision, rules, READS_BEYOND_OPERANDS)]
    if nodes:
        op = decision.graph.nodes[nodes[0]].op
        yield (
            f"subgraph {decision.graph.index}: {len(nodes)} nodes (first: {nodes[0]}, {op}) lack an operand or a result that "
            "the delegate reads; usually it refuses such a node, but the process may also crash"
        )


def _refused_for(decision: Decision, rules: RuleBook[Any], kind: Kind) -> Iterator[tuple[int, Reason]]:
    code = rules.code_of(kind)
    for index in decision.graph.execution_plan:
        yield from ((index, reason) for reason in decision.verdicts[index].reasons if reason.code == code)
