"""Preparation of a model's graphs: shapes, allocations, and the first dynamic tensor.

Sources: ``PrepareOpsStartingAt`` and ``ModifyGraphWithDelegateImpl`` in ``core/subgraph.cc``, and the Prepare functions in
``kernels/*.cc``.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType

from ..foundation.limits import how_to_raise, raised
from ..foundation.work_budget import spend_steps
from ..graph import graph as graphs
from ..graph.analysis_cache import AnalysisCache
from ..graph.graph import DynamicTensor, Graph, overlapping_nodes
from ..model.model import Allocation, Model, Node
from ..refusal import Refusal, Stage
from ..releases.catalogue import NEWEST, Release, oldest_alike
from ..releases.wording import INCONSISTENT_LINE, prepare_failure_line, unregistered_line
from ..rules.kinds import CPU_KERNEL_NOT_PREPARED, OPERATOR_NOT_REGISTERED
from .folding import FoldedGraph, Folding, SubgraphResults
from .kernel import CHANGED_IN, ComputedElements, KernelNode
from .kernels import find_kernel
from .tensors import KernelSubgraph, PrepareError

_DEEPEST_CALL = 100
_MOST_CALLS = 100
"""Largest average number of times that each subgraph and node may be prepared for a caller.

With more calls, preparation fails, because the real runtime takes too long to prepare such a model.
"""
_USUAL_CALLS = 2
"""Average number of times that subgraphs and nodes are prepared for a caller before further preparations spend steps."""
_STEPS_OF_A_NODE = 20
"""The steps of the budget of work that a further preparation of a node or subgraph spends."""


def prepare(
    model: Model,
    fixed_shapes: bool = False,
    release: Release = NEWEST,
    repaired: frozenset[tuple[int, int]] = frozenset(),
    unregistered: frozenset[str] = frozenset(),
    cache: AnalysisCache | None = None,
) -> tuple[Graph, ...]:
    """Prepare every subgraph in order, as the runtime does before it applies a delegate.

    With ``fixed_shapes``, dynamic tensors get their shapes from the model file, as if the model was converted with known
    shapes. Only outputs of type STRING stay dynamic. ``repaired`` has (subgraph, node) pairs of nodes that CPU kernels are
    assumed to accept. ``unregistered`` has the custom operators that are not registered.
    """
    own = AnalysisCache() if cache is None else cache
    release = oldest_alike(release, _changes(model))

    def prepared() -> tuple[Graph, ...]:
        repaired_by_subgraph: dict[int, set[int]] = {}
        for subgraph, node in repaired:
            repaired_by_subgraph.setdefault(subgraph, set()).add(node)
        result = prepare_around(model, repaired_by_subgraph, fixed_shapes, release, unregistered, own)
        # Releases often differ only for operands that the model does not have. Equal graphs share the decisions about them,
        # which saves about 30 % of the time of `releases`.
        return next((known for known in own.results("prepare") if _are_equal(known, result)), result)

    return own.get("prepare", (model, fixed_shapes, release, repaired, unregistered), prepared)


def _are_equal(graphs: Sequence[Graph], others: Sequence[Graph]) -> bool:
    """Return whether two preparations of subgraphs have equal results. Computed values are compared by identity."""
    return len(graphs) == len(others) and all(
        one.model is other.model
        and (one.inputs, one.nodes, one.dynamic, one.failure) == (other.inputs, other.nodes, other.dynamic, other.failure)
        and all(a is b or (a.value is b.value and a == b) for a, b in zip(one.tensors, other.tensors, strict=True))
        for one, other in zip(graphs, others, strict=True)
    )


def _changes(model: Model) -> Iterator[Release]:
    operators = frozenset[tuple[str, bool]]().union(*[graph.operators for graph in graphs.file_graphs(model)])
    for name in [_kernel_name(op, is_custom) for op, is_custom in operators]:
        if find_kernel(name) is not None:
            yield from CHANGED_IN[name]


@dataclass(frozen=True, slots=True)
class Taken:
    """The delegated nodes of a subgraph, and the run order of all its nodes."""

    delegated: Collection[int]
    order: tuple[int, ...] = ()
    """All nodes in run order, with the nodes of a delegate kernel in the kernel's place. Empty if the order is the file's."""
    failing: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The log lines about delegate kernels that cannot be prepared, keyed by the first node of the kernel."""


