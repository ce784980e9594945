"""Variables, composites and attention.

Source: ``VisitVarHandleNode``, ``VisitAssignVariableNode``, ``VisitReadVariableNode`` and ``VisitDotAttentionNode``
(``delegates/xnnpack/xnnpack_delegate.cc``). Before litert-1.3.0, the delegate accepts these operators only with the flag
variable_operators.

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.kinds import NEIGHBOR, OPERAND_COUNT, OPERATOR, SHAPE
from ....rules.operands import OUTPUT, at_least, operand
from ....rules.rule import Check, OpRule, op_rule
from ....rules.vocabulary import check, check_for_target, rank, refused_if, where_given
from ..target import VALUES, Visit
from .checks import FLOAT32, FLOAT_OR_8_BITS_ARITHMETIC, PREPARATION, SOURCE, method, of_type, of_types, xnnpack_rule


def _conflict(node: NodeView, visit: Visit) -> str | None:
    return visit.variables.conflict(node.input(0), VALUES[node.op].tensor(node))


def _unused_handle(node: NodeView, visit: Visit) -> str | None:
    return None if visit.variables.has_value(node) else "no supported node that reads or assigns the variable"


def _without_flag(node: NodeView, visit: Visit) -> str | None:
    return None if visit.target.has("variable_operators") else f"{node.op} without the flag"


_FLAG = check_for_target(
    OPERATOR, "the flag variable_operators", _without_flag, "set the flag variable_operators"
).before_release("litert-1.3.0")
_RECORDED = PREPARATION.with_branch("GetProxyValue")
_ONE_VALUE = check_for_target(
    NEIGHBOR, "an earlier VAR_HANDLE, and the type and shape of earlier nodes that use the variable", _conflict
).from_source(SOURCE.with_symbol("ResourceInfo::AddProxyValue"))


def _size(tensor: Tensor, dimension: int) -> int:
    return tensor.shape[dimension] if -tensor.rank <= dimension < tensor.rank else 0


def _same_heads(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(0), -1), _size(node.input(position), -1)
        return None if sizes[0] == sizes[1] else f"heads of size {sizes[0]} in the query and {sizes[1]} in the {name}"

    return check(SHAPE, f"heads of the same size in query and {name}", find)


def _same_length(position: int, name: str) -> Check[object]:
    def find(node: NodeView) -> str | None:
        sizes = _size(node.input(position), 1), _size(node.input(3), -1)
        return None if sizes[0] == sizes[1] else f"a sequence of length {sizes[0]} in the {name} and {sizes[1]} in the mask"

    return check(SHAPE, f"a mask with the same sequence length as the {name}", find)


_MASK = operand(3, "mask")
_NAMED_MASK = refused_if(
    OPERAND_COUNT, "a mask", lambda node: len(node.node.inputs) <= _MASK.position, "no mask", "give the operator a mask"
)
_ATTENTION_CHECKS: tuple[Check[Visit], ...] = (
    _NAMED_MASK.before_release("litert-1.2.0"),
    *of_type(operand(0, "query"), FLOAT32),
    *of_type(operand(1, "key"), FLOAT32),
    *of_type(operand(2, "value"), FLOAT32),
    *where_given(_MASK, *of_type(_MASK, FLOAT32)),
    *of_type(OUTPUT, FLOAT32),
    _same_heads(1, "key"),
    _same_heads(2, "value"),
    *where_given(_MASK, _same_length(1, "key"), _same_length(2, "value")),
)
_ATTENTION_SOURCE = (method("VisitDotAttentionNode"), method("VisitScaledDotAttentionCompositeNode"))
ATTENTION = "odml.scaled_dot_product_attention"
ATTENTION_RULE = OpRule(_ATTENTION_CHECKS).from_source(*_ATTENTION_SOURCE)


def _other_composite(node: NodeView) -> str | None:
    name = node.options.name or ""
    return None if name == ATTENTION else f"composite {name!r}"


_COMPOSITE: Check[Visit] = check(
    OPERATOR, f"composite {ATTENTION}", _other_composite, "leave other composites to the CPU"
).from_source(SOURCE)

RULES = {
    "ASSIGN_VARIABLE": xnnpack_rule(
        "VisitAssignVariableNode", _FLAG, *of_types(VALUES["ASSIGN_VARIABLE"], FLOAT_OR_8_BITS_ARITHMETIC), _ONE_VALUE
    ),
    "READ_VARIABLE": xnnpack_rule(
        "VisitReadVariableNode", _FLAG, rank(OUTPUT, at_least(1)), *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC), _ONE_VALUE
    ),
    "VAR_HANDLE": xnnpack_rule(
        "VisitVarHandleNode",
        _FLAG,
        check_for_target(
            NEIGHBOR, "a supported READ_VARIABLE or ASSIGN_VARIABLE for the same variable", _unused_handle
        ).from_source(_RECORDED),
    ).from_source(method("VisitVarHandleNode"), _RECORDED),
    "STABLEHLO_COMPOSITE": op_rule(_COMPOSITE, *_ATTENTION_CHECKS).from_source(*_ATTENTION_SOURCE),
}
