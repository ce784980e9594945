"""The operator versions that a converter writes: of each operator the highest that any of its nodes demands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..graph.graph import file_graphs
from ..model.model import Model
from ..versions.explanation import expected_version
from .model_editing import Edited, Editor, NodeKey, edited


def demanded_versions(model: Model, supposed: Mapping[NodeKey, int] = MappingProxyType({})) -> dict[str, int]:
    """Return the version of each builtin operator; a node with a ``supposed`` version demands that one."""
    highest: dict[str, int] = {}
    for graph in file_graphs(model):
        for node in graph.nodes:
            if not node.is_custom:
                demanded = supposed.get(NodeKey(graph.index, node.index)) or expected_version(graph.view(node))
                highest[node.op] = max(demanded, highest.get(node.op, 1))
    return highest


def with_versions(model: Model, versions: Mapping[str, int]) -> Edited:
    """Give operators these versions; those that are not named keep theirs."""

    def set_versions(editor: Editor) -> None:
        editor.nodes = [(origin, node._replace(version=versions.get(node.op, node.version))) for origin, node in editor.nodes]

    return edited(model, set_versions)


def with_converted_versions(model: Model, supposed: Mapping[NodeKey, int] = MappingProxyType({})) -> Edited:
    """Give operators the versions that a converter would; a node with a ``supposed`` version demands that one."""
    return with_versions(model, demanded_versions(model, supposed))
