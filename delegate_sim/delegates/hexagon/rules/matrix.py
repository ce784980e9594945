"""Matrix products and diagonals."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import CONSTANT, QUANTIZATION
from ....rules.vocabulary import check, option
from .checks import QUANT8, RELU_ACTIVATION, UP_TO_4, hexagon_rule, inputs


def _weights_with_many_scales(node: NodeView) -> str | None:
    weights = node.input(1)
    if weights.quantization is not None and weights.quantization.kind == "blockwise":
        return "weights quantized in blocks"
    return "weights with one scale per channel" if weights.is_per_channel else None


def _variable_bias(node: NodeView) -> str | None:
    is_variable = node.node.input(2) >= 0 and not node.input(2).is_constant
    return "bias is not constant" if is_variable else None


RULES = {
    "FULLY_CONNECTED": hexagon_rule(
        *inputs(QUANT8, QUANT8, ("INT32", "NO_TYPE")),
        check(QUANTIZATION, "weights with one scale", _weights_with_many_scales).from_release("litert-2.1.5"),
        check(CONSTANT, "a constant bias, or none", _variable_bias),
        RELU_ACTIVATION,
        option("keep_num_dims", 0, hint=by_reshape("flatten the input with RESHAPE")),
        option("weights_format", 0),
        version_in=UP_TO_4,
    ),
}
