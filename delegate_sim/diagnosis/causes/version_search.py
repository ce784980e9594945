"""Find accepted operator versions, and the features that raised refused versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...graph.effort import Tries
from ...graph.graph import NodeView
from ...hypothetical.hypothetical_changes import NodeKey
from ...rules.kinds import Problem
from ...versions.candidates import versions_to_try
from ...versions.explanation import shared_version, version_cause
from .cause import Identity
from .evidence import RefusedCase

RefusedWith: TypeAlias = Callable[[Mapping[NodeKey, int]], set[NodeKey]]
"""A function that sets the versions of some nodes and returns the nodes with a refused version."""

_Entry = tuple[str, int]
"""An operator and its version. In a model file, all nodes with the same operator and version share one entry."""


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """The explanation of a node's refused version.

    ``identity`` names the features that raised the version. If no feature is known, ``identity`` has only the operator and
    version. ``version`` is an accepted version, or None if no accepted version is known. ``demanding`` lists the nodes with the
    features. Nodes without the features have the version only because all nodes of an operator share a version.
    """

    identity: Identity
    case: RefusedCase
    version: int | None
    demanding: Sequence[tuple[int, int]] = ()


def find_versions(
    cases: Sequence[RefusedCase], views: Mapping[NodeKey, NodeView], refused_with: RefusedWith, tries: Tries
) -> Iterator[FoundVersion]:
    """Find the features that raised the version of each node, and a lower version that the delegate accepts.

    A version is lowered step by step until the delegate accepts the version, no lower version exists, or the tries run out.
    Nodes with the same operator and version share an entry in the model file. The same features therefore explain the version
    of all these nodes.
    """
    left = {case.key: case for case in cases}
    lowest = {_entry(view): view.version for view in views.values()}
    while lowest:
        codes: dict[_Entry, tuple[str, ...]] = {}
        demanding: dict[_Entry, Sequence[tuple[int, int]]] = {}
        for key in left:
            entry = _entry(views[key])
            if entry in lowest and entry not in codes:
                cause = version_cause(views[key], lowest[entry] - 1)
                codes[entry] = tuple([feature.code for feature in cause.features])
                demanding[entry] = cause.nodes
                lowest[entry] = shared_version(views[key], codes[entry]) if cause.is_explained and codes[entry] else 0
        lowest = {entry: version for entry, version in lowest.items() if version and entry in codes}
        tried = {key: lowest[_entry(views[key])] for key in left if _entry(views[key]) in lowest}
        if not tried or not tries.take():
            break
        refused = refused_with(tried)
        for key, version in tried.items():
            if key not in refused:
                entry = _entry(views[key])
                identity = Identity(Problem.OPERATOR_VERSION, codes[entry])
                yield FoundVersion(identity, left.pop(key), version, demanding[entry])
        lowest = {entry: version for entry, version in lowest.items() if version > 1}
    yield from _nearest_versions(left, views, refused_with, tries)


def _nearest_versions(
    left: dict[NodeKey, RefusedCase], views: Mapping[NodeKey, NodeView], refused_with: RefusedWith, tries: Tries
) -> Iterator[FoundVersion]:
    """Yield the nearest accepted version for each node whose version no feature explains.

    Each try changes all remaining nodes at once. Lower versions are tried before higher versions.
    """
    ways = {key: versions_to_try(views[key].version) for key in left}
    for attempt in range(max(map(len, ways.values()), default=0)):  # bounded: the longest of the lists
        tried = {key: ways[key][attempt] for key in left if attempt < len(ways[key])}
        if not tried:
            continue
        if not tries.take():
            break
        refused = refused_with(tried)
        for key in [key for key in tried if key not in refused]:
            yield _by_number(left.pop(key), views, tried[key])
    for case in left.values():
        yield _by_number(case, views, None)


def _by_number(case: RefusedCase, views: Mapping[NodeKey, NodeView], version: int | None) -> FoundVersion:
    return FoundVersion(Identity(Problem.OPERATOR_VERSION, (case.op, str(views[case.key].version))), case, version)


def _entry(view: NodeView) -> _Entry:
    return view.op, view.version
