"""Operators that change the shape or the order of dimensions."""

from __future__ import annotations

from ..builder import PartitionBuilder
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import first_integer


def _add_batch_to_space(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower BATCH_TO_SPACE_ND without the crops, because NNAPI does not crop."""
    for position in range(len(node.inputs)):
        if position != 2:
            builder.add_input(node, position)
    builder.finish(node)


def _add_with_block_size(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_int(node.options.block_size)
    builder.finish(node)


def _add_expand_dims(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower EXPAND_DIMS. The axis becomes a scalar."""
    for position in range(len(node.inputs)):
        if position != 1:
            builder.add_input(node, position)
    builder.add_int(first_integer(node.view, 1))
    builder.finish(node)


def _add_reshape(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower RESHAPE. If the node has no shape operand, the new shape is in the builtin options."""
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

LOWERINGS: Lowerings = {
    "BATCH_TO_SPACE_ND": Lowering("BATCH_TO_SPACE_ND", _add_batch_to_space, _INT8),
    "DEPTH_TO_SPACE": Lowering("DEPTH_TO_SPACE", _add_with_block_size, _INT8),
    "EXPAND_DIMS": Lowering("EXPAND_DIMS", _add_expand_dims, _INT8),
    "RESHAPE": Lowering("RESHAPE", _add_reshape, _INT8),
    "SPACE_TO_BATCH_ND": Lowering("SPACE_TO_BATCH_ND", traits=_INT8),
    "SPACE_TO_DEPTH": Lowering("SPACE_TO_DEPTH", _add_with_block_size, _INT8),
    "SQUEEZE": Lowering("SQUEEZE", _add_squeeze),
    "TRANSPOSE": Lowering("TRANSPOSE", traits=_INT8),
}
