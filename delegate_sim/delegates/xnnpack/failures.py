"""Codes and wording of the failures to create the kernel of a partition."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import FailureWording

WORDINGS: Mapping[str, FailureWording] = {
    "xnnpack-kernel-datatype": FailureWording(
        "{tensor} is {type} with {found}, which XNNPACK cannot store",
        shared_kind(
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
        shared_kind(
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
        shared_kind(
            "xnnpack-kernel-mixed-types",
            Problem.TYPE,
            "types that do not go together",
            "The rules look at the type of each operand, and XNNPACK at all of them together: for example, 8-bit weights of a "
            "convolution that are quantized per channel need a bias that is quantized per channel too.",
            "Quantize weights and bias alike, and keep float operands and results in one type.",
            "keep operands, weights, bias and result in types that go together",
        ),
    ),
    "xnnpack-kernel-rescaling": FailureWording(
        "{op} would have to change the scale or zero point, from {found}",
        shared_kind(
            "xnnpack-kernel-rescaling",
            Problem.QUANTIZATION,
            "input and output quantized differently",
            "XNNPACK moves quantized values without changing them, so that input and output need the same scale and zero point. "
            "The rules do not look at that for all operators.",
            "Quantize the model with a converter that gives such operators the same parameters on both sides, as TensorFlow's "
            "does, or put a QUANTIZE after the operator.",
            "give input and output the same scale and zero point",
        ),
    ),
    "xnnpack-kernel-zero-point": FailureWording(
        "{tensor} has zero point {found}, where XNNPACK needs 0",
        shared_kind(
            "xnnpack-kernel-zero-point",
            Problem.QUANTIZATION,
            "weights with a zero point",
            "XNNPACK multiplies by signed integer weights only if their zero point is 0; with INT4 it may also be 8.",
            "Quantize weights symmetrically.",
            "quantize weights symmetrically",
        ),
    ),
    "xnnpack-kernel-scale": FailureWording(
        "{tensor} has {found}",
        shared_kind(
            "xnnpack-kernel-scale",
            Problem.QUANTIZATION,
            "scales that XNNPACK cannot compute with",
            "The scale of input times weights over that of the output must stay below 256, and the scales of the second input of "
            "BATCH_MATMUL must divide its columns evenly.",
            "Quantize with a representative data set.",
            "quantize with a representative data set",
        ),
    ),
    "xnnpack-kernel-block-size": FailureWording(
        "{tensor} has {found}",
        shared_kind(
            "xnnpack-kernel-block-size",
            Problem.QUANTIZATION,
            "blocks that do not divide the input channels",
            "Weights quantized in blocks need a whole number of blocks for each output channel.",
            "Choose a block size that divides the input channels.",
            "choose a block size that divides the input channels",
        ),
    ),
    "xnnpack-kernel-permutation": FailureWording(
        "TRANSPOSE by {found}, which is not a permutation",
        shared_kind(
            "xnnpack-kernel-permutation",
            Problem.ATTRIBUTE,
            "operand that is not a permutation",
            "The delegate reads the permutation as INT32 whatever its type. XNNPACK needs each dimension exactly once.",
            "Give the permutation as INT32, with each dimension once.",
            "name every dimension once, as INT32",
        ),
    ),
    "xnnpack-kernel-scalar": FailureWording(
        "{tensor} has no dimensions; {op} quantizes it along the last one",
        shared_kind(
            "xnnpack-kernel-scalar",
            Problem.RANK,
            "scalar to be quantized at run time",
            "FULLY_CONNECTED of float activations and integer weights quantizes the activations along their last dimension. The "
            "shape is that of the file, which has none where it is not known.",
            "Give the model fixed shapes before converting it.",
            "give the operand at least one dimension in the file",
        ),
    ),
    "xnnpack-kernel-axes": FailureWording(
        "{tensor} has shape {shape}; there is no axis {found}",
        shared_kind(
            "xnnpack-kernel-axes",
            Problem.ATTRIBUTE,
            "axis that the operand does not have",
            "The delegate does not compare axes with the rank of the operand, but XNNPACK does when it computes shapes.",
            "Name axes that the operand has.",
            "name axes that the operand has",
        ),
    ),
    "xnnpack-kernel-attention": FailureWording(
        "{op} with {found}",
        shared_kind(
            "xnnpack-kernel-attention",
            Problem.SHAPE,
            "attention whose operands do not go together",
            "Queries, keys and values need four dimensions: batch, length, heads and size. The heads of the query must be a "
            "multiple of those of the keys, keys and values must be equally long, and the mask must fit.",
            "Give the operands four dimensions, and share keys among a whole number of heads.",
            "give queries, keys and values four dimensions that go together",
        ),
    ),
    "xnnpack-kernel-unpacked-shape": FailureWording(
        "{tensor} has shape {shape}, and the constant that it is made from has {found}",
        shared_kind(
            "xnnpack-kernel-unpacked-shape",
            Problem.SHAPE,
            "weights with another shape than their constant",
            "Results of DEQUANTIZE that serve as weights only are replaced by their float16 constant, while the delegate goes by "
            "the shape that the file gives the result.",
            "Give the result the shape of the constant: converters do.",
            "give the result of DEQUANTIZE the shape of its constant",
        ),
    ),
    "xnnpack-kernel-unpacked-size": FailureWording(
        "{tensor} has shape {shape}, which is not that of the constant that is unpacked into it, {found}",
        shared_kind(
            "xnnpack-kernel-unpacked-size",
            Problem.SHAPE,
            "constant unpacked into too little memory",
            "The delegate unpacks constants into memory of the size that the file gives the result of DEQUANTIZE or DENSIFY, and "
            "writes beyond it. What happens then is undefined; usually the process ends.",
            "Give the result the shape of the constant: converters do.",
            "give the unpacked tensor the shape of its constant",
        ),
        is_crash=True,
    ),
    "xnnpack-kernel-variable-twice": FailureWording(
        "{op} reads {tensor}, the value of a variable, more than once",
        shared_kind(
            "xnnpack-kernel-variable-twice",
            Problem.NEIGHBORS,
            "value of a variable that one node reads twice",
            "XNNPACK leaves out the copy that READ_VARIABLE makes where one node alone reads it, and replaces only the first of "
            "the node's operands. The other is left without a shape.",
            "Read the variable a second time, or let another node read the value too.",
            "read the variable once for each operand",
        ),
    ),
}

kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
