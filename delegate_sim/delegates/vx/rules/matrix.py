"""Matrix products and diagonals."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, HYBRID, TENSOR_TYPE
from ....rules.vocabulary import check, option, refused_if
from .checks import SAME_TYPES, not_of_type, of_inputs, vx_rule


def _mixed_matrices(node: NodeView) -> str | None:
    first, second = node.input(0).type, node.input(1).type
    return f"{first} and {second} inputs" if {first, second} == {"FLOAT32", "INT8"} else None


NO_INT32_OUTPUT = refused_if(
    TENSOR_TYPE, "an output that is not INT32", lambda node: node.output(0).type == "INT32", "an INT32 output"
)
_NO_FLOAT_WITH_INT8 = check(HYBRID, "inputs of any types except FLOAT32 with INT8", _mixed_matrices, "quantize both, or neither")
NOT_BOTH_ADJOINT = refused_if(
    ATTRIBUTE,
    "at most one of adj_x and adj_y",
    lambda node: bool(node.options.adj_x and node.options.adj_y),
    "adj_x and adj_y",
    "swap the operands and transpose the result",
)

RULES = {
    "BATCH_MATMUL": vx_rule("BatchMatmul::IsOpSupported", NO_INT32_OUTPUT, _NO_FLOAT_WITH_INT8, NOT_BOTH_ADJOINT),
    "FULLY_CONNECTED": vx_rule(
        "FullyConnectedMapper::IsOpSupported",
        SAME_TYPES,
        option("weights_format", 0),
        *of_inputs(not_of_type("INT16", hint="quantize activations to 8 bits")),
    ),
}
