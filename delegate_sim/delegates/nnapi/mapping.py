"""What becomes of a partition when its kernel is initialised: the NNAPI operations of each node, or why it fails.

Source: ``NNAPIDelegateKernel::Init``, ``BuildGraph``, ``AddOpsAndTensors`` and ``Map`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...graph.graph import Graph, NodeView
from ...model.model import Node
from ...releases.catalogue import NEWEST, Release, parse_release
from ..base import KernelFailure
from .builder import KernelError, PartitionBuilder, Step, kernel_error
from .lowering import append_reshape, lowering
from .operands import INPUTS, add_all_inputs
from .questions import QUANTIZED_TYPES, is_basic_lstm, is_constant_densify, is_runtime_float16_dequantize

_SAME_NAME = (
    "ABS", "ADD", "AVERAGE_POOL_2D", "BATCH_MATMUL", "BATCH_TO_SPACE_ND", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST",
    "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE", "DIV", "ELU", "EMBEDDING_LOOKUP",
    "EQUAL", "EXP", "EXPAND_DIMS", "FILL", "FLOOR", "FULLY_CONNECTED", "GATHER", "GREATER", "GREATER_EQUAL", "HARD_SWISH",
    "HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D", "LESS", "LESS_EQUAL", "LOCAL_RESPONSE_NORMALIZATION", "LOG",
    "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "LSH_PROJECTION", "LSTM", "MAXIMUM",
    "MAX_POOL_2D", "MEAN", "MINIMUM", "MIRROR_PAD", "MUL", "NEG", "NOT_EQUAL", "PACK", "PAD", "POW", "PRELU", "QUANTIZE",
    "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "RELU", "RELU6", "RESHAPE", "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR", "RNN", "RSQRT", "SELECT", "SIN", "SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH",
    "SPLIT", "SQRT", "SQUEEZE", "STRIDED_SLICE", "SUB", "SVDF", "TANH", "TILE", "TOPK_V2", "TRANSPOSE", "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
)  # fmt: skip

OPERATIONS: Mapping[str, str] = {
    **{name: name for name in _SAME_NAME},
    "ARG_MAX": "ARGMAX",
    "ARG_MIN": "ARGMIN",
    "LEAKY_RELU": "PRELU",
    "PADV2": "PAD",
    "RELU_N1_TO_1": "RELU1",
    "REVERSE_V2": "REVERSE",
    "SUM": "REDUCE_SUM",
}
"""The NNAPI operation of each operator, where its operands and the feature level do not decide otherwise (``Map``)."""


_EMPTY_POOLS_FAIL = parse_release("litert-1.3.0")
"""Since when a pool of memory of 0 bytes is an error; before, none was created, and the kernel initialised."""


class MappedPartition(NamedTuple):
    """The NNAPI operations of each node, in order, and the first failure. After a failure the operations are incomplete."""

    operations: Mapping[int, tuple[str, ...]]
    failure: KernelFailure | None


def map_partition(
    graph: Graph,
    nodes: Sequence[int],
    inputs: Iterable[int],
    outputs: Iterable[int],
    target_feature_level: int,
    runtime_feature_level: int,
    release: Release = NEWEST,
) -> MappedPartition:
    """Initialise the kernel of one partition (``NNAPIDelegateKernel::Init``).

    ``nodes`` are indices of nodes that the rules accept, in running order; ``inputs`` and ``outputs`` are the tensors that
    cross the partition's border. ``target_feature_level`` is the runtime's level, lowered to that of the target devices.
    """
    partition = PartitionBuilder(graph, target_feature_level, runtime_feature_level)
    failure = None
    try:
        known = [index for index in nodes if index not in graph.assumed]
        _add_nodes(partition, [graph.nodes[index] for index in known])
        # Which operands nodes would have that are only assumed to be accepted, nobody knows.
        if len(known) == len(nodes) and release.is_at_least(_EMPTY_POOLS_FAIL):
            _check_pools(partition, inputs, outputs)
    except KernelError as error:
        failure = error.failure
    return MappedPartition({index: tuple(partition.operations.get(index, ())) for index in nodes}, failure)


def _add_nodes(partition: PartitionBuilder, nodes: Iterable[Node]) -> None:
    """``AddOpsAndTensors``."""
    views = [partition.graph.view(node) for node in nodes]
    remaining = [view for view in views if not _fold(partition, view)]
    for view in remaining:
        lowered = lowering(partition, view)
        if lowered is None:
            _add_node(partition, view)
        else:
            lowered(partition, view)


def _fold(partition: PartitionBuilder, view: NodeView) -> bool:
    """Take note of a node that only unpacks or widens weights and gets no operation; return whether it is one."""
    node = view.node
    if view.is_constant_float16_dequantize:
        partition.add_tensor_unchecked(node, node.inputs[0])
    elif is_constant_densify(view):
        partition.densified[node.outputs[0]] = node
    elif is_runtime_float16_dequantize(view):
        partition.widened[node.outputs[0]] = node
    else:
        return False
    return True


def _add_node(partition: PartitionBuilder, view: NodeView) -> None:
    """Map a node to one operation, with what has to stand before and after it."""
    node = view.node
    add_inputs = INPUTS.get(node.op, add_all_inputs)
    add_inputs(partition, view)
    operation = _operation(view)
    append = _appended(view)
    _add_outputs(partition, view, in_between=append is not None)
    _dequantize_weights(partition, view)
    partition.add_operation(node, operation)
    if append is not None:
        append(partition, view)


def _operation(view: NodeView) -> str:
    """``Map``: the NNAPI operation of a node."""
    match view.op:
        case "CONV_2D" if _is_grouped(view):
            return "GROUPED_CONV_2D"
        case "PAD" | "PADV2" if len(view.inputs) != 2 and view.node.inputs[2] >= 0:
            return "PAD_V2"
        case "LSTM" if is_basic_lstm(view):
            return "QUANTIZED_16BIT_LSTM"
    operation = OPERATIONS.get(view.op)
    if operation is None:
        raise kernel_error("nnapi-unmapped-operator", view.node.index, op=view.op)
    return operation


def _is_grouped(view: NodeView) -> bool:
    source, weights = view.input(0).shape, view.input(1).shape
    return bool(source) and bool(weights) and source[3:4] != weights[3:4]


def _add_outputs(partition: PartitionBuilder, view: NodeView, in_between: bool) -> None:
    """Add the results, or where another operation follows, tensors like them."""
    node = view.node
    if node.op == "LSTM" and is_basic_lstm(view):
        return
    for position, index in enumerate(node.outputs):
        if in_between:
            partition.add_intermediate(node, view.output(position))
        else:
            partition.add_tensor(node, index)


def _appended(view: NodeView) -> Step | None:
    """What gives the result its shape or quantisation where the NNAPI operation cannot; None if nothing is needed."""
    match view.op:
        case "FULLY_CONNECTED" if view.options.keep_num_dims:
            return append_reshape
        case "MEAN" if _requantizes_result(view):
            return _append_requantize
    return None


def _requantizes_result(view: NodeView) -> bool:
    """``IsMeanWithDifferentInputOutputQuantization``."""
    source, result = view.input(0), view.output(0)
    return source.scale != result.scale or source.zero_point != result.zero_point


def _append_requantize(partition: PartitionBuilder, view: NodeView) -> None:
    """``AppendRequantize``."""
    node = view.node
    if view.output(0).type not in QUANTIZED_TYPES:
        raise kernel_error("nnapi-requantize-type", node.index, view.output(0))
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "ADD")


_WEIGHTS: Mapping[str, tuple[int, ...]] = {
    "CONV_2D": (1, 2),
    "FULLY_CONNECTED": (1, 2),
    "LSTM": (*range(1, 18), *range(20, 24)),
}
"""Operands that are dequantised where the first operand is float."""


def _dequantize_weights(partition: PartitionBuilder, view: NodeView) -> None:
    """``AddDequantizeOperatorsWhereNeeded``."""
    positions = _WEIGHTS.get(view.op)
    if positions is None or view.input(0).type != "FLOAT32":
        return
    for position in positions:
        weights = view.input(position)
        if weights.type in QUANTIZED_TYPES:
            partition.add_dequantize(view.node, weights.index, weights.type)


def _check_pools(partition: PartitionBuilder, inputs: Iterable[int], outputs: Iterable[int]) -> None:
    """The end of ``BuildGraph``: neither pool of shared memory may be empty.

    Every output counts, mapped or not. How a type is converted never makes a size zero, nor does padding.
    """
    tensors = partition.graph.tensors
    sources = [index for index in inputs if index in partition.mapped and not tensors[index].is_constant]
    for side, indices in (("input", sources), ("output", [*outputs, *partition.state_tensors])):
        if not any(tensors[index].byte_size for index in indices):
            raise kernel_error("nnapi-empty-pool", None, side=side)
