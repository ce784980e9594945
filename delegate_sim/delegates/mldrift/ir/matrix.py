"""Matrix products."""

from __future__ import annotations

import math

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, QUANTIZATION, RANK, SHAPE
from ....rules.numbers import between
from ....rules.rule import Check
from ....rules.vocabulary import where
from ...gpu_compatibility.checks import Found, asked, joined
from .checks import (
    BYTES,
    FIRST,
    HALF,
    RESULT,
    SECOND,
    THIRD,
    all_given,
    computed,
    constant_operands,
    counts,
    given,
    inputs,
    not_all_constant,
    optional,
    outputs,
    ranked_parts,
    rule,
    typed_parts,
    versions_between,
)

# BATCH_MATMUL


def _has_constant(node: NodeView) -> bool:
    return node.input(1).is_constant


def _has_runtime(node: NodeView) -> bool:
    return not node.input(1).is_constant


def _per_channel(position: int) -> Check[object]:
    def find(node: NodeView) -> Found | None:
        tensor = node.input(position)
        if tensor.type not in ("INT8", "UINT8") or tensor.quantization is None or not tensor.is_per_channel:
            return None
        size = len(tensor.quantization.scales)
        said = f"Only tensor-wise quantized input is supported, but the size of scale is not 1: {size}"
        return Found(f"input {position} with one scale per channel", said)

    return asked(QUANTIZATION, f"input {position} with one scale", find, "quantise this tensor with one scale")


def _other_rank(node: NodeView) -> Found | None:
    found = node.input(1).rank
    start = "If the second input is a constant tensor, only 2D, 3D, or 4D tensor is supported, but got "
    return None if found in (2, 3, 4) else Found(f"constant of rank {found}", f"{start}{found}D")


def _unlike_products(node: NodeView) -> Found | None:
    left, right, result = node.input(0).shape, node.input(1).shape, node.output(0).shape
    rows, inner = (left[-1], left[-2]) if node.options.adj_x else (left[-2], left[-1])
    other_inner, columns = (right[-1], right[-2]) if node.options.adj_y else (right[-2], right[-1])
    pairs = (
        (inner == other_inner, "inner dimensions of the first and second inputs", left, right),
        (rows == result[-2], "dimensions of the first input and output", left, result),
        (columns == result[-1], "dimensions of the second input and output", right, result),
    )
    for fits, what, one, other in pairs:
        if not fits:
            return Found(f"shapes {list(one)} and {list(other)}", f"The {what} mismatch: {joined(one)} vs {joined(other)}")
    return None


# FULLY_CONNECTED


def _is_affine(node: NodeView) -> bool:
    quantization = node.input(1).quantization
    return quantization is not None and quantization.is_affine


def _is_not_affine(node: NodeView) -> bool:
    return not _is_affine(node)


_AFFINE = 1
"""``kTfLiteAffineQuantization``."""


def _unusable_weights(node: NodeView) -> Found | None:
    weights = node.input(1)
    if weights.type not in ("INT8", "INT4", "INT2"):
        return Found(f"quantised {weights.type} weights", f"Unsupported quantization type for weights: {_AFFINE}")
    if weights.rank == 4 and weights.shape[1:3] != (1, 1):
        height, width = weights.shape[1:3]
        said = f"Unsupported HW weight dimensions for quantized FC: {height} , {width}"
        return Found(f"weights {list(weights.shape)}", said)
    if weights.rank in (2, 4):
        return None
    return Found(f"weights of rank {weights.rank}", f"Unsupported {weights.rank}D weights for quantized FC")


def _last(shape: tuple[int, ...]) -> int:
    """Return the last size; of a scalar the original reads the number in front of the sizes, which is the rank."""
    return shape[-1] if shape else 0


def _other_weight_count(node: NodeView) -> Found | None:
    source, result, found = node.input(0).shape, node.output(0).shape, node.input(1).element_count
    flat, batch = math.prod(source[1:]) * _last(result), _last(source) * _last(result)
    if found in (flat, batch):
        return None
    start = f"Weights size mismatch for FC reshape. Got {found} but expected "
    return Found(f"weights of {found} elements", f"{start}{flat} (flat) or {batch} (batch)")


def _other_format(node: NodeView) -> Found | None:
    found = int(node.options.weights_format)
    return None if found == 0 else Found(f"weights_format {found}", f"Unsupported weights format: {found}")


RULES = {
    "BATCH_MATMUL": rule(
        "batch_matmul",
        "IsBatchMatMulSupported",
        *counts(2),
        *all_given(),
        *typed_parts(BYTES, FIRST),
        _per_channel(0),
        *where(_has_constant, "with a constant", asked(RANK, "a constant of rank 2, 3 or 4", _other_rank)),
        *where(_has_runtime, "of two runtime inputs", *typed_parts(BYTES, SECOND), _per_channel(1)),
        *typed_parts(BYTES, RESULT),
        *ranked_parts(2, 5, FIRST, SECOND, RESULT),
        asked(SHAPE, "operands and an output of matching sizes", _unlike_products),
        *computed(FIRST),
    ),
    "FULLY_CONNECTED": rule(
        "fully_connected",
        "IsFullyConnectedSupported",
        versions_between(14),
        inputs(between(2, 3)),
        outputs(1, "Invalid number of outputs: {}, must be 1"),
        *given(FIRST, SECOND, RESULT),
        *typed_parts(BYTES, FIRST),
        *typed_parts((*HALF, "INT2", "INT4", "INT8", "UINT8"), SECOND),
        *optional(THIRD, *typed_parts((*HALF, "INT32"), THIRD)),
        *typed_parts(BYTES, RESULT),
        *ranked_parts(0, 4, FIRST),
        *where(
            _is_affine,
            "with quantised weights",
            asked(QUANTIZATION, "weights of 8, 4 or 2 bits and shape [o, i] or [o, 1, 1, i]", _unusable_weights),
        ),
        *where(_is_not_affine, "with other weights", *ranked_parts(0, 4, SECOND)),
        asked(SHAPE, "as many weights as the last size of the output times the features of the input", _other_weight_count),
        *optional(THIRD, *ranked_parts(1, 1, THIRD)),
        *ranked_parts(0, 4, RESULT),
        asked(ATTRIBUTE, "weights in the default format", _other_format),
        not_all_constant(constant_operands),
    ),
}
