"""The types that CPU kernels compute.

Many kernels prepare operands of every type, and compute only some types. ``invoke_types.json`` has the types that the kernels of
measured releases computed (``make kernel-types``).
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

from ..graph.graph import Graph
from ..model.model import Node
from ..refusal import Refusal, node_place
from ..releases.catalogue import Release, parse_release
from ..rules.kinds import CPU_KERNEL_TYPE
from ..rules.operands import listed
from .invoke_values import refused_value

_DATA: Mapping[str, Any] = json.loads(pkgutil.get_data(__package__, "invoke_types.json") or b"")
TESTED = frozenset[str](_DATA["tested"].split())
"""The types that were measured."""
NOT_BY_DEFAULT = TESTED - {"FLOAT16"}
"""The types of these that XNNPACK does not compute either, which the runtime applies by default."""
MEASURED = tuple([parse_release(name) for name in _DATA["releases"].split()])
"""The measured releases, oldest first."""
_SINCE, _BEFORE = ">=", "<"


class ComputedTypes(NamedTuple):
    """The types of one operand that the kernel of an operator computes.

    ``types`` has for each type the release since which it is computed, and the release since which it is not, or None. ``when``
    has the types of another operand to which this applies, or is None.
    """

    operand: str
    types: Mapping[str, tuple[Release | None, Release | None]]
    when: tuple[str, frozenset[str]] | None

    def computed_in(self, release: Release) -> Sequence[str]:
        """Return the types that a release computes."""
        return [
            name
            for name, (since, before) in self.types.items()
            if (since is None or release.is_at_least(since)) and (before is None or not release.is_at_least(before))
        ]


def computed_types(op: str) -> Sequence[ComputedTypes]:
    """Return the rows of an operator. An operator without rows computes all types that it prepares, or was not measured."""
    rows = []
    for row in _DATA["rows"]:
        if row["op"] == op:
            side, position, *types = row.get("when", "input 0").split()
            when = (f"{side} {position}", frozenset(types)) if types else None
            rows.append(ComputedTypes(row["operand"], dict(map(_release_range, row["types"].split())), when))
    return rows


def _release_range(text: str) -> tuple[str, tuple[Release | None, Release | None]]:
    name, is_later, since = text.partition(_SINCE)
    if is_later:
        return name, (parse_release(since), None)
    name, _, before = text.partition(_BEFORE)
    return name, (None, parse_release(before) if before else None)


def refused_when_run(graph: Graph, nodes: Iterable[Node], release: Release, types: Set[str] = TESTED) -> Refusal | None:
    """Return the refusal of the first node whose CPU kernel does not compute the types or constants of the node, or None.

    Only operands of ``types`` are checked, and constants if no tensor is dynamic. Releases before the first measured one are not
    checked.
    """
    releases = _measured_around(release)
    rows: dict[str, Sequence[ComputedTypes]] = {}
    for node in nodes if releases else ():
        if node.is_custom:
            continue
        if node.op not in rows:
            rows[node.op] = computed_types(node.op)
        for row in rows[node.op]:
            kind = _type(graph, node, row.operand)
            if kind not in types or (row.when is not None and _type(graph, node, row.when[0]) not in row.when[1]):
                continue
            computed = dict.fromkeys([name for own in releases for name in row.computed_in(own)])
            if kind not in computed:
                place = node_place(node.index, node.op)
                values = {"place": place, "operand": row.operand, "found": kind, "needed": listed(computed)}
                return CPU_KERNEL_TYPE.refusal(CPU_KERNEL_TYPE.template, node=node.index, values=values)
        refusal = refused_value(graph.view(node), release) if graph.dynamic is None else None
        if refusal is not None:
            return refusal
    return None


def _measured_around(release: Release) -> Sequence[Release]:
    """Return a measured release, or the measured releases before and after another release. Return none before the first one."""
    before = [own for own in MEASURED if release.is_at_least(own)]
    after = [own for own in MEASURED if own.is_at_least(release)]
    return [*before[-1:], *after[:1]] if before else []


def _type(graph: Graph, node: Node, operand: str) -> str:
    side, position = operand.split()
    return graph.tensor(node.input(int(position)) if side == "input" else node.output(int(position))).type
