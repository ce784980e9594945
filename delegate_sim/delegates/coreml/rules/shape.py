"""Operators that move elements.

Source: ``IsConcatenationOpSupported`` (``builders/concatenation_op_builder.cc``), ``IsPadOpSupported`` and
``IsMirrorPadOpSupported`` (``builders/pad_op_builder.cc``), ``IsReshapeOpSupported`` (``builders/reshape_op_builder.cc``).
"""

from __future__ import annotations

import numpy as np

from ....graph.graph import NodeView
from ....rules.rule import Check
from ...finders import found_if
from ..target import COREML_3, Target
from .checks import (
    ATTRIBUTE,
    NO_ACTIVATION,
    OPERAND_COUNT,
    RANK,
    SHAPE,
    TARGET_VERSION,
    TENSOR_TYPE,
    check,
    constant_if_present,
    coreml_rule,
    coreml_rules,
    is_left_out,
    of_operand,
)

_REFLECT = 0


def _axis(node: NodeView) -> str | None:
    axis, rank = node.options.axis, node.input(0).rank
    return None if axis in (rank - 1, -1) else f"axis {axis} of {rank} dimensions"


def _padding_shape(node: NodeView) -> str | None:
    if is_left_out(node, 1):
        return None
    shape = node.input(1).shape
    return None if shape[:2] == (4, 2) else f"padding of shape {list(shape)}"


def _padded_outside(first_word: int, name: str) -> Check:
    """No padding of one dimension. Upstream reads words of 32 bits, whatever the type of the padding."""

    def find(node: NodeView) -> str | None:
        padding = node.value(node.input(1))
        if padding is None:
            return None
        words = np.ascontiguousarray(padding).view(np.int32)[first_word : first_word + 2]
        return f"padding {words.tolist()} of the {name}" if words.any() else None

    return check(ATTRIBUTE, f"no padding of the {name}", find, "pad height and width only")


def _mode(node: NodeView) -> str | None:
    return None if node.options.table is not None and node.options.mode == _REFLECT else "a mode other than REFLECT"


def _for_coreml_3(node: NodeView, target: Target) -> str | None:
    return f"Core ML {target.coreml_version}" if target.coreml_version >= COREML_3 else None


def _rank_in_options(node: NodeView) -> str | None:
    """Only the shape in the options counts where the node has no operand for it."""
    if len(node.node.inputs) != 1:
        return None
    rank = len(node.options.new_shape)
    return None if rank in (3, 4) else f"a new shape of {rank} dimensions"


_PADDED = (
    constant_if_present(1, "padding"),
    check(SHAPE, "padding of shape [4, 2]", _padding_shape, "pad a tensor of rank 4"),
    _padded_outside(0, "batch"),
    _padded_outside(6, "channels"),
)

RULES = {
    "CONCATENATION": coreml_rule(
        NO_ACTIVATION,
        check(OPERAND_COUNT, "at least 2 inputs", found_if(lambda node: len(node.node.inputs) < 2, "1 input"), "leave it out"),
        check(RANK, "input 0 of rank 3 or 4", lambda node: None if (rank := node.input(0).rank) in (3, 4) else f"rank {rank}"),
        check(ATTRIBUTE, "the last axis", _axis, "concatenate channels"),
    ),
    **coreml_rules(("PAD", "PADV2"), *_PADDED),
    "MIRROR_PAD": coreml_rule(check(ATTRIBUTE, "mode REFLECT", _mode), *_PADDED),
    "RESHAPE": coreml_rule(
        Check(f"coreml-{TARGET_VERSION}", TARGET_VERSION, "coreml_version 2", _for_coreml_3, "set coreml_version to 2"),
        check(RANK, "a new shape of 3 or 4 dimensions", _rank_in_options),
        constant_if_present(1, "shape"),
        of_operand(
            1,
            TENSOR_TYPE,
            "an INT32 shape of rank 1",
            lambda tensor: None if tensor.type == "INT32" and tensor.rank == 1 else f"{tensor.type} shape of rank {tensor.rank}",
        ),
        of_operand(
            1,
            RANK,
            "a new shape of 3 or 4 dimensions",
            lambda tensor: None if tensor.shape[:1] in ((3,), (4,)) else f"a new shape of {tensor.shape[0]} dimensions",
        ),
    ),
}
