"""Reshaping, transposing, and moving blocks between dimensions.

Source: ``VisitReshapeNode``, ``VisitTransposeNode``, ``VisitDepthToSpaceNode`` and ``VisitSpaceToDepthNode``
(``delegates/xnnpack/xnnpack_delegate.cc``).

A supported node can still fail when its kernel is created (see ``kernel_creation.py``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, QUANTIZATION, SHAPE
from ....rules.number_sets import at_least, between
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check, option, where
from ..scales import other_parameters
from .checks import ANY_RANK, INPUT, MAX_RANK, counting_from, elements_of, integers, operands, shaped, stored, xnnpack_rule
from .types import FLOAT32_OR_8_BITS, FLOAT_OR_8_BITS_ARITHMETIC, FLOAT_OR_8_BITS_LAYERS, of_types
from .upstream import in_method

_NEW_SHAPE = operand(1, "shape")


def _has_new_shape(node: NodeView) -> bool:
    return len(node.node.inputs) == 2


def _rescaled_reshape(node: NodeView) -> str | None:
    output = node.output(0)
    return other_parameters(node.input(0), output) if output.type in ("INT8", "UINT8") else None


def _many_dimensional_shape(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return f"a shape operand of shape {list(shape)}" if any(size != 1 for size in shape[:-1]) else None


def _legacy_scalar(node: NodeView) -> str | None:
    """Return the new shape as text if the shape is [0] or [-1], an old notation for scalars; otherwise None."""
    sizes = elements_of(node, 1) if _has_new_shape(node) else node.options.new_shape or ()
    return f"shape {list(sizes)}" if len(sizes) == 1 and sizes[0] in (0, -1) else None


_PERMUTATION = operand(1, "permutation")


def _not_in_blocks(node: NodeView) -> str | None:
    shape, size = node.input(0).shape, node.options.block_size
    return f"an input of shape {list(shape)} and block_size {size}" if any(length % size for length in shape[1:3]) else None


RULES = {
    "DEPTH_TO_SPACE": xnnpack_rule(
        "VisitDepthToSpaceNode",
        operands(1),
        *of_types(INPUT, FLOAT_OR_8_BITS_LAYERS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
    ),
    "RESHAPE": xnnpack_rule(
        "VisitReshapeNode",
        operands(between(1, 2)),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(INPUT, ANY_RANK),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *shaped(OUTPUT, ANY_RANK),
        check(QUANTIZATION, "the same scale and zero point in input and output if the output has 8 bits", _rescaled_reshape),
        *where(
            _has_new_shape,
            "if given",
            integers(_NEW_SHAPE, "INT32"),
            *in_method(
                "CheckShapeTensorShape",
                check(SHAPE, "a shape operand with size 1 in all dimensions except the last", _many_dimensional_shape),
            ),
            stored(_NEW_SHAPE),
        ),
        check(
            OPERAND_VALUE, "a shape other than [0] and [-1]", _legacy_scalar, "write the number of elements instead of -1"
        ).from_release("litert-2.1.3"),
    ),
    "SPACE_TO_DEPTH": xnnpack_rule(
        "VisitSpaceToDepthNode",
        operands(1),
        *of_types(INPUT, FLOAT32_OR_8_BITS),
        *of_types(OUTPUT, FLOAT_OR_8_BITS_LAYERS),
        option("block_size", at_least(2)),
        check(SHAPE, "a height and a width that are multiples of block_size", _not_in_blocks),
    ),
    "TRANSPOSE": xnnpack_rule(
        "VisitTransposeNode",
        operands(2),
        *of_types(INPUT, FLOAT_OR_8_BITS_ARITHMETIC),
        *counting_from("litert-2.0.2", *shaped(INPUT, between(1, MAX_RANK))),
        stored(_PERMUTATION),
    ),
}
