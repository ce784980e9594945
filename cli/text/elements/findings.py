"""Findings as text. Findings with the same statement about several nodes of one operator are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from delegate_sim.foundation.printable import and_list
from delegate_sim.results.compare.model_changes import ADDED, REMOVED, NodeChange
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING, Finding, measured_text
from delegate_sim.rules.kinds import PARTITION_LIMIT, PARTITION_MINIMUM

from ...console.layout import counted, node_list
from .paragraphs import with_ranges, without_numbers

LEVELS = (ERROR, WARNING, NOTE)
_NODES_WIDTH = 40
_OF_PARTITIONS = frozenset({PARTITION_LIMIT.name, PARTITION_MINIMUM.name})
"""Codes of findings about whole partitions, so about nodes of any operators."""
_OPERATORS_SHOWN = 3


def alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings that differ only in the node, in the change of the node, and in numbers.

    Nodes of a group have the same operator, unless the finding is about a whole partition. Errors come first. Within a level,
    findings about the whole model come first. The other groups follow in the order of their ranks. Among groups of equal rank,
    larger groups come first.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        place = finding.location
        op = "" if finding.code in _OF_PARTITIONS else place.op
        node = (place.subgraph, op, without_numbers(finding.statement)) if finding.node_name else number
        groups.setdefault((finding.level, finding.code, node), []).append(finding)
    return sorted(
        groups.values(),
        key=lambda members: (LEVELS.index(members[0].level), bool(members[0].node_name), members[0].rank, -len(members)),
    )


def finding_text(members: Sequence[Finding]) -> str:
    """Return the message of a group of findings."""
    first = members[0]
    if len(members) == 1:
        return first.message
    place = first.location
    nodes = node_list(sorted([member.location.node or 0 for member in members]), _NODES_WIDTH)
    subgraph = f" of subgraph {place.subgraph}" if place.subgraph else ""
    statement = with_ranges([member.statement for member in members])
    ending = f"{_changes(members)}{measured_text(members)}{first.why_ignored}"
    ops = [op for op, _ in Counter([member.location.op for member in members]).most_common()]
    more = [counted(len(ops) - _OPERATORS_SHOWN, "other operator")] if len(ops) > _OPERATORS_SHOWN else []
    return f"{and_list([*ops[:_OPERATORS_SHOWN], *more])} ({len(members):,} nodes{subgraph}: {nodes}) {statement}{ending}"


def _changes(members: Sequence[Finding]) -> str:
    changes: dict[str, list[str]] = {}
    for member in members:
        if member.change:
            changes.setdefault(without_numbers(member.change), []).append(member.change)
    if not changes:
        return ""
    texts = [with_ranges(texts) for texts in changes.values()]
    if len(texts) > 1:
        texts = [f"{counted(len(own), 'node')} {text}" for own, text in zip(changes.values(), texts, strict=True)]
    return f" (changed: {'; '.join(texts)})"


def finding_hint(members: Sequence[Finding]) -> str:
    """Return the hints for a group of findings. Hints that differ only in numbers are merged."""
    hints: dict[str, list[str]] = {}
    for member in members:
        if member.hint:
            hints.setdefault(without_numbers(member.hint), []).append(member.hint)
    return "; for some of the nodes: ".join([with_ranges(texts) for texts in hints.values()])


def changes_alike(changes: Iterable[NodeChange]) -> list[list[NodeChange]]:
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
    place = f", {first.name}" if len(members) == 1 and first.name else ""
    where = f"{first.op} ({'node' if len(members) == 1 else 'nodes'} {nodes}{place})"
    if first.what in (ADDED, REMOVED):
        return f"{where}: {first.what}, {first.old or first.new}"
    return f"{where}: {first.what} {first.old} -> {first.new}"
