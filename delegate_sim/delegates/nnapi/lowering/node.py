"""A node while it is mapped: how its tensors become operands (``AddOpsAndTensors``, ``delegates/nnapi/nnapi_delegate.cc``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from ....graph.graph import NodeView
from ..node_predicates import is_hybrid
from ..target import NNAPI_1_3
from .builder import PartitionBuilder
from .operand_types import CONVERT_INT8, SCALAR_AS_TENSOR, SIGNED, WIDEN

_TAKES_SCALARS = frozenset({
    "ADD", "MUL", "SUB", "DIV", "EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "POW", "MAXIMUM",
    "MINIMUM", "PRELU", "LEAKY_RELU",
})  # fmt: skip
"""``IsScalarInputSupported``."""

_CONVERTS_INT8 = frozenset({
    "ADD", "ARG_MAX", "ARG_MIN", "AVERAGE_POOL_2D", "BATCH_TO_SPACE_ND", "CONCATENATION", "DEPTH_TO_SPACE", "EQUAL",
    "EXPAND_DIMS", "GATHER", "GREATER", "GREATER_EQUAL", "HARD_SWISH", "L2_NORMALIZATION", "LEAKY_RELU", "LESS",
    "LESS_EQUAL", "LOGISTIC", "MAXIMUM", "MAX_POOL_2D", "MEAN", "MINIMUM", "MUL", "NOT_EQUAL", "PAD", "PADV2", "PRELU",
    "REDUCE_MAX", "REDUCE_MIN", "RELU", "RELU6", "RELU_N1_TO_1", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
    "SLICE", "SOFTMAX", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "STRIDED_SLICE", "SUB", "TANH", "TILE", "TOPK_V2",
    "TRANSPOSE",
})  # fmt: skip
"""``NeedInt8Conversion``, where the type of the first operand alone decides."""

_WEIGHTED = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})

_CONVERTS_ALL_INPUTS = frozenset({
    "FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "MUL", "SUB", "CONCATENATION", "MAXIMUM", "MINIMUM",
    "LEAKY_RELU", "LESS", "LESS_EQUAL", "PRELU", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL", "SELECT",
})  # fmt: skip
"""Operators of which not only the first operand is converted."""


class MappedNode:
    """A node, and how its operands and results are mapped at a feature level."""

    __slots__ = ("_flags", "_widens_from", "converts_int8", "is_hybrid", "node", "output_flags", "view")

    def __init__(self, view: NodeView, target_feature_level: int) -> None:
        self.view = view
        self.node = view.node
        self.is_hybrid = is_hybrid(view)
        has_signed = target_feature_level >= NNAPI_1_3
        self.converts_int8 = not has_signed and converts_int8(view)
        signed = SIGNED if has_signed and not self.is_hybrid else 0
        self._flags = (SCALAR_AS_TENSOR if view.op in _TAKES_SCALARS else 0) | signed
        self.output_flags = (CONVERT_INT8 if self.converts_int8 else 0) | signed
        self._widens_from = next(
            (position for position, tensor in enumerate(view.inputs) if tensor.type == "FLOAT16" and tensor.is_constant),
            math.inf,
        )

    def flags(self, position: int) -> int:
        """How an operand is mapped. From the first constant float16 operand on, all such operands are widened."""
        flags = self._flags
        if position >= self._widens_from:
            flags |= WIDEN
        if self.converts_int8 and (position == 0 or self.view.op in _CONVERTS_ALL_INPUTS):
            flags |= CONVERT_INT8
        return flags

    def add(self, partition: PartitionBuilder, position: int) -> None:
        """Add the operand at a position as an input of the operation."""
        partition.add_input(self.node, self.node.input(position), self.flags(position), self.is_hybrid)


def converts_int8(view: NodeView) -> bool:
    """``NeedInt8Conversion``."""
    match view.op:
        case op if op in _WEIGHTED:
            weights = view.input(1)
            quantization = weights.quantization
            is_affine = quantization is not None and quantization.is_affine
            return view.input(0).type == "INT8" and weights.type in ("INT8", "UINT8") and is_affine
        case "TRANSPOSE_CONV":
            # The original looks at tensor 2 of the graph where operand 2 of the node is meant.
            return view.graph.tensors[2].type == "INT8"
        case "SELECT":
            return view.input(1).type == "INT8"
        case op if op in _CONVERTS_INT8:
            return view.input(0).type == "INT8"
    return False


NodeStep: TypeAlias = Callable[[PartitionBuilder, MappedNode], None]
"""A step in mapping one node."""
