"""Explain why a node's operator has its version, and how to avoid the features that raise a version.

The first demand of an operator (``demands.py``) that a node meets sets the version that the node needs. Nodes can share one
entry in the model's table of operators. The version in the entry is the highest version that any of these nodes needs
(``UpdateOpVersion``). The version of a node may therefore come from another node, even from a node in another subgraph.

The texts about features are in ``features.json``. A placeholder there is a line of ``foundation/converter_attributes.py``. The
settings in the advice are attributes of ``tf.lite.TFLiteConverter`` (``tflite/python/lite.py``, LiteRT). If the name of a
setting begins with an underscore, the setting is experimental, and any release may remove it.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..foundation import converter_attributes
from ..graph.graph import Graph, NodeView, file_graphs
from ..rules.kinds import Explanation
from .demands import DEMANDS, LOWEST_VERSIONS, Demand

_ALL = {
    code: Explanation(**{part: text.format_map(vars(converter_attributes)) for part, text in texts.items()})
    for code, texts in json.loads(pkgutil.get_data(__package__, "features.json") or b"").items()
}
FEATURES: Mapping[str, Explanation] = {code: own._replace(advice=f"{own.advice}.") for code, own in _ALL.items()}
"""All features. A feature has the same code for all operators."""

FEATURE_CHANGES: Mapping[str, str] = {code: own.advice for code, own in _ALL.items()}
"""The advice on each feature without the last period, because other words may follow."""

HIGHEST_TOLD_APART = 32
"""The highest version that delegates' rules distinguish. A model file may store any version up to 2**31 - 1."""
_ABOVE = 3


def versions_to_try(version: int) -> list[int]:
    """Return versions that could replace an operator's version.

    Lower versions come before higher versions, and the nearest version comes first.

    >>> versions_to_try(3)
    [2, 1, 4, 5, 6]
    """
    lower = range(min(version - 1, HIGHEST_TOLD_APART), 0, -1)
    higher = range(max(version, 0) + 1, max(version, 0) + _ABOVE + 1)  # bounded: a constant number of versions
    return [*lower, *(higher if version <= HIGHEST_TOLD_APART else ())]


class Feature(NamedTuple):
    """A feature of a node, and the operator version that the feature needs. ``code`` is the feature's code in ``FEATURES``."""

    code: str
    version: int


class NodePosition(NamedTuple):
    """The position of a node in a model."""

    subgraph: int
    node: int


class VersionCause(NamedTuple):
    """The reason why the version of a node's operator is above a given version.

    ``nodes`` are the nodes that share the operator's entry and need a higher version. To lower the version, remove
    ``features`` from all ``nodes``. If the demands do not explain the version, or if the version cannot be lowered enough,
    ``is_explained`` is False, and ``nodes`` and ``features`` are empty.
    """

    features: tuple[Feature, ...]
    nodes: tuple[NodePosition, ...]
    is_explained: bool


_Met = tuple[Demand, ...]
"""The demands that a node meets, in the order of the tests."""


def expected_version(node: NodeView) -> int:
    """Return the version that a node needs (``GetBuiltinOperatorVersion``), or 1 for a custom operator.

    The model's other nodes are ignored.
    """
    return _version(_lowest(node), _met(node), ())


def shared_version(node: NodeView, without: Collection[str] = ()) -> int:
    """Return the version that a converter would give to the operator of a node (``UpdateOpVersion``).

    Nodes can share one entry in the model's table of operators. The version is the highest that any of these nodes needs if
    the nodes lack the features in ``without``. Raise ValueError for a code that is not in ``FEATURES``.
    """
    codes = _known(without)
    return max(_version(_lowest(node), met, codes) for met in _sharers(node))


def version_cause(node: NodeView, version: int) -> VersionCause:
    """Return the reason why the operator of a node has a version above ``version``.

    The reason covers all nodes that share the operator's entry in the model's table of operators. If the operator's version is
    not above ``version``, the result has no ``features`` and no ``nodes``, and ``is_explained`` is True.
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


def _met(node: NodeView) -> Iterator[Demand]:
    demands = () if node.node.is_custom else DEMANDS.get(node.op, ())
    return (demand for demand in demands if demand.condition(node))


def _version(lowest: int, met: Iterable[Demand], without: Collection[str]) -> int:
    return next((demand.version for demand in met if demand.remains_without(without)), lowest)


def _features(met: Iterable[Demand]) -> tuple[Feature, ...]:
    versions: dict[str, int] = {}
    for demand in met:
        versions.setdefault(demand.code, demand.version)
    return tuple([Feature(code, version) for code, version in versions.items()])


def _features_above(lowest: int, met: _Met, version: int) -> tuple[Feature, ...] | None:
    """Return the features that must be removed to lower the version to ``version``, or None if this is impossible.

    Features are removed in the order of the tests until the version is low enough. Then, each feature that was removed without
    need is put back.
    """
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


_Entry = tuple[str, int, int]
"""The operator, builtin code and version of an entry in the table of operators."""
_Sharers = Mapping[_Met, tuple[NodePosition, ...]]
"""The nodes that share an entry in the table of operators, grouped by the demands that they meet."""


def _sharers(node: NodeView) -> _Sharers:
    entry = node.op, node.node.builtin_code, node.version
    graphs = file_graphs(node.graph.model)
    results = (*graphs, node.graph)[0].results
    by_entry = results.get("nodes by entry", (), lambda: _nodes_by_entry(graphs))
    if entry not in by_entry:
        return {tuple(_met(node)): (NodePosition(node.graph.index, node.node.index),)}
    known: dict[_Entry, _Sharers] = results.get("sharers", (), dict)
    if entry not in known:
        kinds: dict[_Met, list[NodePosition]] = {}
        for view in by_entry[entry]:
            kinds.setdefault(tuple(_met(view)), []).append(NodePosition(view.graph.index, view.node.index))
        known[entry] = {met: tuple(nodes) for met, nodes in kinds.items()}
    return known[entry]


def _nodes_by_entry(graphs: Iterable[Graph]) -> Mapping[_Entry, Sequence[NodeView]]:
    entries: dict[_Entry, list[NodeView]] = {}
    for graph in graphs:
        for node in graph.nodes:
            entries.setdefault((node.op, node.builtin_code, node.version), []).append(graph.view(node))
    return entries
