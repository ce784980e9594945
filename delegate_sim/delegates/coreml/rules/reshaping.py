"""Reshaping, transposing, and moving blocks between dimensions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import RANK, TENSOR_TYPE
from ....rules.operands import operand
from ....rules.vocabulary import check, check_for_target, constant, where_given
from ..kinds import COREML_VERSION
from ..target import COREML_3, CoreMlTarget
from .checks import builder, coreml_rule

_SHAPE = operand(1, "shape")


def _for_coreml_3(node: NodeView, target: CoreMlTarget) -> str | None:
    return f"Core ML {target.coreml_version}" if target.coreml_version >= COREML_3 else None


def _rank_in_options(node: NodeView) -> str | None:
    """Return the rank of the new shape in the options as text, or None if the delegate supports this rank.

    The delegate reads the options only if the node has no shape operand.
    """
    if len(node.node.inputs) != 1:
        return None
    count = len(node.options.new_shape)
    return None if count in (3, 4) else f"a new shape of {count} dimensions"


def _shape_type(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.type == "INT32" and shape.rank == 1 else f"{shape.type} shape of rank {shape.rank}"


def _rank_in_operand(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.shape[:1] in ((3,), (4,)) else f"a new shape of {shape.shape[0]} dimensions"


RULES = {
    "RESHAPE": coreml_rule(
        check_for_target(COREML_VERSION, "coreml_version 2", _for_coreml_3),
        check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_options),
        *where_given(
            _SHAPE,
            constant(_SHAPE),
            check(TENSOR_TYPE, "an INT32 shape of rank 1", _shape_type, in_code("store the shape as an INT32 vector")),
            check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_operand),
        ),
        source=(builder("reshape_op_builder.cc", "IsReshapeOpSupported"),),
    ),
}
