"""The operator versions that a converter writes.

A converter gives all nodes of an operator one version: the highest version that any node of the operator needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..graph.analysis_cache import AnalysisCache
from ..graph.forms import FormTable, forms_of, node_forms
from ..graph.graph import NodeView, file_graphs
from ..model.model import Model
from ..versions.explanation import expected_version
from .model_editing import Edited, Editor, NodeKey, edited, unchanged


def demanded_versions(
    model: Model, cache: AnalysisCache | None = None, assumed: Mapping[NodeKey, int] = MappingProxyType({})
) -> dict[str, int]:
    """Return the version that a converter would write for each builtin operator.

    ``assumed`` has the versions that some nodes need. For all other nodes, the needed version is derived from the node.
    """
    shared = AnalysisCache() if cache is None else cache
    known = shared.get("versions", (forms_of(shared, model),), FormTable[int, int])
    highest: dict[str, int] = {}
    for graph in file_graphs(model):
        for node, form in zip(graph.nodes, node_forms(graph.within(shared)), strict=True):
            if not node.is_custom:
                demanded = assumed.get(NodeKey(graph.index, node.index)) or version_of(graph.view(node), form, known)
                highest[node.op] = max(demanded, highest.get(node.op, 1))
    return highest


def version_of(node: NodeView, form: int, known: FormTable[int, int]) -> int:
    """Return the version that a node needs. ``known`` has the versions that other nodes need, by form."""
    version = known.get(form)
    if version is None:
        version = expected_version(node)
        if not node.reads_graph:
            known.add(form, version)
    return version


def with_versions(model: Model, versions: Mapping[str, int]) -> Edited:
    """Return the model with the versions in ``versions``, which are keyed by operator."""
    if all(node.version == versions.get(node.op, node.version) for graph in file_graphs(model) for node in graph.nodes):
        return unchanged(model)

    def set_versions(editor: Editor) -> None:
        editor.nodes = [
            (origin, node if node.version == versions.get(node.op, node.version) else node._replace(version=versions[node.op]))
            for origin, node in editor.nodes
        ]

    return edited(model, set_versions)


def with_converted_versions(
    model: Model, cache: AnalysisCache | None = None, assumed: Mapping[NodeKey, int] = MappingProxyType({})
) -> Edited:
    """Return the model with the versions that a converter would write (see ``demanded_versions``)."""
    return with_versions(model, demanded_versions(model, cache, assumed))
