"""What becomes of a partition when its kernel is initialised: the NNAPI operations of each node, or why it fails.

Source: ``NNAPIDelegateKernel::Init``, ``BuildGraph``, ``AddOpsAndTensors``, ``Map`` and ``NNAPIOpBuilder``
(``delegates/nnapi/nnapi_delegate.cc``). NNAPI itself is taken to accept every operand and operation. Some calls of the
original ignore that adding a tensor failed; the tensor counts as mapped from then on, here as there.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...graph.graph import Graph, NodeView
from ...model.model import Node, Tensor
from ..base import KernelFailure
from .driver import Driver
from .failures import kernel_failure
from .questions import QUANTIZED_TYPES, is_basic_lstm, is_constant_densify, is_full_lstm, is_runtime_float16_dequantize
from .target import FEATURE_LEVEL_6, NNAPI_1_3

OPERAND_TYPES = frozenset({"FLOAT32", "FLOAT16", "UINT8", "INT8", "INT32", "BOOL", "INT16"})
"""Tensor types that have an NNAPI operand type (``NNAPIOpBuilder::AddTensor``)."""

INTERMEDIATE_TYPES = frozenset({"FLOAT32", "UINT8", "INT8"})
"""Types of results between the operations of one node (``AddIntermediateOutputTensor``)."""

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

OPERATIONS: collections.abc.Mapping[str, str] = {
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


class Mapping(NamedTuple):
    """The NNAPI operations of each node, in order, and the first failure. After a failure the operations are incomplete."""

    operations: collections.abc.Mapping[int, tuple[str, ...]]
    failure: KernelFailure | None


def map_partition(
    graph: Graph,
    nodes: Sequence[int],
    inputs: Iterable[int],
    outputs: Iterable[int],
    target_feature_level: int,
    runtime_feature_level: int,
) -> Mapping:
    """Initialise the kernel of one partition (``NNAPIDelegateKernel::Init``).

    ``nodes`` are indices of nodes that the rules accept, in running order; ``inputs`` and ``outputs`` are the tensors that
    cross the partition's border. ``target_feature_level`` is the runtime's level, lowered to that of the target devices.
    """
    partition = _Partition(graph, target_feature_level, runtime_feature_level)
    failure = None
    try:
        known = [index for index in nodes if index not in graph.assumed]
        _add_nodes(partition, [graph.nodes[index] for index in known])
        # Which operands nodes would have that are only assumed to be accepted, nobody knows.
        if len(known) == len(nodes):
            _check_pools(partition, inputs, outputs)
    except _KernelError as error:
        failure = error.failure
    return Mapping({index: tuple(partition.operations.get(index, ())) for index in nodes}, failure)


def nodes_supported_by_driver(
    graph: Graph, nodes: Sequence[int], mapping: Mapping, rejected: Collection[str], driver: Driver | None = None
) -> tuple[int, ...]:
    """Leave out the nodes of a partition of which a driver rejects an operation, by name or by its profile.

    If the partition has sparse weights, or widens float16 values while running, none is left then
    (``GetOperationsSupportedByTargetNnApiDevices``).
    """
    supported = tuple(index for index in nodes if not rejected_operations(graph, index, mapping, rejected, driver))
    if len(supported) < len(nodes) and is_all_or_nothing(graph, nodes):
        return ()
    return supported


def rejected_operations(
    graph: Graph, node: int, mapping: Mapping, rejected: Collection[str], driver: Driver | None = None
) -> tuple[str, ...]:
    """Return those operations of a node that a driver rejects, by name or by its profile."""
    operations = mapping.operations.get(node, ())
    if driver is None:
        return tuple([operation for operation in operations if operation in rejected])
    view = graph.view(graph.nodes[node])
    return tuple([operation for operation in operations if operation in rejected or driver.rejects(operation, view)])


def is_all_or_nothing(graph: Graph, nodes: Iterable[int]) -> bool:
    """Whether a driver that rejects any operation of these nodes gets none of them."""
    return any(_is_all_or_nothing(graph.view(graph.nodes[index])) for index in nodes)


def _is_all_or_nothing(view: NodeView) -> bool:
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)


class _KernelError(Exception):
    """Carries the failure to where its status would be looked at."""

    def __init__(self, failure: KernelFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _error(code: str, node: int | None, tensor: Tensor | None = None, **found: Any) -> _KernelError:
    return _KernelError(kernel_failure(code, node, tensor, **found))


class _Partition:
    """The NNAPI model of a partition while it is built (``NNAPIOpBuilder`` and ``NnapiMappingContext``)."""

    __slots__ = (
        "densified",
        "dequantized",
        "graph",
        "mapped",
        "operations",
        "runtime_feature_level",
        "state_tensors",
        "target_feature_level",
        "widened",
    )

    def __init__(self, graph: Graph, target_feature_level: int, runtime_feature_level: int) -> None:
        self.graph = graph
        self.target_feature_level = target_feature_level
        self.runtime_feature_level = runtime_feature_level
        self.operations: dict[int, list[str]] = {}
        self.mapped: set[int] = set()
        """Tensors that have an NNAPI index."""
        self.dequantized: set[tuple[int | None, str]] = set()
        """Tensors that a DEQUANTIZE was added for, and the type that it was asked for; None stands for all unmapped ones."""
        self.state_tensors: list[int] = []
        """Inputs that NNAPI gives back as outputs."""
        self.densified: dict[int, Node] = {}
        """The node that unpacks sparse weights, by its output."""
        self.widened: dict[int, Node] = {}
        """The node that widens float16 values while running, by its output."""

    def add_tensor(self, node: Node, index: int) -> None:
        """``AddTensorInput`` and ``AddTensorOutput`` (``AddTensor``); refuses types that NNAPI lacks."""
        if index in self.mapped:
            return
        if index < 0:
            raise _error("nnapi-absent-operand", node.index)
        self.mapped.add(index)
        tensor = self.graph.tensors[index]
        if tensor.type not in OPERAND_TYPES:
            raise _error("nnapi-tensor-type", node.index, tensor)

    def add_tensor_unchecked(self, node: Node, index: int) -> None:
        """``AddTensorInput`` and ``AddTensorOutput`` where the original ignores their status."""
        with suppress(_KernelError):
            self.add_tensor(node, index)

    def add_scalar(self, node: Node, tensor: Tensor) -> None:
        """``AddSingleValueTensorAsScalarOperand``, or for a constant a copy of its value."""
        if tensor.is_constant:
            return
        if tensor.element_count != 1:
            raise _error("nnapi-scalar-value", node.index, tensor, found=tensor.element_count)
        self.mapped.add(tensor.index)

    def add_intermediate(self, node: Node, tensor: Tensor) -> None:
        """``AddIntermediateOutputTensor`` of the type of this tensor."""
        if tensor.type not in INTERMEDIATE_TYPES:
            raise _error("nnapi-intermediate-type", node.index, tensor, op=node.op)

    def add_operation(self, node: Node, operation: str) -> None:
        """``AddOperationToModel``."""
        self.operations.setdefault(node.index, []).append(operation)

    def add_dequantize(self, node: Node, index: int, wanted: str) -> None:
        """``AddDequantize``: once for each tensor and wanted type."""
        key = (index if index in self.mapped else None, wanted)
        if key not in self.dequantized:
            self.dequantized.add(key)
            self.add_operation(node, "DEQUANTIZE")


def _add_nodes(partition: _Partition, nodes: Iterable[Node]) -> None:
    """``AddOpsAndTensors``."""
    views = [partition.graph.view(node) for node in nodes]
    remaining = [view for view in views if not _fold(partition, view)]
    for view in remaining:
        lowering = _lowering(partition, view)
        if lowering is None:
            _add_node(partition, view)
        else:
            lowering(partition, view)


def _fold(partition: _Partition, view: NodeView) -> bool:
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


def _add_node(partition: _Partition, view: NodeView) -> None:
    """Map a node to one operation, with what has to stand before and after it."""
    node = view.node
    add_inputs = _INPUTS.get(node.op, _add_all_inputs)
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
        raise _error("nnapi-unmapped-operator", view.node.index, op=view.op)
    return operation


def _is_grouped(view: NodeView) -> bool:
    source, weights = view.input(0).shape, view.input(1).shape
    return bool(source) and bool(weights) and source[3:4] != weights[3:4]


def _add_all_inputs(partition: _Partition, view: NodeView) -> None:
    for index in view.node.inputs:
        partition.add_tensor(view.node, index)


def _add_first_input(partition: _Partition, view: NodeView) -> None:
    """The other operands become numbers of the operation."""
    partition.add_tensor(view.node, view.node.inputs[0])


def _add_given_inputs(partition: _Partition, view: NodeView) -> None:
    """What is left out becomes an empty or zero operand."""
    _add_given(partition, view.node, view.node.inputs)


def _add_given(partition: _Partition, node: Node, indices: Iterable[int]) -> None:
    for index in indices:
        if index >= 0:
            partition.add_tensor(node, index)


def _add_convolution_inputs(partition: _Partition, view: NodeView) -> None:
    """Sparse weights are unpacked instead of being mapped."""
    node = view.node
    for position, index in enumerate(node.inputs):
        densify = _densify_of(partition, index) if position == 1 else None
        if densify is None:
            partition.add_tensor(node, index)
        else:
            _unpack_sparse_weights(partition, node, densify)


def _densify_of(partition: _Partition, weights: int) -> Node | None:
    """The node that unpacks these weights, with or without a DEQUANTIZE in between."""
    dequantize = partition.widened.get(weights)
    return partition.densified.get(weights if dequantize is None else dequantize.inputs[0])


def _unpack_sparse_weights(partition: _Partition, node: Node, densify: Node) -> None:
    """``DensifyAndDequantizeConstTensor``."""
    weights = partition.graph.tensors[densify.inputs[0]]
    if weights.sparsity is None:
        raise _error("nnapi-sparse-weights", node.index, weights, found="without sparsity parameters")
    if weights.type not in ("FLOAT32", "FLOAT16", "INT8"):
        raise _error("nnapi-sparse-weights", node.index, weights, found="which it cannot unpack")


def _add_transpose_convolution_inputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    has_bias = len(node.inputs) == 4 and node.inputs[3] >= 0
    for position in (2, 1, 3, 0) if has_bias else (2, 1, 0):
        partition.add_tensor_unchecked(node, node.inputs[position])


def _add_lstm_inputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    if is_basic_lstm(view):
        for index in (node.inputs[0], node.inputs[4], node.inputs[1], node.outputs[1], node.outputs[0]):
            partition.add_tensor_unchecked(node, index)
        return
    _add_given(partition, node, node.inputs[:20] if is_full_lstm(view) else node.inputs)
    partition.state_tensors += node.inputs[18:20]
    _add_layer_normalization(partition, node)


def _add_sequence_lstm_inputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    _add_given(partition, node, node.inputs[:20])
    _add_layer_normalization(partition, node)


def _add_layer_normalization(partition: _Partition, node: Node) -> None:
    """The last four operands of the long form."""
    if len(node.inputs) != 24:
        return
    for index in node.inputs[20:]:
        if index >= 0:
            partition.add_tensor_unchecked(node, index)


def _add_rnn_inputs(partition: _Partition, view: NodeView) -> None:
    _add_all_inputs(partition, view)
    partition.state_tensors.append(view.node.inputs[4])


def _add_svdf_inputs(partition: _Partition, view: NodeView) -> None:
    _add_given_inputs(partition, view)
    partition.state_tensors.append(view.node.inputs[4])


def _add_split_inputs(partition: _Partition, view: NodeView) -> None:
    """The axis becomes a number, wherever its tensor stands."""
    node = view.node
    for index in node.inputs:
        if index != node.inputs[0]:
            partition.add_tensor(node, index)


def _add_pad_inputs(partition: _Partition, view: NodeView) -> None:
    """The padding value becomes a number; the original does not look whether that worked, only at the type."""
    node = view.node
    if len(node.inputs) != 3:
        _add_all_inputs(partition, view)
        return
    for index in node.inputs[:2]:
        partition.add_tensor(node, index)
    if node.inputs[2] < 0:
        return
    value = view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise _error("nnapi-scalar-type", node.index, value)
    with suppress(_KernelError):
        partition.add_scalar(node, value)


def _add_gather_inputs(partition: _Partition, view: NodeView) -> None:
    partition.add_tensor(view.node, view.node.inputs[0])
    partition.add_tensor_unchecked(view.node, view.node.inputs[1])


def _add_expand_dims_inputs(partition: _Partition, view: NodeView) -> None:
    for position, index in enumerate(view.node.inputs):
        if position != 1:
            partition.add_tensor(view.node, index)


def _add_batch_to_space_inputs(partition: _Partition, view: NodeView) -> None:
    for position, index in enumerate(view.node.inputs):
        if position != 2:
            partition.add_tensor(view.node, index)


def _add_arg_extremum_inputs(partition: _Partition, view: NodeView) -> None:
    partition.add_tensor(view.node, view.node.inputs[0])
    axis = view.input(1)
    if axis.type == "INT32":
        partition.add_scalar(view.node, axis)
    elif axis.type != "INT64":
        raise _error("nnapi-scalar-type", view.node.index, axis)


def _add_extremum_inputs(partition: _Partition, view: NodeView) -> None:
    """Scalars become tensors with one element, except where INT8 is converted to UINT8 on the way."""
    node = view.node
    converts_int8 = partition.target_feature_level < NNAPI_1_3 and view.input(0).type == "INT8"
    for operand, index in zip(view.inputs, node.inputs, strict=True):
        if operand.rank or converts_int8:
            partition.add_tensor(node, index)
        elif not operand.is_constant:
            raise _error("nnapi-scalar-operand", node.index, operand, found="not constant")
        elif operand.type not in ("FLOAT32", "UINT8", "INT8", "INT32"):
            raise _error("nnapi-scalar-operand", node.index, operand, found=f"of type {operand.type}")


def _add_reduction_inputs(partition: _Partition, view: NodeView) -> None:
    """Axes given as a scalar become a vector."""
    for position, index in enumerate(view.node.inputs):
        if position != 1 or view.input(1).rank:
            partition.add_tensor(view.node, index)


def _add_fill_inputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    dimensions, value = view.input(0), view.input(1)
    if dimensions.type == "INT32":
        partition.add_tensor(node, dimensions.index)
    elif dimensions.type != "INT64":
        raise _error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise _error("nnapi-scalar-type", node.index, value)
    partition.add_scalar(node, value)


def _add_quantize_inputs(partition: _Partition, view: NodeView) -> None:
    """NNAPI quantises floats only, so a quantised input becomes float first."""
    _add_all_inputs(partition, view)
    if view.input(0).type in QUANTIZED_TYPES:
        partition.add_dequantize(view.node, view.node.inputs[0], "FLOAT32")


_Step = Callable[[_Partition, NodeView], None]

_INPUTS: collections.abc.Mapping[str, _Step] = {
    "ARG_MAX": _add_arg_extremum_inputs,
    "ARG_MIN": _add_arg_extremum_inputs,
    "BATCH_TO_SPACE_ND": _add_batch_to_space_inputs,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _add_given_inputs,
    "CONV_2D": _add_convolution_inputs,
    "EXPAND_DIMS": _add_expand_dims_inputs,
    "FILL": _add_fill_inputs,
    "FULLY_CONNECTED": _add_given_inputs,
    "GATHER": _add_gather_inputs,
    "LSTM": _add_lstm_inputs,
    "MAXIMUM": _add_extremum_inputs,
    "MEAN": _add_reduction_inputs,
    "MINIMUM": _add_extremum_inputs,
    "PAD": _add_pad_inputs,
    "PADV2": _add_pad_inputs,
    "QUANTIZE": _add_quantize_inputs,
    "REDUCE_ANY": _add_reduction_inputs,
    "REDUCE_MAX": _add_reduction_inputs,
    "REDUCE_MIN": _add_reduction_inputs,
    "REDUCE_PROD": _add_reduction_inputs,
    "RESIZE_BILINEAR": _add_first_input,
    "RESIZE_NEAREST_NEIGHBOR": _add_first_input,
    "RNN": _add_rnn_inputs,
    "SPLIT": _add_split_inputs,
    "SUM": _add_reduction_inputs,
    "SVDF": _add_svdf_inputs,
    "TOPK_V2": _add_first_input,
    "TRANSPOSE_CONV": _add_transpose_convolution_inputs,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _add_sequence_lstm_inputs,
}
"""How operands are added, where it is not simply all of them in order."""


def _add_outputs(partition: _Partition, view: NodeView, in_between: bool) -> None:
    """Add the results, or where another operation follows, tensors like them."""
    node = view.node
    if node.op == "LSTM" and is_basic_lstm(view):
        return
    for position, index in enumerate(node.outputs):
        if in_between:
            partition.add_intermediate(node, view.output(position))
        else:
            partition.add_tensor(node, index)


def _appended(view: NodeView) -> _Step | None:
    """What gives the result its shape or quantisation where the NNAPI operation cannot; None if nothing is needed."""
    match view.op:
        case "FULLY_CONNECTED" if view.options.keep_num_dims:
            return _append_reshape
        case "MEAN" if _requantizes_result(view):
            return _append_requantize
    return None


def _append_reshape(partition: _Partition, view: NodeView) -> None:
    """``AppendReshape``."""
    node = view.node
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "RESHAPE")


def _requantizes_result(view: NodeView) -> bool:
    """``IsMeanWithDifferentInputOutputQuantization``."""
    source, result = view.input(0), view.output(0)
    return source.scale != result.scale or source.zero_point != result.zero_point


def _append_requantize(partition: _Partition, view: NodeView) -> None:
    """``AppendRequantize``."""
    node = view.node
    if view.output(0).type not in QUANTIZED_TYPES:
        raise _error("nnapi-requantize-type", node.index, view.output(0))
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "ADD")


_WEIGHTS: collections.abc.Mapping[str, tuple[int, ...]] = {
    "CONV_2D": (1, 2),
    "FULLY_CONNECTED": (1, 2),
    "LSTM": (*range(1, 18), *range(20, 24)),
}
"""Operands that are dequantised where the first operand is float."""


def _dequantize_weights(partition: _Partition, view: NodeView) -> None:
    """``AddDequantizeOperatorsWhereNeeded``."""
    positions = _WEIGHTS.get(view.op)
    if positions is None or view.input(0).type != "FLOAT32":
        return
    for position in positions:
        weights = view.input(position)
        if weights.type in QUANTIZED_TYPES:
            partition.add_dequantize(view.node, weights.index, weights.type)


def _lowering(partition: _Partition, view: NodeView) -> _Step | None:
    """How a node is mapped that needs several operations at this feature level; None if it does not."""
    match view.op:
        case "PACK" if partition.target_feature_level < FEATURE_LEVEL_6:
            return _lower_pack
        case "UNPACK":
            return _lower_unpack
        case "SPLIT_V":
            return _lower_split_v
        case "SQUARED_DIFFERENCE":
            return _lower_squared_difference
        case "COS":
            return _lower_cos
        case "LSTM" if partition.target_feature_level >= NNAPI_1_3 and is_full_lstm(view) and view.input(0).type == "INT8":
            return _add_quantized_lstm
        case "HARD_SWISH" if partition.runtime_feature_level < NNAPI_1_3:
            return _lower_hard_swish
    return None


def _lower_pack(partition: _Partition, view: NodeView) -> None:
    """``TransformPackIntoSupportedOps``."""
    node, first = view.node, view.input(0)
    axis = view.options.axis
    if axis < 0:
        axis += first.rank + 1
    if axis >= first.rank:
        raise _error("nnapi-axis", node.index, axis=axis, shape=list(first.shape))
    _add_all_inputs(partition, view)
    partition.add_intermediate(node, first)
    partition.add_operation(node, "CONCATENATION")
    _append_reshape(partition, view)


def _lower_unpack(partition: _Partition, view: NodeView) -> None:
    """``TransformUnpackIntoSupportedOps``."""
    node, source = view.node, view.input(0)
    axis, count = view.options.axis, view.options.num
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank - 1:
        raise _error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    if not count == source.shape[axis] == len(node.outputs):
        raise _error("nnapi-split-count", node.index, count=count, size=source.shape[axis], outputs=len(node.outputs))
    partition.add_tensor(node, node.inputs[0])
    partition.add_intermediate(node, source)
    partition.add_operation(node, "RESHAPE")
    for index in node.outputs:
        partition.add_tensor(node, index)
    partition.add_operation(node, "SPLIT")


def _lower_split_v(partition: _Partition, view: NodeView) -> None:
    """``TransformSplitVIntoSupportedOps`` and ``ComputeSplitVUnknownSplitSize``; sizes and axis are constant."""
    node, source = view.node, view.input(0)
    sizes = _integers(view, 1)
    axis = _integers(view, 2)[0]
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank:
        raise _error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    for size, output in zip(sizes, node.outputs, strict=False):
        actual = rest if size == -1 else size
        if actual <= 0:
            raise _error("nnapi-split-size", node.index, size=actual)
        partition.add_tensor(node, node.inputs[0])
        partition.add_tensor(node, output)
        partition.add_operation(node, "SLICE")


def _integers(view: NodeView, position: int) -> list[int]:
    value = view.value(view.input(position))
    return [] if value is None else [int(element) for element in value]


def _lower_squared_difference(partition: _Partition, view: NodeView) -> None:
    """``TransformSquaredDifferenceIntoSupportedOps``."""
    node = view.node
    if view.input(0).type not in (*INTERMEDIATE_TYPES, "INT32"):
        raise _error("nnapi-intermediate-type", node.index, view.input(0), op=node.op)
    for index in node.inputs[:2]:
        partition.add_tensor(node, index)
    partition.add_operation(node, "SUB")
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "MUL")


def _lower_cos(partition: _Partition, view: NodeView) -> None:
    """``TransformCosIntoSupportedOps``: the sine of a difference."""
    node = view.node
    partition.add_tensor(node, node.inputs[0])
    partition.add_operation(node, "SUB")
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "SIN")


def _lower_hard_swish(partition: _Partition, view: NodeView) -> None:
    """``TransformHardSwishIntoSupportedOps``, whose status is ignored."""
    node = view.node
    with suppress(_KernelError):
        partition.add_tensor(node, node.inputs[0])
        for _ in range(3):
            partition.add_operation(node, "MUL")
        partition.add_tensor(node, node.outputs[0])
        partition.add_operation(node, "ADD")


def _add_quantized_lstm(partition: _Partition, view: NodeView) -> None:
    """The fully quantised LSTM, which ``AddOpsAndTensors`` adds without ``Map``."""
    node = view.node
    _add_given_inputs(partition, view)
    if len(node.intermediates) != 5:
        raise _error("nnapi-lstm-intermediates", node.index, count=len(node.intermediates))
    partition.state_tensors += node.inputs[18:20]
    for index in node.outputs:
        partition.add_tensor(node, index)
    partition.add_operation(node, "QUANTIZED_LSTM")


def _check_pools(partition: _Partition, inputs: Iterable[int], outputs: Iterable[int]) -> None:
    """The end of ``BuildGraph``: neither pool of shared memory may be empty.

    Every output counts, mapped or not. How a type is converted never makes a size zero, nor does padding.
    """
    tensors = partition.graph.tensors
    sources = [index for index in inputs if index in partition.mapped and not tensors[index].is_constant]
    for side, indices in (("input", sources), ("output", [*outputs, *partition.state_tensors])):
        if not any(tensors[index].byte_size for index in indices):
            raise _error("nnapi-empty-pool", None, side=side)
