"""Apply one pass to a model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ..foundation.late_numpy import ignoring_overflow
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import file_graphs
from ..graph.reachability import subgraphs_that_run
from ..hypothetical.model_editing import Edited, Editor, NodeKey, edited, unchanged
from ..model.model import CONTROL_DEPENDENCIES, NO_TENSOR, Model, Node
from ..versions.explanation import expected_version
from .pass_workspace import Growth, TooLargeError, Work, WorkCount
from .passes.base import Pass

_READ = slice(Node._fields.index("inputs"), None)
"""The slice of a node's fields without the index, the operator and the version."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A model after some passes, the changes by the passes, and the functions that compute new constants."""

    change: Edited
    weights: dict[int, WorkCount]
    rewritable: frozenset[int]
    """The subgraphs that run in the original model.

    A decomposition stays in this set after a pass inlines it, because a delegate still sees the unused subgraph.
    """

    @property
    def model(self) -> Model:
        """The rewritten model."""
        return self.change.model


def start(model: Model) -> Rewritten:
    """Return a model without applied passes."""
    return start_with(unchanged(model))


def start_with(change: Edited) -> Rewritten:
    """Return a model that was changed before the first pass. An example of such a change is fixing the shapes of inputs."""
    return Rewritten(change, {}, subgraphs_that_run(change.model))


def apply_pass(
    before: Rewritten, pass_: Pass, nodes: Collection[NodeKey] | None = None, cache: AnalysisCache | None = None
) -> Rewritten | None:
    """Return the model after one more pass, or None if the pass changes nothing or cannot be applied.

    ``nodes`` are the nodes to rewrite, by their indices before the pass. If ``nodes`` is None, all nodes are rewritten. Only
    nodes of the subgraphs in ``before.rewritable`` are rewritten. ``cache`` is the cache of the analysis.

    The metadata of a model may depend on the order of the nodes. A pass that adds or removes nodes then cannot be applied. A
    pass also cannot be applied if it needs sizes that the format cannot store or that exceed a limit.
    """
    model = before.model
    if not _has_work(model, pass_, nodes):
        return None
    weights = dict(before.weights)
    growth = Growth(before.change.original, model)
    shared = AnalysisCache() if cache is None else cache
    chosen: dict[int, set[int]] = {}
    for key in nodes or ():
        chosen.setdefault(key.subgraph, set()).add(key.node)

    def change(editor: Editor) -> None:
        if editor.subgraph.index not in before.rewritable:
            return
        own = None if nodes is None else chosen.get(editor.subgraph.index, set())
        pass_.apply(Work(editor, own, weights, growth, shared))

    try:
        with ignoring_overflow():
            changed = edited(model, change)
    except TooLargeError:
        return None
    is_untyped = any(tensor.type == NO_TENSOR.type for subgraph in changed.model.subgraphs for tensor in subgraph.tensors)
    if changed.model is model or is_untyped or _is_same(model, changed):
        return None
    if CONTROL_DEPENDENCIES in model.metadata:
        if changed.origins != unchanged(model).origins:
            return None
        changed = replace(changed, model=changed.model.with_same_bytes(metadata=model.metadata))
    touched = [
        {
            index
            for index, (node, origin) in enumerate(zip(graph.nodes, origins, strict=True))
            if origin < 0 or node[_READ] != old.nodes[origin][_READ]
        }
        for graph, old, origins in zip(changed.model.subgraphs, model.subgraphs, changed.origins, strict=True)
    ]
    versioned = changed.then(lambda model: _with_demanded_versions(model, touched))
    return Rewritten(before.change.then(lambda _: versioned), weights, before.rewritable)


def _has_work(model: Model, pass_: Pass, nodes: Collection[NodeKey] | None) -> bool:
    if not pass_.ops:
        return True
    if nodes is None:
        return any(node.op in pass_.ops for graph in model.subgraphs for node in graph.nodes)
    graphs = file_graphs(model)
    return any(
        key.node < len(graphs[key.subgraph].nodes) and graphs[key.subgraph].nodes[key.node].op in pass_.ops for key in nodes
    )


def _is_same(before: Model, after: Edited) -> bool:
    if after.origins != unchanged(before).origins:
        return False
    return all(
        one.nodes == other.nodes and all(a is b for a, b in zip(one.tensors, other.tensors, strict=False))
        for one, other in zip(before.subgraphs, after.model.subgraphs, strict=True)
    )


def _with_demanded_versions(model: Model, touched: Sequence[Collection[int]]) -> Edited:
    graphs = file_graphs(model)

    def set_versions(editor: Editor) -> None:
        graph = graphs[editor.subgraph.index]
        editor.nodes = [
            (index, node._replace(version=expected_version(graph.view(node))))
            if index in touched[graph.index] and not node.is_custom
            else (index, node)
            for index, node in editor.nodes
        ]

    changed = edited(model, set_versions)
    if changed.model is model:
        return changed
    return replace(changed, model=changed.model.with_same_bytes(metadata=model.metadata))
