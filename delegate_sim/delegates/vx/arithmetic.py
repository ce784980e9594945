"""Activation functions, elementwise arithmetic, and conversions."""

from __future__ import annotations

from ...graph.graph import NodeView, fused_activation
from ...rules.kinds import QUANTIZATION, RANK, TENSOR_TYPE, by_reshape, in_code
from ...rules.operands import operand
from ...rules.vocabulary import check, refused_if, same_type
from .checks import EIGHT_BITS, not_of_type, of_inputs, of_outputs, vx_rule

_SIMPLE = vx_rule("SimpleOpMapper")


def _narrows_int16(node: NodeView) -> bool:
    source, result = node.input(0), node.output(0)
    return source.type == "INT16" and result.type in EIGHT_BITS and source.is_affine and result.is_affine


_ARITHMETIC = vx_rule(
    "SimpleOpWithFusedActivationMapper::IsOpSupported",
    refused_if(
        QUANTIZATION,
        "no quantized INT16 input if the output is quantized to 8 bits",
        _narrows_int16,
        "a quantized INT16 input and an 8-bit output",
        "quantize activations to 8 bits",
    ),
    refused_if(
        TENSOR_TYPE,
        "no fused RELU_N1_TO_1 if input and output are INT32",
        lambda node: node.input(0).type == node.output(0).type == "INT32" and fused_activation(node) == "RELU_N1_TO_1",
        "fused RELU_N1_TO_1 with INT32",
        in_code("use another activation"),
    ),
)


_POW = refused_if(
    TENSOR_TYPE,
    "at least one input that is not INT32",
    lambda node: node.input(0).type == node.input(1).type == "INT32",
    "two INT32 inputs",
    in_code("cast the operands to float"),
)


def _difference_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source == result and source in ("FLOAT32", *EIGHT_BITS) else f"{source} input and {result} output"


def _difference_scales(node: NodeView) -> str | None:
    """Return the number of scales as text, or None if the first input and the output each have exactly one scale.

    A tensor without quantization parameters crashes the delegate, because upstream does not check the pointer to the parameters.
    """
    if node.input(0).type == "FLOAT32":
        return None
    for name, tensor in (("input 0", node.input(0)), ("the output", node.output(0))):
        scales = 0 if tensor.quantization is None else len(tensor.quantization.scales)
        if scales != 1:
            return f"{scales or 'no'} scales on {name}"
    return None


_SQUARED_DIFFERENCE = (
    same_type(operand(0), operand(1), kind=TENSOR_TYPE, hint="convert so that both inputs have the same type"),
    check(TENSOR_TYPE, "the same type in input and output, and one of FLOAT32, INT8 and UINT8", _difference_types),
    check(
        QUANTIZATION,
        "a single scale for an 8-bit input and a single scale for the output",
        _difference_scales,
        "quantize per tensor",
    ),
)


def _other_condition_rank(node: NodeView) -> str | None:
    condition, source = node.input(0).rank, node.input(1).rank
    return None if condition == source else f"condition of rank {condition}, input of rank {source}"


_UNSELECTED = ("BOOL", "INT8", "UINT8")
_SELECT = vx_rule(
    "Select::IsOpSupported",
    check(
        RANK,
        "the same rank in condition and input",
        _other_condition_rank,
        by_reshape("add dimensions to the condition with RESHAPE"),
    ),
    *of_inputs(not_of_type(*_UNSELECTED, hint=in_code("select in float")), positions=slice(1, None)),
    *of_outputs(not_of_type(*_UNSELECTED, side="outputs", hint=in_code("select in float"))),
)

_NOT_CAST = ("COMPLEX64", "UINT32", "UINT16")


def _cast_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return f"{source} to {result}" if source in _NOT_CAST or result in _NOT_CAST else None


def _dequantizes_16_bits(node: NodeView) -> bool:
    source = node.input(0)
    return source.type in ("INT16", "FLOAT16") and node.output(0).type == "FLOAT32" and source.is_affine


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
    return f"{source.type} to {result}" if (narrows or widens) and source.is_affine else None


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
    **dict.fromkeys(("ELU", "GELU", "HARD_SWISH", "LOGISTIC", "RELU", "RELU6", "RELU_N1_TO_1", "TANH"), _SIMPLE),
    **dict.fromkeys(("ABS", "EXP", "FLOOR", "FLOOR_DIV", "LOG", "NEG", "RSQRT", "SIN", "SQRT", "SQUARE"), _SIMPLE),
    **dict.fromkeys(("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "LOGICAL_NOT", "NOT_EQUAL"), _SIMPLE),
    **dict.fromkeys(("ADD", "DIV", "MUL", "SUB"), _ARITHMETIC),
    **dict.fromkeys(("LOGICAL_AND", "LOGICAL_OR"), vx_rule("LogicalOpMapper")),
    **dict.fromkeys(("SELECT", "SELECT_V2"), _SELECT),
    "L2_NORMALIZATION": vx_rule("L2NormalizationMapper"),
    "LEAKY_RELU": vx_rule("LeakyReluMapper"),
    "LOCAL_RESPONSE_NORMALIZATION": vx_rule("LocalResponseNormalizationMapper"),
    "PRELU": vx_rule("PreluMapper"),
    "SOFTMAX": vx_rule("SoftmaxMapper"),
    "ADD_N": vx_rule("AddNMapper"),
    "MAXIMUM": vx_rule("SimpleOpWithBroadcastNoActivationMapper"),
    "MINIMUM": vx_rule("MinimumMapper"),
    "POW": vx_rule("PowMapper::IsOpSupported", _POW),
    "SQUARED_DIFFERENCE": vx_rule("SquareDifferenceMapper::IsOpSupported", *_SQUARED_DIFFERENCE),
    "CAST": vx_rule(
        "CastMapper::IsOpSupported",
        check(TENSOR_TYPE, "any types except COMPLEX64, UINT32 and UINT16", _cast_types, in_code("cast between other types")),
    ),
    "DEQUANTIZE": vx_rule("DequantizeMapper::IsOpSupported", *_DEQUANTIZE),
    "QUANTIZE": vx_rule("QuantizeMapper::IsOpSupported", *_QUANTIZE),
}
