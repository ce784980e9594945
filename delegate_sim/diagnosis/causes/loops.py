"""Causes of nodes inside loops. Unrolling the loop replaces these nodes, so the cause of the loop comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph.reachability import called_subgraphs, subgraphs_from
from ...model.model import Model
from .cause import Cause, Identity, views_of

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


def _subgraphs_of_loop(model: Model, cause: Cause) -> frozenset[int]:
    loops = [view.node for view in views_of(model, cause.nodes) if view.op == "WHILE" and not view.node.is_custom]
    return subgraphs_from(model, [index for node in loops for index in called_subgraphs(model, node)]) - {0}
