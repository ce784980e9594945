"""Nodes that become several NNAPI operations, since NNAPI has no single one for them, or not at this feature level.

Source: ``AddOpsAndTensors`` and the ``Transform...IntoSupportedOps`` functions (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

from ....foundation.float32 import float32, quotient
from ....graph.graph import NodeView
from ....model.model import Tensor
from ....nnapi_runtime.types import OperandType
from ..node_predicates import QUANTIZED_TYPES, is_full_lstm
from ..target import FEATURE_LEVEL_6, NNAPI_1_3
from .builder import KernelError, PartitionBuilder, Step, kernel_error
from .node import converts_int8
from .operand_types import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED
from .operands import first_integer

_T = OperandType
_NO_ACTIVATION = 0
_RELU1 = 2


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
    if not 0 <= axis < first.rank:  # upstream does not look at one before the first, and reads what is no size
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(first.shape))
    for index in node.inputs:
        partition.add_input(node, index, SIGNED)
    partition.add_int(axis)
    size = sum([tensor.shape[axis] for tensor in view.inputs if axis < tensor.rank])
    shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
    joined = partition.add_intermediate(node, first, shape, first.scale, first.zero_point)
    partition.add_operation(node, "CONCATENATION")
    partition.append_reshape(node, joined)


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
    shape = (*source.shape[:axis], source.shape[axis] * source.shape[axis + 1], *source.shape[axis + 2 :])
    partition.add_input(node, node.input(0), SIGNED)
    partition.add_vector(len(shape))
    # A scale of 0 is not valid in NNAPI.
    scale = source.scale or (1.0 if source.type in QUANTIZED_TYPES else 0.0)
    flat = partition.add_intermediate(node, source, shape, scale, source.zero_point)
    partition.add_operation(node, "RESHAPE")
    partition.inputs.append(flat)
    partition.add_int(axis)
    partition.add_int(count)
    for index in node.outputs:
        partition.add_output(node, index, SIGNED)
    partition.add_operation(node, "SPLIT")


def _lower_split_v(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformSplitVIntoSupportedOps`` and ``ComputeSplitVUnknownSplitSize``; sizes and axis are constant."""
    node, source = view.node, view.input(0)
    sizes = _integers(view, 1)
    axis = first_integer(view, 2)
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    for size, output in zip(sizes, node.outputs, strict=False):
        actual = rest if size == -1 else size
        if actual <= 0:
            raise kernel_error("nnapi-split-size", node.index, size=actual)
        partition.add_input(node, node.input(0), SIGNED)
        partition.add_vector(source.rank)
        partition.add_vector(source.rank)
        partition.add_output(node, output, SIGNED)
        partition.add_operation(node, "SLICE")


def _integers(view: NodeView, position: int) -> list[int]:
    value = view.value(view.input(position))
    return [] if value is None else [int(element) for element in value]


_DIFFERENCES = {
    "FLOAT32": (_T.TENSOR_FLOAT32, 0, 0),
    "INT32": (_T.TENSOR_INT32, 0, 0),
    "UINT8": (_T.TENSOR_QUANT8_ASYMM, 128, 255),
    "INT8": (_T.TENSOR_QUANT8_ASYMM_SIGNED, 0, 127),
}
"""By type: that of the difference's operand, its zero point, and the largest value of the type if it is quantised."""


