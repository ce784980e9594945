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

from ...graph import Graph, NodeView
from ...model import Node, Tensor
from ...rules import Explanation
from .questions import QUANTIZED_TYPES, is_basic_lstm, is_constant_densify, is_full_lstm, is_runtime_float16_dequantize
from .target import FEATURE_LEVEL_6, NNAPI_1_3

OPERAND_TYPES = frozenset({"FLOAT32", "FLOAT16", "UINT8", "INT8", "INT32", "BOOL", "INT16"})
"""Tensor types that have an NNAPI operand type (``NNAPIOpBuilder::AddTensor``)."""

INTERMEDIATE_TYPES = frozenset({"FLOAT32", "UINT8", "INT8"})
"""Types of results between the operations of one node (``AddIntermediateOutputTensor``)."""

OPERATIONS: collections.abc.Mapping[str, str] = {
    "ABS": "ABS",
    "ADD": "ADD",
    "ARG_MAX": "ARGMAX",
    "ARG_MIN": "ARGMIN",
    "AVERAGE_POOL_2D": "AVERAGE_POOL_2D",
    "BATCH_MATMUL": "BATCH_MATMUL",
    "BATCH_TO_SPACE_ND": "BATCH_TO_SPACE_ND",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "BIDIRECTIONAL_SEQUENCE_LSTM",
    "CAST": "CAST",
    "CONCATENATION": "CONCATENATION",
    "CONV_2D": "CONV_2D",
    "DEPTHWISE_CONV_2D": "DEPTHWISE_CONV_2D",
    "DEPTH_TO_SPACE": "DEPTH_TO_SPACE",
    "DEQUANTIZE": "DEQUANTIZE",
    "DIV": "DIV",
    "ELU": "ELU",
    "EMBEDDING_LOOKUP": "EMBEDDING_LOOKUP",
    "EQUAL": "EQUAL",
    "EXP": "EXP",
    "EXPAND_DIMS": "EXPAND_DIMS",
    "FILL": "FILL",
    "FLOOR": "FLOOR",
    "FULLY_CONNECTED": "FULLY_CONNECTED",
    "GATHER": "GATHER",
    "GREATER": "GREATER",
    "GREATER_EQUAL": "GREATER_EQUAL",
    "HARD_SWISH": "HARD_SWISH",
    "HASHTABLE_LOOKUP": "HASHTABLE_LOOKUP",
    "L2_NORMALIZATION": "L2_NORMALIZATION",
    "L2_POOL_2D": "L2_POOL_2D",
    "LEAKY_RELU": "PRELU",
    "LESS": "LESS",
    "LESS_EQUAL": "LESS_EQUAL",
    "LOCAL_RESPONSE_NORMALIZATION": "LOCAL_RESPONSE_NORMALIZATION",
    "LOG": "LOG",
    "LOGICAL_AND": "LOGICAL_AND",
    "LOGICAL_NOT": "LOGICAL_NOT",
    "LOGICAL_OR": "LOGICAL_OR",
    "LOGISTIC": "LOGISTIC",
    "LOG_SOFTMAX": "LOG_SOFTMAX",
    "LSH_PROJECTION": "LSH_PROJECTION",
    "LSTM": "LSTM",
    "MAXIMUM": "MAXIMUM",
    "MAX_POOL_2D": "MAX_POOL_2D",
    "MEAN": "MEAN",
    "MINIMUM": "MINIMUM",
    "MIRROR_PAD": "MIRROR_PAD",
    "MUL": "MUL",
    "NEG": "NEG",
    "NOT_EQUAL": "NOT_EQUAL",
    "PACK": "PACK",
    "PAD": "PAD",
    "PADV2": "PAD",
    "POW": "POW",
    "PRELU": "PRELU",
    "QUANTIZE": "QUANTIZE",
    "REDUCE_ANY": "REDUCE_ANY",
    "REDUCE_MAX": "REDUCE_MAX",
    "REDUCE_MIN": "REDUCE_MIN",
    "REDUCE_PROD": "REDUCE_PROD",
    "RELU": "RELU",
    "RELU6": "RELU6",
    "RELU_N1_TO_1": "RELU1",
    "RESHAPE": "RESHAPE",
    "RESIZE_BILINEAR": "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR": "RESIZE_NEAREST_NEIGHBOR",
    "REVERSE_V2": "REVERSE",
    "RNN": "RNN",
    "RSQRT": "RSQRT",
    "SELECT": "SELECT",
    "SIN": "SIN",
    "SLICE": "SLICE",
    "SOFTMAX": "SOFTMAX",
    "SPACE_TO_BATCH_ND": "SPACE_TO_BATCH_ND",
    "SPACE_TO_DEPTH": "SPACE_TO_DEPTH",
    "SPLIT": "SPLIT",
    "SQRT": "SQRT",
    "SQUEEZE": "SQUEEZE",
    "STRIDED_SLICE": "STRIDED_SLICE",
    "SUB": "SUB",
    "SUM": "REDUCE_SUM",
    "SVDF": "SVDF",
    "TANH": "TANH",
    "TILE": "TILE",
    "TOPK_V2": "TOPK_V2",
    "TRANSPOSE": "TRANSPOSE",
    "TRANSPOSE_CONV": "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "UNIDIRECTIONAL_SEQUENCE_RNN",
}
"""The NNAPI operation of each operator, where its operands and the feature level do not decide otherwise (``Map``)."""


