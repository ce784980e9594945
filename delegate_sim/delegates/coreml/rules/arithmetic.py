"""Elementwise arithmetic, comparison, logic and selection."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import BROADCAST, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.vocabulary import check, given
from ..kernel import MAX_RANK, is_constant_number
from .checks import builder, coreml_rule

_SOURCE = builder("util.cc", "IsBinaryOpSupported")


def _second_operand_type(node: NodeView) -> str | None:
    second = node.input(1)
    if second.type == "FLOAT32" or (second.type == "FLOAT16" and second.is_constant):
        return None
    return f"input 1 is {second.type}, {'constant' if second.is_constant else 'not constant'}"


def _shape_4d(tensor: Tensor) -> tuple[int, ...]:
    return (1,) * (4 - tensor.rank) + tensor.shape


def _not_broadcast(node: NodeView) -> str | None:
    """Return the shapes of the operands as text, or None if Core ML can broadcast them.

    Before LiteRT 2.1.6, the delegate reads memory behind shapes with more than four dimensions. The memory's content is unknown,
    so the rule refuses these shapes.
    """
    first, second = node.input(0), node.input(1)
    description = f"shapes {list(first.shape)} and {list(second.shape)}"
    if max(first.rank, second.rank) > MAX_RANK:
        return description
    batch, *area, channels = zip(_shape_4d(first), _shape_4d(second), strict=True)
    has_number = is_constant_number(node, 0) or is_constant_number(node, 1)
    first_area, second_area = zip(*area, strict=True)
    if batch[0] != batch[1] and not has_number:
        return description
    if first_area != second_area and (1, 1) not in (first_area, second_area):
        return description
    return description if channels[0] != channels[1] and 1 not in channels else None


_BINARY = (
    given(operand(1)),
    check(TENSOR_TYPE, "input 1 of type FLOAT32, or a FLOAT16 constant", _second_operand_type).from_source(
        _SOURCE.with_symbol("IsBinaryOpSupportedType")
    ),
    check(BROADCAST, "shapes that Core ML broadcasts", _not_broadcast).from_source(_SOURCE.with_symbol("IsBroadcastable")),
)

RULES = {
    "ADD": coreml_rule(*_BINARY, source=(_SOURCE,)),
    "MUL": coreml_rule(*_BINARY, source=(_SOURCE,)),
}
