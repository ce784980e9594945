"""Count the multiply-adds of nodes from the shapes of the prepared graph.

The counts do not estimate latency. The time of a multiply-add depends on the delegate, the type and the operator. Moving data
across boundaries also takes time.

A count follows the definition of the operator, not the algorithm of a kernel. Padding is counted like other elements, and
sparse weights like dense weights. Each subgraph is counted as if it runs once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...foundation.columns import INTEGER, Column
from ...foundation.limits import element_count
from ...graph.forms import node_forms
from ...graph.graph import Graph, NodeView
from ...graph.reachability import called_subgraphs, subgraphs_from, subgraphs_that_run
from ...model import schema
from ...model.model import OPTIONAL_TENSOR, Tensor
from ...model.precompiled import is_program
from ...runtime.interpreter import Run

_GREATEST_RANK = 32
"""Sizes are multiplied only up to this rank. No kernel supports more dimensions, and larger products cannot be printed."""


def multiply_adds(node: NodeView) -> int:
    """Return the multiply-adds of one node in one inference.

    Convolutions, matrix products and recurrent layers have multiply-adds. All other operators have 0, for example element-wise
    operators, pooling and reductions. Biases and activations are not counted. For an unknown size, the value in ``shape`` is
    used. The result is 0 if operands are missing, or have wrong ranks or sizes.
    """
    counter = None if node.node.is_custom else _COUNTERS.get(node.op)
    return counter(node) if counter is not None else 0


class ComputeTotals(NamedTuple):
    """The multiply-adds of all nodes of a model, and of its delegated nodes."""

    multiply_adds: int
    delegated_multiply_adds: int

    @property
    def delegated_share(self) -> float:
        """The delegated share of multiply-adds, from 0 to 1. For a model without multiply-adds, the share is 1."""
        return self.delegated_multiply_adds / self.multiply_adds if self.multiply_adds else 1.0


COMPUTE = (
    Column("multiply_adds", INTEGER, "multiply-adds in one inference"),
    Column("delegated_multiply_adds", INTEGER, "multiply-adds in nodes that the delegate takes", better=1),
)
"""The columns of ``ComputeTotals``."""


@dataclass(frozen=True, eq=False, repr=False)
class Compute:
    """The multiply-adds of a run. In a chain, nodes that an earlier delegate took are left out."""

    by_node: tuple[Mapping[int, int], ...]
    """For each subgraph, the multiply-adds of nodes, keyed by node index, in execution order.

    Nodes without multiply-adds are left out.
    """
    delegated_nodes: tuple[frozenset[int], ...]
    """For each subgraph, the nodes that run on the delegate."""
    has_programs: bool = False
    """Whether a node contains a program from a compiler. The file does not have the multiply-adds of such a node."""

    @functools.cached_property
    def multiply_adds(self) -> int:
        """The multiply-adds of all nodes, or 0 if they are not known because of a program."""
        return 0 if self.has_programs else sum([sum(counts.values()) for counts in self.by_node])

    @functools.cached_property
    def delegated_multiply_adds(self) -> int:
        """The multiply-adds of the delegated nodes, or 0 if they are not known because of a program."""
        return 0 if self.has_programs else sum([self.of(subgraph, nodes) for subgraph, nodes in enumerate(self.delegated_nodes)])

    @property
    def totals(self) -> ComputeTotals:
        """The multiply-adds of all nodes and of delegated nodes, as a record."""
        return ComputeTotals(self.multiply_adds, self.delegated_multiply_adds)

    def of(self, subgraph: int, nodes: Iterable[int]) -> int:
        """Return the multiply-adds of some nodes of a subgraph, for example the nodes of a partition."""
        counts = self.by_node[subgraph]
        return sum([counts.get(node, 0) for node in nodes])


def compute_of(run: Run) -> Compute:
    """Count the multiply-adds of a run in one inference, over all subgraphs that run.

    If the delegate is predicted to fail, the delegated multiply-adds are 0.
    """
    running = _running(run)
    graphs = [subgraph.graph for subgraph in run.subgraphs]
    return Compute(
        tuple([node_multiply_adds(graph) if graph.index in running else {} for graph in graphs]),
        tuple([subgraph.delegated for subgraph in run.final_subgraphs]),
        has_programs(run),
    )


def has_programs(run: Run) -> bool:
    """Return whether a node contains a program from a compiler, whose multiply-adds are not in the file."""
    return any(
        subgraph.graph.results.get("programs", (), functools.partial(_has_programs, subgraph.graph)) for subgraph in run.subgraphs
    )


def _has_programs(graph: Graph) -> bool:
    return any(is_program(graph.nodes[index]) for index in graph.execution_plan)


def counts_loops_once(run: Run) -> bool:
    """Return whether a loop has multiply-adds. Such a loop runs its body several times, but the body counts once."""
    if not run.subgraphs:
        return False
    model = run.subgraphs[0].graph.model
    if all(code.op != "WHILE" for code in model.operator_codes):
        return False
    graphs = {subgraph.graph.index: subgraph.graph for subgraph in run.subgraphs}
    bodies = [
        index
        for graph in graphs.values()
        for node in graph.execution_plan
        if graph.nodes[node].op == "WHILE"
        for index in called_subgraphs(model, graph.nodes[node])
    ]
    return any(node_multiply_adds(graphs[index]) for index in subgraphs_from(model, bodies) if index in graphs)


def node_multiply_adds(graph: Graph) -> Mapping[int, int]:
    """Return the multiply-adds of a graph's nodes, keyed by node index in execution order. Nodes without any are left out.

    The graph caches the result, because the runs of several delegates may share the graph.
    """
    return graph.results.get("multiply-adds", (), lambda: _counted(graph))


def _running(run: Run) -> Collection[int]:
    """Return the indices of the subgraphs that a signature or a node of the file runs."""
    if len(run.subgraphs) < 2:
        return [subgraph.graph.index for subgraph in run.subgraphs]
    return subgraphs_that_run(run.subgraphs[0].graph.model) | {0}


def _counted(graph: Graph) -> Mapping[int, int]:
    forms, of_form = node_forms(graph), dict[int, int]()
    counts = {}
    for index in graph.execution_plan:
        if graph.nodes[index].op in _COUNTERS:
            if forms[index] not in of_form:
                of_form[forms[index]] = multiply_adds(graph.view(graph.nodes[index]))
            counts[index] = of_form[forms[index]]
    return {index: count for index, count in counts.items() if count}


def _product(sizes: Sequence[int]) -> int:
    return 0 if len(sizes) > _GREATEST_RANK or (sizes and min(sizes) < 0) else element_count(sizes)


def _elements(tensor: Tensor) -> int:
    return 0 if tensor.index == OPTIONAL_TENSOR else _product(tensor.shape)


def _has_ranks(rank: int, *tensors: Tensor) -> bool:
    return all(tensor.rank == rank for tensor in tensors)


def _filter_at_each_position(weights: Tensor, positions: Tensor, rank: int) -> int:
    """Return the multiply-adds of a convolution that uses every element of the filter once at every position.

    The last dimension of ``positions`` is the channel dimension. Grouped convolutions need no special treatment, because the
    filter has only the input channels of one group.
    """
    if len(weights.shape) != rank or len(positions.shape) != rank:
        return 0
    return _product(weights.shape) * _product(positions.shape[:-1])


def _convolution(rank: int) -> Callable[[NodeView], int]:
    return lambda node: _filter_at_each_position(node.input(1), node.output(0), rank)


def _transposed_convolution(rank: int) -> Callable[[NodeView], int]:
    return lambda node: _filter_at_each_position(node.input(1), node.input(2), rank)


def _fully_connected(node: NodeView) -> int:
    source, weights, result = node.input(0), node.input(1), node.output(0)
    if source.index == OPTIONAL_TENSOR or weights.rank != 2 or weights.shape[0] <= 0:
        return 0
    return _elements(result) // weights.shape[0] * _elements(weights)


def _batch_matmul(node: NodeView) -> int:
    left, right, result = node.input(0), node.input(1), node.output(0)
    if left.rank < 2 or right.rank < 2 or result.rank < 2:
        return 0
    depths = (left.shape[-2 if node.options.adj_x else -1], right.shape[-1 if node.options.adj_y else -2])
    if depths[0] != depths[1] and not (left.has_unspecified_dimension or right.has_unspecified_dimension):
        return 0
    return _product((*result.shape, max(depths)))


def _at_each_step(node: NodeView, rank: int, weights: Iterable[int]) -> int:
    """Return the multiply-adds of a recurrent layer. Every weight is used once for each sequence and step.

    ``weights`` are the positions of the operands with weights. Omitted gates and projections add nothing. One-dimensional
    weights, such as peephole weights, are diagonal matrices.
    """
    source = node.input(0)
    if source.rank != rank:
        return 0
    tensors = [node.input(position) for position in weights]
    return _product(source.shape[:-1]) * sum([_elements(tensor) for tensor in tensors if 1 <= tensor.rank <= 2])


_BASIC_LSTM_WEIGHTS = 2
_CELL_WEIGHTS = (*range(1, 12), 16)
"""The positions of an LSTM's weights: input, recurrent, peephole and projection weights."""
_BACKWARD = 17
"""Distance between a position in the forward cell and the corresponding position in the backward cell."""
_LSTM_AUXILIARY_INPUT, _LSTM_AUXILIARY_WEIGHTS = 39, range(40, 48)
_RNN_AUXILIARY_INPUT, _RNN_AUXILIARY_WEIGHTS = 9, range(10, 12)