class KernelFailure(NamedTuple):
    """Why a kernel cannot be initialised. ``node`` is None where the partition as a whole is to blame."""

    node: int | None
    tensor: int | None
    code: str
    message: str
    hint: str


class Mapping(NamedTuple):
    """The NNAPI operations of each node, in order, and the first failure. After a failure the operations are incomplete."""

    operations: collections.abc.Mapping[int, tuple[str, ...]]
    failure: KernelFailure | None


_FAILURES: collections.abc.Mapping[str, tuple[str, Explanation]] = {
    "nnapi-tensor-type": (
        "{tensor} is {type}, a type that NNAPI operands cannot have",
        Explanation(
            "tensor type that NNAPI lacks",
            "The rules look at the types of some operands only. A tensor that they let pass and NNAPI has no type for makes "
            "the kernel of the whole partition fail.",
            "convert the model so that this tensor has another type",
        ),
    ),
    "nnapi-absent-operand": (
        "an operand is left out that the delegate expects to be there",
        Explanation(
            "operand left out",
            "The delegate uses the index -1 of an operand that is left out as if it were a tensor, which crashes the process.",
            "give the node the operand, for example a bias of zeros",
        ),
    ),
    "nnapi-unmapped-operator": (
        "{op} has no NNAPI operation",
        Explanation(
            "operator without an NNAPI operation",
            "The delegate accepted the node and has no operation to map it to.",
            "replace the operator by mapped ones",
        ),
    ),
    "nnapi-scalar-operand": (
        "{tensor} is a scalar and {found}; scalars here must be constants of type FLOAT32, UINT8, INT8 or INT32",
        Explanation(
            "scalar operand of MAXIMUM or MINIMUM",
            "The delegate copies a scalar operand into a tensor with one element. It can do so only with constants of some types, "
            "and float16 is none of them.",
            "give the operand a dimension (shape [1]), or convert the model without float16 weights",
        ),
    ),
    "nnapi-scalar-value": (
        "{tensor} has {found} elements; NNAPI takes this operand as one number",
        Explanation(
            "operand with more than one element",
            "NNAPI takes this operand as a scalar, which the delegate can make only from a tensor with exactly one element.",
            "give the operand exactly one element",
        ),
    ),
    "nnapi-scalar-type": (
        "{tensor} is {type}; NNAPI takes this operand as a number of another type",
        Explanation(
            "type of an operand that becomes a number",
            "The axis of ARG_MAX and ARG_MIN, the operands of FILL and the padding value of PAD and PADV2 become numbers of the "
            "NNAPI operation. The delegate can read them only from some types.",
            "convert the model so that this operand has another type (INT32 for shapes and axes, FLOAT32 for values)",
        ),
    ),
    "nnapi-intermediate-type": (
        "{tensor} is {type}; the results between the NNAPI operations of {op} can only be FLOAT32, UINT8 or INT8",
        Explanation(
            "type of a result in between",
            "The delegate makes more than one NNAPI operation of this node, and the tensor between them cannot have this type.",
            "convert the model so that the result has another type",
        ),
    ),
    "nnapi-requantize-type": (
        "{tensor} is {type} and has other quantisation parameters than the input; only UINT8 and INT8 can be requantised",
        Explanation(
            "MEAN that changes the quantisation",
            "Where scale or zero point of input and result differ, the delegate appends an addition that requantises the result. "
            "That works with 8-bit results only.",
            "remove the quantisation parameters from float tensors, or quantise the result to 8 bits",
        ),
    ),
    "nnapi-axis": (
        "axis {axis} does not fit a tensor of shape {shape}",
        Explanation(
            "axis that cannot be lowered",
            "The delegate makes other operations of this node, and cannot do so along this axis.",
            "use another axis and transpose, or target feature level 6 (for PACK)",
        ),
    ),
    "nnapi-split-count": (
        "splits into {count} parts, with {size} elements along the axis and {outputs} outputs",
        Explanation(
            "number of parts",
            "The number of parts, the size along the axis and the number of outputs of UNPACK must be equal.",
            "correct the node's attributes",
        ),
    ),
    "nnapi-split-size": (
        "a part has size {size}",
        Explanation(
            "size of a part",
            "Each part of SPLIT_V becomes a SLICE, whose size must be positive.",
            "leave empty parts out",
        ),
    ),
    "nnapi-lstm-intermediates": (
        "has {count} intermediate tensors; NNAPI's quantised LSTM needs 5",
        Explanation(
            "quantised LSTM of another variant",
            "NNAPI takes the variant of the integer LSTM with five intermediate tensors. TFLite also has one with twelve.",
            "convert the LSTM with five intermediate tensors",
        ),
    ),
    "nnapi-sparse-weights": (
        "{tensor} holds sparse weights of type {type} {found}",
        Explanation(
            "sparse weights that cannot be unpacked",
            "The delegate unpacks sparse weights of CONV_2D itself. It needs their sparsity parameters, and FLOAT32, FLOAT16 or "
            "INT8 values.",
            "convert the model without sparse weights",
        ),
    ),
    "nnapi-empty-pool": (
        "the {side}s of the partition have no bytes",
        Explanation(
            "partition without input or output bytes",
            "The delegate keeps all inputs of a partition in one pool of memory and all outputs in another. Constants do not count. "
            "A pool of 0 bytes cannot be created, so a partition fails that reads only constants and empty tensors, or writes only "
            "empty ones.",
            "fold nodes whose operands are all constant, and remove empty tensors from the model",
        ),
    ),
}

