"""Operators that add elements around a tensor."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION, SHAPE
from ...rules.number_sets import at_most, exactly
from ...rules.operands import INPUT, OUTPUT, operand
from ...rules.vocabulary import check, operand_count, rank, same_type, where
from ..checks import (
    FLOAT32_INT8,
    FLOAT32_INT8_INT16_INT32,
    INT8,
    SAME_TYPES,
    as_int32,
    dimension,
    fixed,
    of_type,
    one_element,
    same_parameters,
    takes,
)
from ..kernel import MicroKernel, in_source
from ..kinds import TENSOR_TYPE
from ..quantization import zero_point

_PADDINGS, _VALUE = operand(1, "paddings"), operand(2, "constant_values")


def _mirror_count(node: NodeView) -> str | None:
    count, dims = dimension(node.input(1), 0), node.input(0).rank
    return None if count == dims else f"paddings for {count} dimensions and input of rank {dims}"


def _padding_count(node: NodeView) -> str | None:
    count, dims = node.input(1).element_count, node.output(0).rank
    return None if count == 2 * dims else f"{count} paddings and output of rank {dims}"


def _padded_shape(node: NodeView) -> str | None:
    values = as_int32(node, node.input(1))
    if values is None:
        return None
    source, result = node.input(0).shape, node.output(0).shape
    if len(source) != len(result) or len(values) < 2 * len(result):
        return None
    padded = tuple(size + values[2 * axis] + values[2 * axis + 1] for axis, size in enumerate(source))
    return None if padded == result else f"output of shape {list(result)} for a padded shape {list(padded)}"


def _large_zero_point(node: NodeView) -> str | None:
    point = zero_point(node.output(0))
    return None if -128 <= point <= 127 else f"output with zero point {point}"


def _has_value(node: NodeView) -> bool:
    return len(node.node.inputs) == 3 and _VALUE.is_given(node)


_WITH_VALUE = "with constant_values"


def _pad() -> MicroKernel:
    return MicroKernel(
        in_source(
            "pad_common.cc",
            "PadPrepare",
            operand_count(exactly(2, 3), 1),
            SAME_TYPES,
            rank(INPUT, at_most(5)),
            *where(_has_value, _WITH_VALUE, same_type(INPUT, _VALUE, kind=TENSOR_TYPE), one_element(_VALUE)),
            check(SHAPE, "paddings with two elements for each dimension of output", _padding_count),
            fixed(_PADDINGS),
            check(SHAPE, "an output of the padded shape", _padded_shape),
            *of_type(
                INPUT,
                INT8,
                *where(
                    lambda node: not _has_value(node),
                    "without constant_values",
                    check(QUANTIZATION, "output with a zero point from -128 to 127", _large_zero_point),
                ),
                *where(_has_value, _WITH_VALUE, *reversed(same_parameters(OUTPUT, _VALUE))),
            ),
        ),
        in_source("pad.cc", "PadEval", takes(INPUT, FLOAT32_INT8_INT16_INT32)),
    )


KERNELS = {
    "MIRROR_PAD": MicroKernel(
        in_source(
            "mirror_pad.cc",
            "MirrorPadPrepare",
            rank(_PADDINGS, 2),
            check(SHAPE, "paddings for each dimension of input", _mirror_count),
        ),
        in_source("mirror_pad.cc", "MirrorPadEval", takes(OUTPUT, FLOAT32_INT8)),
        scratch=lambda node: (4 * node.input(0).rank,) * 2,
    ),
    "PAD": _pad(),
    "PADV2": _pad(),
}
