"""Decide whether the runtime loads a model. Source: ``core/interpreter_builder.cc``.

First, ``BuildLocalIndexToRegistrationMapping`` looks up every operator code of the file, even codes that no node uses. The
lookup stops at the first missing builtin operator. Then, ``ParseTensors`` reads the tensors of each subgraph. It refuses types
that the release does not know, and tensors with contradictory data. Custom operators are looked up later, when the graph is
prepared.

Source: ``InterpreterBuilder::ParseTensors`` (``core/interpreter_builder.cc``) of TensorFlow. The releases were measured with
TensorFlow's wheels.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

from ..foundation.printable import printable
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import Graph, file_graphs
from ..graph.reachability import no_weights
from ..model.model import Allocation, Model, Node, OperatorCode, Tensor
from ..model.precompiled import compiled_for, precompiled
from ..model.schema import CUSTOM
from ..prepare.preparation import has_kernel
from ..refusal import Refusal, node_place
from ..releases.catalogue import KNOWN_RELEASES, Release, parse_release
from ..releases.wording import FLEX, NOT_INITIALIZED_LINE
from ..rules.kinds import MODEL_NOT_LOADED, OPERATOR_NOT_LOADED, STUB_NOT_DELEGATED, TENSOR_TYPE_NOT_LOADED
from .resolver import Loads, loads, loads_type, refusal_lines, tensor_refusal_line, unresolved
from .run import REFUSED, Run
from .target import Target
from .unloadable_nodes import invalid_node
from .unloadable_tensors import invalid_tensors, release_features

_EMPTY_CONSTANTS = parse_release("tf-2.11")
"""Since this release, a tensor with an empty data buffer is a constant."""

_OFFSETS = parse_release("tf-2.14")
"""The first release that reads buffers stored after the flatbuffer."""


def as_read_by(model: Model, release: Release) -> Model:
    """Return the model as a release reads it.

    Constants that the release does not recognize become computed tensors. If there are no such constants, return the given
    model itself.
    """
    has_offsets, has_empty = release.is_at_least(_OFFSETS), release.is_at_least(_EMPTY_CONSTANTS)
    if has_empty and (has_offsets or not model.offset_buffers):
        return model

    def is_unread(tensor: Tensor) -> bool:
        if tensor.data is None:
            return False
        return (not has_empty and not tensor.data[1]) or (not has_offsets and tensor.buffer in model.offset_buffers)

    if not any(is_unread(tensor) for subgraph in model.subgraphs for tensor in subgraph.tensors):
        return model
    subgraphs = [
        replace(subgraph, tensors=tuple([_computed(tensor) if is_unread(tensor) else tensor for tensor in subgraph.tensors]))
        for subgraph in model.subgraphs
    ]
    return model.with_same_bytes(subgraphs=tuple(subgraphs))


def _computed(tensor: Tensor) -> Tensor:
    return tensor._replace(data=None, allocation=Allocation.VARIABLE if tensor.is_variable else Allocation.ARENA)


_SCHEMA_VERSION = 3
"""The only version of the schema that releases load (``TFLITE_SCHEMA_VERSION``)."""
_WITHOUT_FLEX = parse_release("tf-2.21")
"""Since this TensorFlow release, the wheel does not apply the Flex delegate by itself."""
_MOST_TOLD = 20
"""The largest number of reasons that a message lists."""


class Loading(NamedTuple):
    """The operators, tensors and nodes of a file that a release does not load."""

    release: Release
    refused: tuple[OperatorCode, ...]
    """The operators that the release does not load, in file order. The runtime stops at the first of these operators."""
    refused_tensors: tuple[Tensor, ...]
    """The tensors with a type that the release does not load, from the first subgraph with such tensors."""
    subgraph: int
    """The subgraph that contains ``refused_tensors``."""
    unknown: tuple[OperatorCode, ...]
    """The operators for which it is not known whether the release loads them."""
    invalid: tuple[Refusal, ...]
    """The tensors that no release loads, from the first subgraph with such tensors."""
    invalid_node: Refusal | None
    """The first node that no release loads, or None if the runtime already stops at a tensor."""
    version: int
    """The schema version in the model file."""

    @property
    def is_known_version(self) -> bool:
        """Whether the runtime loads models of this schema version."""
        return self.version == _SCHEMA_VERSION

    @property
    def refused_types(self) -> tuple[str, ...]:
        """The types of ``refused_tensors``, without duplicates."""
        return tuple(dict.fromkeys(tensor.type for tensor in self.refused_tensors))

    def is_loaded(self, *, assume_ops_registered: bool) -> bool:
        """Return whether the model loads."""
        return not self._is_refused and (assume_ops_registered or not self.refused)

    @property
    def _is_refused(self) -> bool:
        return not self.is_known_version or bool(self.refused_tensors or self.invalid or self.invalid_node)

    @property
    def loads(self) -> Loads:
        """Whether the model loads in an application that registers no operators itself."""
        if self._is_refused or self.refused:
            return Loads.NO
        return Loads.UNKNOWN if self.unknown else Loads.YES

    @property
    def lines(self) -> tuple[str, ...]:
        """The runtime's log lines for a model that it does not load."""
        if not self.is_known_version:
            return (f"Model provided is schema version {self.version} not equal to supported version {_SCHEMA_VERSION}.",)
        if self.refused:
            return refusal_lines(self.refused[0].op, self.refused[0].version, self.release)
        types = [tensor_refusal_line(tensor.type, tensor.index, self.release) for tensor in self.refused_tensors]
        if self.invalid_node is not None:
            return self.invalid_node.log_lines
        return (*types, *[line for tensor in self.invalid for line in tensor.log_lines])

    @property
    def reasons(self) -> list[str]:
        """The reasons why the release does not load the model, one for each operator, type, tensor or node."""
        if not self.is_known_version:
            return [f"the model has version {self.version} of the schema; the runtime loads only version {_SCHEMA_VERSION}"]
        reasons = [reason for code in self.refused if (reason := unresolved(code.op, code.version, self.release)) is not None]
        reasons += [f"{self.release} does not load tensors of type {name}" for name in self.refused_types]
        reasons += [f"tensor {one.tensor} of subgraph {one.subgraph} is not loaded: {one.message}" for one in self.invalid]
        if (node := self.invalid_node) is not None:
            reasons.append(f"node {node.node} ({node.values['op']}) of subgraph {node.subgraph} is not loaded: {node.message}")
        return reasons

    @property
    def message(self) -> str:
        """The first reasons as one text that ends with the number of further reasons."""
        reasons = self.reasons
        more = [f"and {len(reasons) - _MOST_TOLD:,} more"] if len(reasons) > _MOST_TOLD else []
        return "; ".join([*reasons[:_MOST_TOLD], *more])


