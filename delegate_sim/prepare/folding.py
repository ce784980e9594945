"""Find the tensors of a subgraph that become constant if the shapes of its inputs are known, and reuse results of Prepare.

A converter replaces a SHAPE node by a constant if the shape is known. The converter then also computes every node with
operands that became constant. If a node reads only constants of the model file, the node stays as it is. The converter left
such a node in the model on purpose, for example a DEQUANTIZE of float16 weights.

Nodes of one form with operands in the same states are prepared once in an analysis.
"""

from __future__ import annotations

from typing import NamedTuple

from ..foundation.late_numpy import np
from ..graph.analysis_cache import AnalysisCache
from ..graph.forms import OMITTED, Forms, FormTable, forms_of, node_forms
from ..graph.graph import Graph
from ..model.model import Allocation, Node
from ..model.numbers import FlatNumbers, RepeatedNumber
from ..releases.catalogue import Release
from .constants import Array, evaluate
from .kernel import KernelNode
from .tensors import KernelSubgraph, KernelTensor, PrepareError, known_array

_OF_SHAPE_ALONE = ("SHAPE", "RANK", "ZEROS_LIKE")
"""Operators with a result that depends only on the shape of the operand."""

_PRODUCTS = ("BATCH_MATMUL", "FULLY_CONNECTED", "MUL")
_MOVING = ("DEQUANTIZE", "QUANTIZE", "RESHAPE", "SLICE", "STRIDED_SLICE")
"""Operators that return only zeros if their operand has only zeros."""


class FoldedGraph(NamedTuple):
    """A prepared subgraph, with the indices of tensors that became constant or have an unknown shape.

    ``constants`` are the tensors that became constant, and ``zeros`` are the constants that contain only zeros. ``open`` are
    the tensors of unknown shape. ``dynamic`` are the tensors in ``open`` whose shape depends on values at run time.
    """

    graph: Graph
    constants: frozenset[int]
    open: frozenset[int]
    zeros: frozenset[int]
    dynamic: frozenset[int]