def prepare_rest(
    model: Model,
    taken: Mapping[int, Taken],
    fixed_shapes: bool,
    release: Release,
    unregistered: frozenset[str],
    cache: AnalysisCache | None = None,
) -> Refusal | None:
    """Prepare the first subgraph's CPU nodes, which no delegate has taken.

    Return the failure, or None if all nodes can be prepared. ``taken`` has the delegated nodes by subgraph.

    Nodes after the first node with a dynamic result are not prepared. The shapes that a delegate gives to its results are not
    known. The CPU kernel's shapes are used instead, or the shapes in the file if the CPU kernel refuses the node.
    """
    return Interpreter(model, release, fixed_shapes, taken, unregistered, cache).prepared_graph(0).failure


def prepare_around(
    model: Model,
    delegated: Mapping[int, Collection[int]],
    fixed_shapes: bool = False,
    release: Release = NEWEST,
    unregistered: frozenset[str] = frozenset(),
    cache: AnalysisCache | None = None,
) -> tuple[Graph, ...]:
    """Prepare every subgraph, but not the nodes in ``delegated``, such as the nodes that a compiler plugin compiled.

    The results of these nodes get the same shapes as in ``prepare_rest``.
    """
    taken = {index: Taken(nodes) for index, nodes in delegated.items()}
    interpreter = Interpreter(model, release, fixed_shapes, taken, unregistered, cache)
    return tuple(interpreter.prepared_graph(index) for index in range(len(model.subgraphs)))


def fold(model: Model, release: Release = NEWEST) -> tuple[FoldedGraph, ...]:
    """Prepare every subgraph, and fold each tensor that a converter can compute from known shapes."""
    interpreter = _FoldingInterpreter(model, release)
    return tuple(interpreter.folded_graph(index) for index in range(len(model.subgraphs)))


class Repreparation:
    """A prepared graph. Its nodes can be prepared again after a delegate has changed their operands."""

    def __init__(self, graph: Graph, release: Release = NEWEST) -> None:
        self._interpreter = Interpreter(graph.model, release)
        self._subgraph = self._interpreter.enter(graph)

    def refusal(self, node: Node) -> str | None:
        """Return the reason why the CPU kernel refuses a node, or None if the kernel accepts the node."""
        try:
            _run_kernel(self._interpreter.running(self._subgraph, node))
        except PrepareError as error:
            return str(error)
        return None


def has_kernel(op: str, *, is_custom: bool) -> bool:
    """Return whether this package has the Prepare function of an operator."""
    return find_kernel(_kernel_name(op, is_custom)) is not None


def _kernel_name(op: str, is_custom: bool) -> str:
    return f"CUSTOM:{op}" if is_custom else op


def _run_kernel(node: KernelNode) -> None:
    function = find_kernel(_kernel_name(node.op, node.node.is_custom))
    if function is None:
        # An application's custom operators allocate VARIANT results themselves, so the runtime does not treat these results as
        # dynamic (kernels/variants/list_kernels/*.cc).
        for result in map(node.output, range(node.output_count if node.node.is_custom else 0)):
            if result.type == "VARIANT" and result.is_dynamic:
                result.allocation = Allocation.ARENA
        return
    try:
        function(node)
    except (IndexError, OverflowError, ZeroDivisionError, ValueError) as error:
        # The real kernel reads past an array or divides by zero, so the shapes of its results are not known.
        raise PrepareError(f"its operands do not match ({type(error).__name__})") from error


def _run_on_delegate(node: KernelNode) -> None:
    """Give the results of a delegated node the shapes that the node's CPU kernel computes.

    If the kernel refuses the node or makes a result dynamic, the results do not change.
    """
    results = [node.tensors[index] for index in node.node.outputs if index >= 0]
    before = [(result.type, result.shape, result.allocation, result.computed) for result in results]
    with suppress(PrepareError):
        _run_kernel(node)
        if not node.has_dynamic_result:
            return
    for result, state in zip(results, before, strict=True):
        result.type, result.shape, result.allocation, result.computed = state


