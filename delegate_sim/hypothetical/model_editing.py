"""Change a model to the form that a converter would write, with its versions, and keep the original index of each node."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ..graph.analysis_cache import AnalysisCache
from ..graph.forms import FormTable, forms_of, node_forms
from ..graph.graph import NodeView, file_graphs, has_side_effects
from ..model import schema
from ..model.model import CONTROL_DEPENDENCIES, NO_TENSOR, Model, Node, OperatorCode, Subgraph, Tensor
from ..model.options import Options
from ..refusal import Refusal
from ..versions.explanation import expected_version

_POSITIONS = itertools.count(1)
"""A counter for the positions of changed options.

The positions are negative, because options in a file never have a negative position.
"""


class NodeKey(NamedTuple):
    """The index of a subgraph, and the index of a node in this subgraph."""

    subgraph: int
    node: int


@dataclass(frozen=True, eq=False)
class Edited:
    """A changed model. For each subgraph, ``origins`` lists the original index of each node. Added nodes have index -1."""

    model: Model
    origins: tuple[tuple[int, ...], ...]
    original: Model

    def origin(self, key: NodeKey) -> NodeKey | None:
        """Return the key of a node in the original model. Return None if the change or the delegate added the node."""
        origins = self.origins[key.subgraph]
        index = origins[key.node] if key.node < len(origins) else -1
        return None if index < 0 else NodeKey(key.subgraph, index)

    def in_file(self, refusal: Refusal) -> Refusal:
        """Return a refusal of the changed model with the indices and operators of nodes in the original model."""

        def origin(index: int) -> int | None:
            key = self.origin(NodeKey(refusal.subgraph, index))
            return None if key is None else key.node

        return refusal.in_file(origin, lambda node: self.original.subgraphs[refusal.subgraph].nodes[node].op)

    def now(self, key: NodeKey) -> NodeKey | None:
        """Return the key in the changed model of a node of the original model. Return None if the change removed the node."""
        return self.present([key]).get(key)

    def present(self, keys: Iterable[NodeKey]) -> dict[NodeKey, NodeKey]:
        """Return a map from ``keys`` in the original model to keys in the changed model. Removed nodes are left out."""
        indices = self._indices
        return {
            key: NodeKey(key.subgraph, index)
            for key in keys
            if key.subgraph < len(indices) and (index := indices[key.subgraph].get(key.node)) is not None
        }

    @functools.cached_property
    def _indices(self) -> Sequence[Mapping[int, int]]:
        return [{origin: index for index, origin in enumerate(origins) if origin >= 0} for origins in self.origins]

    def then(self, change: Callable[[Model], Edited]) -> Edited:
        """Return the model after one more change. ``origins`` still has indices in the original model.

        The change may remove subgraphs from the end of the model.
        """
        later = change(self.model)
        if later.model is self.model:
            return self
        origins = tuple(
            [
                tuple([before[index] if index >= 0 else -1 for index in after])
                for before, after in zip(self.origins, later.origins, strict=False)
            ]
        )
        return Edited(later.model, origins, self.original)


def unchanged(model: Model) -> Edited:
    """Return an ``Edited`` without any change of the model."""
    return Edited(model, tuple([tuple(range(len(graph.nodes))) for graph in file_graphs(model)]), model)


class Replacements:
    """Tensors that replace each other. ``replaced`` maps each tensor to its replacement, which may be replaced as well."""

    def __init__(self, replaced: Mapping[int, int]) -> None:
        self._replaced = replaced
        self.known: dict[int, int] = {}
        """The last replacement of each replaced tensor that was asked for, or that is on the way to one."""

    def last(self, index: int) -> int:
        """Return the last replacement of a tensor, or the tensor itself. A cycle ends at one of its tensors."""
        path = []
        while index in self._replaced and index not in self.known:
            path.append(index)
            self.known[index] = index
            index = self._replaced[index]
        index = self.known.get(index, index)
        self.known.update(dict.fromkeys(path, index))
        return index


class Editor:
    """The tensors and nodes of one subgraph during a change. Tensors keep their indices. Nodes may be added and removed."""

    def __init__(self, model: Model, subgraph: Subgraph) -> None:
        self.model = model
        self.graph = file_graphs(model)[subgraph.index]
        self.subgraph = subgraph
        self.tensors = list(self.graph.tensors)
        self.nodes: list[tuple[int, Node]] = [(node.index, node) for node in self.graph.nodes]
        """Pairs of a node's original index and the node. Added nodes have index -1."""
        self.inputs = list(subgraph.inputs)
        self.outputs = list(subgraph.outputs)
        self.options: dict[int, Mapping[str, Any]] = {}
        """The changed options of nodes, keyed by the negative position in ``Node.options``."""

    def tensor(self, index: int) -> Tensor:
        """Return a tensor in its current state. A negative index marks an omitted tensor, so the result is then ``NO_TENSOR``."""
        return self.tensors[index] if index >= 0 else NO_TENSOR

    def options_of(self, node: Node) -> Options:
        """Return the options of a node, with the changes that this editor made."""
        if node.options is not None and node.options[1] in self.options:
            return Options(node.options[0], self.options[node.options[1]])
        return self.model.options(node)

    def with_options(self, node: Node, **changes: Any) -> Node:
        """Return a node with changed options. A node without options is returned unchanged."""
        options = self.options_of(node)
        if options.table is None:
            return node
        return self.with_new_options(node, options.table, {**dict(iter(options)), **changes})

    def with_new_options(self, node: Node, table: str, values: Mapping[str, Any]) -> Node:
        """Return a node with a new table of options. Fields that are not in ``values`` get the schema's defaults."""
        position = -next(_POSITIONS)
        self.options[position] = {**schema.default_values(table), **values}
        return node._replace(options=(table, position))

    def with_op(self, node: Node, op: str, inputs: tuple[int, ...]) -> Node:
        """Return a copy of a node with another operator and other operands. The copy has version 1 and no options."""
        return node._replace(op=op, builtin_code=schema.builtin_code(op), version=1, inputs=inputs, options=None)

    def replace_operands(self, replaced: Mapping[int, int]) -> None:
        """Replace tensors in the operands of all nodes and in the outputs of the subgraph.

        ``replaced`` maps each tensor to its replacement. Tensors that would replace each other in a cycle are kept.
        """
        if not replaced:
            return
        last = Replacements(replaced).last
        for place, (origin, node) in enumerate(self.nodes):
            if not replaced.keys().isdisjoint(node.inputs):
                self.nodes[place] = origin, node._replace(inputs=tuple([last(index) for index in node.inputs]))
        self.outputs = [last(index) for index in self.outputs]

    def remove(self, nodes: Iterable[int]) -> None:
        """Remove nodes. ``gone`` has the original indices of the nodes."""
        gone = frozenset(nodes)
        self.nodes = [(origin, node) for origin, node in self.nodes if origin not in gone]

    def remove_unread(self, unread: Iterable[int]) -> None:
        """Remove the nodes that compute the tensors ``unread``, and all nodes that only the removed nodes need.

        A node stays if it has side effects, or if a result of the node is still read.
        """
        reads = Counter([*self.outputs, *[index for _, node in self.nodes for index in node.inputs]])
        writers: dict[int, list[int]] = {}
        for place, (_, node) in enumerate(self.nodes):
            for index in node.outputs:
                writers.setdefault(index, []).append(place)
        gone: set[int] = set()
        waiting = [index for index in dict.fromkeys(unread) if not reads[index]]
        while waiting:
            for place in writers.get(waiting.pop(), ()):
                node = self.nodes[place][1]
                if place in gone or any(reads[index] for index in node.outputs) or has_side_effects(self.graph, node):
                    continue
                gone.add(place)
                reads.subtract(node.inputs)
                waiting += [index for index in dict.fromkeys(node.inputs) if not reads[index]]
        self.nodes = [item for place, item in enumerate(self.nodes) if place not in gone]

    def add_tensor(self, tensor: Tensor) -> int:
        """Add a tensor and return its index."""
        index = len(self.tensors)
        self.tensors.append(tensor._replace(index=index))
        return index

    def insert(self, op: str, source: int, result: int, *, version: int = 1, at: int | None = None) -> None:
        """Add a node with one operand and one result at the position ``at`` in the list of nodes.

        None means the end of the list.
        """
        place = len(self.nodes) if at is None else at
        self.nodes.insert(place, (-1, Node(-1, op, schema.builtin_code(op), None, version, (source,), (result,), (), None, None)))

    def finish(self) -> tuple[Subgraph, tuple[int, ...]]:
        """Return the subgraph with renumbered nodes, and the original index of each node. Added nodes have index -1.

        If nothing was changed, return the original subgraph.
        """
        before = self.subgraph
        nodes = tuple([node if node.index == index else node._replace(index=index) for index, (_, node) in enumerate(self.nodes)])
        has_same_tensors = len(self.tensors) == len(before.tensors) and all(map(operator.is_, self.tensors, before.tensors))
        tensors = before.tensors if has_same_tensors else tuple(self.tensors)
        new = nodes, tuple(self.inputs), tuple(self.outputs)
        if has_same_tensors and new == (before.nodes, before.inputs, before.outputs):
            changed = before
        else:
            changed = replace(before, tensors=tensors, nodes=new[0], inputs=new[1], outputs=new[2])
        return changed, tuple([origin for origin, _ in self.nodes])


