"""How each operator's operands are added to the NNAPI model of its partition (``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from ....graph.graph import NodeView
from ....model.model import Node, Tensor
from ....nnapi_runtime.types import OperandType
from ..node_predicates import QUANTIZED_TYPES, is_basic_lstm, is_full_lstm
from .builder import KernelError, PartitionBuilder, kernel_error
from .node import MappedNode, NodeStep
from .operand_types import SIGNED

_T = OperandType
_BYTES = 4
"""Of an integer of 32 bits."""


def add_all_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Add every operand in order."""
    for position in range(len(mapped.node.inputs)):
        mapped.add(partition, position)


def _add_first_input(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The other operands become numbers of the operation."""
    mapped.add(partition, 0)


def _add_given_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """What is left out becomes an empty operand."""
    _add_given(partition, mapped, range(len(mapped.node.inputs)))


def _add_given(partition: PartitionBuilder, mapped: MappedNode, positions: Iterable[int]) -> None:
    for position in positions:
        if mapped.node.input(position) >= 0:
            mapped.add(partition, position)
        else:
            partition.leave_out()


def _add_fully_connected_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """A bias that is left out is made later."""
    for position, index in enumerate(mapped.node.inputs):
        if index >= 0:
            mapped.add(partition, position)


def _add_convolution_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Sparse weights are unpacked instead of being mapped."""
    for position, index in enumerate(mapped.node.inputs):
        densify = _densify_of(partition, index) if position == 1 else None
        if densify is None:
            mapped.add(partition, position)
        else:
            _unpack_sparse_weights(partition, mapped.node, densify, is_widened=index in partition.widened)


def _densify_of(partition: PartitionBuilder, weights: int) -> Node | None:
    """The node that unpacks these weights, with or without a DEQUANTIZE in between."""
    dequantize = partition.widened.get(weights)
    if dequantize is None:
        return partition.densified.get(weights)
    partition.node = dequantize.index
    return partition.densified.get(dequantize.input(0))


_DENSE_TYPES = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 4),
    "FLOAT16": (_T.TENSOR_FLOAT16, 2),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1),
}
"""The operand type of unpacked weights, and the bytes of an element."""


def _unpack_sparse_weights(partition: PartitionBuilder, node: Node, densify: Node, is_widened: bool) -> None:
    """``DensifyAndDequantizeConstTensor``."""
    partition.node = densify.index
    weights, dense = partition.graph.tensor(densify.input(0)), partition.graph.tensor(densify.output(0))
    if weights.sparsity is None:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="without sparsity parameters")
    if weights.type not in _DENSE_TYPES:
        raise kernel_error("nnapi-sparse-weights", node.index, weights, found="which it cannot unpack")
    is_float = is_widened and weights.type == "FLOAT16"
    code, size = _DENSE_TYPES["FLOAT32" if is_float else weights.type]
    partition.add_constant(code, dense.shape, size * dense.element_count, dense.scale, dense.zero_point)