class Interpreter:
    """The preparation of a model's subgraphs, with the state that calls of subgraphs share."""

    def __init__(
        self,
        model: Model,
        release: Release,
        fixed_shapes: bool = False,
        taken: Mapping[int, Taken] = MappingProxyType({}),
        unregistered: frozenset[str] = frozenset(),
        cache: AnalysisCache | None = None,
    ) -> None:
        self._cache = AnalysisCache() if cache is None else cache
        self.model = model
        self.fixed_shapes = fixed_shapes
        self.release = release
        self._taken = taken
        self._unregistered = unregistered
        self._subgraphs: dict[int, KernelSubgraph] = {}
        self._preparing: list[KernelSubgraph] = []
        self._prepared: dict[int, tuple[object, int]] = {}
        """For each called subgraph, its interface and the value of ``_changes`` at the last preparation."""
        self._changes = 0
        """The number of calls so far that changed an interface."""
        self._elements = ComputedElements()
        self._calls_made = 0

    def prepared_graph(self, index: int) -> Graph:
        """Prepare a subgraph with the changes that calling nodes have made, and return the prepared graph."""
        subgraph = self.subgraph(index)
        self._prepare(subgraph)
        return subgraph.freeze()

    def running(self, subgraph: KernelSubgraph, node: Node) -> KernelNode:
        """Return a node of a subgraph for its Prepare function."""
        return KernelNode(self.model, node, subgraph.tensors, self, self.release, self._elements)

    def enter(self, graph: Graph) -> KernelSubgraph:
        """Return a prepared subgraph, whose nodes are prepared again."""
        subgraph = self._subgraphs[graph.index] = KernelSubgraph(self.model, graph)
        self._preparing.append(subgraph)
        return subgraph

    def subgraph_count(self) -> int:
        """Return the number of subgraphs."""
        return len(self.model.subgraphs)

    def subgraph(self, index: int) -> KernelSubgraph:
        """Return a subgraph. Raise PrepareError if the model has no subgraph with this index."""
        if not 0 <= index < len(self.model.subgraphs):
            raise PrepareError(f"there is no subgraph {index}")
        if index not in self._subgraphs:
            self._subgraphs[index] = KernelSubgraph(self.model, graphs.file_graphs(self.model)[index].within(self._cache))
        return self._subgraphs[index]

    def current_subgraph(self) -> KernelSubgraph:
        """Return the subgraph that contains the node in preparation."""
        return self._preparing[-1]

    def allocate_tensors(self, subgraph: KernelSubgraph) -> None:
        """Prepare another subgraph (``AllocateTensors``). Raise PrepareError if one of its nodes cannot be prepared."""
        index = subgraph.graph.index
        if subgraph in self._preparing:
            raise PrepareError(f"subgraph {index} calls itself")
        tensors = [subgraph.tensors[number] for number in (*subgraph.inputs, *subgraph.outputs) if number >= 0]
        interface = tuple([(tensor.type, tensor.shape, tensor.allocation, tensor.scale, tensor.zero_point) for tensor in tensors])
        known_interface, known_changes = self._prepared.get(index, (None, 0))
        self._changes += interface != known_interface
        if known_changes != self._changes:
            self._prepare_for_caller(subgraph)
            self._prepared[index] = interface, self._changes
        if subgraph.failure is not None:
            failure = subgraph.failure
            message = f"node {failure.node} of subgraph {index}: {failure.message}"
            raise PrepareError(message, failure.log_lines, failure.values["kernel"], failure.values["unregistered"])

    @functools.cached_property
    def _size(self) -> int:
        return sum([1 + len(subgraph.nodes) for subgraph in self.model.subgraphs])

    def _prepare_for_caller(self, subgraph: KernelSubgraph) -> None:
        size = 1 + len(subgraph.nodes)
        self._calls_made += size
        if len(self._preparing) > _DEEPEST_CALL:
            raise PrepareError(f"calls of subgraphs are nested more than {_DEEPEST_CALL} levels deep")
        if self._calls_made > _USUAL_CALLS * self._size:
            spend_steps(_STEPS_OF_A_NODE * size, "preparing subgraphs again for each node that calls them")
        if self._calls_made > raised(_MOST_CALLS) * self._size:
            raise PrepareError(f"subgraphs call each other too often{how_to_raise()}")
        self._prepare(subgraph)

    def _prepare(self, subgraph: KernelSubgraph) -> None:
        self._preparing.append(subgraph)
        if self.fixed_shapes:
            self._fix_shapes(subgraph, [index for index in subgraph.outputs if subgraph.tensors[index].type != "STRING"])
        subgraph.dynamic = _first_dynamic(subgraph, subgraph.outputs, None, None)
        subgraph.failure = self._inconsistency(subgraph)
        taken = self._taken.get(subgraph.graph.index, Taken(()))
        positions = taken.order or range(len(subgraph.nodes))
        results = SubgraphResults(subgraph, self.release, self._cache)
        for position in positions if subgraph.failure is None else ():
            node = subgraph.nodes[position]
            if position in taken.failing:
                kernel = (subgraph.graph.index, position)
                error = PrepareError("a delegate kernel fails", kernel=kernel)
                subgraph.failure = _failure(subgraph, position, error, taken.failing[position])
                break
            is_delegated = position in taken.delegated
            try:
                if node.is_custom and node.op in self._unregistered and not is_delegated:
                    message = f"the custom operator {node.op} is not registered"
                    raise PrepareError(message, (unregistered_line(node.op),), unregistered=node.op)
                if results.repeat(position, node, is_delegated):
                    continue
                running = self.running(subgraph, node)
                (_run_on_delegate if is_delegated else _run_kernel)(running)
            except PrepareError as error:
                lines = (*error.lines, prepare_failure_line(node.index, node.op))
                subgraph.failure = _failure(subgraph, node.index, error, lines)
                break
            results.note(running, node, is_delegated)
            if is_delegated:
                continue
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

    def _inconsistency(self, subgraph: KernelSubgraph) -> Refusal | None:
        refused = overlapping_nodes(self.model.subgraphs[subgraph.graph.index])
        if not refused or not subgraph.nodes:
            return None
        name = f"node {refused[0].index} of the file ({refused[0].op})"
        error = PrepareError(f"the runtime did not add {name}, because an input of this node is also its output")
        return _failure(subgraph, 0, error, (INCONSISTENT_LINE,))

    def _fix_shapes(self, subgraph: KernelSubgraph, tensors: Iterable[int]) -> None:
        for index in tensors:
            if index >= 0 and subgraph.tensors[index].allocation is Allocation.DYNAMIC:
                subgraph.tensors[index].allocation = Allocation.ARENA
                subgraph.tensors[index].shape = self.model.subgraphs[subgraph.graph.index].tensors[index].shape


