"""Nodes that become several NNAPI operations, since NNAPI has no single one for them, or not at this feature level.

Source: ``AddOpsAndTensors`` and the ``Transform...IntoSupportedOps`` functions (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

from contextlib import suppress

from ...graph.graph import NodeView
from .builder import INTERMEDIATE_TYPES, KernelError, PartitionBuilder, Step, kernel_error
from .operands import add_all_inputs, add_given_inputs
from .questions import is_full_lstm
from .target import FEATURE_LEVEL_6, NNAPI_1_3


def lowering(partition: PartitionBuilder, view: NodeView) -> Step | None:
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


def _lower_pack(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformPackIntoSupportedOps``."""
    node, first = view.node, view.input(0)
    axis = view.options.axis
    if axis < 0:
        axis += first.rank + 1
    if axis >= first.rank:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(first.shape))
    add_all_inputs(partition, view)
    partition.add_intermediate(node, first)
    partition.add_operation(node, "CONCATENATION")
    append_reshape(partition, view)


def _lower_unpack(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformUnpackIntoSupportedOps``."""
    node, source = view.node, view.input(0)
    axis, count = view.options.axis, view.options.num
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank - 1:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    if not count == source.shape[axis] == len(node.outputs):
        raise kernel_error("nnapi-split-count", node.index, count=count, size=source.shape[axis], outputs=len(node.outputs))
    partition.add_tensor(node, node.inputs[0])
    partition.add_intermediate(node, source)
    partition.add_operation(node, "RESHAPE")
    for index in node.outputs:
        partition.add_tensor(node, index)
    partition.add_operation(node, "SPLIT")


def _lower_split_v(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformSplitVIntoSupportedOps`` and ``ComputeSplitVUnknownSplitSize``; sizes and axis are constant."""
    node, source = view.node, view.input(0)
    sizes = _integers(view, 1)
    axis = _integers(view, 2)[0]
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    for size, output in zip(sizes, node.outputs, strict=False):
        actual = rest if size == -1 else size
        if actual <= 0:
            raise kernel_error("nnapi-split-size", node.index, size=actual)
        partition.add_tensor(node, node.inputs[0])
        partition.add_tensor(node, output)
        partition.add_operation(node, "SLICE")


def _integers(view: NodeView, position: int) -> list[int]:
    value = view.value(view.input(position))
    return [] if value is None else [int(element) for element in value]


def _lower_squared_difference(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformSquaredDifferenceIntoSupportedOps``."""
    node = view.node
    if view.input(0).type not in (*INTERMEDIATE_TYPES, "INT32"):
        raise kernel_error("nnapi-intermediate-type", node.index, view.input(0), op=node.op)
    for index in node.inputs[:2]:
        partition.add_tensor(node, index)
    partition.add_operation(node, "SUB")
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "MUL")


def _lower_cos(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformCosIntoSupportedOps``: the sine of a difference."""
    node = view.node
    partition.add_tensor(node, node.inputs[0])
    partition.add_operation(node, "SUB")
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "SIN")


def _lower_hard_swish(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformHardSwishIntoSupportedOps``, whose status is ignored."""
    node = view.node
    with suppress(KernelError):
        partition.add_tensor(node, node.inputs[0])
        for _ in range(3):
            partition.add_operation(node, "MUL")
        partition.add_tensor(node, node.outputs[0])
        partition.add_operation(node, "ADD")


def _add_quantized_lstm(partition: PartitionBuilder, view: NodeView) -> None:
    """The fully quantised LSTM, which ``AddOpsAndTensors`` adds without ``Map``."""
    node = view.node
    add_given_inputs(partition, view)
    if len(node.intermediates) != 5:
        raise kernel_error("nnapi-lstm-intermediates", node.index, count=len(node.intermediates))
    partition.state_tensors += node.inputs[18:20]
    for index in node.outputs:
        partition.add_tensor(node, index)
    partition.add_operation(node, "QUANTIZED_LSTM")


def append_reshape(partition: PartitionBuilder, view: NodeView) -> None:
    """``AppendReshape``."""
    node = view.node
    partition.add_tensor(node, node.outputs[0])
    partition.add_operation(node, "RESHAPE")
