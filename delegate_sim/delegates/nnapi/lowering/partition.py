"""What becomes of a partition when its kernel is initialised: the NNAPI operations of each node, or why it fails.

Source: ``NNAPIDelegateKernel::Init``, ``BuildGraph``, ``AddOpsAndTensors`` and ``Map`` (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....graph.graph import Graph, NodeView
from ....model.model import Node, Tensor
from ....nnapi_runtime.builder import ModelBuilder
from ....nnapi_runtime.model import NnOperation
from ....nnapi_runtime.refusal import NnRefusal, NnRefused
from ....nnapi_runtime.types import OperandType, Version
from ....releases.catalogue import NEWEST, Release, parse_release
from ...base import KernelFailure
from ..node_predicates import QUANTIZED_TYPES, is_basic_lstm, is_constant_densify, is_runtime_float16_dequantize
from . import call_sites as calls
from .builder import KernelError, PartitionBuilder, kernel_error
from .call_sites import RefusedCall
from .node import MappedNode
from .operand_types import CONVERT_INT8, SCALAR_AS_TENSOR, WIDEN
from .operands import INPUTS, add_all_inputs
from .parameters import PARAMETERS, is_grouped
from .several_operations import lowering

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


EMPTY_POOLS_FAIL = parse_release("litert-1.3.0")
"""Since when a pool of memory of 0 bytes is an error; before, none was created, and the kernel initialised."""


@dataclass(frozen=True, slots=True)
class MappedPartition:
    """What becomes of a partition: the first failure, and the calls that the runtime refuses, in order.

    ``failure`` may lie behind the first of them. ``required`` is what the NNAPI model needs of a device, None if it is not
    finished. After a failure operations and model are incomplete.
    """

    operations: Mapping[int, tuple[str, ...]]
    """The NNAPI operations of each node, in order."""
    model: ModelBuilder | None
    """The NNAPI model as far as it was built."""
    tensors: Mapping[int, int]
    """The NNAPI operand of each tensor that has one."""
    failure: KernelFailure | None
    calls: tuple[RefusedCall, ...]
    required: Version | None
    lines: tuple[str, ...]
    """What the delegate prints while it maps the nodes, up to the first call that is refused."""

    @property
    def error_lines(self) -> tuple[str, ...]:
        """What the delegate prints of a kernel that cannot be initialised."""
        return (*self.lines, self.calls[0].error_line) if self.calls else self.lines

    @property
    def is_finished(self) -> bool:
        """Whether the runtime accepts the model as a whole."""
        return self.required is not None


def node_of(operation: NnOperation) -> int:
    """Return the node that an operation was mapped for."""
    assert operation.tag is not None
    return operation.tag


def map_partition(
    graph: Graph,
    nodes: Sequence[int],
    inputs: Iterable[int],
    outputs: Iterable[int],
    target_feature_level: int,
    runtime_feature_level: int,
    release: Release = NEWEST,
    make_model: Callable[[Callable[[NnRefusal], None]], ModelBuilder] | None = None,
    allows_dynamic: bool = False,
    is_relaxed: bool = False,
) -> MappedPartition:
    """Initialise the kernel of one partition (``NNAPIDelegateKernel::Init``).

    ``nodes`` are indices of nodes that the rules accept, in running order; ``inputs`` and ``outputs`` are the tensors that
    cross the partition's border. ``target_feature_level`` is the runtime's level, lowered to that of the target devices.
    ``make_model`` makes the model to build; without it there is none.
    """
    partition = PartitionBuilder(graph, target_feature_level, runtime_feature_level, make_model, allows_dynamic)
    failure, required = None, None
    try:
        known = [index for index in nodes if index not in graph.assumed]
        _add_nodes(partition, [graph.nodes[index] for index in known])
        # Which operands nodes would have that are only assumed to be accepted, nobody knows.
        if len(known) == len(nodes):
            inputs, outputs = tuple(inputs), tuple(outputs)
            if partition.model is not None and not partition.refused:
                required = _finish(partition, partition.model, inputs, outputs, is_relaxed)
            if not partition.refused and release.is_at_least(EMPTY_POOLS_FAIL):
                _check_pools(partition, inputs, outputs)
    except KernelError as error:
        failure = error.failure
    operations = {index: tuple(partition.operations.get(index, ())) for index in nodes}
    return MappedPartition(
        operations,
        partition.model,
        partition.mapped,
        failure,
        tuple(partition.refused),
        required,
        tuple(partition.lines),
    )


def _finish(
    partition: PartitionBuilder, model: ModelBuilder, inputs: Sequence[int], outputs: Sequence[int], is_relaxed: bool
) -> Version | None:
    """``BuildGraph``, from the model's inputs and outputs on: what the model needs; None if it is refused."""
    tensors, mapped = partition.graph.tensors, partition.mapped
    given = [mapped[index] for index in inputs if index in mapped and not tensors[index].is_constant]
    results = [mapped[index] for index in outputs if index in mapped]
    # Room is made for every tensor, so that there is a pointer even where nothing is listed in the end.
    pointers = (bool(inputs), bool(outputs))
    site = calls.BOUNDARY
    try:
        model.identify_inputs_and_outputs(given, [*results, *partition.state_outputs], pointers)
        model.relax_to_float16(is_relaxed)
        site = calls.FINISH
        return model.check()
    except NnRefused as refused:
        partition.refused.append(RefusedCall(partition.node, refused.refusal, site))
        return None


