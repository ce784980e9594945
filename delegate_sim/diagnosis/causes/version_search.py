"""Find accepted operator versions, and the features that raised refused versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...graph.effort import Tries
from ...graph.graph import NodeView
from ...hypothetical.hypothetical_changes import NodeKey
from ...rules.kinds import Problem
from ...versions.candidates import versions_to_try
from ...versions.explanation import VersionCause, shared_version, version_cause
from .cause import Identity
from .change import Remedy
from .conversion_causes import form
from .evidence import Evidence, RefusedCase, Search, State, view_of

_OF_QUANTIZATION = frozenset({"asymmetric-quantize-inputs", "hybrid-weights", "int8-type", "int16-type"})
"""Features that a conversion to float removes."""

_Entry = tuple[str, int]
"""An operator and its version. In a model file, all nodes with the same operator and version share one entry."""

_Refused = Callable[[Mapping[NodeKey, int]], set[NodeKey]]
"""A function that sets the versions of some nodes and returns the nodes with a refused version."""


def find_versions(search: Search, state: State, cases: Sequence[RefusedCase]) -> Iterator[Evidence]:
    """Find the features that raised the version of each node, and a lower version that the delegate accepts.

    A version is lowered step by step until the delegate accepts the version, no lower version exists, or the tries run out.
    Nodes with the same operator and version share an entry in the model file. The same features therefore explain the version
    of all these nodes.
    """

    def refused_with(versions: Mapping[NodeKey, int]) -> set[NodeKey]:
        return search.refused_for(Problem.OPERATOR_VERSION, replace(state.of_model, node_versions=versions))

    is_float = form(search.model) == "float"
    views = {case.key: view_of(case.key, state.run) for case in cases}
    left = {case.key: case for case in cases}
    lowest = {_entry(view): view.version for view in views.values()}
    while lowest:
        causes: dict[_Entry, VersionCause] = {}
        for key in left:
            entry = _entry(views[key])
            if entry in lowest and entry not in causes:
                causes[entry] = version_cause(views[key], lowest[entry] - 1)
                codes = _codes(causes[entry])
                lowest[entry] = shared_version(views[key], codes) if causes[entry].is_explained and codes else 0
        lowest = {entry: version for entry, version in lowest.items() if version and entry in causes}
        tried = {key: lowest[_entry(views[key])] for key in left if _entry(views[key]) in lowest}
        if not tried or not search.tries.take():
            break
        refused = refused_with(tried)
        for key, version in tried.items():
            if key not in refused:
                cause = causes[_entry(views[key])]
                is_converted = not is_float and not _OF_QUANTIZATION.isdisjoint(_codes(cause))
                remedy = Remedy(conversion="float") if is_converted else Remedy(node_versions={key: version})
                identity = Identity(Problem.OPERATOR_VERSION, _codes(cause))
                yield Evidence(identity, (left.pop(key),), remedy, demanding=frozenset(cause.nodes))
        lowest = {entry: version for entry, version in lowest.items() if version > 1}
    yield from _nearest_versions(left, views, refused_with, search.tries)


def _nearest_versions(
    left: dict[NodeKey, RefusedCase], views: Mapping[NodeKey, NodeView], refused_with: _Refused, tries: Tries
) -> Iterator[Evidence]:
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
            yield Evidence(_by_number(views[key]), (left.pop(key),), Remedy(node_versions={key: tried[key]}))
    for key, case in left.items():
        yield Evidence(_by_number(views[key]), (case,))


def _codes(cause: VersionCause) -> tuple[str, ...]:
    return tuple([feature.code for feature in cause.features])


def _by_number(view: NodeView) -> Identity:
    return Identity(Problem.OPERATOR_VERSION, (view.op, str(view.version)))


def _entry(view: NodeView) -> _Entry:
    return view.op, view.version
