"""Operators that change types and quantise."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import QUANTIZATION, SHAPE
from ....rules.numbers import at_most
from ....rules.rule import Check
from ....rules.vocabulary import check, where
from ...gpu_compatibility.checks import Found, asked, joined
from ..demands.elements import element_bits
from .arithmetic import ARITHMETIC, one_operand
from .checks import (
    HALF,
    computed,
    counts,
    entry,
    given,
    outcome,
    ranked_parts,
    rule,
    typed_parts,
    versions,
)

_INPUT, _OUTPUT = entry(0, "input"), outcome(0, "output")
_ONE_SCALE = "Unsupported quantization scale size"


def _is_constant(node: NodeView) -> bool:
    return node.input(0).is_constant


def _is_computed(node: NodeView) -> bool:
    return not node.input(0).is_constant


def one_scale(position: int | None) -> Check[object]:
    """Demand one scale for an operand, or, without a position, for the result."""
    side = "output" if position is None else "input"

    def find(node: NodeView) -> str | None:
        tensor = node.output(0) if position is None else node.input(position)
        return "one scale per channel" if tensor.is_per_channel else None

    return check(QUANTIZATION, f"{side} with one scale", find, "quantise this tensor with one scale").saying(_ONE_SCALE)


def _without_parameters(node: NodeView) -> str | None:
    return None if node.output(0).quantization is not None else "an output without quantisation parameters"


def _is_sparse(node: NodeView) -> str | None:
    return "a sparse constant" if node.input(0).sparsity is not None else None


def _reshaped_bits(node: NodeView) -> Found | None:
    source, result = node.input(0), node.output(0)
    one, other = element_bits(source.type) // 8, element_bits(result.type) // 8
    found = f"{source.type} {list(source.shape)} to {result.type} {list(result.shape)}"
    for name, size in (("input", one), ("output", other)):
        if not size:
            return Found(found, f"Could not parse {name} type")
    if one == other:
        start = "If input and output types have the same element size, they must "
        return None if source.element_count == result.element_count else Found(found, f"{start}have the same number of elements")
    is_wide = one > other
    wide, narrow = (source, result) if is_wide else (result, source)
    if wide.rank + 1 != narrow.rank:
        rank = "output rank is one greater than input rank" if is_wide else "input rank is on greater than output rank"
        names = ("input", "output") if is_wide else ("output", "input")
        return Found(found, f"If {names[0]} element size is greater than {names[1]} element size, require that {rank}")
    if wide.shape != narrow.shape[:-1]:
        said = f"Shapes must match in all but last dim, but got {joined(source.shape)} vs {joined(result.shape)}"
        return Found(found, said)
    sizes = ("output", result.shape[-1], "input", one, other) if is_wide else ("input", source.shape[-1], "output", other, one)
    name, last, wide_name, wide_size, narrow_size = sizes
    if last * narrow_size == wide_size:
        return None
    end = f"divided by {name} element size({narrow_size})"
    return Found(found, f"Last {name} dim({last}) must be equal to {wide_name} element size({wide_size}) {end}")


RULES = {
    "BITCAST": rule(
        "bitcast",
        "IsBitcastSupported",
        *counts(1),
        *given(_INPUT, _OUTPUT),
        *ranked_parts(0, 4, _INPUT, _OUTPUT),
        asked(SHAPE, "an output of as many bytes, the last dimension taking up the ratio", _reshaped_bits),
        *computed(_INPUT),
    ),
    "CAST": one_operand(7, (*ARITHMETIC, "BOOL")),
    "DEQUANTIZE": rule(
        "dequantize",
        "IsDequantizeSupported",
        versions(at_most(3)),
        *counts(1),
        *given(_INPUT, _OUTPUT),
        *where(
            _is_constant,
            "of a constant",
            *ranked_parts(2, 4, _INPUT),
            *typed_parts((*HALF, "INT4", "INT2", "INT8", "UINT8", "INT32"), _INPUT),
            check(QUANTIZATION, "a constant that is not sparse", _is_sparse, "convert without sparse tensors").saying(
                "ML Drift doesn't support sparsity."
            ),
        ),
        *where(_is_computed, "of a runtime input", one_scale(0)),
    ),
    "QUANTIZE": rule(
        "quantize",
        "IsQuantizeSupported",
        versions(at_most(2), "Unsupported version."),
        *counts(1),
        *given(_INPUT, _OUTPUT),
        *typed_parts(HALF, _INPUT),
        *typed_parts(("INT8", "UINT8", "INT4", "UINT4", "INT2"), _OUTPUT),
        check(QUANTIZATION, "an output with quantisation parameters", _without_parameters).saying(
            "Encountered Quantize output with no quant params"
        ),
        one_scale(None),
    ),
}
