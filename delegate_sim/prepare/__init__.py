"""From a ``Model`` to graphs as the interpreter prepares them: shapes, allocations, and the first dynamic tensor.

Sources: ``PrepareOpsStartingAt`` and ``ModifyGraphWithDelegateImpl`` in ``core/subgraph.cc``; each kernel's Prepare in
``kernels/*.cc``.
"""

from __future__ import annotations

from .. import graph as graphs
from ..graph import DynamicTensor, Graph, PrepareFailure
from ..model import Allocation, Model, Node
from . import families
from .kernel import KERNELS, KernelNode, KernelSubgraph, PrepareError

__all__ = ["KERNELS", "PrepareError", "has_kernel", "prepare", "prepare_node"]

families.register()

_DEEPEST_CALL = 100
_MOST_CALLED_NODES = 1_000_000
"""Beyond these limits on calls of subgraphs, which no sensible model comes near, the runtime itself would not end in time."""


def prepare(model: Model) -> tuple[Graph, ...]:
    """Prepare every subgraph in order, each as the runtime does before it hands the subgraph to a delegate."""
    interpreter = _Interpreter(model)
    return tuple(interpreter.prepared_graph(index) for index in range(len(model.subgraphs)))


def prepare_node(graph: Graph, node: Node) -> str | None:
    """Prepare one node again, with the tensors of a prepared graph; return why its kernel refuses, None if it does not."""
    try:
        _Interpreter(graph.model).prepare_node(graph, node)
    except PrepareError as error:
        return str(error)
    return None


def has_kernel(op: str, *, is_custom: bool) -> bool:
    """Whether the runtime's own kernels include this operator and its Prepare is modelled here."""
    return _kernel_name(op, is_custom) in KERNELS


def _kernel_name(op: str, is_custom: bool) -> str:
    return f"CUSTOM:{op}" if is_custom else op


def _run_kernel(node: KernelNode) -> None:
    function = KERNELS.get(_kernel_name(node.op, node.node.is_custom))
    if function is None:
        if node.node.is_custom:
            _keep_variants(node)
        return
    try:
        function(node)
    except (IndexError, OverflowError, ZeroDivisionError, ValueError) as error:
        # A kernel would read past an array here, or divide by zero: no shape of its results can be told.
        raise PrepareError(f"its operands do not fit together ({type(error).__name__})") from error


def _keep_variants(node: KernelNode) -> None:
    """A custom operator of the application keeps its VARIANT results itself, as those for lists do.

    They then count as an allocation of their own, which is not dynamic (``kernels/variants/list_kernels/*.cc``).
    """
    for position in range(node.output_count):
        result = node.output(position)
        if result.type == "VARIANT" and result.is_dynamic:
            result.allocation = Allocation.ARENA


class _Interpreter:
    """Prepares subgraphs, those that kernels call before their turn included (``kernel.Interpreter``)."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._subgraphs: dict[int, KernelSubgraph] = {}
        self._preparing: list[KernelSubgraph] = []
        self._called_nodes = 0

    def prepared_graph(self, index: int) -> Graph:
        """Prepare a subgraph, in the state that callers left it in, and return it as it then stands."""
        subgraph = self.subgraph(index)
        self._prepare(subgraph)
        return subgraph.freeze()

    def prepare_node(self, graph: Graph, node: Node) -> None:
        """Prepare one node of a graph that has been prepared; raises PrepareError."""
        subgraph = self._subgraphs[graph.index] = KernelSubgraph(self.model, graph)
        self._preparing.append(subgraph)
        _run_kernel(KernelNode(self.model, node, subgraph.tensors, self))

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
        self._called_nodes += 1 + len(subgraph.nodes)
        if len(self._preparing) > _DEEPEST_CALL or self._called_nodes > _MOST_CALLED_NODES:
            raise PrepareError("subgraphs call each other too often")
        self._prepare(subgraph)
        if subgraph.failure is not None:
            raise PrepareError(f"node {subgraph.failure.node} of subgraph {index}: {subgraph.failure.message}")

    def _prepare(self, subgraph: KernelSubgraph) -> None:
        """``PrepareOpsStartingAt``: node by node, until one has a dynamic result or cannot be prepared."""
        self._preparing.append(subgraph)
        subgraph.dynamic = _first_dynamic(subgraph, subgraph.outputs, None, None)
        subgraph.failure = None
        for position, node in enumerate(subgraph.nodes):
            running = KernelNode(self.model, node, subgraph.tensors, self)
            try:
                _run_kernel(running)
            except PrepareError as error:
                subgraph.failure = PrepareFailure(node.index, str(error))
                break
            subgraph.nodes[position] = running.node
            dynamic = _first_dynamic(subgraph, running.node.outputs, node.index, running.cause)
            if dynamic is not None:
                subgraph.dynamic = dynamic
                break
        self._preparing.pop()


def _first_dynamic(
    subgraph: KernelSubgraph, indices: tuple[int, ...], node: int | None, cause: int | None
) -> DynamicTensor | None:
    tensors = subgraph.tensors
    for index in indices:
        if index >= 0 and tensors[index].allocation is Allocation.DYNAMIC:
            return DynamicTensor(index, node, cause)
    return None