def _lower_squared_difference(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformSquaredDifferenceIntoSupportedOps``."""
    node, output = view.node, view.output(0)
    if view.input(0).type not in _DIFFERENCES:
        raise kernel_error("nnapi-intermediate-type", node.index, view.input(0), op=node.op)
    code, zero_point, highest = _DIFFERENCES[view.input(0).type]
    # The difference spans what makes the largest square, with both signs.
    largest = float32(float32(highest - output.zero_point) * float32(output.scale)) if highest else 0.0
    scale = quotient(2 * float32(math.sqrt(largest)), 254) if largest >= 0 else math.nan
    for index in node.inputs[:2]:
        partition.add_input(node, index, SCALAR_AS_TENSOR | SIGNED)
    partition.add_int(_NO_ACTIVATION)
    difference = partition.add_result(code, output.shape, scale, zero_point)
    partition.add_operation(node, "SUB")
    partition.inputs += [difference, difference]
    partition.add_int(_NO_ACTIVATION)
    partition.add_output(node, node.output(0), SIGNED)
    partition.add_operation(node, "MUL")


def _lower_cos(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformCosIntoSupportedOps``: the sine of a difference."""
    node, source = view.node, view.input(0)
    size = 4 * source.element_count
    partition.add_constant(_T.TENSOR_FLOAT32, source.shape, size, source.scale, source.zero_point)
    partition.add_input(node, node.input(0))
    partition.add_int(_NO_ACTIVATION)
    difference = partition.add_result(_T.TENSOR_FLOAT32, view.output(0).shape)
    partition.add_operation(node, "SUB")
    partition.inputs.append(difference)
    partition.add_output(node, node.output(0))
    partition.add_operation(node, "SIN")


@dataclass(frozen=True, slots=True)
class _Range:
    """The values that a quantised result spans, in single precision."""

    lowest: float
    highest: float

    @property
    def quantization(self) -> tuple[float, int]:
        """``CalculateQuantizationParams``: a scale and a zero point of 8 bits."""
        scale = quotient(float32(self.highest) - float32(self.lowest), 255)
        if self.lowest > 0:
            return scale, 0
        if self.highest < 0:
            return scale, 255
        zero_point = -self.lowest / scale if scale else 0.0
        return scale, int(zero_point) if math.isfinite(zero_point) else 0


def _lower_hard_swish(partition: PartitionBuilder, view: NodeView) -> None:
    """``TransformHardSwishIntoSupportedOps``, whose status is ignored."""
    with suppress(KernelError):
        _lower_hard_swish_checked(partition, view)


def _lower_hard_swish_checked(partition: PartitionBuilder, view: NodeView) -> None:
    """Half of x times the clipped third of x, and half of x."""
    node, source = view.node, view.input(0)
    is_converted = converts_int8(view)
    flags = CONVERT_INT8 if is_converted else 0
    zero_point = source.zero_point + (128 if is_converted else 0)
    is_quantized = source.type in QUANTIZED_TYPES
    code = _T.TENSOR_QUANT8_ASYMM if is_quantized else _T.TENSOR_FLOAT32
    third, product = _ranges(source, zero_point) if is_quantized else (_Range(0, 0),) * 2
    halves = (float32(source.scale / 2), zero_point)
    factors = ((1 / 3, _RELU1, third.quantization if is_quantized else (0.0, 0)), (0.5, _NO_ACTIVATION, halves))
    parts = []
    for factor, activation, quantization in factors:
        partition.add_input(node, node.input(0), flags)
        if is_quantized:
            partition.add_vector(1, _T.TENSOR_QUANT8_ASYMM, 1, float32(float32(factor) / 64))
        else:
            partition.add_vector(1, _T.TENSOR_FLOAT32)
        partition.add_int(activation)
        parts.append(partition.add_result(code, source.shape, *quantization))
        partition.add_operation(node, "MUL")
    partition.inputs += parts
    partition.add_int(_NO_ACTIVATION)
    multiplied = partition.add_result(code, source.shape, *(product.quantization if is_quantized else (0.0, 0)))
    partition.add_operation(node, "MUL")
    partition.inputs += [parts[1], multiplied]
    partition.add_int(_NO_ACTIVATION)
    partition.add_output(node, node.output(0), flags)
    partition.add_operation(node, "ADD")


def _ranges(source: Tensor, zero_point: int) -> tuple[_Range, _Range]:
    """Return what the clipped third of the input, and the product of that with its half, span."""
    whole = _Range(float32(-zero_point * source.scale), float32((255 - zero_point) * source.scale))
    third = _Range(max(float32(whole.lowest / 3), -1.0), min(float32(whole.highest / 3), 1.0))
    products = [float32(third.highest * float32(whole.highest / 2)), float32(third.lowest * float32(whole.lowest / 2))]
    return third, _Range(0.0, max(products))


_SYMMETRIC_WEIGHTS = frozenset({1, 5, 16})
_BIASES = frozenset({12, 13, 14, 15, 17})
_SIGNED_OPERANDS = frozenset({0, 18})


def _add_quantized_lstm(partition: PartitionBuilder, view: NodeView) -> None:
    """The fully quantised LSTM, which ``AddOpsAndTensors`` adds without ``Map``."""
    node = view.node
    for position, index in enumerate(node.inputs):
        if index >= 0:
            partition.add_input(node, index, SIGNED if position in _SIGNED_OPERANDS else 0)
        elif position in _SYMMETRIC_WEIGHTS:
            partition.leave_out(_T.TENSOR_QUANT8_SYMM, 1.0)
        elif position in _BIASES:
            partition.leave_out(_T.TENSOR_INT32)
        else:
            partition.leave_out(_T.TENSOR_QUANT16_SYMM, 1.0)
    partition.add_float(view.options.cell_clip)
    partition.add_float(view.options.proj_clip)
    if len(node.intermediates) != 5:
        raise kernel_error("nnapi-lstm-intermediates", node.index, count=len(node.intermediates))
    for position, index in enumerate(node.intermediates):
        tensor = partition.graph.tensor(index)
        if position == 4:
            partition.add_int(tensor.zero_point)
        partition.add_float(tensor.scale)
    partition.add_state(node.input(18), _T.TENSOR_QUANT8_ASYMM_SIGNED, has_quantization=True)
    partition.add_state(node.input(19), _T.TENSOR_QUANT16_SYMM, has_quantization=True)
    for index in node.outputs:
        partition.add_output(node, index, SIGNED)
    partition.add_operation(node, "QUANTIZED_LSTM")
