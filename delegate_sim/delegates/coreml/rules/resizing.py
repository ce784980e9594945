"""Resizing of images."""

from __future__ import annotations

from ....rules.operands import operand
from ....rules.vocabulary import constant, given
from .checks import builder, coreml_rule

_SIZE = operand(1, "size")

RULES = {
    "RESIZE_BILINEAR": coreml_rule(
        given(_SIZE), constant(_SIZE), source=(builder("resize_bilinear_op_builder.cc", "IsResizeBilinearOpSupported"),)
    ),
}
