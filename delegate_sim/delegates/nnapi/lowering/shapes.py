"""Reshaping, slicing, joining, padding, gathering and filling."""

from __future__ import annotations

from contextlib import suppress

from ....model.numbers import as_list
from ....nnapi_runtime.types import OperandType
from ....refusal import Refused
from ..target import FEATURE_LEVEL_6, QUANTIZED_TYPES
from . import Lowering, Lowerings, first_integer, first_number, with_scalars
from .builder import PartitionBuilder, kernel_error
from .node import SIGNED, LoweredNode, OperandTraits, first_is_int8


def _add_batch_to_space(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower BATCH_TO_SPACE_ND without the crops, because NNAPI does not crop."""
    for position in range(len(node.inputs)):
        if position != 2:
            builder.add_input(node, position)
    builder.finish(node)


def _add_expand_dims(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position in range(len(node.inputs)):
        if position != 1:
            builder.add_input(node, position)
    builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


def _add_reshape(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    if len(node.inputs) == 1:
        shape = node.options.new_shape or ()
        builder.add_vector(len(shape), is_null=not len(shape))
    builder.finish(node)


def _add_squeeze(builder: PartitionBuilder, node: LoweredNode) -> None:
    dimensions = node.options.squeeze_dims or ()
    builder.add_inputs(node)
    builder.add_vector(len(dimensions), is_null=not len(dimensions))
    builder.finish(node)


_INT8 = OperandTraits(converts_int8=first_is_int8)


_BLOCK_SIZE = with_scalars(lambda node: [int(node.options.block_size)])


def _masks(node: LoweredNode) -> list[int]:
    options = node.options
    return [int(options.begin_mask), int(options.end_mask), int(options.shrink_axis_mask)]


def _axis(node: LoweredNode) -> list[int]:
    axis = int(node.options.axis)
    return [axis + node.view.input(0).rank if axis < 0 else axis]


def _add_pack(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower PACK to NNAPI's PACK. Below feature level 6, lower PACK to CONCATENATION and RESHAPE.

    The first operand of NNAPI's PACK is the axis.
    """
    if builder.target_feature_level < FEATURE_LEVEL_6:
        _add_concatenation_and_reshape(builder, node)
        return
    axis = node.options.axis
    builder.add_int(axis + node.view.input(0).rank + 1 if axis < 0 else axis)
    builder.add_inputs(node)
    builder.finish(node)


def _add_concatenation_and_reshape(builder: PartitionBuilder, node: LoweredNode) -> None:
    first = node.view.input(0)
    axis = node.options.axis
    if axis < 0:
        axis += first.rank + 1
    if not 0 <= axis < first.rank:  # for axes below 0, the real delegate reads memory with unknown contents
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(first.shape))
    for position in range(len(node.inputs)):
        builder.add_flagged_input(node, position, SIGNED)
    builder.add_int(axis)
    size = sum([tensor.shape[axis] for tensor in node.view.inputs if axis < tensor.rank])
    shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
    joined = builder.add_intermediate(node, first, shape, first.scale, first.zero_point)
    builder.add_operation(node, "CONCATENATION")
    builder.append_reshape(node, joined)


def _add_split(builder: PartitionBuilder, node: LoweredNode) -> None:
    for position, index in enumerate(node.inputs):
        if index != node.operand(0):
            builder.add_input(node, position)
    builder.add_int(first_integer(node.view, 0))
    builder.add_int(node.options.num_splits)
    builder.finish(node)


