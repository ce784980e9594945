"""Types that CPU kernels compute, and tensors whose quantization must be the same.

Many kernels prepare operands of every type, and compute only some types. ``invoke_types.json`` has the types that the kernels of
measured releases computed (``make kernel-types``).
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..graph.graph import Graph
from ..model.model import Node, Tensor
from ..refusal import Refusal, node_place
from ..releases.catalogue import Release, parse_release
from ..rules.kinds import CPU_KERNEL_QUANTIZATION, CPU_KERNEL_TYPE, CPU_KERNEL_UNQUANTIZED, Kind
from ..rules.operands import listed
from .invoke_values import VALUES_CHECKED, refused_value

_DATA: Mapping[str, Any] = json.loads(pkgutil.get_data(__package__, "invoke_types.json") or b"")
TESTED = frozenset[str](_DATA["tested"].split())
"""The types that were measured."""
NOT_BY_DEFAULT = TESTED - {"FLOAT16"}
"""The types of these that XNNPACK does not compute either, which the runtime applies by default."""
MEASURED = tuple([parse_release(name) for name in _DATA["releases"].split()])
"""The measured releases, oldest first."""
_SINCE, _BEFORE = ">=", "<"


class OperandPlace(NamedTuple):
    """The place of an operand or a result, such as ``input 0``."""

    side: str
    position: int

    def of(self, graph: Graph, node: Node) -> Tensor:
        """Return the tensor of a node at this place."""
        return graph.tensor(node.input(self.position) if self.side == "input" else node.output(self.position))

    def __str__(self) -> str:
        return f"{self.side} {self.position}"


def _place(text: str) -> OperandPlace:
    side, position = text.split()
    return OperandPlace(side, int(position))


class ComputedTypes(NamedTuple):
    """The types of one operand that the kernel of an operator computes.

    ``types`` has for each type the release since which it is computed, and the release since which it is not, or None. ``when``
    has the types of another operand to which this applies, or is None.
    """

    operand: OperandPlace
    types: Mapping[str, tuple[Release | None, Release | None]]
    when: tuple[OperandPlace, frozenset[str]] | None

    def computed_in(self, *releases: Release) -> Sequence[str]:
        """Return the types that at least one of the releases computes."""
        return [
            name
            for name, (since, before) in self.types.items()
            if any(
                (since is None or release.is_at_least(since)) and (before is None or not release.is_at_least(before))
                for release in releases
            )
        ]


_INPUT, _OUTPUT = OperandPlace("input", 0), OperandPlace("output", 0)
_OF_ONE_SCALE: Mapping[str, tuple[OperandPlace, OperandPlace, frozenset[str], Release]] = {
    "REDUCE_MAX": (_INPUT, _OUTPUT, frozenset({"INT8", "UINT8"}), MEASURED[0]),
    "REDUCE_MIN": (_INPUT, _OUTPUT, frozenset({"INT8", "UINT8"}), MEASURED[0]),
    "PADV2": (OperandPlace("input", 2), _OUTPUT, frozenset(), parse_release("litert-2.2.0")),
}
"""Two operands that need the same scale and zero point, the types that XNNPACK computes otherwise, and the first release.

Source: ``kernels/reduce.cc`` and ``kernels/pad.cc``; measured like the types.
"""
_COMPARISONS = frozenset({"EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"})
"""Operators that divide by the scale of INT8 and UINT8 operands (``kernels/comparisons.cc``; measured like the types)."""
_BYTES = frozenset({"INT8", "UINT8"})
_QUANTIZED = frozenset({"INT8", "UINT8", "INT16"})


def computed_types(op: str) -> Sequence[ComputedTypes]:
    """Return the rows of an operator. An operator without rows computes all types that it prepares, or was not measured."""
    rows = []
    for row in _DATA["rows"]:
        if row["op"] == op:
            side, position, *types = row.get("when", "input 0").split()
            when = (OperandPlace(side, int(position)), frozenset(types)) if types else None
            rows.append(ComputedTypes(_place(row["operand"]), dict(map(_release_range, row["types"].split())), when))
    return rows


def _release_range(text: str) -> tuple[str, tuple[Release | None, Release | None]]:
    name, is_later, since = text.partition(_SINCE)
    if is_later:
        return name, (parse_release(since), None)
    name, _, before = text.partition(_BEFORE)
    return name, (None, parse_release(before) if before else None)


def refused_when_run(graph: Graph, nodes: Iterable[Node], release: Release, *, has_default: bool = False) -> Refusal | None:
    """Return the refusal of the first node that its CPU kernel prepares and does not compute, or None.

    If ``has_default`` is true, XNNPACK has taken its nodes. Otherwise, what it may take is not refused, as it is applied by
    default. Constants are checked if no tensor is dynamic. Releases before the first measured one are not checked.
    """
    releases = _measured_around(release)
    types = TESTED if has_default else NOT_BY_DEFAULT
    rows: dict[str, Sequence[tuple[ComputedTypes, Sequence[str], frozenset[str]]]] = {}
    for node in nodes if releases else ():
        if node.is_custom:
            continue
        if node.op not in rows:
            computed = [(row, row.computed_in(*releases)) for row in computed_types(node.op)]
            rows[node.op] = [(row, names, types.difference(names)) for row, names in computed]
        for row, needed, refused in rows[node.op]:
            kind = row.operand.of(graph, node).type
            if kind in refused and (row.when is None or row.when[0].of(graph, node).type in row.when[1]):
                values = {"operand": str(row.operand), "found": kind, "needed": listed(needed)}
                return _refusal(CPU_KERNEL_TYPE, node, values)
        if node.op in _OF_ONE_SCALE:
            operand, other, by_default, since = _OF_ONE_SCALE[node.op]
            first, second = operand.of(graph, node), other.of(graph, node)
            is_checked = first.type in (_QUANTIZED if has_default else _QUANTIZED - by_default) and release.is_at_least(since)
            if is_checked and (first.scale, first.zero_point) != (second.scale, second.zero_point):
                return _refusal(CPU_KERNEL_QUANTIZATION, node, {"operand": str(operand), "other": str(other)})
        if node.op in _COMPARISONS:
            source = _INPUT.of(graph, node)
            if source.type in _BYTES and not source.scale:
                return _refusal(CPU_KERNEL_UNQUANTIZED, node, {"operand": str(_INPUT), "found": source.type})
        has_values = node.op in VALUES_CHECKED and graph.dynamic is None
        refusal = refused_value(graph.view(node), release) if has_values else None
        if refusal is not None:
            return refusal
    return None


def _refusal(kind: Kind, node: Node, values: Mapping[str, str]) -> Refusal:
    return kind.refusal(kind.template, node=node.index, values={"place": node_place(node.index, node.op), **values})


def _measured_around(release: Release) -> Sequence[Release]:
    """Return a measured release, or the measured releases before and after another release. Return none before the first one."""
    before = [own for own in MEASURED if release.is_at_least(own)]
    after = [own for own in MEASURED if own.is_at_least(release)]
    return [*before[-1:], *after[:1]] if before else []
