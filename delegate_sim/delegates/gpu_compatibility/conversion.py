"""Type conversion and quantization."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION
from ...rules.vocabulary import operand_count, refused_if
from .checks import case, runtime_operands


def _say_counts(node: NodeView) -> str:
    return f"Expected 1 input & output each from Dequantize, got: {len(node.node.inputs)}, {len(node.node.outputs)}"


DEQUANTIZE = case(
    operand_count(1, 1).saying(_say_counts),
    refused_if(
        QUANTIZATION,
        "an input of any type except INT16",
        lambda node: node.input(0).type == "INT16",
        "an INT16 input",
        "quantize to 8 bits",
    ).saying("Unsupported dequantization type."),
)
QUANTIZE = case(runtime_operands(1, 1))
