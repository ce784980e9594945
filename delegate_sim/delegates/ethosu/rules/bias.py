"""Checks of the bias of convolutions and FULLY_CONNECTED."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import bounds
from ....rules.kinds import OPERAND_VALUE
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, rank, typed, where, where_given
from .checks import reads, upstream

_LARGEST, _SMALLEST = 0xFFFFFFFFFF, -0x7FFFFFFFFF


def bias(position: int) -> tuple[Check[object], ...]:
    """Require that a bias is a vector of INT32 numbers, or of INT64 numbers that fit into 40 bits."""
    which = operand(position, "bias")

    def is_int64(node: NodeView) -> bool:
        return which.tensor(node).type == "INT64"

    def large(node: NodeView) -> str | None:
        values = node.value(which.tensor(node))
        if values is None or not len(values):
            return None
        least, greatest = bounds(values)
        if least >= _SMALLEST and greatest <= _LARGEST:
            return None
        return next(f"bias {value}" for value in values if not _SMALLEST <= value <= _LARGEST)

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
