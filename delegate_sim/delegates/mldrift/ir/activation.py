"""Activation functions."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE, VERSION
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check
from ...gpu_compatibility.checks import Found, asked
from .arithmetic import one_operand
from .checks import (
    FIRST,
    HALF,
    RESULT,
    SECOND,
    all_given,
    computed,
    counts,
    one_shape,
    ranked_parts,
    rule,
    stored,
    typed_parts,
    versions_between,
)

_ONE_SHAPE: Check[object] = one_shape("Input and output shapes must be equal.", FIRST, RESULT)
_RANGE = "Unsupported version: {{}}, supported versions are [1, {}]"


def _relu() -> OpRule[object]:
    return rule(
        "relu",
        "IsReluSupported",
        versions_between(2, _RANGE.format(2)),
        *counts(1),
        *all_given(),
        *typed_parts(HALF, FIRST, RESULT),
        *computed(FIRST),
        _ONE_SHAPE,
    )


def _by_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return height, width and channels of an input; the first of several dimensions is the batch."""
    return {2: (1, 1, *shape[1:]), 3: (1, *shape[1:]), 4: shape[1:]}.get(len(shape), (1, 1, 1))


def _slope_by_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the same of a slope, whose three dimensions are these."""
    return shape[-3:] if len(shape) in (3, 4) else (0, 0, 0)


def _unlike_slope(node: NodeView) -> Found | None:
    source, slope = node.input(0).shape, node.input(1).shape
    found = f"slope {list(slope)}, input {list(source)}"
    if len(slope) == 1:
        start = "Linear alpha shape does not match the number of input channels: "
        return None if slope[0] == source[-1] else Found(found, f"{start}{slope[0]} vs {source[-1]}")
    return None if _by_axes(source) == _slope_by_axes(slope) else Found(found, "Alpha shape does not match input shape.")


def _other_beta(node: NodeView) -> str | None:
    return None if node.options.beta == 1.0 else f"beta {node.options.beta}"


RULES = {
    "ELU": one_operand(),
    "GELU": one_operand(3),
    "HARD_SWISH": one_operand(1),
    "LEAKY_RELU": _relu(),
    "LOGISTIC": one_operand(),
    "PRELU": rule(
        "prelu",
        "IsPReLUSupported",
        versions_between(1, _RANGE.format(1)),
        *counts(2),
        *all_given(),
        *typed_parts(HALF, FIRST, SECOND, RESULT),
        *computed(FIRST),
        *stored(SECOND),
        *ranked_parts(1, 4, FIRST, RESULT),
        _ONE_SHAPE,
        asked(SHAPE, "a slope for each channel, or for each element of an image", _unlike_slope),
    ),
    "RELU": _relu(),
    "RELU6": _relu(),
    "RELU_N1_TO_1": _relu(),
    "SOFTMAX": rule(
        "softmax",
        "IsSoftmaxSupported",
        versions_between(4, _RANGE.format(4)),
        check(VERSION, "a version other than 3", lambda node: "version 3" if node.version == 3 else None).saying(
            "Unsupported version: 3"
        ),
        *counts(1),
        *all_given(),
        *typed_parts(HALF, FIRST, RESULT),
        *computed(FIRST),
        check(ATTRIBUTE, "beta 1", _other_beta).saying("Softmax beta != 1.0 is not supported."),
        _ONE_SHAPE,
    ),
    "TANH": one_operand(),
}