class Folding:
    """The state of folding one subgraph."""

    def __init__(self, subgraph: KernelSubgraph) -> None:
        self.subgraph = subgraph
        self.constants: set[int] = set()
        self.zeros: set[int] = set()
        self.widened: dict[int, int] = {}
        """Float16 constants that DEQUANTIZE nodes convert to float32, keyed by the result's index."""
        self.dynamic: set[int] = set()
        self.open = {
            index for index in subgraph.inputs if index >= 0 and subgraph.tensors[index].source.has_unspecified_dimension
        }

    def note(self, node: KernelNode, is_prepared: bool) -> None:
        """Record a prepared node, and compute its results if its operands became constant."""
        results = [index for index in node.node.outputs if index >= 0]
        source = node.optional_input(0)
        is_widening = node.op == "DEQUANTIZE" and source is not None and source.is_constant and source.type == "FLOAT16"
        if is_widening and source is not None and results:
            self.widened[results[0]] = source.index
        if self._becomes_constant(node) and self._compute(node):
            return
        if is_prepared and self._is_product_of_zeros(node):
            value = self._product_of_zeros(node)
            if value is not None:
                self._keep(node.output(0), value, node.output(0).shape, is_zero=not value.any())
                return
        tensors = self.subgraph.tensors
        is_dynamic = node.has_dynamic_result
        if not is_prepared or is_dynamic or not self.open.isdisjoint(node.node.inputs):
            self.open.update(results)
            for index in results:
                if tensors[index].is_dynamic:
                    tensors[index].allocation = Allocation.ARENA
                    tensors[index].shape = tensors[index].source.shape
        else:
            for index in results:
                tensors[index].source = tensors[index].source._replace(shape_signature=None)
        if is_dynamic or not self.dynamic.isdisjoint(node.node.inputs):
            self.dynamic.update(results)

    def freeze(self) -> FoldedGraph:
        """Return the subgraph in its current state."""
        groups = [frozenset(tensors) for tensors in (self.constants, self.open, self.zeros, self.dynamic)]
        return FoldedGraph(self.subgraph.freeze(), *groups)

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
        if any(map(_is_quantized, results)):
            # A converter folds before it quantizes. Nothing reads the quantized values, so zeros are stored in their place.
            is_known = not node.has_dynamic_result and all(min(tensor.shape, default=0) >= 0 for tensor in results)
            if not is_known:
                return False
            for tensor in results:
                zeros = RepeatedNumber("<i1", 0, tensor.element_count)
                self._keep(tensor, zeros, tensor.shape, is_zero=self._passes_zeros_on(node) or not _is_quantized(tensor))
            return True
        values = self._values(node, results)
        if values is None or len(values) != len(results) or not node.elements.take_folded(sum([value.size for value in values])):
            return False
        for tensor, value in zip(results, values, strict=True):
            self._keep(tensor, value, value.shape, is_zero=not value.any())
        return True

    def _keep(self, tensor: KernelTensor, value: FlatNumbers, shape: tuple[int, ...], *, is_zero: bool) -> None:
        tensor.allocation, tensor.shape, tensor.computed = Allocation.CONSTANT, shape, value
        self.constants.add(tensor.index)
        if is_zero:
            self.zeros.add(tensor.index)

    def _passes_zeros_on(self, node: KernelNode) -> bool:
        if node.op != "FILL":
            return node.op in _MOVING and node.node.input(0) in self.zeros
        value = node.optional_input(1)
        known = None if value is None else known_array(value)
        return value is not None and known is not None and bool((known == value.zero_point).all())

    def _is_product_of_zeros(self, node: KernelNode) -> bool:
        if node.op not in _PRODUCTS or not self.open.isdisjoint(node.node.inputs):
            return False
        if node.node.output(0) < 0 or node.output(0).is_dynamic or min(node.output(0).shape, default=0) < 0:
            return False
        factors = node.node.inputs[: 1 if node.op == "FULLY_CONNECTED" else 2]
        is_plain = not node.options.fused_activation_function
        return (
            is_plain and not self.zeros.isdisjoint(factors) and (not self._has_bias(node) or self._is_known(node.node.input(2)))
        )

    def _has_bias(self, node: KernelNode) -> bool:
        return node.op == "FULLY_CONNECTED" and len(node.node.inputs) > 2 and node.node.input(2) >= 0

    def _product_of_zeros(self, node: KernelNode) -> FlatNumbers | None:
        """Return the result of a product with a factor of zeros: zeros, or the bias repeated for each row.

        Return None if the result has too many elements. A quantized result gets placeholders: 1 if the bias has an element
        other than 0, and 0 otherwise.
        """
        result = node.output(0)
        bias = None
        if self._has_bias(node):
            index = node.node.input(2)
            bias = known_array(self.subgraph.tensors[self.widened.get(index, index)])
        if _is_quantized(result):
            return RepeatedNumber("<i1", int(bias is not None and bias.any()), result.element_count)
        if bias is None:
            return RepeatedNumber("<f4", 0, result.element_count)
        # bounded: the limit on folded elements
        return np.resize(bias, result.element_count) if node.elements.take_folded(result.element_count) else None

    def _values(self, node: KernelNode, results: list[KernelTensor]) -> list[Array] | None:
        if node.op == "ZEROS_LIKE":
            return evaluate("FILL", node.options, [np.array(results[0].shape), np.zeros(1)], [results[0].type])
        if node.op in _OF_SHAPE_ALONE:
            value = known_array(results[0]) if results[0].is_constant_or_persistent else None
            return None if value is None else [value]
        try:
            inputs = [node.input(position) for position, _ in enumerate(node.node.inputs)]
            operands = [known_array(self.subgraph.tensors[self.widened.get(tensor.index, tensor.index)]) for tensor in inputs]
        except PrepareError:
            return None
        known = [value for value in operands if value is not None]
        if len(known) != len(operands):
            return None
        return evaluate(node.op, node.options, known, [tensor.type for tensor in results])


