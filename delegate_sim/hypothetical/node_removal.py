"""Remove nodes from a model. The application then does the work of the nodes."""

from __future__ import annotations

from collections.abc import Collection

from ..model.model import Model
from .model_editing import Edited, Editor, NodeKey, edited


def without_nodes(model: Model, nodes: Collection[NodeKey]) -> Edited:
    """Return the model without ``nodes``.

    If any remaining node reads a result of a removed node, this result becomes an input of the subgraph. If a node calls a
    subgraph, the inputs and outputs of this subgraph must not change. In such a subgraph, a node stays if its result is read.
    """
    return edited(model, lambda editor: _remove(editor, {key.node for key in nodes if key.subgraph == editor.subgraph.index}))


def _remove(editor: Editor, nodes: Collection[int]) -> None:
    given = _results(editor, nodes)
    if editor.subgraph.index:
        needed = _read(editor, nodes).union(editor.outputs)
        nodes = [origin for origin, node in editor.nodes if origin in nodes and needed.isdisjoint(node.outputs)]
        editor.remove(nodes)
        return
    operands = {index for origin, node in editor.nodes if origin in nodes for index in node.inputs}
    editor.remove(nodes)
    read = _read(editor, ())
    editor.outputs = [index for index in editor.outputs if index not in given]
    used = read.union(editor.outputs)
    kept = [index for index in editor.inputs if index not in operands or index in used]
    editor.inputs = kept + sorted(given & read)


def _results(editor: Editor, nodes: Collection[int]) -> set[int]:
    return {index for origin, node in editor.nodes if origin in nodes for index in node.outputs if index >= 0}


def _read(editor: Editor, without: Collection[int]) -> set[int]:
    return {index for origin, node in editor.nodes if origin not in without for index in node.inputs}
