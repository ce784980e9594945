"""Activation functions and normalization."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph.graph import NodeView
from ....refusal import Refusal
from ....rules.kinds import OPERATOR, SHAPE
from ....rules.vocabulary import check, where
from ...gpu_compatibility import arithmetic
from ...gpu_compatibility.checks import COMPATIBILITY, Found, asked, runtime_operands
from ..failures import BATCH, BuildProblems
from ..shapes import bhwc, is_linear
from .arithmetic import unary
from .checks import (
    BFLOAT16,
    RESULTS,
    RESULTS_BEFORE_2_1_5,
    RESULTS_FROM_2_1_5,
    SINCE_2_1_5,
    SINCE_2_2,
    USUAL_TENSORS,
    Checks,
    available,
    before,
    exact_inputs,
    float_constant,
    has_data,
    other_inputs,
    parsed_by,
    readable,
    results,
    runtime_inputs,
    since,
    tensors,
    version_up_to,
)

_ONE_RUNTIME_INPUT: Checks = (results(1), runtime_inputs(1), other_inputs(0))

_RELU = parsed_by(
    "ReLUOperationParser",
    *version_up_to(2),
    *before(SINCE_2_1_5, *exact_inputs(1, 0, 1)),
    *since(SINCE_2_2, *_ONE_RUNTIME_INPUT),
    *RESULTS_FROM_2_1_5,
    *readable(0),
    *RESULTS_BEFORE_2_1_5,
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
    return None if alpha == source else Found(f"alpha of {alpha} elements and {source} input channels", message)


def _alpha_image(node: NodeView) -> Found | None:
    alpha, source = node.input(1).shape, bhwc(node.input(0).shape)
    if alpha[-3:] == source[1:]:
        return None
    return Found(f"alpha {list(alpha)} and input {list(source)}", "Alpha shape does not match input shape.")


_PRELU = parsed_by(
    "PReLUOperationParser",
    *version_up_to(1),
    available(0),
    *readable(0),
    *where(_is_linear_alpha, "one value for each channel", *float_constant(1, "linear")),
    *where(
        _is_linear_alpha,
        "one value for each channel",
        asked(SHAPE, "an alpha with one element for each input channel", _alpha_channels),
    ),
    *where(lambda node: not _is_linear_alpha(node), "one value for each element", *float_constant(1, "image")),
    *where(
        lambda node: not _is_linear_alpha(node),
        "one value for each element",
        asked(SHAPE, "an alpha with the shape of the input, without the batch", _alpha_image),
    ),
    *RESULTS,
)

RULES = {
    "ELU": unary(USUAL_TENSORS),
    "GELU": unary(USUAL_TENSORS, version=3),
    "HARD_SWISH": parsed_by("HardSwishOperationParser", runtime_operands(1, 1), *readable(0), *RESULTS),
    "LEAKY_RELU": _RELU,
    "LOGISTIC": unary(tensors(*BFLOAT16)),
    "PRELU": _PRELU,
    "RELU": _RELU,
    "RELU6": _RELU,
    "RELU_0_TO_1": parsed_by(
        "ReLUOperationParser",
        *version_up_to(2),
        *since(SINCE_2_1_5, _NOT_KNOWN.saying("Not supported op RELU_0_TO_1").from_source(COMPATIBILITY.with_branch("default"))),
        *exact_inputs(1, 0, 1),
        *RESULTS_FROM_2_1_5,
        *readable(0),
        *RESULTS_BEFORE_2_1_5,
    ),
    "RELU_N1_TO_1": _RELU,
    "SOFTMAX": parsed_by(
        "SoftmaxOperationParser",
        *version_up_to(4, older=2),
        *arithmetic.SOFTMAX,
        *before(SINCE_2_2, other_inputs(0)),
        *since(SINCE_2_2, *_ONE_RUNTIME_INPUT, *RESULTS),
        *readable(0),
        *before(SINCE_2_2, *RESULTS),
    ),
    "TANH": unary(tensors(*BFLOAT16)),
}


# Building the model


def _slopes_of_batches(node: NodeView) -> Iterator[Refusal]:
    if bhwc(node.input(0).shape).b > 1 and not is_linear(node.input(1).shape):
        yield BATCH.failure(node.input(0))


WEBGPU_PROBLEMS: BuildProblems = {"PRELU": _slopes_of_batches}
