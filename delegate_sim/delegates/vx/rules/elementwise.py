"""Arithmetic, comparisons, logic, activations, and conversions between types (``op_map.cc``).

Most are mapped by ``SimpleOpMapper`` and the like, which demand nothing of their own; the others by
``SimpleOpWithFusedActivationMapper``, ``PowMapper``, ``SquareDifferenceMapper``, ``Select``, ``CastMapper``,
``DequantizeMapper`` and ``QuantizeMapper``.
"""

from __future__ import annotations

from ....graph.graph import NodeView
from .checks import (
    QUANTIZATION,
    RANK,
    TENSOR_TYPE,
    check,
    found_if,
    is_affine,
    not_of_type,
    of_inputs,
    of_outputs,
    vx_rule,
    vx_rules,
)

_RELU_N1_TO_1 = 2
_EIGHT_BITS = ("INT8", "UINT8")

_WITHOUT_DEMANDS = (
    "ABS", "ADD_N", "ELU", "EQUAL", "EXP", "FLOOR", "FLOOR_DIV", "GELU", "GREATER", "GREATER_EQUAL", "HARD_SWISH",
    "L2_NORMALIZATION", "LEAKY_RELU", "LESS", "LESS_EQUAL", "LOCAL_RESPONSE_NORMALIZATION", "LOG", "LOGICAL_AND",
    "LOGICAL_NOT", "LOGICAL_OR", "LOGISTIC", "MAXIMUM", "MINIMUM", "NEG", "NOT_EQUAL", "PRELU", "RELU", "RELU6",
    "RELU_N1_TO_1", "RSQRT", "SIN", "SOFTMAX", "SQRT", "SQUARE", "TANH",
)  # fmt: skip


def _narrows_int16(node: NodeView) -> bool:
    source, result = node.input(0), node.output(0)
    return source.type == "INT16" and result.type in _EIGHT_BITS and is_affine(source) and is_affine(result)


def _is_int32(node: NodeView) -> bool:
    return node.input(0).type == node.output(0).type == "INT32"


def _clips_int32(node: NodeView) -> bool:
    return _is_int32(node) and node.options.fused_activation_function == _RELU_N1_TO_1


_ARITHMETIC = (
    check(
        QUANTIZATION,
        "an input that is not quantised INT16, if the output is quantised to 8 bits",
        found_if(_narrows_int16, "a quantised INT16 input and an 8-bit output"),
        "quantise activations to 8 bits",
    ),
    check(
        TENSOR_TYPE,
        "another activation than RELU_N1_TO_1, if input and output are INT32",
        found_if(_clips_int32, "fused RELU_N1_TO_1 with INT32"),
        "use another activation",
    ),
)


def _powers_of_int32(node: NodeView) -> bool:
    return node.input(0).type == node.input(1).type == "INT32"


_POW = check(
    TENSOR_TYPE, "an input that is not INT32", found_if(_powers_of_int32, "two INT32 inputs"), "cast the operands to float"
)


def _different_inputs(node: NodeView) -> str | None:
    first, second = node.input(0).type, node.input(1).type
    return None if first == second else f"{first} and {second} inputs"


def _difference_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    return None if source == result and source in ("FLOAT32", *_EIGHT_BITS) else f"{source} input and {result} output"


def _difference_scales(node: NodeView) -> str | None:
    """The first input and the output have exactly one scale.

    Upstream follows the pointer to the parameters whether there are any or not; a tensor without them crashes it.
    """
    if node.input(0).type == "FLOAT32":
        return None
    for name, tensor in (("input 0", node.input(0)), ("the output", node.output(0))):
        scales = 0 if tensor.quantization is None else len(tensor.quantization.scales)
        if scales != 1:
            return f"{scales or 'no'} scales on {name}"
    return None


_SQUARED_DIFFERENCE = (
    check(TENSOR_TYPE, "inputs of one type", _different_inputs),
    check(TENSOR_TYPE, "FLOAT32, INT8 or UINT8, the same for input and output", _difference_types),
    check(QUANTIZATION, "one scale on input and output of an 8-bit type", _difference_scales, "quantise per tensor"),
)


def _other_condition_rank(node: NodeView) -> str | None:
    condition, source = node.input(0).rank, node.input(1).rank
    return None if condition == source else f"condition of rank {condition}, input of rank {source}"


_SELECT = (
    check(RANK, "condition and input of one rank", _other_condition_rank, "add dimensions to the condition with RESHAPE"),
    *of_inputs(not_of_type("BOOL", "INT8", "UINT8", hint="select in float"), positions=slice(1, None)),
    *of_outputs(not_of_type("BOOL", "INT8", "UINT8", side="outputs", hint="select in float")),
)


def _cast_types(node: NodeView) -> str | None:
    source, result = node.input(0).type, node.output(0).type
    refused = ("COMPLEX64", "UINT32", "UINT16")
    return f"{source} to {result}" if source in refused or result in refused else None


def _dequantizes_16_bits(node: NodeView) -> bool:
    source = node.input(0)
    return source.type in ("INT16", "FLOAT16") and node.output(0).type == "FLOAT32" and is_affine(source)


def _dequantizes_channels(node: NodeView) -> bool:
    source = node.input(0)
    return source.type in _EIGHT_BITS and node.output(0).type == "FLOAT32" and source.is_per_channel


_DEQUANTIZE = (
    check(
        QUANTIZATION,
        "no quantisation parameters on an INT16 or FLOAT16 input of a FLOAT32 output",
        found_if(_dequantizes_16_bits, "a 16-bit input with quantisation parameters"),
        "quantise activations to 8 bits",
    ),
    check(
        QUANTIZATION,
        "one scale on an 8-bit input of a FLOAT32 output",
        found_if(_dequantizes_channels, "an 8-bit input with one scale per channel"),
        "quantise per tensor",
    ),
)


def _requantizes_integers(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0).type
    narrows = source.type in ("INT32", "INT16") and result in _EIGHT_BITS
    widens = source.type == "INT16" and result == "INT32"
    return f"{source.type} to {result}" if (narrows or widens) and is_affine(source) else None


def _quantizes_channels(node: NodeView) -> bool:
    result = node.output(0)
    return node.input(0).type == "FLOAT32" and result.type in _EIGHT_BITS and result.is_per_channel


_QUANTIZE = (
    check(
        QUANTIZATION,
        "other types than quantised INT32 or INT16 to 8 bits, and quantised INT16 to INT32",
        _requantizes_integers,
        "quantise activations to 8 bits",
    ),
    check(
        QUANTIZATION,
        "one scale on an 8-bit output of a FLOAT32 input",
        found_if(_quantizes_channels, "an 8-bit output with one scale per channel"),
        "quantise per tensor",
    ),
)

RULES = {
    **vx_rules(_WITHOUT_DEMANDS),
    **vx_rules(("ADD", "DIV", "MUL", "SUB"), *_ARITHMETIC),
    "POW": vx_rule(_POW),
    "SQUARED_DIFFERENCE": vx_rule(*_SQUARED_DIFFERENCE),
    **vx_rules(("SELECT", "SELECT_V2"), *_SELECT),
    "CAST": vx_rule(check(TENSOR_TYPE, "other types than COMPLEX64, UINT32 and UINT16", _cast_types, "cast by other types")),
    "DEQUANTIZE": vx_rule(*_DEQUANTIZE),
    "QUANTIZE": vx_rule(*_QUANTIZE),
}
