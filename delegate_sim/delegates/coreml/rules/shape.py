"""Operators that move elements: padding, joining and reshaping."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import read_as
from ....rules.kinds import ATTRIBUTE, OPERAND_COUNT, RANK, SHAPE, TENSOR_TYPE
from ....rules.numbers import exactly
from ....rules.operands import INPUT, operand
from ....rules.rule import Check
from ....rules.vocabulary import activation, check, check_for_target, constant, rank, refused_if, where_given
from ..kinds import COREML_VERSION
from ..target import COREML_3, CoreMlTarget
from .checks import builder, coreml_rule

_REFLECT = 0
_PADDING, _SHAPE = operand(1, "padding"), operand(1, "shape")
_PAD_SOURCE = builder("pad_op_builder.cc", "IsPadOpSupported")


def _axis(node: NodeView) -> str | None:
    axis, dimensions = node.options.axis, node.input(0).rank
    return None if axis in (dimensions - 1, -1) else f"axis {axis} of {dimensions} dimensions"


def _padding_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape[:2] == (4, 2) else f"padding of shape {list(shape)}"


def _not_padded(first_word: int, name: str) -> Check[object]:
    """Demand that one dimension is not padded. Upstream reads words of 32 bits, whatever the type of the padding."""

    def find(node: NodeView) -> str | None:
        padding = node.value(node.input(1))
        if padding is None:
            return None
        words = read_as(padding, "<i4")[first_word : first_word + 2]
        return f"padding {words.tolist()} of the {name}" if words.any() else None

    return check(ATTRIBUTE, f"no padding of the {name}", find, "pad height and width only")


def _mode(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.mode == _REFLECT else "a mode other than REFLECT"


def _for_coreml_3(node: NodeView, target: CoreMlTarget) -> str | None:
    return f"Core ML {target.coreml_version}" if target.coreml_version >= COREML_3 else None


def _rank_in_options(node: NodeView) -> str | None:
    """Only the shape in the options counts where the node has no operand for it."""
    if len(node.node.inputs) != 1:
        return None
    found = len(node.options.new_shape)
    return None if found in (3, 4) else f"a new shape of {found} dimensions"


def _shape_type(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.type == "INT32" and shape.rank == 1 else f"{shape.type} shape of rank {shape.rank}"


def _rank_in_operand(node: NodeView) -> str | None:
    shape = node.input(1)
    return None if shape.shape[:1] in ((3,), (4,)) else f"a new shape of {shape.shape[0]} dimensions"


_PADDED = tuple(
    each.from_source(_PAD_SOURCE)
    for each in (
        *where_given(
            _PADDING, constant(_PADDING), check(SHAPE, "padding of shape [4, 2]", _padding_shape, "pad a tensor of rank 4")
        ),
        _not_padded(0, "batch"),
        _not_padded(6, "channels"),
    )
)

RULES = {
    "CONCATENATION": coreml_rule(
        activation(("NONE",)),
        refused_if(
            OPERAND_COUNT,
            "at least 2 inputs",
            lambda node: len(node.node.inputs) < 2,
            "1 input",
            "remove the operator, which does nothing with one input",
        ),
        rank(INPUT, exactly(3, 4)),
        check(ATTRIBUTE, "the last axis", _axis, "concatenate channels"),
        source=(builder("concatenation_op_builder.cc", "IsConcatenationOpSupported"),),
    ),
    "MIRROR_PAD": coreml_rule(
        check(ATTRIBUTE, "mode REFLECT", _mode), *_PADDED, source=(_PAD_SOURCE.with_symbol("IsMirrorPadOpSupported"), _PAD_SOURCE)
    ),
    "PAD": coreml_rule(*_PADDED, source=(_PAD_SOURCE,)),
    "PADV2": coreml_rule(*_PADDED, source=(_PAD_SOURCE,)),
    "RESHAPE": coreml_rule(
        check_for_target(COREML_VERSION, "coreml_version 2", _for_coreml_3),
        check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_options),
        *where_given(
            _SHAPE,
            constant(_SHAPE),
            check(TENSOR_TYPE, "an INT32 shape of rank 1", _shape_type, "store the shape as an INT32 vector"),
            check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_operand),
        ),
        source=(builder("reshape_op_builder.cc", "IsReshapeOpSupported"),),
    ),
}
