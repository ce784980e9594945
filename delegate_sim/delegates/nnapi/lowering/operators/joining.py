"""Joining and splitting."""

from __future__ import annotations

from .....graph.graph import NodeView
from .....model.numbers import as_list
from ...node_predicates import QUANTIZED_TYPES
from ...target import FEATURE_LEVEL_6
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operand_types import SIGNED
from ..operator_lowering import Lowering, Lowerings
from ..parameters import first_integer


def _add_concatenation(builder: PartitionBuilder, node: LoweredNode) -> None:
    axis = node.options.axis
    builder.add_inputs(node)
    builder.add_int(axis + node.view.input(0).rank if axis < 0 else axis)
    builder.finish(node)


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
    """Lower PACK to CONCATENATION and RESHAPE (``TransformPackIntoSupportedOps``)."""
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
    """Lower SPLIT. The axis becomes a scalar. Every occurrence of the axis tensor among the operands is left out."""
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
    sizes = _integers(node.view, 1)
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


def _integers(view: NodeView, position: int) -> list[int]:
    value = view.value(view.input(position))
    return [] if value is None else list(map(int, as_list(value)))


def _add_reshape_and_split(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower UNPACK to RESHAPE and SPLIT (``TransformUnpackIntoSupportedOps``)."""
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


LOWERINGS: Lowerings = {
    "CONCATENATION": Lowering(
        "CONCATENATION", _add_concatenation, OperandTraits(converts_int8=first_is_int8, converts_all_inputs=True)
    ),
    "PACK": Lowering("PACK", _add_pack),
    "SPLIT": Lowering("SPLIT", _add_split),
    "SPLIT_V": Lowering(add=_add_slices),
    "UNPACK": Lowering(add=_add_reshape_and_split),
}
