"""Decide whether the runtime loads a model: its operators against those that the release registers.

Source: ``core/interpreter_builder.cc``. First ``BuildLocalIndexToRegistrationMapping`` looks up every operator code of the file
in order, used by a node or not, and ends at the first builtin operator that it does not find. Then ``ParseTensors`` refuses
types newer than the release, and tensors that the file contradicts itself about, tensor by tensor of a subgraph. Custom operators
are looked for when the graph is prepared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import file_graphs
from ..model.model import Model, OperatorCode, Tensor
from ..model.precompiled import precompiled
from ..model.schema import CUSTOM
from ..prepare.preparation import has_kernel
from ..releases.catalogue import KNOWN_RELEASES, Release, parse_release
from ..releases.wording import FLEX
from .release_constants import as_read_by
from .resolver import Loads, loads, loads_type, refusal_lines, tensor_refusal_line, unresolved
from .target import Target
from .unloadable_nodes import InvalidNode, invalid_node
from .unloadable_tensors import InvalidTensor, invalid_tensors

_MOST_TOLD = 20
"""Of what a release does not load."""


@dataclass(frozen=True, slots=True)
class Loading:
    """A release's answer to the operators and the types of tensors in a file."""

    release: Release
    refused: tuple[OperatorCode, ...]
    """The operators that it does not load, in file order; it ends at the first."""
    refused_tensors: tuple[Tensor, ...]
    """The tensors of types that it does not load, in the first subgraph that has any."""
    subgraph: int
    """That subgraph."""
    unknown: tuple[OperatorCode, ...]
    """The operators that nothing is known about."""
    invalid: tuple[InvalidTensor, ...] = ()
    """The tensors that no release loads, in the first subgraph that has any."""
    invalid_node: InvalidNode | None = None
    """The first node that no release loads, unless the runtime ends at a tensor before."""

    @property
    def refused_types(self) -> tuple[str, ...]:
        """The types that it does not load, each once."""
        return tuple(dict.fromkeys(tensor.type for tensor in self.refused_tensors))

    def is_loaded(self, *, assume_ops_registered: bool) -> bool:
        """Whether the model loads, in an application that may register operators itself."""
        is_refused = self.refused and not assume_ops_registered
        return not (is_refused or self.refused_tensors or self.invalid or self.invalid_node)

    @property
    def loads(self) -> Loads:
        """Whether the model loads."""
        if self.refused or self.refused_tensors or self.invalid or self.invalid_node is not None:
            return Loads.NO
        return Loads.UNKNOWN if self.unknown else Loads.YES

    @property
    def lines(self) -> tuple[str, ...]:
        """The runtime's log lines for a model that it does not load."""
        if self.refused:
            return refusal_lines(self.refused[0].op, self.refused[0].version, self.release)
        types = [tensor_refusal_line(tensor.type, tensor.index, self.release) for tensor in self.refused_tensors]
        if self.invalid_node is not None:
            return self.invalid_node.lines
        return (*types, *[line for tensor in self.invalid for line in tensor.lines])

    @property
    def reasons(self) -> list[str]:
        """The operators, types and tensors that the release does not load, in words; the one at which it ends comes first."""
        reasons = [reason for code in self.refused if (reason := unresolved(code.op, code.version, self.release)) is not None]
        reasons += [f"{self.release} does not load tensors of type {name}" for name in self.refused_types]
        reasons += [f"tensor {one.tensor} of subgraph {one.subgraph} is not loaded: {one.message}" for one in self.invalid]
        if (node := self.invalid_node) is not None:
            reasons.append(f"node {node.node} ({node.op}) of subgraph {node.subgraph} is not loaded: {node.message}")
        return reasons

    @property
    def message(self) -> str:
        """The same in words, shortened if it is much."""
        reasons = self.reasons
        more = [f"and {len(reasons) - _MOST_TOLD:,} more"] if len(reasons) > _MOST_TOLD else []
        return "; ".join([*reasons[:_MOST_TOLD], *more])


def load_on(model: Model, release: Release, cache: AnalysisCache | None = None) -> Loading:
    """Look up the operators that a file lists, and the types of its tensors."""
    shared = cache or AnalysisCache()
    return shared.get("load", (model, release), lambda: _load_on(model, release, shared))


