"""Activation functions, elementwise arithmetic and conversions of types."""

from __future__ import annotations

from functools import partial

from ....graph.graph import NodeView
from ....rules.kinds import OPERATOR, QUANTIZATION
from ....rules.operands import INPUT, OUTPUT, operand
from ..steps import Layer, Need, Query, VisitRule
from ..tensors import input_info, output_info
from .checks import FUSED, expanded, inputs_exactly, outputs_exactly, place, readable, unary_call, visited

_SECOND = operand(1)
_UNARY = (inputs_exactly(1), outputs_exactly(), readable(INPUT, OUTPUT))
_BINARY = (inputs_exactly(2), outputs_exactly(), readable(INPUT, _SECOND, OUTPUT))


def _activation(node: NodeView, function: str, a: float = 0.0, b: float = 0.0) -> Query:
    bound = node.options.alpha if function == "leaky_relu" else a
    return unary_call(node)._replace(values={"function": function, "a": bound, "b": b})


_FUNCTIONS = {
    "RELU": partial(_activation, function="relu"),
    "RELU6": partial(_activation, function="bounded_relu", a=6.0),
    "LOGISTIC": partial(_activation, function="sigmoid"),
    "TANH": partial(_activation, function="tanh", a=1.0, b=1.0),
    "ELU": partial(_activation, function="elu", a=1.0),
    "HARD_SWISH": partial(_activation, function="hard_swish"),
    "LEAKY_RELU": partial(_activation, function="leaky_relu"),
}


def _binary(node: NodeView) -> Query:
    return Query(expanded(input_info(node, 0), input_info(node, 1)), (output_info(node),))


def _floor(node: NodeView) -> Query | None:
    first, second = expanded(input_info(node, 0), input_info(node, 1))
    output = output_info(node)
    # INT32 operands are divided without the layer FLOOR.
    return None if {first.type, second.type, output.type} == {"INT32"} else Query((first,), (output,))


def _prelu(node: NodeView) -> Query:
    return Query((input_info(node, 0), input_info(node, 1)), (output_info(node),))


def _dequantize(node: NodeView) -> Query:
    call = unary_call(node)
    # A constant scalar gives its shape to the result.
    is_known = call.output.shape is not None or not call.input.is_constant
    return call if is_known else call._replace(outputs=(call.output._replace(shape=call.input.shape),))


def _unaffine(node: NodeView) -> str | None:
    given = node.output(0).quantization
    return None if given is not None and given.is_affine else "output without affine quantization"


_BINARY_FILE, _UNARY_FILE = "ElementwiseBinary.hpp", "ElementwiseUnary.hpp"

_ARITHMETIC = {
    "ADD": ("ADD", "add", 31),
    "DIV": ("DIV", "div", 57),
    "MAXIMUM": ("MAXIMUM", "maximum", 111),
    "MINIMUM": ("MINIMUM", "minimum", 136),
    "MUL": ("MUL", "mul", 161),
    "POW": ("POWER", "power", 186),
    "SQUARED_DIFFERENCE": ("SQUAREDDIFFERENCE", "squared_difference", 211),
    "SUB": ("SUB", "sub", 236),
}
"""The word, the layer and the upstream line of each binary operator."""

_FUNCTIONS_OF_ONE = {
    "ABS": "abs",
    "CEIL": "ceil",
    "EXP": "exp",
    "LOG": "log",
    "LOGICAL_NOT": "logical_not",
    "NEG": "neg",
    "RSQRT": "rsqrt",
    "SIN": "sin",
    "SQRT": "sqrt",
}
"""The names of layers with one operand."""
_COMPARED = visited("Comparison.hpp", *_BINARY, Layer("COMPARISON", "comparison", _binary, "Comparison.hpp:102"))


def _logical(name: str) -> VisitRule:
    return visited("LogicalBinary.hpp", *_BINARY, Layer("LOGICAL_BINARY", name, _binary, "LogicalBinary.hpp:65"))


