"""Descriptions of the changes in a model since the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from delegate_sim.results.compare.model_changes import ADDED, REMOVED, NodeChange

from ...console.layout import node_list

_NODES_WIDTH = 40


def alike(changes: Iterable[NodeChange]) -> list[list[NodeChange]]:
    """Group changes that differ only in the node."""
    groups: dict[tuple[str, ...], list[NodeChange]] = {}
    for change in changes:
        groups.setdefault((change.op, change.what, change.old, change.new), []).append(change)
    return list(groups.values())


def change_text(members: Sequence[NodeChange]) -> str:
    """Describe a change that one or more nodes share."""
    first = members[0]
    if first.node is None and first.old_node is None:
        return f"{first.what} {first.name}: {first.old or 'none'} -> {first.new or 'none'}"
    indices = sorted(
        [change.old_node if change.what == REMOVED else change.node for change in members], key=lambda index: index or 0
    )
    nodes = node_list([index for index in indices if index is not None], _NODES_WIDTH)
    where = f"{first.op} ({'node' if len(members) == 1 else 'nodes'} {nodes}{_place(members)})"
    if first.what in (ADDED, REMOVED):
        return f"{where}: {first.what}, {first.old or first.new}"
    return f"{where}: {first.what} {first.old} -> {first.new}"


def _place(members: Sequence[NodeChange]) -> str:
    """Return a comma and the name of the tensor for a single node, or an empty string for several nodes."""
    return f", {members[0].name}" if len(members) == 1 and members[0].name else ""