def _lstm(node: NodeView) -> int:
    is_basic = schema.enum_names("LSTMKernelType").get(node.options.kernel_type) == "BASIC"
    return _at_each_step(node, 2, (_BASIC_LSTM_WEIGHTS,) if is_basic else _CELL_WEIGHTS)


def _bidirectional_sequence_lstm(node: NodeView) -> int:
    """Return the multiply-adds of the forward cell and the backward cell.

    If there are no auxiliary weights, the auxiliary input replaces the input of the backward cell, and adds nothing.
    """
    auxiliary = _LSTM_AUXILIARY_WEIGHTS if node.input(_LSTM_AUXILIARY_INPUT).rank == 3 else ()
    return _at_each_step(node, 3, (*_CELL_WEIGHTS, *[position + _BACKWARD for position in _CELL_WEIGHTS], *auxiliary))


def _bidirectional_sequence_rnn(node: NodeView) -> int:
    auxiliary = _RNN_AUXILIARY_WEIGHTS if node.input(_RNN_AUXILIARY_INPUT).rank == 3 else ()
    return _at_each_step(node, 3, (1, 2, 5, 6, *auxiliary))


def _dot_general(node: NodeView) -> int:
    left, right, result = node.input(0), node.input(1), node.output(0)
    if OPTIONAL_TENSOR in (left.index, right.index, result.index):
        return 0
    contracted = _sizes_along(left, node.options.lhs_contracting_dimensions)
    if contracted is None or contracted != _sizes_along(right, node.options.rhs_contracting_dimensions):
        return 0
    return _product((*result.shape, *contracted))