def load_on(model: Model, release: Release, cache: AnalysisCache | None = None) -> Loading:
    """Return the operators, tensors and nodes of a model that a release does not load."""
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
    # Changed models often share tensors. The cached result keeps the tensors alive, so that their identities stay valid as a key.
    identities = tuple([id(subgraph.tensors) for subgraph in read.subgraphs])
    key = release_features(release), identities
    invalid, _ = cache.get("invalid tensors", key, lambda: (invalid_tensors(read, release), read))
    loaded = cache.get("loaded nodes", (model.same_bytes,), set[Hashable])
    unloaded = cache.get("invalid node", (model,), lambda: invalid_node(model, loaded))
    # The tensors of a subgraph are read before its nodes.
    if unloaded is not None and any(
        index <= unloaded.subgraph for index in ([place] if tensors else []) + [tensor.subgraph for tensor in invalid[:1]]
    ):
        unloaded = None
    if unloaded is not None:
        tensors, invalid = (), ()
    return Loading(release, tuple(codes[Loads.NO]), tensors, place, tuple(codes[Loads.UNKNOWN]), invalid, unloaded, model.version)


def first_loading_after(model: Model, release: Release) -> tuple[Release, ...]:
    """For each family, return the first release after ``release`` that loads the model, if such a release exists."""
    later = [other for other in map(parse_release, KNOWN_RELEASES) if other.order > release.order]
    first: dict[str, Release] = {}
    cache = AnalysisCache()
    for other in sorted(later, key=lambda other: (other.family != release.family, other.order)):
        if other.family not in first and load_on(model, other, cache).loads is Loads.YES:
            first[other.family] = other
    return tuple(first.values())


def first_node(model: Model, code: OperatorCode) -> tuple[int, int] | None:
    """Return the subgraph and the index of the first node with an operator code, or None if no node has the code."""
    for graph in file_graphs(model):
        for node in graph.nodes:
            if (node.builtin_code, node.version, node.op) == (code.builtin_code, code.version, code.op):
                return graph.index, node.index
    return None


class CustomOperators(NamedTuple):
    """The custom operators of a model that have no kernel in the runtime."""

    assumed: tuple[str, ...]
    """Operators that the application or TensorFlow's wheel is assumed to register."""
    unregistered: frozenset[str]
    """Operators that are not registered."""
    assume_ops_registered: bool
    """Whether the application is assumed to register all missing operators."""


def custom_operators(model: Model, target: Target, registered: frozenset[str] = frozenset()) -> CustomOperators:
    """Return the custom operators without a kernel in the runtime.

    ``registered`` has operators that LiteRT registers in addition to the operators of the target's delegate. Wheels of
    TensorFlow before 2.21 apply the Flex delegate first, so they register Flex operators.
    """
    without_kernel = _without_kernel(model)
    registered = registered | target.delegate.accelerator.registered_operators
    assume_ops_registered = target.assume_ops_registered
    has_flex = target.release.family == "tf" and not target.release.is_at_least(_WITHOUT_FLEX)
    missing = frozenset([op for op in without_kernel if not (op in registered or (has_flex and op.startswith(FLEX)))])
    assumed = tuple([op for op in without_kernel if op not in registered and (assume_ops_registered or op not in missing)])
    return CustomOperators(assumed, frozenset() if assume_ops_registered else missing, assume_ops_registered)


