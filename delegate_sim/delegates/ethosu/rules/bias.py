"""Checks of the bias of convolutions and FULLY_CONNECTED."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, rank, typed, where, where_given
from .checks import reads, upstream, values_of

_LARGEST, _SMALLEST = 0xFFFFFFFFFF, -0x7FFFFFFFFF


def bias(position: int) -> tuple[Check[object], ...]:
    """Require that a bias is a vector of INT32 numbers, or of INT64 numbers that fit into 40 bits."""
    which = operand(position, "bias")

    def is_int64(node: NodeView) -> bool:
        return which.tensor(node).type == "INT64"

    def large(node: NodeView) -> str | None:
        values = values_of(node, which.tensor(node))
        return next((f"bias {value}" for value in values if not _SMALLEST <= value <= _LARGEST), None)

    return upstream(
        "ConstraintBias",
        *where_given(
            which,
            rank(which, 1),
            typed(which, ("INT32", "INT64"), hint="quantize the bias to INT32"),
            *where(
                is_int64,
                "if INT64",
                reads(which),
                check(OPERAND_VALUE, "a bias within 40 bits", large, "use a bias within 40 bits"),
            ),
        ),
    )