RULES = {
    **{
        op: visited("Activation.hpp", *_UNARY, Layer("ACTIVATION", "activation", call, "Activation.hpp:27"))
        for op, call in _FUNCTIONS.items()
    },
    **{
        op: visited(_BINARY_FILE, *_BINARY, *FUSED, Layer(word, name, _binary, f"{_BINARY_FILE}:{line}"))
        for op, (word, name, line) in _ARITHMETIC.items()
    },
    "FLOOR_DIV": visited(
        _BINARY_FILE,
        *_BINARY,
        *FUSED,
        Layer("DIV", "div", _binary, f"{_BINARY_FILE}:57"),
        Layer("FLOOR", "floor", _floor, "SharedFunctions.cpp:23"),
    ),
    "EQUAL": _COMPARED,
    "GREATER": _COMPARED,
    "GREATER_EQUAL": _COMPARED,
    "LESS": _COMPARED,
    "LESS_EQUAL": _COMPARED,
    "NOT_EQUAL": _COMPARED,
    "LOGICAL_AND": _logical("logical_and"),
    "LOGICAL_OR": _logical("logical_or"),
    **{
        op: visited(_UNARY_FILE, *_UNARY, Layer("ELEMENTWISE_UNARY", name, unary_call, f"{_UNARY_FILE}:57"))
        for op, name in _FUNCTIONS_OF_ONE.items()
    },
    # The delegate reads the tensors, but its file lacks the function.
    "RELU_N1_TO_1": visited(
        "Activation.hpp",
        *_UNARY,
        Need(OPERATOR, "an operator that the delegate visits", lambda node: node.op, hint="use RELU or RELU6"),
    ),
    "FLOOR": visited("Round.hpp:VisitFloorOperator", *_UNARY, Layer("FLOOR", "floor", unary_call, "SharedFunctions.cpp:23")),
    "PRELU": visited("Prelu.hpp", *_BINARY, Layer("PRELU", "prelu", _prelu, "Prelu.hpp:27")),
    "SOFTMAX": visited(
        "Softmax.hpp", *_UNARY, Layer("SOFTMAX", "softmax", unary_call, "Softmax.hpp:25", "ValidateSoftmaxOperator")
    ),
    "LOG_SOFTMAX": visited(
        "Softmax.hpp", *_UNARY, Layer("LOG_SOFTMAX", "log_softmax", unary_call, "Softmax.hpp:45", "ValidateLogSoftmaxOperator")
    ),
    "L2_NORMALIZATION": visited(
        "Normalization.hpp:VisitL2NormalizationOperator",
        *_UNARY,
        Layer("L2_NORMALIZATION", "l2_normalization", unary_call, "Normalization.hpp:48"),
    ),
    "LOCAL_RESPONSE_NORMALIZATION": visited(
        "Normalization.hpp:VisitLocalResponseNormalizationOperator",
        *_UNARY,
        Layer("NORMALIZATION", "normalization", unary_call, "Normalization.hpp:128"),
    ),
    "CAST": visited("Redefine.hpp:VisitCastOperator", *_UNARY, Layer("CAST", "cast", unary_call, "Redefine.hpp:47")),
    "DEQUANTIZE": visited(
        "Quantization.hpp:VisitDequantizeOperator", *_UNARY, Layer("DEQUANTIZE", "dequantize", _dequantize, "Quantization.hpp:57")
    ),
    "QUANTIZE": visited(
        "Quantization.hpp:VisitQuantizeOperator",
        inputs_exactly(1),
        outputs_exactly(),
        Need(
            QUANTIZATION,
            "output with affine quantization",
            _unaffine,
            lambda node: f"TfLiteArmnnDelegate: Only affine per-layer quantization is supported in {place(node)}",
        ),
        readable(INPUT, OUTPUT),
        Layer("QUANTIZE", "quantize", unary_call, "Quantization.hpp:141"),
    ),
}
"""The rules by operator."""
