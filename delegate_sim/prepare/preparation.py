"""Preparation of a model's graphs, as in the interpreter: shapes, allocations, and the first dynamic tensor.

Sources: ``PrepareOpsStartingAt`` and ``ModifyGraphWithDelegateImpl`` in ``core/subgraph.cc``, and the Prepare functions in
``kernels/*.cc``.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..foundation.limits import how_to_raise, raised
from ..graph import graph as graphs
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import DynamicTensor, Graph, PrepareFailure
from ..model.model import Allocation, Model, Node
from ..releases.catalogue import NEWEST, Release, oldest_alike
from ..releases.wording import prepare_failure_line, unregistered_line
from .kernel import CHANGED_IN, ComputedElements, KernelNode, KernelSubgraph, PrepareError
from .kernels import find_kernel

if TYPE_CHECKING:
    from .folding import FoldedGraph, Folding

NOTHING: Mapping[int, Any] = MappingProxyType({})
"""An empty mapping, which is the default of arguments that map the indices of subgraphs to data."""

_DEEPEST_CALL = 100
_MOST_CALLS = 100
"""The largest number of preparations that calls may cause, on average per subgraph.

If calls would cause more, preparation fails. The real runtime would take too long to prepare such a model.
"""


def prepare(
    model: Model,
    fixed_shapes: bool = False,
    release: Release = NEWEST,
    repaired: frozenset[tuple[int, int]] = frozenset(),
    unregistered: frozenset[str] = frozenset(),
    cache: AnalysisCache | None = None,
) -> tuple[Graph, ...]:
    """Prepare every subgraph in order, in the same way as the runtime prepares subgraphs before it applies a delegate.

    With ``fixed_shapes``, a tensor that would be dynamic gets its shape from the file. This simulates a model that was converted
    with known shapes. Only outputs of type STRING may stay dynamic, because a file cannot give their size. ``repaired`` lists
    nodes (as pairs of subgraph and node) that are assumed to be accepted by their CPU kernels. ``unregistered`` lists the custom
    operators of the model that are not registered.
    """
    if cache is None:
        return _prepared(model, fixed_shapes, release, repaired, unregistered)
    release = oldest_alike(release, _changes(model))
    key = model, fixed_shapes, release, repaired, unregistered
    return cache.get("prepare", key, lambda: _prepared(*key))


def _changes(model: Model) -> Iterator[Release]:
    """Yield the releases in which the Prepare function of one of the model's operators changed."""
    for name in {_kernel_name(node.op, node.is_custom) for subgraph in model.subgraphs for node in subgraph.nodes}:
        if find_kernel(name) is not None:
            yield from CHANGED_IN[name]


def _prepared(
    model: Model,
    fixed_shapes: bool,
    release: Release,
    repaired: frozenset[tuple[int, int]],
    unregistered: frozenset[str],
) -> tuple[Graph, ...]:
    taken = {index: Taken(nodes) for index, nodes in _by_subgraph(repaired).items()}
    interpreter = _Interpreter(model, fixed_shapes, release, taken, unregistered)
    return tuple(interpreter.prepared_graph(index) for index in range(len(model.subgraphs)))


def _by_subgraph(nodes: Collection[tuple[int, int]]) -> dict[int, set[int]]:
    nodes_by_subgraph: dict[int, set[int]] = {}
    for subgraph, node in nodes:
        nodes_by_subgraph.setdefault(subgraph, set()).add(node)
    return nodes_by_subgraph