def _is_quantized(tensor: KernelTensor) -> bool:
    return tensor.quantization is not None and len(tensor.quantization.scales) > 0


class _NewState(NamedTuple):
    place: int
    """The position among the operands, the results and the intermediate tensors of the node."""
    type: str
    shape: tuple[int, ...]
    allocation: Allocation
    computed: FlatNumbers | None
    form: int


class _States(dict[int, int]):
    """The forms of a subgraph's tensors in their current states. Each form is computed when it is first used."""

    def __init__(self, forms: Forms, subgraph: KernelSubgraph) -> None:
        super().__init__()
        self._forms = forms
        self._subgraph = subgraph

    def __missing__(self, index: int) -> int:
        if index < 0:
            return OMITTED
        subgraph = self._subgraph
        model, source = subgraph.graph.model, subgraph.graph.tensors[index]
        tensor = subgraph.tensors.get(index)
        state = source if tensor is None else tensor.freeze()
        form = self[index] = self._forms.tensor(model, state) if state is source else self._forms.state(model, state)
        return form


class SubgraphResults:
    """The results of Prepare functions for the nodes of one subgraph, in the order of the nodes' preparation.

    The subgraph's tensors are in their current states. Results are kept for all subgraphs and for one release.
    """

    def __init__(self, subgraph: KernelSubgraph, release: Release, cache: AnalysisCache) -> None:
        self._subgraph = subgraph
        self._model = subgraph.graph.model
        self._forms = forms_of(cache, self._model)
        self._table: FormTable[tuple[int, bool], tuple[_NewState, ...]] = cache.get(
            "prepared nodes", (self._forms, release), FormTable[tuple[int, bool], tuple[_NewState, ...]]
        )
        self._states = _States(self._forms, subgraph)
        self._file_forms = node_forms(subgraph.graph)
        given = subgraph.graph.tensors
        self._changed = {index for index, tensor in subgraph.tensors.items() if tensor.freeze() is not given[index]}
        """The tensors that are no longer in the state of the file."""
        self._are_known = True
        """False after a Prepare function that may have changed any tensor."""
        self._key = 0, False
        self._before: tuple[int, ...] = ()

    def repeat(self, position: int, node: Node, is_delegated: bool) -> bool:
        """Do to the tensors of a node what was done for another node of the same form. Return whether there is such a node."""
        operands = node.inputs + node.outputs + node.intermediates
        if self._are_known and node is self._subgraph.graph.nodes[position] and self._changed.isdisjoint(operands):
            key = self._file_forms[position], is_delegated
        else:
            states = tuple(map(self._states.__getitem__, operands))
            key = self._forms.number((self._forms.kind(self._model, node), *states)), is_delegated
        changes = self._table.get(key)
        if changes is None:
            self._key = key
            self._before = tuple(map(self._states.__getitem__, operands))
            return False
        for place, kind, shape, allocation, computed, form in changes:
            index = operands[place]
            tensor = self._subgraph.tensors[index]
            tensor.type, tensor.shape, tensor.allocation, tensor.computed = kind, shape, allocation, computed
            self._states[index] = form
            self._changed.add(index)
        return True

    def note(self, running: KernelNode, node: Node, is_delegated: bool) -> None:
        """Keep what the Prepare function has done to a node, unless it depended on more than the node and its operands.

        Call this after each function that did not refuse the node, right after ``repeat``.
        """
        operands = (*node.inputs, *node.outputs, *node.intermediates)
        if running.reads_beyond_operands:
            self._states.clear()
            self._are_known = False
            return
        for index in operands:
            self._states.pop(index, None)
        if running.node is not node or (running.has_dynamic_result and not is_delegated):
            self._changed.update(operands)
            return
        changes = []
        for place, index in enumerate(operands):
            form = self._states[index]
            if form != self._before[place]:
                tensor = self._subgraph.tensors[index]
                self._changed.add(index)
                changes.append(_NewState(place, tensor.type, tensor.shape, tensor.allocation, tensor.computed, form))
        self._table.add(self._key, tuple(changes))