def edited(model: Model, change: Callable[[Editor], None]) -> Edited:
    """Change every subgraph of a model. If nothing changes, the result has the original model.

    Control dependencies are removed from the metadata of a changed model, because the nodes get new indices.
    """
    finished = []
    options = dict(model.changed_options)
    for subgraph in model.subgraphs:
        editor = Editor(model, subgraph)
        change(editor)
        finished.append(editor.finish())
        options.update(editor.options)
    origins = tuple([own for _, own in finished])
    if all(subgraph is before for (subgraph, _), before in zip(finished, model.subgraphs, strict=True)):
        return Edited(model, origins, model)
    metadata = {name: span for name, span in model.metadata.items() if name != CONTROL_DEPENDENCIES}
    subgraphs = tuple([subgraph for subgraph, _ in finished])
    listed = _listed(model, subgraphs)
    new_model = model.with_same_bytes(subgraphs=subgraphs, operator_codes=listed, metadata=metadata, changed_options=options)
    return Edited(new_model, origins, model)


def _listed(model: Model, subgraphs: Iterable[Subgraph]) -> tuple[OperatorCode, ...]:
    """Return the operator codes of the changed file.

    The result has the codes that nodes use, and the codes that no node uses in the original file.
    """
    before, now = _used(model.subgraphs), _used(subgraphs)
    kept = [code for code in model.operator_codes if code in now or code not in before]
    return tuple(dict.fromkeys([*kept, *now]))


def _used(subgraphs: Iterable[Subgraph]) -> dict[OperatorCode, None]:
    nodes = [node for subgraph in subgraphs for node in subgraph.nodes]
    used = dict.fromkeys(map(operator.attrgetter(*OperatorCode._fields), nodes))
    return dict.fromkeys([OperatorCode(*fields) for fields in used])


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
        given = {key.node: version for key, version in assumed.items() if key.subgraph == graph.index}
        for node, form in zip(graph.nodes, node_forms(graph.within(shared)), strict=True):
            if not node.is_custom:
                demanded = given.get(node.index) or known.get(form) or version_of(graph.view(node), form, known)
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
