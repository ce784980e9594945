"""Failures to build the delegate's own model of a partition: problem codes and wording."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...model.model import Tensor
from ...refusal import Effect, Refused
from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import kinds_by_code

KINDS = kinds_by_code(
    shared_kind(
        "gpu-build-rank",
        Problem.RANK,
        "scalar tensor in a partition",
        "The rules accept scalars, but the delegate's model cannot contain a scalar that is computed at run time.",
        "Keep a dimension of size 1 (in a reduction, with keep_dims), or store the scalar as a constant.",
        "give the tensor a dimension, for example with keep_dims",
        template="{tensor} has shape {shape}; tensors of the delegate's model have 1 to 4 dimensions",
    ),
    shared_kind(
        "gpu-build-constant-operand",
        Problem.CONSTANT,
        "constant in place of a runtime tensor",
        "The rule counts the constants, but does not check their positions. The delegate reads this operand from GPU "
        "memory, and GPU memory does not contain constants.",
        "Fold the operator into a constant, or swap the operands if their order does not matter.",
        "fold the operator into a constant, or compute the operand in the graph",
        template="{tensor} is constant, but the delegate needs a tensor that is computed at run time",
    ),
    shared_kind(
        "gpu-build-runtime-operand",
        Problem.CONSTANT,
        "runtime tensor in place of a constant",
        "The rule does not check whether this operand is constant. The delegate reads the operand's value before the "
        "value is computed. The process then crashes or reads arbitrary memory.",
        "Make the operand a constant of the model.",
        "make the operand a constant of the model",
        template="{tensor} is computed at run time, but the delegate needs a constant",
        effect=Effect.CRASH,
    ),
    shared_kind(
        "gpu-build-unscaled-constant",
        Problem.QUANTIZATION,
        "integer constant without scale",
        "The rules do not check constants. The delegate converts 8-bit and INT32 constants to float with their scale and "
        "zero point. If a constant has no scale and zero point, the delegate crashes.",
        "Convert the model so that the constant is float, or has a scale and a zero point.",
        "convert the model so that this constant is float, or has a scale and a zero point",
        template="{tensor} is a constant of type {type}; to convert it to float, the delegate needs a scale and a zero point",
        effect=Effect.CRASH,
    ),
    shared_kind(
        "gpu-build-missing-operand",
        Problem.OPERANDS,
        "missing operand",
        "The delegate reads an operand that the node does not have.",
        "Give the node the operand.",
        "give the node the operand",
        template="an operand that the delegate reads is missing",
    ),
    shared_kind(
        "gpu-build-operand-count",
        Problem.OPERANDS,
        "number of operands",
        "When the delegate builds its model, it counts the operands again. An omitted operand (-1) then counts as a constant.",
        "Give the node exactly the operands that the operator needs.",
        "give the node exactly the operands that the operator needs",
        template="{found}",
    ),
    shared_kind(
        "gpu-build-output-count",
        Problem.OPERANDS,
        "number of results",
        "In the delegate's model, this operation has one result.",
        "Give the node one result.",
        "give the node one result",
        template="has {found} results, but the operation in the delegate's model has one",
    ),
    shared_kind(
        "gpu-build-quantization",
        Problem.QUANTIZATION,
        "quantization of a tensor",
        "8-bit tensors that are computed at run time must have one scale and one zero point.",
        "Quantize the model with one scale and one zero point for each activation.",
        "quantize the tensor with one scale and zero point",
        template="{tensor} is {type} {found}",
    ),
    shared_kind(
        "gpu-build-constant-type",
        Problem.TYPE,
        "type of a constant",
        "The rules do not check the types of constants. The delegate can convert float, 8-bit and INT32 constants to float, "
        "but not 4-bit, INT16 and INT64 constants.",
        "Convert the model so that the constant is float, 8-bit or INT32.",
        "convert with another type for this constant",
        template="{tensor} is a constant of type {type}, which the delegate cannot read as {wanted}",
    ),
    shared_kind(
        "gpu-build-constant-shape",
        Problem.SHAPE,
        "shape of a constant",
        "The rules do not check the shapes of most constants. Each operator requires a certain layout of its constants.",
        "Give the constant the required layout by adding or removing dimensions of size 1.",
        "give the constant the required layout",
        template="{tensor} is a constant of shape {shape}; the delegate only reads constants with {needed}",
    ),
    shared_kind(
        "gpu-build-sparsity",
        Problem.CONSTANT,
        "DENSIFY of a constant that is not sparse",
        "The constant that DENSIFY unpacks has no sparsity parameters.",
        "Convert the model without sparse weights.",
        "convert without sparse weights",
        template="{tensor} has no sparsity parameters",
    ),
    shared_kind(
        "gpu-build-shape",
        Problem.SHAPE,
        "shape that the delegate's model cannot represent",
        "The rules do not check this shape, but the delegate cannot build its model with it.",
        "Change the shape in the model, for example by removing groups or by packing constants differently.",
        "change the shape, or split the operator",
        template="{tensor} has shape {shape}; needs {needed}",
    ),
    shared_kind(
        "gpu-build-axis",
        Problem.SHAPE,
        "axis out of range",
        "The tensor does not have this axis.",
        "Use an axis of the tensor.",
        "use an axis of the tensor",
        template="axis {axis} does not fit {tensor} of shape {shape}",
    ),
    shared_kind(
        "gpu-build-slice",
        Problem.SHAPE,
        "slice that the delegate's model cannot express",
        "The delegate reads three values of a STRIDED_SLICE as height, width and channels. It reads the three values of a "
        "SLICE of rank 3 as batch, width and channels. If the sizes of the slice then differ from the sizes of the result "
        "in the model file, the delegate cannot build its model.",
        "Give the input four dimensions with a RESHAPE, and slice all four dimensions.",
        "slice with one value for each dimension of the input",
        template="slices {found}; needs {needed}",
    ),
    shared_kind(
        "gpu-build-activation",
        Problem.ATTRIBUTE,
        "fused activation",
        "The rule does not check the fused activation of this operator, but the delegate cannot build its model with it.",
        "Keep the activation as a separate operator.",
        "keep the activation as a separate operator",
        template="has the fused activation {found}, which the GPU does not have",
    ),
    shared_kind(
        "gpu-build-repeated-operand",
        Problem.OPERANDS,
        "the same tensor twice",
        "In the delegate's model, an operation can read a tensor only once. The delegate can rewrite an ADD, MUL or "
        "CONCATENATION that reads a tensor twice, but no other operator.",
        "Replace the operator (for example x / x or x - x), or copy the tensor with another operator.",
        "replace the operator with one that has a single operand, or copy the tensor",
        template="{tensor} appears twice among the operands or results",
    ),
    shared_kind(
        "gpu-build-in-place",
        Problem.OPERANDS,
        "operand that is also the result",
        "In the delegate's model, an operation cannot write a tensor that it reads.",
        "Give the node a separate result.",
        "give the node a separate result",
        template="{tensor} is both an operand and a result",
    ),
    shared_kind(
        "gpu-build-variable",
        Problem.CONSTANT,
        "variable tensor",
        "Only an LSTM can read variables in a partition. The two states of an LSTM must be variables, and the LSTM must "
        "write them.",
        "Convert recurrent layers to LSTM with variable states, and leave other operators that read variables to the CPU.",
        "keep variables out of the partition, or convert the LSTM so that its states are variables",
        template="{tensor} {found}",
    ),
    shared_kind(
        "gpu-build-lstm",
        Problem.OPERANDS,
        "LSTM with one operand for each gate",
        "The rules accept this form of LSTM, and the delegate turns it into basic operations. The delegate then reads "
        "attributes that the additions in the gates do not have. In builds without C++ exceptions, the process ends. In "
        "builds with C++ exceptions, only the delegate fails.",
        "Leave the LSTM to the CPU, or unroll it into basic operators when converting.",
        "leave the LSTM to the CPU, or unroll it into basic operators",
        template="the delegate fails while it optimizes its model, because of an LSTM with one operand for each gate",
    ),
    shared_kind(
        "gpu-build-identity",
        Problem.SHAPE,
        "RESHAPE or slice that changes nothing",
        "The delegate removes operations that change nothing on the GPU. Their consumers then read the operand instead. "
        "The removal fails if a consumer already reads the operand, as in x + reshape(x).",
        "Remove the RESHAPE or slice from the model.",
        "remove the operator from the model",
        template="this node changes nothing, but the delegate cannot remove it, because node {consumer} reads both the operand "
        "and the result of this node",
    ),
    shared_kind(
        "gpu-build-shared-constant",
        Problem.CONSTANT,
        "constant with more than one consumer",
        "The delegate turns a concatenation with zeros into padding, and merges unpacked weights into their convolution. "
        "Both steps fail if the constant has more than one consumer.",
        "Give each consumer a separate constant.",
        "give each consumer a separate constant",
        template="the delegate merges this constant into its consumer, but the constant has more than one consumer",
    ),
    shared_kind(
        "gpu-build-broadcast",
        Problem.SHAPE,
        "elementwise operand with more batches than the result",
        "The first dimension of a tensor is the batch on the GPU, also if the tensor has fewer than four dimensions. If an "
        "operand has several batches and the result has one, the generated kernel does not compile (TensorFlow issue 66712).",
        "Give the operands and the result the same number of dimensions with a RESHAPE.",
        "give both operands the rank of the result with RESHAPE",
        template="an operand has {found} batches on the GPU, but the result has one batch",
    ),
    shared_kind(
        "gpu-build-shader",
        Problem.OPERATOR,
        "operator without a shader for OpenGL",
        "The rules are those of OpenCL. OpenGL has shaders for fewer operators. If one operator has no shader, the delegate "
        "cannot be initialized, and no node runs on the GPU. On Android 12 and newer, the delegate falls back to OpenGL if the "
        "manifest of the application does not declare libOpenCL.so.",
        'Use OpenCL, which is the default. On Android 12 and newer, add <uses-native-library android:name="libOpenCL.so" '
        'android:required="false"/> to the manifest.',
        "use OpenCL (gpu_backend), which needs <uses-native-library> for libOpenCL.so in the manifest, or leave the operator to "
        "the CPU (excluded_ops)",
        template="OpenGL has no shader for this operator; OpenCL has one",
    ),
    shared_kind(
        "gpu-build-batch",
        Problem.SHAPE,
        "different batches on OpenGL",
        "The rules do not compare batches. With OpenGL, the delegate rejects a partition whose tensors have different batches. "
        "OpenCL accepts this partition.",
        "Use OpenCL, which is the default, or convert the model with a batch of 1.",
        "use OpenCL (gpu_backend), or convert the model with a batch of 1",
        template="the partition has tensors with batches of {found} and {needed}, and OpenGL needs the same batch in all tensors",
    ),
)
"""The kind of each failure, by its code."""


def build_error(code: str, tensor: Tensor | None = None, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a failed step of the build. ``values`` fill the placeholders of its message."""
    return Refused(decision.kernel_failure(KINDS, code, node, tensor, **values))


def predicted_error(code: str, node: int | None = None, **values: Any) -> Refused:
    """Return the exception for a step after the build that is predicted to fail."""
    return Refused(replace(build_error(code, None, node, **values).refusal, is_predicted=True))