def _sizes_along(tensor: Tensor, dimensions: Sequence[int]) -> list[int] | None:
    if len(dimensions) > tensor.rank or len(set(dimensions)) < len(dimensions):
        return None
    return [tensor.shape[axis] for axis in dimensions] if all(0 <= axis < tensor.rank for axis in dimensions) else None


def _stablehlo_convolution(node: NodeView) -> int:
    """Return the multiply-adds of a convolution. The whole filter is used at each position of the output.

    If the input is dilated, the whole filter is used at each position of the input. Strides may skip positions, so the smaller
    of the two numbers of positions is used.
    """
    source, weights, result, options = node.input(0), node.input(1), node.output(0), node.options
    axes = (options.kernel_output_feature_dimension, options.kernel_input_feature_dimension, *options.kernel_spatial_dimensions)
    features = (options.output_feature_dimension, options.input_feature_dimension)
    rank = weights.rank
    if not _has_ranks(rank, source, result) or not 0 < rank <= _GREATEST_RANK:
        return 0
    if sorted(axes) != list(range(rank)) or not all(0 <= axis < rank for axis in features):
        return 0
    positions = _product(_without_axis(result.shape, features[0]))
    if max(options.lhs_dilation, default=1) > 1:
        batch_groups = max(options.batch_group_count, 1)
        positions = min(positions, _product(_without_axis(source.shape, features[1])) // batch_groups)
    return positions * _elements(weights)


def _without_axis(sizes: Sequence[int], axis: int) -> Sequence[int]:
    return (*sizes[:axis], *sizes[axis + 1 :])


_COUNTERS: Mapping[str, Callable[[NodeView], int]] = {
    "CONV_2D": _convolution(4),
    "DEPTHWISE_CONV_2D": _convolution(4),
    "TRANSPOSE_CONV": _transposed_convolution(4),
    "CONV_3D": _convolution(5),
    "CONV_3D_TRANSPOSE": _transposed_convolution(5),
    "FULLY_CONNECTED": _fully_connected,
    "BATCH_MATMUL": _batch_matmul,
    "LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": functools.partial(_at_each_step, rank=3, weights=_CELL_WEIGHTS),
    "BIDIRECTIONAL_SEQUENCE_LSTM": _bidirectional_sequence_lstm,
    "RNN": functools.partial(_at_each_step, rank=2, weights=(1, 2)),
    "UNIDIRECTIONAL_SEQUENCE_RNN": functools.partial(_at_each_step, rank=3, weights=(1, 2)),
    "BIDIRECTIONAL_SEQUENCE_RNN": _bidirectional_sequence_rnn,
    "SVDF": functools.partial(_at_each_step, rank=2, weights=(1, 2)),
    "STABLEHLO_DOT_GENERAL": _dot_general,
    "STABLEHLO_CONVOLUTION": _stablehlo_convolution,
}
