"""Type conversion, quantization, and sparse weights."""

from __future__ import annotations

from contextlib import suppress

from .....graph.graph import NodeView
from .....refusal import Refused
from ...node_predicates import QUANTIZED_TYPES, is_constant_densify, is_runtime_float16_dequantize
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode
from ..operand_types import SCALAR_AS_TENSOR, WIDEN
from ..operator_lowering import Lowering, Lowerings


def _fold_densify(builder: PartitionBuilder, view: NodeView) -> bool:
    """Fold a DENSIFY if it has constant weights, and return whether it was folded.

    The nodes that read the result of a folded DENSIFY unpack the weights.
    """
    if not is_constant_densify(view):
        return False
    if not view.node.outputs:
        raise kernel_error("nnapi-absent-operand", view.node.index)
    builder.densified[view.node.output(0)] = view.node
    return True


def _add_densify(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Raise Refused, because NNAPI has no operation for a DENSIFY that is not folded."""
    raise kernel_error("nnapi-unmapped-operator", node.index, op=node.view.op)


def _fold_dequantize(builder: PartitionBuilder, view: NodeView) -> bool:
    """Fold a DEQUANTIZE if it has float16 weights, and return whether it was folded.

    Constant weights become float32 operands. Sparse weights from a DENSIFY are converted by the nodes that read the weights.
    """
    node = view.node
    if view.is_constant_float16_dequantize:
        with suppress(Refused):
            builder.tensor_operand(node.index, node.input(0), SCALAR_AS_TENSOR | WIDEN)
        return True
    if not is_runtime_float16_dequantize(view):
        return False
    if not node.outputs:
        raise kernel_error("nnapi-absent-operand", node.index)
    builder.widened[node.output(0)] = node
    return True


def _add_quantize(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower QUANTIZE.

    NNAPI quantizes only floats, so a quantized input is dequantized first.
    """
    builder.add_inputs(node)
    if node.view.input(0).type in QUANTIZED_TYPES:
        builder.add_dequantize(node, 0, "FLOAT32")
    builder.finish(node)


LOWERINGS: Lowerings = {
    "CAST": Lowering("CAST"),
    "DENSIFY": Lowering(add=_add_densify, fold=_fold_densify),
    "DEQUANTIZE": Lowering("DEQUANTIZE", fold=_fold_dequantize),
    "QUANTIZE": Lowering("QUANTIZE", _add_quantize),
}