def _without_kernel(model: Model) -> tuple[str, ...]:
    ops = [node.op for subgraph in model.subgraphs for node in subgraph.nodes if node.builtin_code == CUSTOM]
    return tuple([op for op in dict.fromkeys(ops) if not has_kernel(op, is_custom=True)])


def open_sizes(model: Model) -> str:
    """Return a warning for a model file with inputs of unknown sizes, apart from the batch, or "" for other files.

    Qualcomm's plugin, for example, takes 1 for each unknown size (``litert/vendors/qualcomm/compiler/qnn_compose_graph.cc``).
    """
    first = model.subgraphs[0] if model.subgraphs else None
    tensors = [] if first is None else [first.tensors[index] for index in first.inputs if index >= 0]
    with_open_sizes = [
        tensor for tensor in tensors if tensor.has_unspecified_dimension and -1 in (tensor.shape_signature or ())[1:]
    ]
    if not with_open_sizes:
        return ""
    name, signature, shape = (
        printable(with_open_sizes[0].name),
        list(with_open_sizes[0].shape_signature or ()),
        list(with_open_sizes[0].shape),
    )
    return (
        f"the file leaves sizes of input {name} open ({signature}), and this result is for {shape}; a compiler ahead of time "
        "needs fixed sizes, or compiles for these: fix them first (delegate-sim fix --shape)"
    )


def loading_warnings(model: Model, loading: Loading, custom: CustomOperators, runnable: Collection[str] = ()) -> Iterator[str]:
    """Yield warnings about missing weights, precompiled parts of the model, and operators that are assumed to load.

    ``runnable`` has the custom operators that the simulated delegates run.
    """
    if warning := no_weights(model):
        yield warning
    yield from compiled_for(model, runnable)
    for code in loading.refused if custom.assume_ops_registered else ():
        reason = unresolved(code.op, code.version, loading.release)
        yield f"{reason}; the simulation assumes that the application registers this operator"
    for code in loading.unknown:
        yield f"{unresolved(code.op, code.version, loading.release)}; the simulation assumes that the release loads this version"
    yield from precompiled(model).words
    yield from map(assumed_registration, custom.assumed)


def assumed_registration(op: str) -> str:
    """Return a warning about a custom operator that is assumed to be registered."""
    return f"custom operator {op}: assumed to be registered by the application"


def _load_refusal(model: Model, loading: Loading) -> Refusal:
    if not loading.is_known_version:
        return MODEL_NOT_LOADED.refusal(loading.message)
    if not loading.refused and loading.invalid_node is not None:
        return replace(loading.invalid_node, template=loading.message, values={})
    if not loading.refused and not loading.refused_tensors:
        return replace(loading.invalid[0], template=loading.message)
    if not loading.refused:
        tensor = loading.refused_tensors[0].index
        return TENSOR_TYPE_NOT_LOADED.refusal(loading.message, subgraph=loading.subgraph, tensor=tensor)
    message = loading.message
    subgraph, node = first_node(model, loading.refused[0]) or (0, None)
    if node is None:
        which = "this operator" if len(loading.refused) == 1 else "the first of these operators"
        message += f"; no node uses {which}, but the file lists it"
    return OPERATOR_NOT_LOADED.refusal(message, subgraph=subgraph, node=node)


def not_loaded(model: Model, run: Run, loading: Loading) -> Run:
    """Return a copy of a run with the refusal that the model does not load. The copy keeps the verdicts on nodes."""
    if run.delegate.is_plugin:
        return replace(run, outcome=REFUSED, refusal=_load_refusal(model, loading))
    return replace(
        run,
        outcome=REFUSED,
        refusal=_load_refusal(model, loading),
        log_lines=(*loading.lines, NOT_INITIALIZED_LINE) if run.target.defaults == "benchmark" else loading.lines,
        subgraphs=tuple([subgraph.without_kernels() for subgraph in run.subgraphs]),
    )


def not_prepared(graph: Graph, failure: Refusal) -> Refusal:
    """Return the refusal of a run for a CPU kernel that cannot be prepared."""
    assert failure.node is not None
    template = "the CPU runtime cannot prepare node {node} ({op}): "
    return failure.within(node_place(failure.node, graph.nodes[failure.node].op, template))


def stub_not_delegated(node: Node) -> Refusal:
    """Return the refusal of a run in which no accelerator runs a custom operator that has only a stub.

    Source: ``StubOpEval`` (``litert/runtime/compiled_model.cc``).
    """
    message = "no accelerator runs {place}, and the runtime has only a stub for this custom operator"
    return STUB_NOT_DELEGATED.refusal(message, node=node.index, values={"place": node_place(node.index, node.op)})
