"""Padding."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....model.numbers import read_as
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.operands import operand
from ....rules.rule import Check
from ....rules.vocabulary import check, constant, where_given
from .checks import builder, coreml_rule

_REFLECT = 0
_PADDING = operand(1, "padding")
_PAD_SOURCE = builder("pad_op_builder.cc", "IsPadOpSupported")


def _padding_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape[:2] == (4, 2) else f"padding of shape {list(shape)}"


def _not_padded(first_word: int, name: str) -> Check[object]:
    """Require that one dimension is not padded.

    Upstream reads the padding as 32-bit words, even if the padding has another type.
    """

    def find(node: NodeView) -> str | None:
        padding = node.value(node.input(1))
        if padding is None:
            return None
        words = read_as(padding, "<i4")[first_word : first_word + 2]
        return f"padding {words.tolist()} of the {name}" if words.any() else None

    return check(ATTRIBUTE, f"no padding of the {name}", find, "pad height and width only")


def _mode(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.mode == _REFLECT else "a mode other than REFLECT"


_PADDED = tuple(
    check_.from_source(_PAD_SOURCE)
    for check_ in (
        *where_given(
            _PADDING, constant(_PADDING), check(SHAPE, "padding of shape [4, 2]", _padding_shape, "pad only tensors of rank 4")
        ),
        _not_padded(0, "batch"),
        _not_padded(6, "channels"),
    )
)

RULES = {
    "MIRROR_PAD": coreml_rule(
        check(ATTRIBUTE, "mode REFLECT", _mode), *_PADDED, source=(_PAD_SOURCE.with_symbol("IsMirrorPadOpSupported"), _PAD_SOURCE)
    ),
    "PAD": coreml_rule(*_PADDED, source=(_PAD_SOURCE,)),
    "PADV2": coreml_rule(*_PADDED, source=(_PAD_SOURCE,)),
}
