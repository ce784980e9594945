"""Simulate a hypothetical change of a model, a delegate or a target."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from ..delegates.options import parse_options
from ..errors import OptionError
from ..foundation.limits import naming_model
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import file_graphs
from ..model.model import Model, Node
from ..releases.catalogue import NEWEST, Release
from ..runtime.interpreter import Assumptions, Run, simulate
from ..runtime.target import Target
from .code_changes import with_float_arithmetic, with_inlined_nodes, without_nodes
from .fixed_inputs import with_inputs, with_resized_inputs
from .model_editing import Edited, Editor, NodeKey, edited, unchanged, with_converted_versions
from .type_conversion import CONVERSIONS

__all__ = [
    "CONVERSIONS",
    "Edited",
    "HypotheticalChanges",
    "NodeKey",
    "changed",
    "changed_model",
    "combined",
    "refuse_unknown_names",
    "simulate_changed",
    "simulate_if",
]

_Changes = TypeVar("_Changes", bound="HypotheticalChanges")


@dataclass(frozen=True, slots=True)
class HypotheticalChanges:
    """The assumptions about a model and its target.

    ``op_versions`` and ``node_versions`` set the versions of operators and of single nodes. ``batch`` is the first dimension of
    every input. If ``fixed_inputs`` is true, the unknown sizes of inputs become the sizes in the model file, and the model is
    converted again. If ``fixed_shapes`` is true, every tensor also keeps its shape from the model file at run time.
    ``resized`` has the shapes to which the application resizes inputs, by their names, without another conversion.
    ``conversion`` is a key of ``CONVERSIONS``. If it is empty, the types of the model are kept. Keys of nodes are indices in
    the model file.
    """

    accepted_ops: frozenset[str] = frozenset()
    accepted_nodes: frozenset[NodeKey] = frozenset()
    op_versions: Mapping[str, int] = field(default_factory=dict)
    node_versions: Mapping[NodeKey, int] = field(default_factory=dict)
    batch: int | None = None
    fixed_inputs: bool = False
    conversion: str = ""
    fixed_shapes: bool = False
    resized: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ended: frozenset[str] = frozenset()
    """The codes of errors to ignore.

    An error with such a code would make a compiler plugin or LiteRT's loader refuse the whole model.
    """
    assume_ops_registered: bool = False
    """True if the simulation assumes that the application registers every operator that the runtime lacks."""
    release: Release | None = None
    """The release that replaces the target's release. None keeps the target's release."""
    repaired_nodes: frozenset[NodeKey] = frozenset()
    """Nodes that CPU kernels are assumed to accept during preparation."""
    removed_nodes: frozenset[NodeKey] = frozenset()
    """Nodes that are removed from the model, because the application does their work."""
    float_nodes: frozenset[NodeKey] = frozenset()
    """Nodes that are assumed to compute in float32 instead of integers."""
    inlined_nodes: frozenset[NodeKey] = frozenset()
    """Nodes that are replaced by the nodes of their subgraphs."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the delegate that get other values."""

    @property
    def changes(self) -> Hashable:
        """The assumptions that change the model, as a cache key. Equal keys with equal releases give equal models."""
        versions = frozenset(self.op_versions.items()), frozenset(self.node_versions.items())
        rewritten = self.removed_nodes, self.float_nodes, self.inlined_nodes
        inputs = self.batch, self.fixed_inputs, self.fixed_shapes, frozenset(self.resized.items())
        return rewritten, inputs, self.conversion, versions

    @property
    def key(self) -> Hashable:
        """All assumptions, as a cache key."""
        of_target = self.assume_ops_registered, self.release, frozenset(self.options.items())
        return self.changes, self.accepted_nodes, self.accepted_ops, self.ended, self.repaired_nodes, of_target

    def changed_target(self, target: Target) -> Target:
        """Return the target with the assumed release and options, and with the assumption about registered operators."""
        options, declared = target.options, target.delegate.options
        if self.options:
            # An option may not accept its default value from users.
            given = {own.name: options[own.name] for own in declared if options[own.name] != own.default_in(target.defaults)}
            options = parse_options(target.delegate.name, declared, {**given, **self.options}, target.defaults)
        return target._replace(
            options=options,
            release=self.release or target.release,
            assume_ops_registered=self.assume_ops_registered or target.assume_ops_registered,
        )


def combined(first: _Changes, *others: HypotheticalChanges) -> _Changes:
    """Return all assumptions together.

    If several assumptions set a field with one value, the first value is used. Later versions and options take precedence.
    """
    return replace(
        first, **{own.name: _together([getattr(item, own.name) for item in (first, *others)]) for own in fields(first)}
    )


def _together(values: Sequence[Any]) -> Any:
    if isinstance(values[0], frozenset):
        return frozenset().union(*values)
    if isinstance(values[0], Mapping):
        return {key: value for mapping in values for key, value in mapping.items()}
    return next(filter(None, values), values[0])


def simulate_if(model: Model, target: Target, hypothetical: HypotheticalChanges) -> Run:
    """Simulate a model under the assumptions in ``hypothetical``.

    Raise OptionError if the model lacks an operator or node in ``hypothetical``.
    """
    return simulate_changed(changed(model, hypothetical, target.release), target, hypothetical)


