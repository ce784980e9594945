"""Gathering, searching and lookup."""

from __future__ import annotations

from ..builder import PartitionBuilder
from ..node import LoweredNode, OperandTraits, first_is_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import first_integer

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


_INT8 = OperandTraits(converts_int8=first_is_int8)

LOWERINGS: Lowerings = {
    "EMBEDDING_LOOKUP": Lowering("EMBEDDING_LOOKUP"),
    "GATHER": Lowering("GATHER", _add_gather, _INT8),
    "HASHTABLE_LOOKUP": Lowering("HASHTABLE_LOOKUP"),
    "LSH_PROJECTION": Lowering("LSH_PROJECTION", _add_projection),
    "TOPK_V2": Lowering("TOPK_V2", _add_topk, _INT8),
}
