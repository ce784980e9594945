"""Resizing of images."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant
from .checks import of_inputs, quantized_8_bits, vx_rule

_RESIZE = vx_rule(
    "ResizeMapper::IsOpSupported",
    constant(operand(1, "size")),
    *of_inputs(quantized_8_bits(), positions=slice(0, 1)),
)
"""The rule for resizing. Upstream also checks that a constant size has data. This check never fails and is omitted here."""

RULES = {
    "RESIZE_BILINEAR": _RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZE,
}
