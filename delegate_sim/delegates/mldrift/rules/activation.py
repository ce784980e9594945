"""Activation functions, normalizations and conversions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....graph.graph import NodeView
from ....model import schema
from ....refusal import Refusal
from ....rules.kinds import NEIGHBOR, OPERATOR, QUANTIZATION, RANK, SHAPE
from ....rules.vocabulary import check, refused_if, where
from ...gpu_compatibility import arithmetic, bhwc, is_linear
from ...gpu_compatibility.checks import COMPATIBILITY, Found, asked, runtime_input_count, runtime_operands
from ..target import BATCH, CONSTANT_TYPE, BuildProblems, name_of, problem_if
from . import ANY_NUMBERS, USUAL_TENSORS, parsed_by, tensors
from .arithmetic import unary
from .checks import (
    RANKED_RESULT,
    RESULTS,
    Checks,
    available,
    before,
    exact_inputs,
    float_constant,
    has_data,
    input_count,
    other_inputs,
    readable,
    results,
    runtime_inputs,
    since,
    version_up_to,
    with_results,
)

_ONE_RUNTIME_INPUT: Checks = (results(1), runtime_inputs(1), other_inputs(0))

_RELU = parsed_by(
    "ReLUOperationParser",
    *version_up_to(2),
    *before("litert-2.1.5", *exact_inputs(1, 0, 1)),
    *since("litert-2.2.0", *_ONE_RUNTIME_INPUT),
    *with_results(*readable(0)),
)
_NOT_KNOWN = check(
    OPERATOR,
    "an operator on the GPU compatibility list",
    lambda node: f"{node.op}, which is not on the list",
    "use RELU6, or a MINIMUM and a MAXIMUM",
)


def _is_linear_alpha(node: NodeView) -> bool:
    alpha = node.input(1)
    return len(node.node.inputs) > 1 and alpha.sparsity is None and has_data(alpha) and is_linear(alpha.shape)


def _alpha_channels(node: NodeView) -> Found | None:
    alpha, source = node.input(1).element_count, bhwc(node.input(0).shape).c
    message = "Linear alpha shape does not match the number of input channels."
    return None if alpha == source else (f"alpha of {alpha} elements and {source} input channels", message)


def _alpha_image(node: NodeView) -> Found | None:
    alpha, source = node.input(1).shape, bhwc(node.input(0).shape)
    if alpha[-3:] == source[1:]:
        return None
    return f"alpha {list(alpha)} and input {list(source)}", "Alpha shape does not match input shape."


_PRELU = parsed_by(
    "PReLUOperationParser",
    *version_up_to(1),
    available(0),
    *readable(0),
    *where(
        _is_linear_alpha,
        "one value for each channel",
        *float_constant(1, "linear"),
        asked(SHAPE, "an alpha with one element for each input channel", _alpha_channels),
    ),
    *where(
        lambda node: not _is_linear_alpha(node),
        "one value for each element",
        *float_constant(1, "image"),
        asked(SHAPE, "an alpha with the shape of the input, without the batch", _alpha_image),
    ),
    *RESULTS,
)


WEBGPU_PROBLEMS: BuildProblems = {
    "PRELU": problem_if(BATCH, 0, lambda node: bhwc(node.input(0).shape).b > 1 and not is_linear(node.input(1).shape))
}


def _is_computed(node: NodeView) -> bool:
    return runtime_input_count(node) != 0


def _constant_rank(node: NodeView) -> Found | None:
    tensor = node.input(0)
    message = f"Unsupported dims for tensor: {name_of(node.graph, tensor)} Got dims:{tensor.rank}"
    return None if 2 <= tensor.rank <= 4 else (f"a constant of rank {tensor.rank}", message)


_WITH_PARAMETERS = refused_if(
    NEIGHBOR,
    "an input with quantization parameters, not the output of a DENSIFY",
    lambda node: node.input(0).quantization is None,
    "an input without quantization parameters",
).saying("Dequantize for Densify is not supported")
_DEQUANTIZE = parsed_by(
    "DequantizeOperationParser",
    *version_up_to(3),
    *arithmetic.DEQUANTIZE,
    *with_results(
        *where(
            lambda node: not _is_computed(node),
            "of a constant",
            available(0),
            asked(RANK, "a constant of rank 2 to 4", _constant_rank),
            *where(lambda node: node.input(0).rank == 2, "of rank 2", *float_constant(0, "matrix")),
            *where(lambda node: node.input(0).rank == 3, "of rank 3", *float_constant(0, "image")),
            *where(lambda node: node.input(0).rank == 4, "of rank 4", *float_constant(0, "any")),
        ),
        *where(
            _is_computed,
            "of a runtime input",
            *since("litert-2.2.0", _WITH_PARAMETERS),
            refused_if(QUANTIZATION, "one scale", lambda node: node.input(0).is_per_channel, "one scale per channel").saying(
                "Unsupported quantization scale size"
            ),
            *before(
                "litert-2.2.0",
                *where(lambda node: node.input(0).quantization is not None, "with quantization parameters", *readable(0)),
            ),
            *since("litert-2.2.0", *readable(0)),
        ),
    ),
)


def _element_bits(name: str) -> int:
    bits = schema.BITS_PER_ELEMENT.get(name, 0)
    return max(bits, 8) if bits else 0


def _reshaped_bits(node: NodeView) -> Found | None:
    # The narrower tensor must have an additional last dimension, whose size is the ratio of the element sizes.
    source, result = node.input(0), node.output(0)
    wide, narrow = (source, result) if _element_bits(source.type) >= _element_bits(result.type) else (result, source)
    description = f"{source.type} {list(source.shape)} to {result.type} {list(result.shape)}"
    for name, tensor in (("input", source), ("output", result)):
        if not _element_bits(tensor.type):
            return description, f"Could not parse {name} type"
    if _element_bits(wide.type) == _element_bits(narrow.type):
        message = "If input and output types have the same element size, they must have the same shapes"
        return None if source.shape == result.shape else (description, message)
    one, other = ("input", "output") if wide is source else ("output", "input")
    if narrow.rank != wide.rank + 1:
        message = f"If {one} element size is greater than {other} element size, require that {other} rank is one greater "
        return description, f"{message}than {one} rank"
    if wide.shape != narrow.shape[:-1]:
        return description, "Shapes must match in all but last dim"
    if narrow.shape[-1] * _element_bits(narrow.type) != _element_bits(wide.type):
        message = f"Last {other} dim must be equal to {one} element size divided by {other} element size"
        return description, message
    return None


_ANY = tensors(*ANY_NUMBERS)

RULES = {
    "ELU": unary(USUAL_TENSORS),
    "GELU": unary(USUAL_TENSORS, version=3),
    "HARD_SWISH": parsed_by("HardSwishOperationParser", runtime_operands(1, 1), *readable(0), *RESULTS),
    **dict.fromkeys(("LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1"), _RELU),
    **dict.fromkeys(("LOGISTIC", "TANH"), unary(tensors("BFLOAT16"))),
    "PRELU": _PRELU,
    "RELU_0_TO_1": parsed_by(
        "ReLUOperationParser",
        *version_up_to(2),
        *since(
            "litert-2.1.5", _NOT_KNOWN.saying("Not supported op RELU_0_TO_1").from_source(COMPATIBILITY.with_branch("default"))
        ),
        *exact_inputs(1, 0, 1),
        *with_results(*readable(0)),
    ),
    "SOFTMAX": parsed_by(
        "SoftmaxOperationParser",
        *version_up_to(4, older=2),
        *arithmetic.SOFTMAX,
        *before("litert-2.2.0", other_inputs(0)),
        *since("litert-2.2.0", *_ONE_RUNTIME_INPUT, *RESULTS),
        *readable(0),
        *before("litert-2.2.0", *RESULTS),
    ),
    "BITCAST": parsed_by(
        "BitcastOperationParser",
        runtime_operands(1, 1),
        asked(
            SHAPE, "input and output with the same number of bytes, and with the same dimensions except the last", _reshaped_bits
        ).from_source(COMPATIBILITY),
        *with_results(
            available(0),
            *readable(0),
            *where(lambda node: node.input(0).rank != node.output(0).rank, "of another rank", *RANKED_RESULT),
        ),
        all_tensors=_ANY,
    ),
    "CAST": parsed_by(
        "CastOperationParser",
        *before("litert-2.1.5", *exact_inputs(1, 0, 1)),
        *since("litert-2.2.0", input_count(1), input_count(1, is_most=True), results(1), runtime_inputs(1), other_inputs(0)),
        *with_results(*readable(0)),
        all_tensors=_ANY,
    ),
    "DEQUANTIZE": _DEQUANTIZE,
    "QUANTIZE": parsed_by(
        "QuantizeOperationParser",
        *version_up_to(2),
        *arithmetic.QUANTIZE,
        *readable(0),
        refused_if(
            QUANTIZATION,
            "an output with quantization parameters",
            lambda node: node.output(0).quantization is None,
            "an output without quantization parameters",
        ).saying("Encountered Quantize output with no quant params"),
        *RESULTS,
    ),
}


def _undequantized(node: NodeView) -> Iterator[Refusal]:
    # ML Drift creates constants of rank 2 and 3 without a batch (``DequantizeOperationParser::ReadConstTensor``).
    source = node.input(0)
    if source.type == "INT4" and not source.is_constant:
        yield CONSTANT_TYPE.failure(source)
    if source.is_constant and source.rank in (2, 3) and source.shape[0] != 1:
        yield replace(BATCH.failure(source), hint="store the constant in float, so that no DEQUANTIZE is needed")


BUILD_PROBLEMS: BuildProblems = {"DEQUANTIZE": _undequantized}