@dataclass(frozen=True, slots=True)
class Taken:
    """The nodes that delegates took from a subgraph, and the order in which the subgraph's nodes run afterwards.

    The runtime does not call the CPU kernels of the nodes that delegates took.
    """

    delegated: Collection[int]
    order: tuple[int, ...] = ()
    """All nodes in the order in which they run; empty if this is the order in the file.

    The nodes of a delegate kernel are listed where the kernel runs.
    """
    failing: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The lines that the runtime logs if a delegate kernel cannot be prepared, keyed by the first node of the kernel."""


def prepare_rest(
    model: Model,
    taken: Mapping[int, Taken],
    fixed_shapes: bool = False,
    release: Release = NEWEST,
    unregistered: frozenset[str] = frozenset(),
) -> PrepareFailure | None:
    """Prepare the first subgraph after delegates took nodes; return the failure if a node cannot be prepared, otherwise None.

    Nodes after the first node with a dynamic result are not prepared. ``taken`` maps the index of a subgraph to the nodes that
    delegates took. The shapes that a delegate gives to the results of these nodes are not known. The shapes from the CPU kernel
    are used instead or, if the CPU kernel refuses the node, the shapes from the file.
    """
    return _Interpreter(model, fixed_shapes, release, taken, unregistered).prepared_graph(0).failure


def prepare_around(
    model: Model,
    delegated: Mapping[int, Collection[int]],
    fixed_shapes: bool = False,
    release: Release = NEWEST,
    unregistered: frozenset[str] = frozenset(),
) -> tuple[Graph, ...]:
    """Prepare every subgraph without the nodes that were compiled before the runtime loaded the model.

    The results of the compiled nodes get their shapes as described for ``prepare_rest``.
    """
    taken = {index: Taken(nodes) for index, nodes in delegated.items()}
    interpreter = _Interpreter(model, fixed_shapes, release, taken, unregistered)
    return tuple(interpreter.prepared_graph(index) for index in range(len(model.subgraphs)))


def fold(model: Model, release: Release = NEWEST) -> tuple[FoldedGraph, ...]:
    """Prepare every subgraph, and fold the tensors that a converter can compute from known shapes into constants."""
    interpreter = _FoldingInterpreter(model, release)
    return tuple(interpreter.folded_graph(index) for index in range(len(model.subgraphs)))


class Repreparation:
    """A prepared graph in which single nodes can be prepared again, with operands that a delegate has changed."""

    def __init__(self, graph: Graph, release: Release = NEWEST) -> None:
        self._graph = graph
        self._interpreter = _Interpreter(graph.model, release=release)

    def refusal(self, node: Node) -> str | None:
        """Return the reason why the CPU kernel refuses a node; None if the kernel accepts the node."""
        try:
            self._interpreter.prepare_node(self._graph, node)
        except PrepareError as error:
            return str(error)
        return None


def has_kernel(op: str, *, is_custom: bool) -> bool:
    """Return whether the runtime itself has a kernel for an operator, with a Prepare function that is modeled here."""
    return find_kernel(_kernel_name(op, is_custom)) is not None


def _kernel_name(op: str, is_custom: bool) -> str:
    return f"CUSTOM:{op}" if is_custom else op


def _run_kernel(node: KernelNode) -> None:
    function = find_kernel(_kernel_name(node.op, node.node.is_custom))
    if function is None:
        if node.node.is_custom:
            _keep_variants(node)
        return
    try:
        function(node)
    except (IndexError, OverflowError, ZeroDivisionError, ValueError) as error:
        # The real kernel would read past an array or divide by zero, so the shapes of its results cannot be known.
        raise PrepareError(f"its operands do not match ({type(error).__name__})") from error


def _run_on_delegate(node: KernelNode) -> None:
    """Give the results of a delegated node the shapes from its CPU kernel.

    If the kernel refuses the node or leaves a result dynamic, the results stay as they were.
    """
    results = [node.tensors[index] for index in node.node.outputs if index >= 0]
    before = [(result.type, result.shape, result.allocation, result.computed) for result in results]
    with suppress(PrepareError):
        _run_kernel(node)
        if not node.has_dynamic_result:
            return
    for result, state in zip(results, before, strict=True):
        result.type, result.shape, result.allocation, result.computed = state


def _keep_variants(node: KernelNode) -> None:
    """Mark dynamic VARIANT results of an application's custom operator as not dynamic.

    Such operators, for example operators on lists, allocate VARIANT results themselves, and the runtime does not count these
    results as dynamic (``kernels/variants/list_kernels/*.cc``).
    """
    for position in range(node.output_count):
        result = node.output(position)
        if result.type == "VARIANT" and result.is_dynamic:
            result.allocation = Allocation.ARENA


class _Interpreter:
    """An interpreter that prepares subgraphs in order. A called subgraph is also prepared when a kernel asks for it.

    See ``kernel.Interpreter``.
    """

    def __init__(
        self,
        model: Model,
        fixed_shapes: bool = False,
        release: Release = NEWEST,
        taken: Mapping[int, Taken] = NOTHING,
        unregistered: frozenset[str] = frozenset(),
    ) -> None:
        self.model = model
        self.fixed_shapes = fixed_shapes
        self.release = release
        self._taken = taken
        self._unregistered = unregistered
        self._subgraphs: dict[int, KernelSubgraph] = {}
        self._preparing: list[KernelSubgraph] = []
        self._prepared: dict[int, tuple[_Interface, int]] = {}
        """The interface of each subgraph and the value of ``_changes`` when the subgraph was last prepared for a caller."""
        self._changes = 0
        """The number of calls so far that changed the inputs or outputs of the called subgraph."""
        self._elements = ComputedElements()
        self._calls_made = 0

    def prepared_graph(self, index: int) -> Graph:
        """Prepare a subgraph, starting from the state in which calling nodes left it, and return the prepared graph."""
        subgraph = self.subgraph(index)
        self._prepare(subgraph)
        return subgraph.freeze()

    def prepare_node(self, graph: Graph, node: Node) -> None:
        """Prepare one node of a prepared graph; raise PrepareError if the kernel refuses the node."""
        subgraph = self._subgraphs.get(graph.index)
        if subgraph is None:
            subgraph = self._subgraphs[graph.index] = KernelSubgraph(self.model, graph)
            self._preparing.append(subgraph)
        _run_kernel(KernelNode(self.model, node, subgraph.tensors, self, self.release, self._elements))

    def subgraph_count(self) -> int:
        return len(self.model.subgraphs)

    def subgraph(self, index: int) -> KernelSubgraph:
        if not 0 <= index < len(self.model.subgraphs):
            raise PrepareError(f"there is no subgraph {index}")
        if index not in self._subgraphs:
            graph = graphs.file_graph(self.model, self.model.subgraphs[index])
            self._subgraphs[index] = KernelSubgraph(self.model, graph)
        return self._subgraphs[index]

    def current_subgraph(self) -> KernelSubgraph:
        return self._preparing[-1]

    def allocate_tensors(self, subgraph: KernelSubgraph) -> None:
        index = subgraph.graph.index
        if subgraph in self._preparing:
            raise PrepareError(f"subgraph {index} calls itself")
        interface = _interface(subgraph)
        known_interface, known_changes = self._prepared.get(index, (None, 0))
        self._changes += interface != known_interface
        if known_changes != self._changes:
            self._prepare_for_caller(subgraph)
            self._prepared[index] = interface, self._changes
        if subgraph.failure is not None:
            failure = subgraph.failure
            message = f"node {failure.node} of subgraph {index}: {failure.message}"
            raise PrepareError(message, failure.lines, failure.kernel, failure.unregistered)

    @functools.cached_property
    def _most_calls(self) -> int:
        return raised(_MOST_CALLS) * sum([1 + len(subgraph.nodes) for subgraph in self.model.subgraphs])

    def _prepare_for_caller(self, subgraph: KernelSubgraph) -> None:
        self._calls_made += 1 + len(subgraph.nodes)
        if len(self._preparing) > _DEEPEST_CALL:
            raise PrepareError(f"calls of subgraphs are nested more than {_DEEPEST_CALL} deep")
        if self._calls_made > self._most_calls:
            raise PrepareError(f"subgraphs call each other too often{how_to_raise()}")
        self._prepare(subgraph)

    def _prepare(self, subgraph: KernelSubgraph) -> None:
        """Prepare the nodes in order; stop after a node that is refused or has a dynamic result (``PrepareOpsStartingAt``)."""
        self._preparing.append(subgraph)
        if self.fixed_shapes:
            self._fix_shapes(subgraph, [index for index in subgraph.outputs if subgraph.tensors[index].type != "STRING"])
        subgraph.dynamic = _first_dynamic(subgraph, subgraph.outputs, None, None)
        subgraph.failure = None
        taken = self._taken.get(subgraph.graph.index, _NOTHING_TAKEN)
        for position in taken.order or range(len(subgraph.nodes)):
            node = subgraph.nodes[position]
            running = KernelNode(self.model, node, subgraph.tensors, self, self.release, self._elements)
            if position in taken.failing:
                kernel = (subgraph.graph.index, position)
                subgraph.failure = PrepareFailure(position, "a delegate's kernel fails", taken.failing[position], kernel=kernel)
                break
            if position in taken.delegated:
                _run_on_delegate(running)
                continue
            try:
                if self._unregistered:
                    self._refuse_unregistered(node)
                _run_kernel(running)
            except PrepareError as error:
                lines = (*error.lines, prepare_failure_line(node.index, node.op))
                subgraph.failure = PrepareFailure(node.index, str(error), lines, error.unregistered, kernel=error.kernel)
                break
            subgraph.nodes[position] = running.node
            if not running.has_dynamic_result:
                continue
            outputs = running.node.outputs
            if self.fixed_shapes:
                self._fix_shapes(subgraph, outputs)
                continue
            before = subgraph.dynamic
            left_open = DynamicTensor(outputs[0], node.index, running.cause, -1 if before is None else before.named)
            subgraph.dynamic = _first_dynamic(subgraph, outputs, node.index, running.cause) or left_open
            break
        self._preparing.pop()

    def _refuse_unregistered(self, node: Node) -> None:
        """Refuse a node with an unregistered custom operator, which has no Prepare function (``Subgraph::OpPrepare``)."""
        if node.is_custom and node.op in self._unregistered:
            raise PrepareError(
                f"the custom operator {node.op} is not registered", (unregistered_line(node.op),), unregistered=node.op
            )

    def _fix_shapes(self, subgraph: KernelSubgraph, tensors: Iterable[int]) -> None:
        for index in tensors:
            if index >= 0 and subgraph.tensors[index].allocation is Allocation.DYNAMIC:
                subgraph.tensors[index].allocation = Allocation.ARENA
                subgraph.tensors[index].shape = self.model.subgraphs[subgraph.graph.index].tensors[index].shape


_NOTHING_TAKEN = Taken(())


class _FoldingInterpreter(_Interpreter):
    """An interpreter that prepares whole subgraphs for folding.

    If a node is refused or has dynamic results, the shapes of its results stay unknown, and the preparation continues.
    """

    def __init__(self, model: Model, release: Release) -> None:
        super().__init__(model, release=release)
        self._foldings: dict[int, Folding] = {}

    def folded_graph(self, index: int) -> FoldedGraph:
        """Prepare a subgraph, and return it with the tensors that became constant."""
        subgraph = self.subgraph(index)
        self._prepare(subgraph)
        return self._foldings[index].freeze()

    def _prepare(self, subgraph: KernelSubgraph) -> None:
        from .folding import Folding  # imported here because few commands fold

        folding = self._foldings[subgraph.graph.index] = Folding(subgraph)
        self._preparing.append(subgraph)
        subgraph.failure = None
        for position, node in enumerate(subgraph.nodes):
            running = KernelNode(self.model, node, subgraph.tensors, self, self.release, self._elements)
            try:
                _run_kernel(running)
                is_prepared = True
            except PrepareError:
                is_prepared = False
            subgraph.nodes[position] = running.node
            folding.note(running, is_prepared)
        self._preparing.pop()


_Interface = tuple[tuple[str, tuple[int, ...], Allocation, float, int], ...]


def _interface(subgraph: KernelSubgraph) -> _Interface:
    """Return the properties of a subgraph's inputs and outputs that a calling node may set."""
    tensors = [subgraph.tensors[index] for index in (*subgraph.inputs, *subgraph.outputs) if index >= 0]
    return tuple([(tensor.type, tensor.shape, tensor.allocation, tensor.scale, tensor.zero_point) for tensor in tensors])


def _first_dynamic(
    subgraph: KernelSubgraph, indices: tuple[int, ...], node: int | None, cause: int | None
) -> DynamicTensor | None:
    tensors = subgraph.tensors
    for index in indices:
        if index >= 0 and tensors[index].allocation is Allocation.DYNAMIC:
            return DynamicTensor(index, node, cause, index)
    return None
