"""Which tensors of a subgraph become constant once the shapes of its inputs are known.

A converter computes the SHAPE of a tensor of known shape, and all that is computed from constants, when it converts. What it left
in the file although its operands are constant, such as a DEQUANTIZE of float16 weights, it left on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graph.graph import Graph
from ..model.model import Allocation
from .constants import Array, evaluate
from .kernel import KernelNode, KernelSubgraph, KernelTensor, PrepareError
from .operands import known_array

_OF_SHAPE_ALONE = ("SHAPE", "RANK", "ZEROS_LIKE")
"""Operators whose results follow from the shape of their operand."""


_NOTHING = np.zeros((), np.int8)


@dataclass(frozen=True)
class FoldedGraph:
    """A prepared subgraph: ``constants`` are the tensors that became constant, ``open`` those of unknown shape."""

    graph: Graph
    constants: frozenset[int]
    open: frozenset[int]


class Folding:
    """Follows one subgraph node by node while it is being prepared."""

    def __init__(self, subgraph: KernelSubgraph) -> None:
        self.subgraph = subgraph
        self.constants: set[int] = set()
        self.widened: dict[int, int] = {}
        """For tensors that a float16 constant is widened to: the constant."""
        self.open = {index for index in subgraph.inputs if index >= 0 and _is_open(subgraph.tensors[index])}

    def note(self, node: KernelNode, is_prepared: bool) -> None:
        """Take in a node that has been prepared, and compute its results if its operands have become constant."""
        results = [index for index in node.node.outputs if index >= 0]
        source = node.optional_input(0)
        is_widening = node.op == "DEQUANTIZE" and source is not None and source.is_constant and source.type == "FLOAT16"
        if is_widening and source is not None and results:
            self.widened[results[0]] = source.index
        if self._becomes_constant(node) and self._compute(node):
            return
        tensors = self.subgraph.tensors
        is_dynamic = any(tensors[index].is_dynamic for index in results)
        if not is_prepared or is_dynamic or not self.open.isdisjoint(node.node.inputs):
            self.open.update(results)
            for index in results:
                if tensors[index].is_dynamic:
                    tensors[index].allocation = Allocation.ARENA
                    tensors[index].shape = tensors[index].source.shape

    def freeze(self) -> FoldedGraph:
        """Return the subgraph in its present state."""
        return FoldedGraph(self.subgraph.freeze(), frozenset(self.constants), frozenset(self.open))

    def _becomes_constant(self, node: KernelNode) -> bool:
        operands = [index for index in node.node.inputs if index >= 0]
        if not operands or not self.open.isdisjoint(operands):
            return False
        if node.op in _OF_SHAPE_ALONE:
            return True
        is_known = all(index in self.constants or self._is_known(index) for index in operands)
        return is_known and not self.constants.isdisjoint(operands)

    def _is_known(self, index: int) -> bool:
        return self.subgraph.tensors[index].is_constant or index in self.widened

    def _compute(self, node: KernelNode) -> bool:
        outputs = node.node.outputs
        if not outputs or min(outputs) < 0:
            return False
        results = [self.subgraph.tensors[index] for index in outputs]
        if any(tensor.quantization is not None and len(tensor.quantization.scales) for tensor in results):
            # A converter folds before it quantises; which values that would give decides nothing.
            is_known = not any(tensor.is_dynamic or min(tensor.shape, default=0) < 0 for tensor in results)
            values = [np.broadcast_to(_NOTHING, tensor.shape) for tensor in results] if is_known else None
        else:
            values = self._values(node, results)
        if values is None or len(values) != len(results):
            return False
        for tensor, value in zip(results, values, strict=True):
            tensor.allocation, tensor.shape, tensor.computed = Allocation.CONSTANT, value.shape, value
            self.constants.add(tensor.index)
        return True

    def _values(self, node: KernelNode, results: list[KernelTensor]) -> list[Array] | None:
        if node.op == "ZEROS_LIKE":
            return evaluate("FILL", node.options, [np.array(results[0].shape), np.zeros(1)], [results[0].type])
        if node.op in _OF_SHAPE_ALONE:
            value = known_array(results[0]) if results[0].is_constant_or_persistent else None
            return None if value is None else [value]
        try:
            inputs = [node.input(position) for position in range(node.input_count)]
            operands = [known_array(self.subgraph.tensors[self.widened.get(tensor.index, tensor.index)]) for tensor in inputs]
        except PrepareError:
            return None
        known = [value for value in operands if value is not None]
        if len(known) != len(operands):
            return None
        return evaluate(node.op, node.options, known, [tensor.type for tensor in results])


def _is_open(tensor: KernelTensor) -> bool:
    return tensor.source.has_unspecified_dimension
