"""From a ``Model`` to graphs as the interpreter prepares them: shapes, allocations, and the first dynamic tensor.

Sources: ``PrepareOpsStartingAt`` and ``ModifyGraphWithDelegateImpl`` in ``core/subgraph.cc``; each kernel's Prepare in
``kernels/*.cc``.
"""

from __future__ import annotations

import dataclasses

from .. import graph as graphs
from ..graph import DynamicTensor, Graph, PrepareFailure
from ..model import OPTIONAL_TENSOR, Allocation, Model, Node
from . import families
from .kernel import KERNELS, KernelNode, KernelTensor, PrepareError

__all__ = ["KERNELS", "PrepareError", "prepare", "prepare_node"]

families.register()


def prepare(model: Model) -> tuple[Graph, ...]:
    """Prepare every subgraph in order, each as the runtime does before it hands the subgraph to a delegate."""
    interpreter = _Interpreter(model)
    return tuple(interpreter.prepared_graph(index) for index in range(len(model.subgraphs)))


def prepare_node(graph: Graph, node: Node) -> str | None:
    """Prepare one node again, with the tensors of a prepared graph; return why its kernel refuses, None if it does not."""
    interpreter = _Interpreter(graph.model)
    tensors = [KernelTensor(graph.model, tensor) for tensor in graph.tensors]
    try:
        _run_kernel(KernelNode(graph.model, node, tensors, interpreter))
    except PrepareError as error:
        return str(error)
    return None


def _run_kernel(node: KernelNode) -> None:
    function = KERNELS.get(f"CUSTOM:{node.op}" if node.node.is_custom else node.op)
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


class _Subgraph:
    """One subgraph while it is being prepared."""

    def __init__(self, model: Model, graph: Graph) -> None:
        self.graph = graph
        self.inputs = list(graph.inputs)
        self.tensors = [KernelTensor(model, tensor) for tensor in graph.tensors]
        self.dynamic: DynamicTensor | None = None
        self.failure: PrepareFailure | None = None


class _Interpreter:
    """Prepares subgraphs, those that control flow names before their turn included (``kernel.Interpreter``)."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._subgraphs: dict[int, _Subgraph] = {}
        self._preparing: set[int] = set()

    def prepared_graph(self, index: int) -> Graph:
        """Prepare a subgraph and return it as it then stands."""
        subgraph = self._subgraph(index)
        self._prepare(subgraph)
        return dataclasses.replace(
            subgraph.graph,
            inputs=tuple(subgraph.inputs),
            tensors=tuple([tensor.freeze() for tensor in subgraph.tensors]),
            dynamic=subgraph.dynamic,
            failure=subgraph.failure,
        )

    def subgraph_count(self) -> int:
        return len(self.model.subgraphs)

    def prepare_subgraph(self, index: int) -> None:
        subgraph = self._subgraph(index)
        if index in self._preparing:
            raise PrepareError(f"subgraph {index} calls itself")
        self._prepare(subgraph)
        if subgraph.failure is not None:
            raise PrepareError(f"node {subgraph.failure.node} of subgraph {index}: {subgraph.failure.message}")

    def inputs_of(self, index: int) -> list[KernelTensor | None]:
        subgraph = self._subgraph(index)
        return [subgraph.tensors[tensor] if tensor >= 0 else None for tensor in subgraph.inputs]

    def outputs_of(self, index: int) -> list[KernelTensor | None]:
        subgraph = self._subgraph(index)
        return [subgraph.tensors[tensor] if tensor >= 0 else None for tensor in subgraph.graph.outputs]

    def has_dynamic_tensors(self, index: int) -> bool:
        return self._subgraph(index).dynamic is not None

    def remove_unused_inputs(self, index: int) -> None:
        subgraph = self._subgraph(index)
        used = {tensor for node in subgraph.graph.nodes for tensor in node.inputs}
        used.update(subgraph.graph.outputs)
        subgraph.inputs = [tensor if tensor in used else OPTIONAL_TENSOR for tensor in subgraph.inputs]

    def _subgraph(self, index: int) -> _Subgraph:
        if not 0 <= index < len(self.model.subgraphs):
            raise PrepareError(f"there is no subgraph {index}")
        if index not in self._subgraphs:
            self._subgraphs[index] = _Subgraph(self.model, graphs.file_graph(self.model, self.model.subgraphs[index]))
        return self._subgraphs[index]

    def _prepare(self, subgraph: _Subgraph) -> None:
        """``PrepareOpsStartingAt``: node by node, until one has a dynamic result or cannot be prepared."""
        self._preparing.add(subgraph.graph.index)
        try:
            subgraph.dynamic = _first_dynamic(subgraph, subgraph.graph.outputs, None, None)
            subgraph.failure = None
            for node in subgraph.graph.nodes:
                running = KernelNode(self.model, node, subgraph.tensors, self)
                try:
                    _run_kernel(running)
                except PrepareError as error:
                    subgraph.failure = PrepareFailure(node.index, str(error))
                    return
                dynamic = _first_dynamic(subgraph, node.outputs, node.index, running.cause)
                if dynamic is not None:
                    subgraph.dynamic = dynamic
                    return
        finally:
            self._preparing.discard(subgraph.graph.index)


def _first_dynamic(
    subgraph: _Subgraph, indices: tuple[int, ...], node: int | None, cause: int | None
) -> DynamicTensor | None:
    tensors = subgraph.tensors
    for index in indices:
        if index >= 0 and tensors[index].allocation is Allocation.DYNAMIC:
            return DynamicTensor(index, node, cause)
    return None
