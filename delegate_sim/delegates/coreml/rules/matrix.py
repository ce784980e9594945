"""Matrix products and diagonals."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import by_reshape
from ....rules.kinds import SHAPE
from ....rules.operands import operand
from ....rules.vocabulary import check, constant, option, typed, where, where_given
from ..kernel import has_missing_bias
from .checks import FLOAT_TYPES, NO_SIGN_BIT, builder, coreml_rule

_WEIGHTS, _BIAS = operand(1, "weight matrix"), operand(2, "bias")


def _several_rows(node: NodeView) -> str | None:
    """Return the input's shape as text, or None if the input is a single row.

    A scalar is not a row.
    """
    source = node.input(0)
    return None if source.shape[-1:] == (source.element_count,) else f"input shape {list(source.shape)}"


def _has_no_missing_bias(node: NodeView) -> bool:
    """Return False if the bias is omitted (operand -1).

    For such a node, the delegate does not check the activation.
    """
    return not has_missing_bias(node)


RULES = {
    "FULLY_CONNECTED": coreml_rule(
        option("weights_format", 0),
        *where_given(_WEIGHTS, typed(_WEIGHTS, FLOAT_TYPES), constant(_WEIGHTS)),
        check(
            SHAPE,
            "one row of input",
            _several_rows,
            by_reshape(
                "run with a batch of 1; for a sequence, use RESHAPE to [1, length, 1, channels], CONV_2D with 1x1 filters and a "
                "second RESHAPE, and set coreml_version to 2"
            ),
        ),
        *where_given(_BIAS, typed(_BIAS, FLOAT_TYPES), constant(_BIAS)),
        *where(_has_no_missing_bias, "unless the bias is omitted (operand -1)", NO_SIGN_BIT),
        source=(builder("fully_connected_op_builder.cc", "IsFullyConnectedOpSupported"),),
        version=6,
    ),
}