def simulate_changed(
    change: Edited, target: Target, hypothetical: HypotheticalChanges, cache: AnalysisCache | None = None
) -> Run:
    """Simulate a model that the function ``changed`` returned for the same ``hypothetical``."""
    repaired = frozenset([(key.subgraph, key.node) for key in change.present(hypothetical.repaired_nodes).values()])
    accepted = _accepted(change, hypothetical)
    assumptions = Assumptions(accepted, hypothetical.fixed_shapes, repaired, hypothetical.ended)
    return simulate(change.model, hypothetical.changed_target(target), assumptions, cache)


def changed(
    model: Model, hypothetical: HypotheticalChanges, release: Release = NEWEST, cache: AnalysisCache | None = None
) -> Edited:
    """Return the model with the assumed changes. If nothing changes, return the original model.

    Raise OptionError if the model lacks an operator or node in ``hypothetical``. Raise LimitError if the changed model is too
    large to simulate.
    """
    refuse_unknown_names(model, hypothetical)
    with naming_model(model.path):
        return _changed(model, hypothetical, hypothetical.release or release, AnalysisCache() if cache is None else cache)


def _changed(model: Model, hypothetical: HypotheticalChanges, release: Release, cache: AnalysisCache) -> Edited:
    result = with_resized_inputs(model, hypothetical.resized) if hypothetical.resized else unchanged(model)
    if hypothetical.removed_nodes:
        result = result.then(lambda model: without_nodes(model, hypothetical.removed_nodes))
    for nodes, change in ((hypothetical.float_nodes, with_float_arithmetic), (hypothetical.inlined_nodes, with_inlined_nodes)):
        present = frozenset(result.present(nodes).values())
        if present:
            result = result.then(functools.partial(change, nodes=present))
    if hypothetical.batch is not None or hypothetical.fixed_inputs or hypothetical.fixed_shapes:
        all_sizes = hypothetical.fixed_inputs or hypothetical.fixed_shapes
        result = result.then(lambda model: with_inputs(model, release, hypothetical.batch, all_sizes=all_sizes))
    if hypothetical.conversion:
        result = result.then(lambda model: CONVERSIONS[hypothetical.conversion](model, cache))
    if hypothetical.op_versions or hypothetical.node_versions:
        now = result.present(hypothetical.node_versions)
        versions = {now[key]: version for key, version in hypothetical.node_versions.items() if key in now}
        if hypothetical.conversion and versions:
            # The converter writes one version for all nodes of an operator.
            result = result.then(lambda model: with_converted_versions(model, cache, versions))
        result = result.then(
            lambda model: edited(model, lambda editor: _set_versions(editor, hypothetical.op_versions, versions))
        )
    return result


def changed_model(model: Model, hypothetical: HypotheticalChanges, release: Release = NEWEST) -> Model:
    """Return only the model of ``changed``, without the original indices of the nodes."""
    return changed(model, hypothetical, release).model


def _set_versions(editor: Editor, op_versions: Mapping[str, int], node_versions: Mapping[NodeKey, int]) -> None:
    def with_version(node: Node) -> Node:
        key = NodeKey(editor.subgraph.index, node.index)
        version = node_versions.get(key, op_versions.get(node.op))
        return node if version in (None, node.version) else node._replace(version=version)

    editor.nodes = [(origin, with_version(node)) for origin, node in editor.nodes]


def _accepted(change: Edited, hypothetical: HypotheticalChanges) -> dict[int, frozenset[int]]:
    nodes_by_subgraph: dict[int, set[int]] = {}
    for key in change.present(hypothetical.accepted_nodes).values():
        nodes_by_subgraph.setdefault(key.subgraph, set()).add(key.node)
    if hypothetical.accepted_ops:
        for graph in file_graphs(change.model):
            nodes_by_subgraph.setdefault(graph.index, set()).update(
                node.index for node in graph.nodes if node.op in hypothetical.accepted_ops
            )
    return {subgraph: frozenset(nodes) for subgraph, nodes in nodes_by_subgraph.items()}


def refuse_unknown_names(model: Model, hypothetical: HypotheticalChanges) -> None:
    """Raise OptionError if the model lacks an operator or node in ``hypothetical``, or if the batch is smaller than 1."""
    graphs = file_graphs(model)
    named = [*sorted(hypothetical.accepted_ops), *hypothetical.op_versions]
    ops = {node.op for graph in graphs for node in graph.nodes} if named else set()
    for op in named:
        if op not in ops:
            raise OptionError(f"the model has no node of {op}; its operators are {', '.join(sorted(ops))}")
    for key in itertools.chain(hypothetical.accepted_nodes, hypothetical.node_versions):
        if not (0 <= key.subgraph < len(graphs) and 0 <= key.node < len(graphs[key.subgraph].nodes)):
            raise OptionError(f"the model has no node {key.node} in subgraph {key.subgraph}")
    if hypothetical.batch is not None and hypothetical.batch < 1:
        raise OptionError(f"the batch must be at least 1, not {hypothetical.batch}")
