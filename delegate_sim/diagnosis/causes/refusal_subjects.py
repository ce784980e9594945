"""Find the subject of a refusal. Refusals with the same problem and the same subject form one cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...graph.graph import NodeView
from ...refusal import Refusal
from ...rules.kinds import Problem
from ...rules.rule import Reason
from ..advice.change_kinds import OF_RUNTIME
from ..advice.wording import RefusedCase


def reason_of(refusal: Refusal) -> Reason:
    """Return a refusal by a delegate kernel, or by a stage behind the delegate, as a reason for the node at fault."""
    below = refusal.below
    if below is None:
        return Reason(refusal.code, OF_RUNTIME, refusal.message, refusal.message, "a kernel that can be created", refusal.hint)
    actual, needed = f"{below.operand!s}: {below.found!s}", f"{below.operand!s}: {below.needed!s}"
    return Reason(refusal.code, OF_RUNTIME, refusal.message, actual, needed, refusal.hint)


def told_options(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the text ``name=value`` for each option that is set."""
    return tuple([f"{name}={value}" for name, value in options.items() if value is not None])


def subject_of(problem: Problem, case: RefusedCase) -> tuple[str, ...]:
    """Return the subject of a refusal. Refusals that one change fixes have the same subject."""
    if problem is Problem.OPERATOR:
        return (case.op,)
    if problem is Problem.DRIVER:
        return (case.op,) if case.reason.found == case.op else (case.op, case.reason.found)
    if problem is Problem.RANK:
        # Neighboring nodes share tensors with too many dimensions, and one reshape fixes all of these nodes.
        return (case.reason.code,)
    return (case.op, case.reason.code, case.reason.needed)


def types_of(node: NodeView) -> list[str]:
    """Return the types of a node's operands and results."""
    return [tensor.type for tensor in (*node.inputs, *node.outputs)]
