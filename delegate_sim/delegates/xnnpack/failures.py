"""Why the kernel of a partition cannot be created: the codes, and all wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.rule import Explanation
from .. import base
from ..base import FailureWording

_WORDINGS: Mapping[str, FailureWording] = {
    "xnnpack-kernel-datatype": FailureWording(
        "{tensor} is {type} with {found}, which XNNPACK cannot store",
        "convert with another type, or with usable scales and zero points, for this tensor",
        Explanation(
            "tensor that XNNPACK cannot store",
            "The rules look at the types of operands, but not always at their scales and zero points, nor at every result. A "
            "tensor without an XNNPACK datatype makes the kernel of the whole partition fail.",
            "Convert the model so that scales are positive, zero points are in range, and indices are not results of the node.",
        ),
    ),
    "xnnpack-kernel-rank": FailureWording(
        "{tensor} has shape {shape}; XNNPACK's tensors have at most 6 dimensions",
        "fold dimensions with RESHAPE",
        Explanation(
            "tensor of more than six dimensions",
            "Not all rules look at the number of dimensions, and XNNPACK has no tensors of more than six.",
            "Fold dimensions with a RESHAPE around the operator.",
        ),
    ),
    "xnnpack-kernel-mixed-types": FailureWording(
        "{op} of {found} is not an operation of XNNPACK",
        "keep operands, weights, bias and result in types that go together",
        Explanation(
            "types that do not go together",
            "The rules look at the type of each operand, and XNNPACK at all of them together: for example, 8-bit weights of a "
            "convolution that are quantised per channel need a bias that is quantised per channel too.",
            "Quantise weights and bias alike, and keep float operands and results in one type.",
        ),
    ),
    "xnnpack-kernel-rescaling": FailureWording(
        "{op} would have to change the scale or zero point, from {found}",
        "give input and output the same scale and zero point",
        Explanation(
            "input and output quantised differently",
            "XNNPACK moves quantised values without changing them, so that input and output need the same scale and zero point. "
            "The rules do not look at that for all operators.",
            "Quantise the model with a converter that gives such operators the same parameters on both sides, as TensorFlow's "
            "does, or put a QUANTIZE behind the operator.",
        ),
    ),
    "xnnpack-kernel-zero-point": FailureWording(
        "{tensor} has zero point {found}, where XNNPACK needs 0",
        "quantise weights symmetrically",
        Explanation(
            "weights with a zero point",
            "XNNPACK multiplies by signed integer weights only if their zero point is 0; with INT4 it may also be 8.",
            "Quantise weights symmetrically.",
        ),
    ),
    "xnnpack-kernel-scale": FailureWording(
        "{tensor} has {found}",
        "quantise with a representative data set",
        Explanation(
            "scales that XNNPACK cannot compute with",
            "The scale of input times weights over that of the output must stay below 256, and the scales of the second input of "
            "BATCH_MATMUL must divide its columns evenly.",
            "Quantise with a representative data set.",
        ),
    ),
    "xnnpack-kernel-block-size": FailureWording(
        "{tensor} has {found}",
        "choose a block size that divides the input channels",
        Explanation(
            "blocks that do not divide the input channels",
            "Weights quantised in blocks need a whole number of blocks for each output channel.",
            "Choose a block size that divides the input channels.",
        ),
    ),
    "xnnpack-kernel-permutation": FailureWording(
        "TRANSPOSE by {found}, which is no permutation",
        "name every dimension once, as INT32",
        Explanation(
            "permutation that is none",
            "The delegate reads the permutation as INT32 whatever its type. XNNPACK needs each dimension exactly once.",
            "Give the permutation as INT32, with each dimension once.",
        ),
    ),
}

EXPLANATIONS: Mapping[str, Explanation] = {code: wording.explanation for code, wording in _WORDINGS.items()}

kernel_failure = functools.partial(base.kernel_failure, _WORDINGS)
