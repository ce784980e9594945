"""Explain why a node's operator has its version.

The first of an operator's demands (``demands.py``) that a node meets sets its version. A file keeps one version for all nodes
that share an entry of its table of operators, the highest that any of them demands (``UpdateOpVersion``). So the version at a
node may come from another node, even one of another subgraph.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..graph.graph import NodeView, file_graphs
from ..model.model import Model
from .demands import DEMANDS, LOWEST_VERSIONS, Demand
from .features import FEATURES


class Feature(NamedTuple):
    """A feature of a node, by its code in ``FEATURES``, and the version that it demands of the node's operator."""

    code: str
    version: int


class NodePosition(NamedTuple):
    """The position of a node in a model."""

    subgraph: int
    node: int


@dataclass(frozen=True, slots=True)
class VersionCause:
    """The reason why the operator of a node has a version above a given one.

    ``features`` are those that must go from ``nodes``, the nodes that share the operator's entry and demand more. Both are empty
    if ``is_explained`` is false: the rule does not explain the version, or no feature's absence lowers it far enough.
    """

    features: tuple[Feature, ...]
    nodes: tuple[NodePosition, ...]
    is_explained: bool


_Met = tuple[Demand, ...]
"""The demands that a node meets, in the rule's order."""


def expected_version(node: NodeView) -> int:
    """Return the version that a node demands by itself (``GetBuiltinOperatorVersion``); 1 for a custom operator."""
    return _version(_lowest(node), _met(node), ())


def shared_version(node: NodeView, without: Collection[str] = ()) -> int:
    """Return the version that a converter gives to the operator of a node (``UpdateOpVersion``).

    This is the highest that any node demands which shares the operator's entry, in the model's file, without the features
    given. Raises ValueError for a code that is not in ``FEATURES``.
    """
    codes = _known(without)
    return max(_version(_lowest(node), met, codes) for met in _sharers(node))


def version_cause(node: NodeView, version: int) -> VersionCause:
    """Return why the operator of a node has a version above this one, looking at all nodes that share the operator's entry.

    There are no features and nodes either where the operator has no more than the version; then that is explained.
    """
    lowest, sharers = _lowest(node), _sharers(node)
    causes: dict[str, Feature] = {}
    while above := [met for met in sharers if _version(lowest, met, causes) > version]:
        for met in above:
            features = _features_above(lowest, tuple([demand for demand in met if demand.remains_without(causes)]), version)
            if features is None:
                return VersionCause((), (), False)
            for feature in features:
                causes[feature.code] = max(feature, causes.get(feature.code, feature))
    demanding = [positions for met, positions in sharers.items() if _version(lowest, met, ()) > version]
    nodes = tuple(sorted(position for positions in demanding for position in positions))
    return VersionCause(tuple(causes.values()), nodes, bool(nodes) or node.version <= version)


def _known(codes: Collection[str]) -> Collection[str]:
    unknown = set(codes).difference(FEATURES)
    if unknown:
        raise ValueError(f"unknown feature {min(unknown)!r}")
    return codes


def _lowest(node: NodeView) -> int:
    return 1 if node.node.is_custom else LOWEST_VERSIONS.get(node.op, 1)


def _met(node: NodeView) -> _Met:
    if node.node.is_custom:
        return ()
    return tuple([demand for demand in DEMANDS.get(node.op, ()) if demand.condition(node)])


def _version(lowest: int, met: _Met, without: Collection[str]) -> int:
    return next((demand.version for demand in met if demand.remains_without(without)), lowest)


def _features(met: Iterable[Demand]) -> tuple[Feature, ...]:
    versions: dict[str, int] = {}
    for demand in met:
        versions.setdefault(demand.code, demand.version)
    return tuple([Feature(code, version) for code, version in versions.items()])


def _features_above(lowest: int, met: _Met, version: int) -> tuple[Feature, ...] | None:
    """Remove features in the rule's order until that is enough, then put back each that was not needed."""
    codes: list[str] = []
    for demand in met:
        if _version(lowest, met, codes) <= version:
            break
        if demand.remains_without(codes):
            codes.append(demand.code)
    if _version(lowest, met, codes) > version:
        return None
    for code in tuple(codes):
        others = [other for other in codes if other != code]
        if _version(lowest, met, others) <= version:
            codes = others
    return tuple([feature for feature in _features(met) if feature.code in codes])


_Sharers = Mapping[_Met, tuple[NodePosition, ...]]
"""The nodes that share an entry of the table of operators, by the demands that they meet."""


def _sharers(node: NodeView) -> _Sharers:
    """Return the nodes of the model's file that share the entry of a node; the node alone if it is not from a file."""
    own = {_met(node): (NodePosition(node.graph.index, node.node.index),)}
    return _sharers_by_entry(node.graph.model).get((node.op, node.node.builtin_code, node.version), own)


@functools.lru_cache(maxsize=1)
def _sharers_by_entry(model: Model) -> Mapping[tuple[str, int, int], _Sharers]:
    entries: dict[tuple[str, int, int], dict[_Met, list[NodePosition]]] = {}
    for graph in file_graphs(model):
        for node in graph.nodes:
            kinds = entries.setdefault((node.op, node.builtin_code, node.version), {})
            kinds.setdefault(_met(graph.view(node)), []).append(NodePosition(graph.index, node.index))
    return {entry: {met: tuple(nodes) for met, nodes in kinds.items()} for entry, kinds in entries.items()}
