"""Codes and wording of the failures to create the kernel of a partition."""

from __future__ import annotations

import functools

from ...refusal import Effect
from ...rules.hints import by_reshape, in_code
from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import kinds_by_code

KINDS = kinds_by_code(
    shared_kind(
        "xnnpack-kernel-datatype",
        Problem.TYPE,
        "tensor that XNNPACK cannot store",
        "The rules check the types of operands, but not all results, scales and zero points. If XNNPACK has no datatype "
        "for a tensor, the kernel of the whole partition fails.",
        "Convert the model with positive scales and with zero points in range. Avoid integer results such as indices.",
        "convert this tensor with another type, or with valid scales and zero points",
        template="XNNPACK cannot store {tensor}, which is {type} with {found}",
    ),
    shared_kind(
        "xnnpack-kernel-rank",
        Problem.RANK,
        "tensor of more than six dimensions",
        "Not all rules check the number of dimensions, but XNNPACK's tensors have at most six dimensions.",
        "Fold dimensions with a RESHAPE before the operator, and restore them after it.",
        by_reshape("fold dimensions with RESHAPE"),
        template="{tensor} has shape {shape}; XNNPACK's tensors have at most 6 dimensions",
    ),
    shared_kind(
        "xnnpack-kernel-mixed-types",
        Problem.TYPE,
        "types that cannot be combined",
        "The rules check the type of each operand separately, but XNNPACK checks the combination of all types. For "
        "example, if the 8-bit weights of a convolution are quantized per channel, the bias must be quantized per "
        "channel too.",
        "Quantize the weights and the bias in the same way, and give all float operands and results the same type.",
        in_code("give operands, weights, bias and result types that XNNPACK can combine"),
        template="XNNPACK has no {op} for {found}",
    ),
    shared_kind(
        "xnnpack-kernel-rescaling",
        Problem.QUANTIZATION,
        "input and output with different scales or zero points",
        "XNNPACK moves quantized values without changing them, so input and output need the same scale and zero point. "
        "The rules do not check this for all operators.",
        "Quantize the model with a converter that gives input and output the same scale and zero point, such as "
        "TensorFlow's converter. Or put a QUANTIZE after the operator.",
        in_code("give input and output the same scale and zero point"),
        template="{op} cannot change the scale and zero point from {found}",
    ),
    shared_kind(
        "xnnpack-kernel-zero-point",
        Problem.QUANTIZATION,
        "weights with a zero point",
        "Signed integer weights must have a zero point of 0. The zero point of INT4 weights may also be 8.",
        "Quantize weights symmetrically.",
        "quantize weights symmetrically",
        template="{tensor} has zero point {found}, but XNNPACK needs 0",
    ),
    shared_kind(
        "xnnpack-kernel-scale",
        Problem.QUANTIZATION,
        "unsupported scales",
        "Input scale * weight scale / output scale must be below 256. If the second input of a BATCH_MATMUL has several "
        "scales, their number must divide the number of columns.",
        "Quantize with a representative data set.",
        "quantize with a representative data set",
        template="{tensor} has {found}",
    ),
    shared_kind(
        "xnnpack-kernel-block-size",
        Problem.QUANTIZATION,
        "block size that does not divide the input channels",
        "If weights are quantized in blocks, the block size must divide the number of input channels.",
        "Choose a block size that divides the input channels.",
        in_code("choose a block size that divides the input channels"),
        template="{tensor} has {found}",
    ),
    shared_kind(
        "xnnpack-kernel-permutation",
        Problem.ATTRIBUTE,
        "operand that is not a permutation",
        "The delegate reads the permutation as INT32, even if it has another type. XNNPACK needs each dimension exactly once.",
        "Give the permutation as INT32, and list each dimension once.",
        "give the permutation as INT32, and list each dimension once",
        template="TRANSPOSE by {found}, but this is not a permutation",
    ),
    shared_kind(
        "xnnpack-kernel-scalar",
        Problem.RANK,
        "scalar activations in dynamic-range quantization",
        "A FULLY_CONNECTED with float activations and integer weights quantizes the activations along their last "
        "dimension. XNNPACK uses the shape in the model file. If a shape is unknown, the file stores no dimensions for it.",
        "Fix the shapes of the model before you convert it.",
        "give the operand at least one dimension in the file",
        template="{tensor} has no dimensions, but {op} quantizes it along the last dimension",
    ),
    shared_kind(
        "xnnpack-kernel-axes",
        Problem.ATTRIBUTE,
        "axis that the operand does not have",
        "The delegate does not compare axes with the rank of the operand. XNNPACK compares them when it computes shapes.",
        "Use axes that the operand has.",
        "use axes that the operand has",
        template="{tensor} of shape {shape} has no axis {found}",
    ),
    shared_kind(
        "xnnpack-kernel-image-rank",
        Problem.RANK,
        "operand that is not a batch of images",
        "The delegate does not check the number of dimensions. XNNPACK checks this number when it computes shapes.",
        "Give the operand four dimensions: batch, height, width and channels.",
        "give the operand four dimensions",
        template="{tensor} has shape {shape}, but {op} needs four dimensions",
    ),
    shared_kind(
        "xnnpack-kernel-window",
        Problem.SHAPE,
        "convolution window that does not fit into its input",
        "From litert-2.2.0 on, XNNPACK refuses a convolution if the dilated window is larger than its padded input. This "
        "often happens if the model file stores 1 for sizes that the application sets later.",
        "Fix the sizes of the model's inputs, or resize the inputs before tensors are allocated.",
        "fix larger sizes of the model's inputs, or resize the inputs before tensors are allocated",
        template="{op} has a window of {needed}, but {tensor} has shape {shape}",
    ),
    shared_kind(
        "xnnpack-kernel-uneven-split",
        Problem.SHAPE,
        "operand that cannot be split evenly",
        "The delegate does not compare the size of the operand with the number of results. XNNPACK compares both when it "
        "computes shapes.",
        "Split the operand into equal parts, or use SPLIT_V.",
        "split the operand into equal parts",
        template="{tensor} has shape {shape}, which cannot be split into {found} equal parts",
    ),
    shared_kind(
        "xnnpack-kernel-operand-shapes",
        Problem.SHAPE,
        "operands with shapes that do not match",
        "The delegate does not compare the shapes of the operands. XNNPACK compares them when it computes shapes.",
        "Give the operands shapes that the operator can combine, as converters do.",
        "give the operands shapes that match",
        template="{op} with {found}",
    ),
    shared_kind(
        "xnnpack-kernel-attention",
        Problem.SHAPE,
        "attention operands that do not match",
        "Queries, keys and values need four dimensions: batch, length, heads and size. The number of query heads must be "
        "a multiple of the number of key heads. Keys and values must have the same length. The mask must broadcast to "
        "[batch, heads, query length, key length].",
        "Give the operands four dimensions, and use a multiple of the key heads as the number of query heads.",
        "give queries, keys and values four dimensions that match",
        template="{op} with {found}",
    ),
    shared_kind(
        "xnnpack-kernel-unpacked-shape",
        Problem.SHAPE,
        "weights with a shape that differs from the shape of their constant",
        "If the result of a DEQUANTIZE is only used as weights, XNNPACK reads the FLOAT16 constant instead. The delegate "
        "still uses the shape of the result in the file. Both shapes must be equal.",
        "Give the result the shape of the constant, as converters do.",
        "give the result of DEQUANTIZE the shape of its constant",
        template="{tensor} has shape {shape}, but its FLOAT16 constant has shape {found}",
    ),
    shared_kind(
        "xnnpack-kernel-unpacked-size",
        Problem.SHAPE,
        "constant that is larger than its unpacked result",
        "The delegate unpacks a constant into memory with the size of the result of the DEQUANTIZE or DENSIFY. If the "
        "constant is larger than the result, the delegate writes beyond this memory. Usually the process ends.",
        "Give the result the shape of the constant, as converters do.",
        "give the unpacked tensor the shape of its constant",
        template="{tensor} has shape {shape}, but a constant of shape {found} is unpacked into it",
        effect=Effect.CRASH,
    ),
    shared_kind(
        "xnnpack-kernel-variable-twice",
        Problem.NEIGHBORS,
        "variable that a node reads twice",
        "If only one node reads the result of a READ_VARIABLE, XNNPACK removes the copy and replaces the first operand of "
        "the node. If the node reads the result twice, the second operand has no shape.",
        "Add a second READ_VARIABLE, or let another node read the value too.",
        "read the variable once for each operand",
        template="{op} reads the value of a variable, {tensor}, more than once",
    ),
)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)
