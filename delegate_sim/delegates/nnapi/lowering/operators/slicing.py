"""Slicing and reversal."""

from __future__ import annotations

from ..builder import PartitionBuilder
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import add_integers


def _add_strided_slice(builder: PartitionBuilder, node: LoweredNode) -> None:
    options = node.options
    builder.add_inputs(node)
    add_integers(builder, options.begin_mask, options.end_mask, options.shrink_axis_mask)
    builder.finish(node)


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "REVERSE_V2": Lowering("REVERSE"),
    "SLICE": Lowering("SLICE", traits=_INT8),
    "STRIDED_SLICE": Lowering("STRIDED_SLICE", _add_strided_slice, _INT8),
}
