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
            "The rules check the types of operands, but not always their scales and zero points, and not every result. If "
            "XNNPACK has no datatype for a tensor, the kernel of the whole partition fails.",
            "Convert the model so that scales are positive and zero points are in range, and so that the node has no integer "
            "results such as indices.",
            "convert with another type, or with usable scales and zero points, for this tensor",
        ),
    ),
    "xnnpack-kernel-rank": FailureWording(
        "{tensor} has shape {shape}; XNNPACK's tensors have at most 6 dimensions",
        shared_kind(
            "xnnpack-kernel-rank",
            Problem.RANK,
            "tensor of more than six dimensions",
            "Not all rules check the number of dimensions, but XNNPACK's tensors have at most six dimensions.",
            "Fold dimensions with a RESHAPE around the operator.",
            "fold dimensions with RESHAPE",
        ),
    ),
    "xnnpack-kernel-mixed-types": FailureWording(
        "XNNPACK has no operation {op} for {found}",
        shared_kind(
            "xnnpack-kernel-mixed-types",
            Problem.TYPE,
            "types that cannot be combined",
            "The rules check the type of each operand separately, but XNNPACK checks the combination of all types. For "
            "example, if the 8-bit weights of a convolution are quantized per channel, the bias must be quantized per "
            "channel too.",
            "Quantize the weights and the bias in the same way, and give all float operands and results the same type.",
            "give operands, weights, bias and result types that XNNPACK can combine",
        ),
    ),
    "xnnpack-kernel-rescaling": FailureWording(
        "{op} would have to change the scale or zero point from {found}",
        shared_kind(
            "xnnpack-kernel-rescaling",
            Problem.QUANTIZATION,
            "input and output quantized differently",
            "XNNPACK moves quantized values without changing them, so the input and the output need the same scale and zero "
            "point. The rules do not check this for all operators.",
            "Quantize the model with a converter that gives the input and the output of such operators the same scale and "
            "zero point, as TensorFlow's converter does. Or put a QUANTIZE after the operator.",
            "give input and output the same scale and zero point",
        ),
    ),
    "xnnpack-kernel-zero-point": FailureWording(
        "{tensor} has zero point {found}, but XNNPACK needs 0",
        shared_kind(
            "xnnpack-kernel-zero-point",
            Problem.QUANTIZATION,
            "weights with a zero point",
            "XNNPACK multiplies by signed integer weights only if their zero point is 0. The zero point of INT4 weights may "
            "also be 8.",
            "Quantize weights symmetrically.",
            "quantize weights symmetrically",
        ),
    ),
    "xnnpack-kernel-scale": FailureWording(
        "{tensor} has {found}",
        shared_kind(
            "xnnpack-kernel-scale",
            Problem.QUANTIZATION,
            "scales with which XNNPACK cannot compute",
            "Input scale * weight scale / output scale must be below 256. In a BATCH_MATMUL, the number of columns of the "
            "second input must be a multiple of the number of its scales.",
            "Quantize with a representative data set.",
            "quantize with a representative data set",
        ),
    ),
    "xnnpack-kernel-block-size": FailureWording(
        "{tensor} has {found}",
        shared_kind(
            "xnnpack-kernel-block-size",
            Problem.QUANTIZATION,
            "block size that does not divide the input channels",
            "Weights that are quantized in blocks need a whole number of blocks for each output channel.",
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
            "Give the permutation as INT32, and list each dimension once.",
            "give the permutation as INT32, and list each dimension once",
        ),
    ),
    "xnnpack-kernel-scalar": FailureWording(
        "{tensor} has no dimensions, but {op} quantizes it along the last dimension",
        shared_kind(
            "xnnpack-kernel-scalar",
            Problem.RANK,
            "scalar that would be quantized at run time",
            "A FULLY_CONNECTED with float activations and integer weights quantizes the activations along their last "
            "dimension. XNNPACK uses the shape in the file, which has no dimensions if it is unknown.",
            "Give the model fixed shapes before converting it.",
            "give the operand at least one dimension in the file",
        ),
    ),
    "xnnpack-kernel-axes": FailureWording(
        "{tensor} has shape {shape}, which has no axis {found}",
        shared_kind(
            "xnnpack-kernel-axes",
            Problem.ATTRIBUTE,
            "axis that the operand does not have",
            "The delegate does not compare axes with the rank of the operand. XNNPACK does so when it computes shapes.",
            "Use axes that the operand has.",
            "use axes that the operand has",
        ),
    ),
    "xnnpack-kernel-attention": FailureWording(
        "{op} with {found}",
        shared_kind(
            "xnnpack-kernel-attention",
            Problem.SHAPE,
            "attention operands that do not match",
            "Queries, keys and values need four dimensions: batch, length, heads and size. The number of query heads must be "
            "a multiple of the number of key heads. Keys and values must have the same length, and the mask must have the "
            "shape of their products.",
            "Give the operands four dimensions, and let a whole number of query heads share each key head.",
            "give queries, keys and values four dimensions that match",
        ),
    ),
    "xnnpack-kernel-unpacked-shape": FailureWording(
        "{tensor} has shape {shape}, but the constant from which it is computed has shape {found}",
        shared_kind(
            "xnnpack-kernel-unpacked-shape",
            Problem.SHAPE,
            "weights whose shape differs from that of their constant",
            "If the result of a DEQUANTIZE serves only as weights, XNNPACK uses the FLOAT16 constant instead, but the "
            "delegate uses the shape that the file gives the result. The two shapes must be equal.",
            "Give the result the shape of the constant, as converters do.",
            "give the result of DEQUANTIZE the shape of its constant",
        ),
    ),
    "xnnpack-kernel-unpacked-size": FailureWording(
        "{tensor} has shape {shape}, but the constant that is unpacked into it has shape {found}",
        shared_kind(
            "xnnpack-kernel-unpacked-size",
            Problem.SHAPE,
            "constant unpacked into too little memory",
            "The delegate unpacks a constant into memory whose size is that of the result of the DEQUANTIZE or DENSIFY in "
            "the file. If the constant is larger, the delegate writes beyond this memory. The behavior is then undefined; "
            "usually the process ends.",
            "Give the result the shape of the constant, as converters do.",
            "give the unpacked tensor the shape of its constant",
        ),
        is_crash=True,
    ),
    "xnnpack-kernel-variable-twice": FailureWording(
        "{op} reads {tensor}, the value of a variable, more than once",
        shared_kind(
            "xnnpack-kernel-variable-twice",
            Problem.NEIGHBORS,
            "value of a variable that a node reads twice",
            "If a single node reads the result of a READ_VARIABLE, XNNPACK leaves out the copy, but replaces only the first "
            "operand of this node. If the node reads the value twice, its other operand has no shape.",
            "Read the variable a second time, or let another node read the value too.",
            "read the variable once for each operand",
        ),
    ),
}

kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
