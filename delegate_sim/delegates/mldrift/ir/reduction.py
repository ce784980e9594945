"""Reductions, positions and sums along an axis."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import OPERAND_VALUE, SHAPE
from ....rules.rule import OpRule
from ....rules.vocabulary import check
from ...gpu_compatibility.checks import Found, asked, joined
from ..demands.reading import integers
from .checks import (
    FIRST,
    HALF,
    INT32,
    MOVED,
    RESULT,
    SECOND,
    all_given,
    computed,
    counts,
    outcome,
    ranked_parts,
    resolved,
    rule,
    stored,
    typed_parts,
    versions_between,
)

_NUMBERS = (*HALF, "INT8", "INT16", "INT32")


def _outside(node: NodeView) -> Found | None:
    rank = node.input(0).rank
    for axis in integers(node, 1):
        if not 0 <= resolved(axis, rank) < rank:
            said = f"Invalid axis value: {axis}, for input tensor with {rank} dimensions."
            return Found(f"axis {axis} of {rank} dimensions", said)
    return None


def _reduce(types: tuple[str, ...] = _NUMBERS) -> OpRule[object]:
    return rule(
        "reduce",
        "IsReduceSupported",
        *counts(2),
        *all_given(),
        *typed_parts(types, FIRST, RESULT),
        *typed_parts(INT32, SECOND),
        *computed(FIRST),
        *stored(SECOND),
        asked(OPERAND_VALUE, "axes inside the input", _outside),
    )


def _not_scalar(node: NodeView) -> Found | None:
    found = node.input(1).shape
    said = f"Dimension tensor is not a scalar, with shape: {joined(found)}"
    return None if all(size == 1 for size in found) else Found(f"axis of shape {list(found)}", said)


def _unlike_reduced(node: NodeView) -> Found | None:
    source, result = node.input(0).shape, node.output(0).shape
    given = (integers(node, 1) or [0])[0]
    axis = resolved(given, len(source))
    if not 0 <= axis < len(source):
        said = f"Index for axis out of range: {given}, while input has {len(source)} dimensions"
        return Found(f"axis {given} of {len(source)} dimensions", said)
    squeezed = source[:axis] + source[axis + 1 :]
    kept = (*source[:axis], 1, *source[axis + 1 :])
    if _without_leading_ones(result) in (_without_leading_ones(squeezed), _without_leading_ones(kept)):
        return None
    said = f"Output dimension mismatch: {joined(result)}, {joined(source)}"
    return Found(f"input {list(source)}, output {list(result)}", said)


def _without_leading_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """``MatchesExpectedDims``: the longer of two shapes may begin with sizes of 1."""
    start = next((position for position, size in enumerate(shape) if size != 1), len(shape))
    return shape[start:]


def _sum_axis(node: NodeView) -> Found | None:
    found, rank = node.input(1).shape, node.input(0).rank
    if len(found) == 1 and found[0] != 1:
        return Found(f"{found[0]} axes", f"Invalid number of axis values: {found[0]}, should be 1")
    axis = resolved((integers(node, 1) or [0])[0], rank)
    return None if 0 <= axis < rank else Found(f"axis {axis} of {rank} dimensions", f"Invalid axis value: {axis}")


def _unlike_source(node: NodeView) -> Found | None:
    source, result = node.input(0), node.output(0)
    said = f"Input and output dimensions must match: {source.rank} != {result.rank}"
    return None if source.shape == result.shape else Found(f"shapes {list(source.shape)} and {list(result.shape)}", said)


_VALUES, _INDICES = outcome(0), outcome(1)

RULES = {
    "ARG_MAX": rule(
        "argmax",
        "IsArgMaxSupported",
        *counts(2),
        *all_given(),
        *typed_parts(INT32, SECOND),
        *ranked_parts(0, 4, FIRST, RESULT),
        asked(SHAPE, "one axis", _not_scalar),
        *computed(FIRST),
        *stored(SECOND),
        asked(SHAPE, "an axis inside the input, and an output without it or with a size of 1 there", _unlike_reduced),
    ),
    "CUMSUM": rule(
        "cumsum",
        "IsCumsumSupported",
        versions_between(1),
        *counts(2),
        *all_given(),
        *typed_parts(MOVED, FIRST),
        *typed_parts(INT32, SECOND),
        *typed_parts(MOVED, RESULT),
        *computed(FIRST),
        *stored(SECOND),
        *ranked_parts(0, 1, SECOND),
        asked(OPERAND_VALUE, "one axis inside the input", _sum_axis),
        asked(SHAPE, "input and output of one shape", _unlike_source),
    ),
    "MEAN": _reduce(),
    "REDUCE_ALL": _reduce(("BOOL",)),
    "REDUCE_ANY": _reduce(("BOOL",)),
    "REDUCE_MAX": _reduce(),
    "REDUCE_MIN": _reduce(),
    "REDUCE_PROD": _reduce(),
    "SUM": _reduce(),
    "TOPK_V2": rule(
        "topk",
        "IsTopKSupported",
        versions_between(2),
        *counts(2, 2),
        *all_given(),
        *typed_parts(HALF, FIRST),
        *typed_parts(INT32, SECOND),
        *typed_parts(HALF, _VALUES),
        *typed_parts(INT32, _INDICES),
        check(OPERAND_VALUE, "a constant k", lambda node: None if node.input(1).is_constant else "k is not constant").saying(
            "TopK k-tensor must be a constant tensor."
        ),
        check(SHAPE, "one k", lambda node: None if node.input(1).element_count == 1 else "k is no scalar").saying(
            "TopK k-tensor must be a scalar."
        ),
    ),
}