def _add_nodes(partition: PartitionBuilder, nodes: Iterable[Node]) -> None:
    """``AddOpsAndTensors``."""
    views = [partition.graph.view(node) for node in nodes]
    remaining = [view for view in views if not fold(partition, view)]
    for view in remaining:
        add_node(partition, view)
    if views:
        partition.node = views[-1].node.index


def fold(partition: PartitionBuilder, view: NodeView) -> bool:
    """Take note of a node that only unpacks or widens weights and gets no operation; return whether it is one."""
    node = view.node
    partition.node = node.index
    if view.is_constant_float16_dequantize:
        partition.add_input_unchecked(node, node.input(0), SCALAR_AS_TENSOR | WIDEN)
        partition.inputs.clear()
    elif (is_constant_densify(view) or is_runtime_float16_dequantize(view)) and not node.outputs:
        raise kernel_error("nnapi-absent-operand", node.index)
    elif is_constant_densify(view):
        partition.densified[node.output(0)] = node
    elif is_runtime_float16_dequantize(view):
        partition.widened[node.output(0)] = node
    else:
        return False
    return True


def add_node(partition: PartitionBuilder, view: NodeView) -> None:
    """Map a node to its operations."""
    partition.node = view.node.index
    lowered = lowering(partition, view)
    if lowered is None:
        _add_single(partition, view)
    else:
        lowered(partition, view)


def _add_single(partition: PartitionBuilder, view: NodeView) -> None:
    """Map a node to one operation, with what has to stand before and after it."""
    mapped = MappedNode(view, partition.target_feature_level)
    if view.op == "PACK":
        # NNAPI wants the axis before the operands.
        axis = view.options.axis
        partition.add_int(axis + view.input(0).rank + 1 if axis < 0 else axis)
    INPUTS.get(view.op, add_all_inputs)(partition, mapped)
    operation = _operation(mapped)
    add_parameters = PARAMETERS.get(view.op)
    if add_parameters is not None:
        add_parameters(partition, mapped)
    append = _add_outputs(partition, mapped)
    _dequantize_weights(partition, view)
    partition.add_operation(view.node, operation)
    if append is not None:
        append()