EXPLANATIONS: collections.abc.Mapping[str, Explanation] = {code: explanation for code, (_, explanation) in _FAILURES.items()}
"""What stands behind the code of each failure."""


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
        _add_nodes(partition, [graph.nodes[index] for index in nodes])
        _check_pools(partition, inputs, outputs)
    except _KernelError as error:
        failure = error.failure
    return Mapping({index: tuple(partition.operations.get(index, ())) for index in nodes}, failure)


def nodes_supported_by_driver(graph: Graph, nodes: Sequence[int], mapping: Mapping, rejected: Collection[str]) -> tuple[int, ...]:
    """Leave out the nodes of a partition of which a driver rejects an operation.

    If the partition has sparse weights, or widens float16 values while running, none is left then
    (``GetOperationsSupportedByTargetNnApiDevices``).
    """
    supported = tuple(index for index in nodes if not any(operation in rejected for operation in mapping.operations[index]))
    if len(supported) < len(nodes) and any(_is_folded(graph.view(graph.nodes[index])) for index in nodes):
        return ()
    return supported


class _KernelError(Exception):
    """Carries the failure to where its status would be looked at."""

    def __init__(self, failure: KernelFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _error(code: str, node: int | None, tensor: Tensor | None = None, **found: Any) -> _KernelError:
    message, explanation = _FAILURES[code]
    if tensor is not None:
        name = f"tensor {tensor.index} ({tensor.name})" if tensor.name else f"tensor {tensor.index}"
        found = {"tensor": name, "type": tensor.type, **found}
    index = None if tensor is None else tensor.index
    return _KernelError(KernelFailure(node, index, code, message.format(**found), explanation.advice))


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


def _add_nodes(partition: _Partition, nodes: Sequence[Node]) -> None:
    """``AddOpsAndTensors``."""
    views = [partition.graph.view(node) for node in nodes]
    for view in views:
        _note_folded(partition, view)
    for view in views:
        if _is_folded(view):
            continue
        lowering = _lowering(partition, view)
        if lowering is not None:
            lowering(partition, view)
        elif not view.is_constant_float16_dequantize:
            _add_node(partition, view)


def _note_folded(partition: _Partition, view: NodeView) -> None:
    """Map constant float16 weights, and remember the nodes that have no operation of their own."""
    node = view.node
    if view.is_constant_float16_dequantize:
        partition.add_tensor_unchecked(node, node.inputs[0])
    elif is_constant_densify(view):
        partition.densified[node.outputs[0]] = node
    elif is_runtime_float16_dequantize(view):
        partition.widened[node.outputs[0]] = node


def _is_folded(view: NodeView) -> bool:
    """Whether a node vanishes into the convolution that reads its result."""
    return is_constant_densify(view) or is_runtime_float16_dequantize(view)


def _add_node(partition: _Partition, view: NodeView) -> None:
    """Map a node to one operation, with what has to stand before and after it."""
    node = view.node
    add_inputs = _INPUTS.get(node.op, _add_all_inputs)
    add_inputs(partition, view)
    operation = _operation(view)
    _add_outputs(partition, view)
    _dequantize_weights(partition, view)
    partition.add_operation(node, operation)
    if _flattens_result(view):
        partition.add_tensor(node, node.outputs[0])
        partition.add_operation(node, "RESHAPE")
    elif _requantizes_result(view):
        _append_requantize(partition, view)


def _operation(view: NodeView) -> str:
    """``Map``: the NNAPI operation of a node."""
    if view.op == "CONV_2D" and _is_grouped(view):
        return "GROUPED_CONV_2D"
    if view.op in ("PAD", "PADV2") and len(view.inputs) != 2 and view.node.inputs[2] >= 0:
        return "PAD_V2"
    if view.op == "LSTM" and is_basic_lstm(view):
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
    for index in view.node.inputs:
        if index >= 0:
            partition.add_tensor(view.node, index)


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
    _add_recurrent_inputs(partition, node, node.inputs[:20] if is_full_lstm(view) else node.inputs)
    partition.state_tensors += node.inputs[18:20]
    if len(node.inputs) == 24:
        _add_layer_normalization(partition, node)


def _add_sequence_lstm_inputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    _add_recurrent_inputs(partition, node, node.inputs[:20])
    if len(node.inputs) == 24:
        _add_layer_normalization(partition, node)


def _add_recurrent_inputs(partition: _Partition, node: Node, inputs: Iterable[int]) -> None:
    for index in inputs:
        if index >= 0:
            partition.add_tensor(node, index)


def _add_layer_normalization(partition: _Partition, node: Node) -> None:
    for index in node.inputs[20:24]:
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
            raise _error("nnapi-scalar-operand", node.index, operand, found=operand.type)


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


def _add_outputs(partition: _Partition, view: NodeView) -> None:
    node = view.node
    if node.op == "LSTM" and is_basic_lstm(view):
        return
    in_between = _flattens_result(view) or _requantizes_result(view)
    for tensor, index in zip(view.outputs, node.outputs, strict=True):
        if in_between:
            partition.add_intermediate(node, tensor)
        else:
            partition.add_tensor(node, index)


def _flattens_result(view: NodeView) -> bool:
    """Whether a FULLY_CONNECTED keeps more than two dimensions, which NNAPI's does not."""
    return view.op == "FULLY_CONNECTED" and bool(view.options.keep_num_dims)


def _requantizes_result(view: NodeView) -> bool:
    """``IsMeanWithDifferentInputOutputQuantization``."""
    if view.op != "MEAN":
        return False
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
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "RESHAPE")


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
