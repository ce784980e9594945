"""Slices that are read, and slices that are written."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import SHAPE
from ....rules.numbers import at_least, at_most
from ....rules.vocabulary import option
from ...gpu_compatibility.checks import Found, asked
from ..demands.reading import integers
from .checks import (
    FIRST,
    INT32,
    SECOND,
    THIRD,
    all_given,
    computed,
    counts,
    entry,
    inputs,
    outcome,
    ranked_parts,
    resolved,
    rule,
    shaped,
    stored,
    typed_parts,
    versions,
)

# Cutting


def _unlike_starts(node: NodeView) -> Found | None:
    starts, sizes, source = node.input(1).shape, node.input(2).shape, node.input(0).shape
    found = f"{starts[0]} starts and {sizes[0]} sizes for an input of rank {len(source)}"
    if starts != sizes:
        return Found(found, "Begin and size tensors must have the same number of elements")
    if starts[0] != len(source):
        return Found(found, "Begin tensor elements must be equal to input tensor rank")
    ends = [begin + size for begin, size in zip(integers(node, 1), integers(node, 2), strict=False)]
    outside = next((axis for axis, (end, size) in enumerate(zip(ends, source, strict=False)) if end > size), None)
    if outside is None:
        return None
    return Found(f"a slice to {ends} of {list(source)}", f"Slice is out of bounds for dimension {outside}")


def _bounds(node: NodeView) -> Found | None:
    found = [node.input(position).shape[0] for position in (1, 2, 3)]
    said = "Begin, end, and strides tensors must have the same number of elements"
    return None if len(set(found)) == 1 else Found(f"{found[0]} starts, {found[1]} ends and {found[2]} strides", said)


def _unlike_cut(node: NodeView) -> Found | None:
    """Without a bound for the batch all of it is taken."""
    source, result = list(node.input(0).shape), list(node.output(0).shape)
    starts, ends, strides = (integers(node, position) for position in (1, 2, 3))
    begin_mask, end_mask = int(node.options.begin_mask), int(node.options.end_mask)
    if len(starts) == len(source) - 1:
        starts, ends, strides = [0, *starts], [source[0], *ends], [1, *strides]
        begin_mask, end_mask = begin_mask << 1, end_mask << 1
    elif len(starts) != len(source):
        said = "Slice parameter rank must match input rank or be one less (for implicit batch)"
        return Found(f"{len(starts)} starts for an input of rank {len(source)}", said)
    expected = []
    for axis, size in enumerate(source):
        begin = 0 if begin_mask >> axis & 1 else resolved(starts[axis], size)
        end = size if end_mask >> axis & 1 else resolved(ends[axis], size)
        if strides[axis] <= 0:
            said = f"Strides must be positive. Negative strides ({strides[axis]}) are not supported."
            return Found(f"stride {strides[axis]}", said)
        expected.append(int((end - begin + strides[axis] - 1) / strides[axis]))
    found = f"a slice of shape {expected} and output {result}"
    if len(result) != len(expected):
        return Found(found, "Output tensor rank mismatch")
    for axis, size in enumerate(expected):
        if result[axis] != size:
            return Found(found, f"Output shape mismatch at dimension {axis}. Expected {size}, got {result[axis]}")
    return None


_FOURTH = entry(3)
SLICE = rule(
    "slice",
    "IsSliceSupported",
    versions(at_most(8)),
    *counts(3),
    *all_given(),
    *computed(FIRST),
    *stored(SECOND),
    shaped(SECOND, "linear"),
    *stored(THIRD),
    shaped(THIRD, "linear"),
    *ranked_parts(0, 5, FIRST),
    *ranked_parts(1, 1, SECOND, THIRD),
    asked(SHAPE, "a start and a size for each dimension, inside the input", _unlike_starts),
)
STRIDED_SLICE = rule(
    "strided_slice",
    "IsStridedSliceSupported",
    versions(at_most(2)),
    inputs(at_least(4), "Requires at least 4 inputs, got {}"),
    option("ellipsis_mask", 0, hint="write the slice without an ellipsis").saying("ellipsis_mask is not supported"),
    option("new_axis_mask", 0, hint="add the dimension with RESHAPE").saying("new_axis_mask is not supported"),
    option("shrink_axis_mask", 0, hint="drop the dimension with RESHAPE").saying("shrink_axis_mask are not supported"),
    *all_given(),
    *computed(FIRST),
    *stored(SECOND),
    shaped(SECOND, "linear"),
    *stored(THIRD),
    shaped(THIRD, "linear"),
    *stored(_FOURTH),
    shaped(_FOURTH, "linear"),
    *ranked_parts(0, 4, FIRST),
    *typed_parts(INT32, SECOND, THIRD, _FOURTH),
    *ranked_parts(1, 1, SECOND, THIRD, _FOURTH),
    asked(SHAPE, "as many starts as ends and strides", _bounds),
    asked(SHAPE, "positive strides, and an output of the size that is cut out", _unlike_cut),
)

_OPERAND, _UPDATE, _STARTS = entry(0, "operand"), entry(1, "update"), entry(2, "start_indices")


def _too_large(node: NodeView) -> Found | None:
    operand, update = node.input(0).shape, node.input(1).shape
    found = f"update {list(update)} of an input {list(operand)}"
    if len(update) > len(operand):
        return Found(found, "Update tensor rank cannot be greater than operand tensor rank.")
    if all(size <= most for size, most in zip(reversed(update), reversed(operand), strict=False)):
        return None
    return Found(found, "Update shape must be less than or equal to the operand shape.")


DYNAMIC_UPDATE_SLICE = rule(
    "dynamic_update_slice",
    "IsDynamicUpdateSliceSupported",
    versions(at_most(1)),
    *counts(3),
    *computed(_STARTS),
    *ranked_parts(0, 4, _OPERAND, _UPDATE, _STARTS, outcome(0, "output")),
    asked(SHAPE, "an update that fits into the input", _too_large),
)