def _add_nothing(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """All operands are added with the parameters, in another order."""


def _add_lstm_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    count = len(mapped.node.inputs)
    if not is_basic_lstm(mapped.view):
        _add_given(partition, mapped, range(min(20, count) if is_full_lstm(mapped.view) else count))


def _add_sequence_lstm_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    _add_given(partition, mapped, range(min(20, len(mapped.node.inputs))))


def _add_split_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The axis becomes a number, wherever its tensor stands."""
    for position, index in enumerate(mapped.node.inputs):
        if index != mapped.node.input(0):
            mapped.add(partition, position)


def _add_pad_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """The padding value becomes a number; the original does not look whether that worked, only at the type."""
    if len(mapped.node.inputs) != 3:
        add_all_inputs(partition, mapped)
        return
    for position in range(2):
        mapped.add(partition, position)
    if mapped.node.input(2) < 0:
        return
    value = mapped.view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise kernel_error("nnapi-scalar-type", mapped.node.index, value)
    with suppress(KernelError):
        _add_padding_value(partition, mapped, value)


def _add_padding_value(partition: PartitionBuilder, mapped: MappedNode, value: Tensor) -> None:
    is_float = value.type in ("FLOAT16", "FLOAT32")
    if not value.is_constant:
        codes = {"FLOAT16": _T.TENSOR_FLOAT16, "FLOAT32": _T.FLOAT32}
        partition.add_scalar_tensor(mapped.node, value, codes.get(value.type, _T.INT32))
    elif is_float:
        partition.add_float(_first(mapped.view, value))
    else:
        shift = 128 if value.type == "INT8" and mapped.converts_int8 else 0
        partition.add_int(int(_first(mapped.view, value)) + shift)


def _first(view: NodeView, tensor: Tensor) -> float:
    """The first element of a constant; 0 where it has none, of which the original reads what lies there."""
    value = view.value(tensor)
    return float(value[0]) if value is not None and len(value) else 0.0


def first_integer(view: NodeView, position: int, element: int = 0) -> int:
    """An element of a constant operand, read as one of 32 bits whatever its type (``data.i32``).

    0 where there is none, of which the original reads what lies there.
    """
    value = view.value(view.input(position))
    found = b"" if value is None else value[: _BYTES * (element + 1)].tobytes()[_BYTES * element : _BYTES * (element + 1)]
    return int.from_bytes(found, "little", signed=True) if len(found) == _BYTES else 0


def _add_expand_dims_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    for position in range(len(mapped.node.inputs)):
        if position != 1:
            mapped.add(partition, position)


def _add_batch_to_space_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    for position in range(len(mapped.node.inputs)):
        if position != 2:
            mapped.add(partition, position)


def _add_arg_extremum_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    mapped.add(partition, 0)
    axis = mapped.view.input(1)
    if axis.type == "INT64" or (axis.type == "INT32" and axis.is_constant):
        partition.add_int(first_integer(mapped.view, 1))
    elif axis.type == "INT32":
        partition.add_scalar_tensor(mapped.node, axis, _T.INT32)
    else:
        raise kernel_error("nnapi-scalar-type", mapped.node.index, axis)


_SCALAR_CONSTANTS = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 4),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 1),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 1),
    "INT32": (_T.TENSOR_INT32, 4),
}
"""The operand type of a scalar that becomes a vector of one element, and the bytes of the element."""


def _add_extremum_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Scalars become tensors with one element, except where INT8 is converted to UINT8 on the way."""
    for position, operand in enumerate(mapped.view.inputs):
        if operand.rank or mapped.converts_int8:
            mapped.add(partition, position)
        elif not operand.is_constant:
            raise kernel_error("nnapi-scalar-operand", mapped.node.index, operand, found="not constant")
        elif operand.type not in _SCALAR_CONSTANTS:
            raise kernel_error("nnapi-scalar-operand", mapped.node.index, operand, found=f"of type {operand.type}")
        else:
            code, size = _SCALAR_CONSTANTS[operand.type]
            scale = operand.scale
            if operand.type == "INT8":
                scale = scale or 1.0
                # Signed below NNAPI 1.3 only for operands whose neighbours are not.
                code = code if mapped.output_flags & SIGNED else _T.TENSOR_QUANT8_ASYMM
            partition.add_constant(code, (1,), size, scale, operand.zero_point)


def _add_reduction_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """Axes given as a scalar become a vector."""
    for position in range(len(mapped.node.inputs)):
        if position == 1 and not mapped.view.input(1).rank:
            partition.add_vector(1)
        else:
            mapped.add(partition, position)


def _add_fill_inputs(partition: PartitionBuilder, mapped: MappedNode) -> None:
    node = mapped.node
    dimensions, value = mapped.view.input(0), mapped.view.input(1)
    if dimensions.type == "INT32":
        partition.add_input(node, dimensions.index)
    elif dimensions.type == "INT64":
        size = 4 * dimensions.element_count
        partition.add_constant(_T.TENSOR_INT32, dimensions.shape, size, dimensions.scale, dimensions.zero_point)
    else:
        raise kernel_error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        partition.add_scalar_tensor(node, value, _T.FLOAT32 if value.type == "FLOAT32" else _T.INT32)
    elif value.type == "FLOAT32":
        partition.add_float(_first(mapped.view, value))
    else:
        partition.add_int(first_integer(mapped.view, 1))


def add_dequantized(partition: PartitionBuilder, mapped: MappedNode) -> None:
    """NNAPI quantises floats only, so a quantised input of QUANTIZE becomes float first."""
    if mapped.view.input(0).type in QUANTIZED_TYPES:
        partition.add_dequantize(mapped.node, 0, mapped.node.input(0), "FLOAT32")


INPUTS: Mapping[str, NodeStep] = {
    "ARG_MAX": _add_arg_extremum_inputs,
    "ARG_MIN": _add_arg_extremum_inputs,
    "BATCH_TO_SPACE_ND": _add_batch_to_space_inputs,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _add_given_inputs,
    "CONV_2D": _add_convolution_inputs,
    "EXPAND_DIMS": _add_expand_dims_inputs,
    "FILL": _add_fill_inputs,
    "FULLY_CONNECTED": _add_fully_connected_inputs,
    "GATHER": _add_first_input,
    "LSTM": _add_lstm_inputs,
    "MAXIMUM": _add_extremum_inputs,
    "MEAN": _add_reduction_inputs,
    "MINIMUM": _add_extremum_inputs,
    "PAD": _add_pad_inputs,
    "PADV2": _add_pad_inputs,
    "REDUCE_ANY": _add_reduction_inputs,
    "REDUCE_MAX": _add_reduction_inputs,
    "REDUCE_MIN": _add_reduction_inputs,
    "REDUCE_PROD": _add_reduction_inputs,
    "RESIZE_BILINEAR": _add_first_input,
    "RESIZE_NEAREST_NEIGHBOR": _add_first_input,
    "SPLIT": _add_split_inputs,
    "SUM": _add_reduction_inputs,
    "SVDF": _add_given_inputs,
    "TOPK_V2": _add_first_input,
    "TRANSPOSE_CONV": _add_nothing,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _add_sequence_lstm_inputs,
}
"""How operands are added, where it is not simply all of them in order."""
