"""Matrix products."""

from __future__ import annotations

from ...node_predicates import hybrid_with_weights
from ..builder import PartitionBuilder, kernel_error
from ..node import LoweredNode, OperandTraits, weights_are_int8
from ..operator_lowering import Lowering, Lowerings
from ..parameters import activation_code, add_zero_bias

_WEIGHTS = (1, 2)
"""Positions of the operands that are dequantized if the input is float."""


def _add_batch_matmul(builder: PartitionBuilder, node: LoweredNode) -> None:
    builder.add_inputs(node)
    builder.add_bool(node.options.adj_x)
    builder.add_bool(node.options.adj_y)
    builder.finish(node)


def _add_fully_connected(builder: PartitionBuilder, node: LoweredNode) -> None:
    """Lower FULLY_CONNECTED.

    An omitted bias becomes zeros. NNAPI's result has two dimensions, so a RESHAPE follows if ``keep_num_dims`` is set.
    """
    for position, index in enumerate(node.inputs):
        if index >= 0:
            builder.add_input(node, position)
    if len(node.inputs) != 3 or node.operand(2) < 0:
        add_zero_bias(builder, node, 0, 1, (*node.view.input(1).shape, 0)[0])
    builder.add_int(activation_code(node))
    if not node.options.keep_num_dims:
        builder.add_outputs(node)
        builder.add_dequantized_weights(node, _WEIGHTS)
        builder.add_operation(node, "FULLY_CONNECTED")
        return
    flat = [_add_flat_result(builder, node, position) for position in range(len(node.outputs))]
    builder.add_dequantized_weights(node, _WEIGHTS)
    builder.add_operation(node, "FULLY_CONNECTED")
    if flat:
        builder.append_reshape(node, flat[-1])


def _add_flat_result(builder: PartitionBuilder, node: LoweredNode, position: int) -> int:
    result = node.view.output(position)
    units = result.shape[-1] if result.shape else 0
    if not units:
        raise kernel_error("nnapi-division-by-zero", node.index, result)
    shape = (result.element_count // units, units)
    return builder.add_intermediate(node, result, shape, result.scale, result.zero_point)


LOWERINGS: Lowerings = {
    "BATCH_MATMUL": Lowering("BATCH_MATMUL", _add_batch_matmul),
    "FULLY_CONNECTED": Lowering(
        "FULLY_CONNECTED",
        _add_fully_connected,
        OperandTraits(converts_int8=weights_are_int8, converts_all_inputs=True, is_hybrid=hybrid_with_weights(1)),
    ),
}