def _operation(mapped: MappedNode) -> str:
    """``Map``: the NNAPI operation of a node."""
    view = mapped.view
    match view.op:
        case "CONV_2D" if is_grouped(mapped):
            return "GROUPED_CONV_2D"
        case "PAD" | "PADV2" if len(view.inputs) != 2 and view.node.input(2) >= 0:
            return "PAD_V2"
        case "LSTM" if is_basic_lstm(view):
            return "QUANTIZED_16BIT_LSTM"
    operation = OPERATIONS.get(view.op)
    if operation is None:
        raise kernel_error("nnapi-unmapped-operator", view.node.index, op=view.op)
    return operation


def _add_outputs(partition: PartitionBuilder, mapped: MappedNode) -> Callable[[], None] | None:
    """Add the results, or where another operation follows, operands like them; return how that operation is appended."""
    node, view = mapped.node, mapped.view
    append = None
    if node.op == "LSTM" and is_basic_lstm(view):
        return None
    for position, index in enumerate(node.outputs):
        if view.op == "FULLY_CONNECTED" and view.options.keep_num_dims:
            flat = _add_flat_result(partition, mapped, position)
            append = functools.partial(partition.append_reshape, node, flat)
        elif view.op == "MEAN" and _requantizes_result(view):
            source, result = view.input(0), view.output(position)
            quantization = (source.scale, source.zero_point, mapped.converts_int8)
            mean = partition.add_intermediate(node, result, result.shape, *quantization, has_pointer=True)
            append = functools.partial(_append_requantize, partition, mapped, mean)
        else:
            partition.add_output(node, index, mapped.output_flags)
    return append


def _add_flat_result(partition: PartitionBuilder, mapped: MappedNode, position: int) -> int:
    """The result of FULLY_CONNECTED, which NNAPI gives in two dimensions."""
    result = mapped.view.output(position)
    units = result.shape[-1] if result.shape else 0
    if not units:
        raise kernel_error("nnapi-division-by-zero", mapped.node.index, result)
    shape = (result.element_count // units, units)
    return partition.add_intermediate(mapped.node, result, shape, result.scale, result.zero_point)


def _requantizes_result(view: NodeView) -> bool:
    """``IsMeanWithDifferentInputOutputQuantization``."""
    source, result = view.input(0), view.output(0)
    return source.scale != result.scale or source.zero_point != result.zero_point


def _append_requantize(partition: PartitionBuilder, mapped: MappedNode, mean: int) -> None:
    """``AppendRequantize``: an addition of 0."""
    node, result = mapped.node, mapped.view.output(0)
    partition.inputs.append(mean)
    if result.type not in QUANTIZED_TYPES:
        raise kernel_error("nnapi-requantize-type", node.index, result)
    is_unsigned = result.type == "UINT8" or mapped.output_flags & CONVERT_INT8
    partition.add_vector(1, OperandType.TENSOR_QUANT8_ASYMM if is_unsigned else OperandType.TENSOR_QUANT8_ASYMM_SIGNED, 1, 1.0)
    partition.add_int(0)
    partition.add_output(node, node.output(0), mapped.output_flags)
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
            partition.add_dequantize(view.node, position, weights.index, weights.type)


def _check_pools(partition: PartitionBuilder, inputs: Iterable[int], outputs: Iterable[int]) -> None:
    """The end of ``BuildGraph``: neither pool of shared memory may be empty."""
    tensors = partition.graph.tensors
    sources = [index for index in inputs if index in partition.mapped and not tensors[index].is_constant]
    side = empty_pool(tensors, sources, [*outputs, *partition.state_tensors])
    if side is not None:
        raise kernel_error("nnapi-empty-pool", None, side=side)


def empty_pool(tensors: Sequence[Tensor], inputs: Iterable[int], outputs: Iterable[int]) -> str | None:
    """Return which pool has no bytes, if one has none.

    Every output counts, mapped or not. How a type is converted never makes a size zero, nor does padding.
    """
    for side, indices in (("input", inputs), ("output", outputs)):
        if not any(tensors[index].byte_size for index in indices):
            return side
    return None