def _failure(subgraph: KernelSubgraph, node: int, error: PrepareError, lines: tuple[str, ...]) -> Refusal:
    """Return the refusal of a node that cannot be prepared.

    ``lines`` are log lines: first about the node, then about the nodes that call its subgraph, innermost first.
    """
    kind = OPERATOR_NOT_REGISTERED if error.unregistered else CPU_KERNEL_NOT_PREPARED
    return kind.refusal(
        "{problem}",
        subgraph=subgraph.graph.index,
        node=node,
        values={"problem": str(error), "unregistered": error.unregistered, "kernel": error.kernel},
        stage=kind.stage if error.kernel is None else Stage.BUILDING,
        log_lines=lines,
    )


class _FoldingInterpreter(Interpreter):
    """An interpreter that prepares whole subgraphs for folding.

    Preparation continues after a refused node and after a dynamic result. Dynamic results and results of refused nodes keep an
    unknown shape.
    """

    def __init__(self, model: Model, release: Release) -> None:
        super().__init__(model, release)
        self._foldings: dict[int, Folding] = {}

    def folded_graph(self, index: int) -> FoldedGraph:
        subgraph = self.subgraph(index)
        self._prepare(subgraph)
        return self._foldings[index].freeze()

    def _prepare(self, subgraph: KernelSubgraph) -> None:
        folding = self._foldings[subgraph.graph.index] = Folding(subgraph)
        self._preparing.append(subgraph)
        subgraph.failure = None
        for position, node in enumerate(subgraph.nodes):
            running = self.running(subgraph, node)
            try:
                _run_kernel(running)
                is_prepared = True
            except PrepareError:
                is_prepared = False
            subgraph.nodes[position] = running.node
            folding.note(running, is_prepared)
        self._preparing.pop()


def _first_dynamic(
    subgraph: KernelSubgraph, indices: tuple[int, ...], node: int | None, cause: int | None
) -> DynamicTensor | None:
    dynamic = next((index for index in indices if index >= 0 and subgraph.tensors[index].is_dynamic), None)
    return None if dynamic is None else DynamicTensor(dynamic, node, cause, dynamic)
