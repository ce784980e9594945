"""Causes of nodes inside loops. Unrolling the loop replaces these nodes, so the cause of the loop comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...graph.reachability import called_subgraphs, subgraphs_from
from ...model.model import Model
from .cause import Blockers, Cause, Identity, views_of
from .change import Advice, Change, ChangeKind

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
    return replace(blockers, causes=tuple(causes))


def _unrolled(cause: Cause) -> Cause:
    advice = cause.advice
    is_single = advice.are_alternatives or sum(change.kind is not ChangeKind.DELEGATE for change in advice.changes) == 1
    if not is_single or any(change.kind in _OF_WHOLE_MODEL for change in advice.changes):
        return cause
    return replace(cause, advice=Advice(advice.code, (Change(_UNROLLED), *advice.changes), are_alternatives=True))


def _subgraphs_of_loop(model: Model, cause: Cause) -> frozenset[int]:
    loops = [view.node for view in views_of(model, cause.nodes) if view.op == "WHILE" and not view.node.is_custom]
    return subgraphs_from(model, [index for node in loops for index in called_subgraphs(model, node)]) - {0}
