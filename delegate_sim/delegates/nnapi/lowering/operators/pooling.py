"""Pooling."""

from __future__ import annotations

from ..builder import PartitionBuilder
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import activation_code, add_integers, padding_code


def _add_pooling(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    builder.add_inputs(node)
    add_integers(builder, padding_code(node), options.stride_w, options.stride_h, options.filter_width, options.filter_height)
    builder.add_int(activation_code(node))
    builder.finish(node)


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "AVERAGE_POOL_2D": Lowering("AVERAGE_POOL_2D", _add_pooling, _INT8),
    "L2_POOL_2D": Lowering("L2_POOL_2D", _add_pooling),
    "MAX_POOL_2D": Lowering("MAX_POOL_2D", _add_pooling, _INT8),
}