def _add_slices(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower SPLIT_V to one SLICE for each result. Sizes and axis are constant.

    Source: ``TransformSplitVIntoSupportedOps`` and ``ComputeSplitVUnknownSplitSize``.
    """
    source = node.view.input(0)
    value = node.view.value(node.view.input(1))
    sizes = [] if value is None else list(map(int, as_list(value)))
    axis = first_integer(node.view, 2)
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    for position, size in enumerate(sizes[: len(node.outputs)]):
        actual = rest if size == -1 else size
        if actual <= 0:
            raise kernel_error("nnapi-split-size", node.index, size=actual)
        builder.add_flagged_input(node, 0, SIGNED)
        builder.add_vector(source.rank)  # begin
        builder.add_vector(source.rank)  # size
        builder.add_output(node, position, SIGNED)
        builder.add_operation(node, "SLICE")


def _add_reshape_and_split(builder: PartitionBuilder, node: LoweredNode) -> None:
    source = node.view.input(0)
    axis, count = node.options.axis, node.options.num
    if axis < 0:
        axis += source.rank
    if not 0 <= axis < source.rank - 1:
        raise kernel_error("nnapi-axis", node.index, axis=axis, shape=list(source.shape))
    if not count == source.shape[axis] == len(node.outputs):
        raise kernel_error("nnapi-split-count", node.index, count=count, size=source.shape[axis], outputs=len(node.outputs))
    shape = (*source.shape[:axis], source.shape[axis] * source.shape[axis + 1], *source.shape[axis + 2 :])
    builder.add_flagged_input(node, 0, SIGNED)
    builder.add_vector(len(shape))
    # A scale of 0 is not valid in NNAPI.
    scale = source.scale or (1.0 if source.type in QUANTIZED_TYPES else 0.0)
    flat = builder.add_intermediate(node, source, shape, scale, source.zero_point)
    builder.add_operation(node, "RESHAPE")
    builder.inputs.append(flat)
    builder.add_int(axis)
    builder.add_int(count)
    for position in range(len(node.outputs)):
        builder.add_output(node, position, SIGNED)
    builder.add_operation(node, "SPLIT")


_T = OperandType


def _add_pad(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower PAD or PADV2. The padding value becomes a scalar.

    The real delegate checks the type of the value, but ignores a failure to add the scalar.
    """
    if len(node.inputs) != 3:
        builder.add_inputs(node)
    else:
        builder.add_input(node, 0)
        builder.add_input(node, 1)
        if node.operand(2) >= 0:
            _add_value(builder, node)
    builder.add_outputs(node)
    builder.add_operation(node, "PAD_V2" if len(node.inputs) != 2 and node.operand(2) >= 0 else "PAD")


def _add_value(builder: PartitionBuilder, node: LoweredNode) -> None:
    value = node.view.input(2)
    if value.type not in ("FLOAT16", "FLOAT32", "UINT8", "INT8"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        codes = {"FLOAT16": _T.TENSOR_FLOAT16, "FLOAT32": _T.FLOAT32}
        with suppress(Refused):
            builder.add_scalar_tensor(node, value, codes.get(value.type, _T.INT32))
    elif value.type in ("FLOAT16", "FLOAT32"):
        builder.add_float(first_number(node.view, value))
    else:
        offset = 128 if value.type == "INT8" and node.converts_int8 else 0
        builder.add_int(int(first_number(node.view, value)) + offset)


_SPARSE_PROJECTION = 1
_NNAPI_SPARSE_PROJECTION = 3


def _add_gather(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_input(node, 0)
    builder.add_int(node.options.axis)
    builder.add_unchecked_input(node, 1)
    builder.finish(node)


def _add_projection(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    kind = node.options.type
    if kind == _SPARSE_PROJECTION:
        kind = _NNAPI_SPARSE_PROJECTION
        builder.leave_out()
    builder.add_int(kind)
    builder.finish(node)


def _add_topk(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_input(node, 0)
    builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


def _add_fill(builder: PartitionBuilder, node: LoweredNode) -> None:
    dimensions, value = node.view.input(0), node.view.input(1)
    if dimensions.type == "INT32":
        builder.add_flagged_input(node, 0)
    elif dimensions.type == "INT64":
        size = 4 * dimensions.element_count
        builder.add_constant(_T.TENSOR_INT32, dimensions.shape, size, dimensions.scale, dimensions.zero_point)
    else:
        raise kernel_error("nnapi-scalar-type", node.index, dimensions)
    if value.type not in ("FLOAT32", "INT32", "INT64"):
        raise kernel_error("nnapi-scalar-type", node.index, value)
    if not value.is_constant:
        builder.add_scalar_tensor(node, value, _T.FLOAT32 if value.type == "FLOAT32" else _T.INT32)
    elif value.type == "FLOAT32":
        builder.add_float(first_number(node.view, value))
    else:
        builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


LOWERINGS: Lowerings = {
    "BATCH_TO_SPACE_ND": Lowering("BATCH_TO_SPACE_ND", _add_batch_to_space, _INT8),
    "DEPTH_TO_SPACE": Lowering("DEPTH_TO_SPACE", _BLOCK_SIZE, _INT8),
    "EXPAND_DIMS": Lowering("EXPAND_DIMS", _add_expand_dims, _INT8),
    "RESHAPE": Lowering("RESHAPE", _add_reshape, _INT8),
    "SPACE_TO_BATCH_ND": Lowering("SPACE_TO_BATCH_ND", traits=_INT8),
    "SPACE_TO_DEPTH": Lowering("SPACE_TO_DEPTH", _BLOCK_SIZE, _INT8),
    "SQUEEZE": Lowering("SQUEEZE", _add_squeeze),
    "TRANSPOSE": Lowering("TRANSPOSE", traits=_INT8),
    "REVERSE_V2": Lowering("REVERSE"),
    "SLICE": Lowering("SLICE", traits=_INT8),
    "STRIDED_SLICE": Lowering("STRIDED_SLICE", with_scalars(_masks), _INT8),
    "CONCATENATION": Lowering(
        "CONCATENATION", with_scalars(_axis), OperandTraits(converts_int8=first_is_int8, converts_all_inputs=True)
    ),
    "PACK": Lowering("PACK", _add_pack),
    "SPLIT": Lowering("SPLIT", _add_split),
    "SPLIT_V": Lowering(add=_add_slices),
    "UNPACK": Lowering(add=_add_reshape_and_split),
    "MIRROR_PAD": Lowering("MIRROR_PAD", with_scalars(lambda node: [node.options.mode if node.options.mode in (0, 1) else -1])),
    "PAD": Lowering("PAD", _add_pad, _INT8),
    "PADV2": Lowering("PAD", _add_pad, _INT8),
    "EMBEDDING_LOOKUP": Lowering("EMBEDDING_LOOKUP"),
    "GATHER": Lowering("GATHER", _add_gather, _INT8),
    "HASHTABLE_LOOKUP": Lowering("HASHTABLE_LOOKUP"),
    "LSH_PROJECTION": Lowering("LSH_PROJECTION", _add_projection),
    "TOPK_V2": Lowering("TOPK_V2", _add_topk, _INT8),
    "FILL": Lowering("FILL", _add_fill),
    "TILE": Lowering("TILE", traits=OperandTraits(converts_int8=first_is_int8)),
}