def _load_on(model: Model, release: Release, cache: AnalysisCache) -> Loading:
    codes: dict[Loads, dict[OperatorCode, None]] = {Loads.NO: {}, Loads.UNKNOWN: {}, Loads.YES: {}}
    for code in model.operator_codes:
        if code.builtin_code != CUSTOM:
            codes[loads(code.op, code.version, release)][code] = None
    types = {tensor.type for subgraph in model.subgraphs for tensor in subgraph.tensors}
    refused = {name for name in types if loads_type(name, release) is Loads.NO}
    refused_constants = {name for name in types if loads_type(name, release, is_constant=True) is Loads.NO}
    tensors: tuple[Tensor, ...] = ()
    place = 0
    read = as_read_by(model, release)
    for subgraph in read.subgraphs if refused_constants else ():
        tensors = tuple([one for one in subgraph.tensors if one.type in (refused_constants if one.data else refused)])
        if tensors:
            place = subgraph.index
            break
    invalid = invalid_tensors(read, release)
    unloaded = cache.get("invalid node", (model,), lambda: invalid_node(model))
    # The tensors of a subgraph are read before its nodes.
    if unloaded is not None and any(
        index <= unloaded.subgraph for index in ([place] if tensors else []) + [tensor.subgraph for tensor in invalid[:1]]
    ):
        unloaded = None
    if unloaded is not None:
        tensors, invalid = (), ()
    return Loading(release, tuple(codes[Loads.NO]), tensors, place, tuple(codes[Loads.UNKNOWN]), invalid, unloaded)


def first_loading_after(model: Model, release: Release) -> tuple[Release, ...]:
    """Return the first later release that loads a model, of its own family and then of the other, where there is one."""
    later = [other for other in map(parse_release, KNOWN_RELEASES) if other.order > release.order]
    first: dict[str, Release] = {}
    cache = AnalysisCache()
    for other in sorted(later, key=lambda other: (other.family != release.family, other.order)):
        if other.family not in first and load_on(model, other, cache).loads is Loads.YES:
            first[other.family] = other
    return tuple(first.values())


def first_node(model: Model, code: OperatorCode) -> tuple[int, int] | None:
    """Return subgraph and index of the first node of the graph that uses an operator of the file, None if none does."""
    for graph in file_graphs(model):
        for node in graph.nodes:
            if (node.builtin_code, node.version, node.op) == (code.builtin_code, code.version, code.op):
                return graph.index, node.index
    return None


@dataclass(frozen=True, slots=True)
class CustomOperators:
    """The custom operators of a model for which the runtime has no kernel."""

    assumed: tuple[str, ...]
    """Those that the application, or TensorFlow's wheel, is taken to register."""
    unregistered: frozenset[str]
    """Those that nobody registers."""
    assume_ops_registered: bool
    """Whether the application is assumed to register all that the runtime does not have."""


def custom_operators(model: Model, target: Target, registered: frozenset[str] = frozenset()) -> CustomOperators:
    """Tell which custom operators of a model are registered: by the application, or by LiteRT itself.

    ``registered`` are those that LiteRT registers besides the ones of the target's delegate. TensorFlow's own wheels apply the
    Flex delegate before any other: its operators count as registered there.
    """
    without_kernel = _without_kernel(model)
    registered = registered | target.delegate.accelerator.registered_operators
    assume_ops_registered = target.assume_ops_registered
    has_flex = target.release.family == "tf"
    missing = frozenset([op for op in without_kernel if not (op in registered or (has_flex and op.startswith(FLEX)))])
    assumed = tuple([op for op in without_kernel if op not in registered and (assume_ops_registered or op not in missing)])
    return CustomOperators(assumed, frozenset() if assume_ops_registered else missing, assume_ops_registered)


def _without_kernel(model: Model) -> tuple[str, ...]:
    """Return the custom operators of a model that the runtime itself has no kernel for."""
    ops = [node.op for subgraph in model.subgraphs for node in subgraph.nodes if node.builtin_code == CUSTOM]
    return tuple([op for op in dict.fromkeys(ops) if not has_kernel(op, is_custom=True)])


def loading_warnings(model: Model, loading: Loading, custom: CustomOperators) -> Iterator[str]:
    """Say what is assumed of the operators: that the application registers those that the runtime does not have."""
    for code in loading.refused if custom.assume_ops_registered else ():
        reason = unresolved(code.op, code.version, loading.release)
        yield f"{reason}; the model does not load unless the application registers one, which is assumed"
    for code in loading.unknown:
        yield f"{unresolved(code.op, code.version, loading.release)}; it is assumed"
    yield from precompiled(model).words
    for op in custom.assumed:
        yield f"custom operator {op}: assumed to be registered by the application"
