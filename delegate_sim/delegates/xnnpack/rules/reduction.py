"""Reductions along axes (``VisitReduceNode``, ``delegates/xnnpack/xnnpack_delegate.cc``)."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.rule import OpRule
from .checks import (
    FLOAT16_LAYERS,
    FLOAT32,
    FLOAT32_OR_8_BITS,
    INPUT,
    MAX_RANK,
    OUTPUT,
    RANK,
    SHAPE,
    VALUE,
    check,
    constant,
    counting_before,
    integers,
    operand,
    operands,
    typed,
    where,
)

_FLOAT_OR_8_BITS = FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_LAYERS)
_AXES = operand(1, "axes")


def _axes_of_many_dimensions(node: NodeView) -> str | None:
    rank = node.input(1).rank
    return f"axes of rank {rank}" if rank > 1 else None


def _no_axes(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    return "no axes" if axes is None or not len(axes) else None


def _axis_of_scalar(node: NodeView) -> str | None:
    axes = node.value(node.input(1))
    is_first = axes is not None and len(axes) == 1 and axes[0] == 0
    return "axis 0 of a scalar" if is_first and not node.input(0).shape else None


def _too_many_axes(node: NodeView) -> str | None:
    count = node.input(1).element_count
    return f"{count} axes" if count > MAX_RANK else None


_REDUCTION = OpRule(
    (
        operands(2),
        *typed(INPUT, _FLOAT_OR_8_BITS),
        integers(_AXES, "INT32"),
        check(RANK, "axes of rank at most 1", _axes_of_many_dimensions),
        constant(_AXES),
        check(SHAPE, "axes", _no_axes).from_release("litert-2.0.2"),
        check(SHAPE, "axes of dimensions that there are", _axis_of_scalar).from_release("litert-2.1.5"),
        check(SHAPE, f"at most {MAX_RANK} axes", _too_many_axes).from_release("litert-2.1.5"),
        *typed(OUTPUT, _FLOAT_OR_8_BITS),
    )
)

_SPATIAL_AXES = [1, 2]


def _beyond_image(node: NodeView) -> str | None:
    axes, source, output = node.value(node.input(1)), node.input(0), node.output(0)
    found = [] if axes is None else sorted(axes.tolist())
    if found == _SPATIAL_AXES and source.rank == 4 and output.rank == (4 if node.options.keep_dims else 2):
        return None
    return f"axes {found} of {list(source.shape)} to {list(output.shape)}"


# These are measured, not read.
_OF_IMAGE = check(VALUE, "axes 1 and 2 of an input of rank 4", _beyond_image).before_release("litert-1.1.0")
_8_BITS_OF_IMAGE = where(lambda node: node.input(0).type in ("INT8", "UINT8"), "with an 8-bit input", _OF_IMAGE)

RULES = {
    "MEAN": OpRule((*_REDUCTION.checks, _8_BITS_OF_IMAGE)),
    "SUM": OpRule((*_REDUCTION.checks, *counting_before("litert-1.1.0", *typed(INPUT, FLOAT32)), _OF_IMAGE)),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN"), _REDUCTION.from_release("litert-1.3.0")),
}
