"""Operators that change the type or the encoding of a tensor."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.hints import in_code
from ....rules.kinds import QUANTIZATION, TENSOR_TYPE
from ....rules.vocabulary import check, refused_if
from .checks import EIGHT_BITS, is_affine, vx_rule

_NOT_CAST = ("COMPLEX64", "UINT32", "UINT16")


def _cast_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return f"{source} to {result}" if source in _NOT_CAST or result in _NOT_CAST else None


def _dequantizes_16_bits(node: NodeView) -> bool:
    source = node.input(0)
    return source.type in ("INT16", "FLOAT16") and node.output(0).type == "FLOAT32" and is_affine(source)


def _dequantizes_channels(node: NodeView) -> bool:
    source = node.input(0)
    return source.type in EIGHT_BITS and node.output(0).type == "FLOAT32" and source.is_per_channel


_DEQUANTIZE = (
    refused_if(
        QUANTIZATION,
        "no quantization parameters for an INT16 or FLOAT16 input if the output is FLOAT32",
        _dequantizes_16_bits,
        "a 16-bit input with quantization parameters",
        "quantize activations to 8 bits",
    ),
    refused_if(
        QUANTIZATION,
        "a single scale for an 8-bit input if the output is FLOAT32",
        _dequantizes_channels,
        "an 8-bit input with one scale per channel",
        "quantize per tensor",
    ),
)


def _requantizes_integers(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0).type
    narrows = source.type in ("INT32", "INT16") and result in EIGHT_BITS
    widens = source.type == "INT16" and result == "INT32"
    return f"{source.type} to {result}" if (narrows or widens) and is_affine(source) else None


def _quantizes_channels(node: NodeView) -> bool:
    result = node.output(0)
    return node.input(0).type == "FLOAT32" and result.type in EIGHT_BITS and result.is_per_channel


_QUANTIZE = (
    check(
        QUANTIZATION,
        "no conversion from quantized INT32 or INT16 to 8 bits, or from quantized INT16 to INT32",
        _requantizes_integers,
        "quantize activations to 8 bits",
    ),
    refused_if(
        QUANTIZATION,
        "a single scale for an 8-bit output if the input is FLOAT32",
        _quantizes_channels,
        "an 8-bit output with one scale per channel",
        "quantize per tensor",
    ),
)

RULES = {
    "CAST": vx_rule(
        "CastMapper::IsOpSupported",
        check(TENSOR_TYPE, "any types except COMPLEX64, UINT32 and UINT16", _cast_types, in_code("cast between other types")),
    ),
    "DEQUANTIZE": vx_rule("DequantizeMapper::IsOpSupported", *_DEQUANTIZE),
    "QUANTIZE": vx_rule("QuantizeMapper::IsOpSupported", *_QUANTIZE),
}
