"""Why the kernel of a partition cannot be created: the codes, and how each failure is told."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Kind, Problem
from .. import base
from ..base import FailureWording


def _kind(code: str, problem: Problem, title: str, meaning: str, advice: str, hint: str) -> Kind:
    return Kind(code, problem, title, meaning, advice, hint, is_shared=True)


WORDINGS: Mapping[str, FailureWording] = {
    "xnnpack-kernel-datatype": FailureWording(
        "{tensor} is {type} with {found}, which XNNPACK cannot store",
        _kind(
            "xnnpack-kernel-datatype",
            Problem.TYPE,
            "tensor that XNNPACK cannot store",
            "The rules look at the types of operands, but not always at their scales and zero points, nor at every result. A "
            "tensor without an XNNPACK datatype makes the kernel of the whole partition fail.",
            "Convert the model so that scales are positive, zero points are in range, and indices are not results of the node.",
            "convert with another type, or with usable scales and zero points, for this tensor",
        ),
    ),
    "xnnpack-kernel-rank": FailureWording(
        "{tensor} has shape {shape}; XNNPACK's tensors have at most 6 dimensions",
        _kind(
            "xnnpack-kernel-rank",
            Problem.RANK,
            "tensor of more than six dimensions",
            "Not all rules look at the number of dimensions, and XNNPACK has no tensors of more than six.",
            "Fold dimensions with a RESHAPE around the operator.",
            "fold dimensions with RESHAPE",
        ),
    ),
    "xnnpack-kernel-mixed-types": FailureWording(
        "{op} of {found} is not an operation of XNNPACK",
        _kind(
            "xnnpack-kernel-mixed-types",
            Problem.TYPE,
            "types that do not go together",
            "The rules look at the type of each operand, and XNNPACK at all of them together: for example, 8-bit weights of a "
            "convolution that are quantised per channel need a bias that is quantised per channel too.",
            "Quantise weights and bias alike, and keep float operands and results in one type.",
            "keep operands, weights, bias and result in types that go together",
        ),
    ),
    "xnnpack-kernel-rescaling": FailureWording(
        "{op} would have to change the scale or zero point, from {found}",
        _kind(
            "xnnpack-kernel-rescaling",
            Problem.QUANTIZATION,
            "input and output quantised differently",
            "XNNPACK moves quantised values without changing them, so that input and output need the same scale and zero point. "
            "The rules do not look at that for all operators.",
            "Quantise the model with a converter that gives such operators the same parameters on both sides, as TensorFlow's "
            "does, or put a QUANTIZE after the operator.",
            "give input and output the same scale and zero point",
        ),
    ),
    "xnnpack-kernel-zero-point": FailureWording(
        "{tensor} has zero point {found}, where XNNPACK needs 0",
        _kind(
            "xnnpack-kernel-zero-point",
            Problem.QUANTIZATION,
            "weights with a zero point",
            "XNNPACK multiplies by signed integer weights only if their zero point is 0; with INT4 it may also be 8.",
            "Quantise weights symmetrically.",
            "quantise weights symmetrically",
        ),
    ),
    "xnnpack-kernel-scale": FailureWording(
        "{tensor} has {found}",
        _kind(
            "xnnpack-kernel-scale",
            Problem.QUANTIZATION,
            "scales that XNNPACK cannot compute with",
            "The scale of input times weights over that of the output must stay below 256, and the scales of the second input of "
            "BATCH_MATMUL must divide its columns evenly.",
            "Quantise with a representative data set.",
            "quantise with a representative data set",
        ),
    ),
    "xnnpack-kernel-block-size": FailureWording(
        "{tensor} has {found}",
        _kind(
            "xnnpack-kernel-block-size",
            Problem.QUANTIZATION,
            "blocks that do not divide the input channels",
            "Weights quantised in blocks need a whole number of blocks for each output channel.",
            "Choose a block size that divides the input channels.",
            "choose a block size that divides the input channels",
        ),
    ),
    "xnnpack-kernel-permutation": FailureWording(
        "TRANSPOSE by {found}, which is not a permutation",
        _kind(
            "xnnpack-kernel-permutation",
            Problem.ATTRIBUTE,
            "operand that is not a permutation",
            "The delegate reads the permutation as INT32 whatever its type. XNNPACK needs each dimension exactly once.",
            "Give the permutation as INT32, with each dimension once.",
            "name every dimension once, as INT32",
        ),
    ),
}

kernel_failure = functools.partial(base.kernel_failure, WORDINGS)
