"""Failures to build the delegate's own model of a partition: problem codes and wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Kind, Problem
from .. import decision
from ..decision import FailureWording

ONE_BATCH = "gpu-build-batch"

_WORDINGS = (
    FailureWording(
        "{tensor} has shape {shape}; tensors of the delegate's model have 1 to 4 dimensions",
        Kind(
            "gpu-build-rank",
            Problem.RANK,
            "scalar tensor in a partition",
            "The rules refuse tensors with five or more dimensions, but not scalars. The delegate's model cannot hold a "
            "scalar that is computed at run time.",
            "Keep a dimension (keep_dims of reductions, shape [1]), or fold the scalar into a constant.",
            "give the tensor a dimension, for example with keep_dims",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is constant, but the delegate needs a tensor that is computed at run time",
        Kind(
            "gpu-build-constant-operand",
            Problem.CONSTANT,
            "constant in place of a runtime tensor",
            "The rule counts the constants, but does not check their positions. The delegate reads this operand from GPU "
            "memory, and constants are not stored there.",
            "Fold the operator, or swap the operands if their order does not matter.",
            "fold the operator, or compute the operand in the graph",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is computed at run time, but the delegate needs a constant",
        Kind(
            "gpu-build-runtime-operand",
            Problem.CONSTANT,
            "runtime tensor in place of a constant",
            "The rule does not check whether this operand is constant. When the delegate builds its model, it reads the "
            "operand's value before the value is computed: the process crashes or reads arbitrary memory.",
            "Make the operand a constant of the model.",
            "make the operand a constant of the model",
            is_shared=True,
        ),
        is_crash=True,
    ),
    FailureWording(
        "{tensor} is a constant of type {type} without the scale and zero point that the delegate needs to convert it to float",
        Kind(
            "gpu-build-unscaled-constant",
            Problem.QUANTIZATION,
            "integer constant without scale",
            "The rules do not check constants. When the delegate builds its model, it converts 8-bit and INT32 constants to "
            "float with their scale and zero point, and crashes if a constant has none.",
            "Convert the model so that the constant is float, or has a scale and a zero point.",
            "convert the model so that this constant has a scale and a zero point, or is float",
            is_shared=True,
        ),
        is_crash=True,
    ),
    FailureWording(
        "an operand that the delegate reads is left out",
        Kind(
            "gpu-build-missing-operand",
            Problem.OPERANDS,
            "operand left out",
            "The delegate reads an operand that the node leaves out.",
            "Give the node the operand.",
            "give the node the operand",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{found}",
        Kind(
            "gpu-build-operand-count",
            Problem.OPERANDS,
            "number of operands",
            "When the delegate builds its model, it counts the operands again, and counts operands that the node leaves out "
            "as constants.",
            "Give the node exactly the operands that it needs.",
            "give the node exactly the operands that it needs",
            is_shared=True,
        ),
    ),
    FailureWording(
        "has {found} results, but the operation in the delegate's model has one",
        Kind(
            "gpu-build-output-count",
            Problem.OPERANDS,
            "number of results",
            "In the delegate's model, this operation has one result.",
            "Give the node one result.",
            "give the node one result",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is {type} {found}",
        Kind(
            "gpu-build-quantization",
            Problem.QUANTIZATION,
            "quantization of a tensor",
            "8-bit tensors that are computed at run time must have one scale and one zero point.",
            "Convert the model so that every 8-bit tensor that is computed at run time has one scale and one zero point.",
            "quantize the tensor with one scale and zero point",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is a constant of type {type}, which the delegate cannot read as {wanted}",
        Kind(
            "gpu-build-constant-type",
            Problem.TYPE,
            "type of a constant",
            "The rules do not check the types of constants. The delegate reads weights and other values from float, 8-bit or "
            "INT32 constants. It cannot read 4-bit, INT16 and INT64 constants as float.",
            "Convert the model so that the constant has one of these types.",
            "convert with another type for this constant",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is a constant of shape {shape}; the delegate reads it only with {needed}",
        Kind(
            "gpu-build-constant-shape",
            Problem.SHAPE,
            "shape of a constant",
            "The rules do not check the shapes of most constants. Each operator reads its constants in one layout only.",
            "Give the constant the required layout by adding or removing dimensions of size 1.",
            "give the constant another shape",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} has no sparsity parameters",
        Kind(
            "gpu-build-sparsity",
            Problem.CONSTANT,
            "DENSIFY of a constant that is not sparse",
            "The constant that DENSIFY unpacks has no sparsity parameters.",
            "Convert the model without sparse weights.",
            "convert without sparse weights",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} has shape {shape}; needs {needed}",
        Kind(
            "gpu-build-shape",
            Problem.SHAPE,
            "shape that the delegate's model cannot represent",
            "The rules accept the node without checking this shape, but the delegate cannot build its model with it.",
            "Change the shape in the model, for example by removing groups or by packing constants differently.",
            "change the shape, or split the operator",
            is_shared=True,
        ),
    ),
    FailureWording(
        "axis {axis} does not fit {tensor} of shape {shape}",
        Kind(
            "gpu-build-axis",
            Problem.SHAPE,
            "axis out of range",
            "The tensor does not have this axis.",
            "Use an axis of the tensor.",
            "use an axis of the tensor",
            is_shared=True,
        ),
    ),
    FailureWording(
        "slices {found}; needs {needed}",
        Kind(
            "gpu-build-slice",
            Problem.SHAPE,
            "slice that the delegate's model cannot express",
            "In a STRIDED_SLICE of any rank, the delegate reads three values as height, width and channels. In a SLICE of "
            "three dimensions, it reads them as batch, width and channels. If the result then has other sizes than in the "
            "file, the delegate fails to build its model.",
            "Give the input four dimensions with a RESHAPE, and slice all four of them.",
            "slice with one value for each dimension of the input",
            is_shared=True,
        ),
    ),
    FailureWording(
        "has the fused activation {found}, which the GPU does not have",
        Kind(
            "gpu-build-activation",
            Problem.ATTRIBUTE,
            "fused activation",
            "The rule does not check the fused activation of this operator, but the delegate cannot build its model with it.",
            "Keep the activation as a separate operator.",
            "keep the activation as a separate operator",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} appears twice among the operands or results",
        Kind(
            "gpu-build-repeated-operand",
            Problem.OPERANDS,
            "the same tensor twice",
            "In the delegate's model, an operation can read a tensor only once. The delegate rewrites ADD, MUL and "
            "CONCATENATION accordingly, but no other operators.",
            "Replace the operator (x / x, x - x, a SELECT between equal values), or put an operation in between.",
            "replace the operator with one that has a single operand, or copy the tensor",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is both an operand and a result",
        Kind(
            "gpu-build-in-place",
            Problem.OPERANDS,
            "operand that is also the result",
            "In the delegate's model, an operation cannot write a tensor that it reads.",
            "Give the node a separate result.",
            "give the node a separate result",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} {found}",
        Kind(
            "gpu-build-variable",
            Problem.CONSTANT,
            "variable tensor",
            "In a partition, each node that reads a variable must also write it. Only an LSTM does so, for its two states, "
            "which must be variables.",
            "Convert recurrent layers to LSTM with variable states, and leave other operators that read variables to the CPU.",
            "keep variables out of the partition, or convert the LSTM so that its states are variables",
            is_shared=True,
        ),
    ),
    FailureWording(
        "an LSTM with one operand for each gate makes the delegate fail while it optimizes its model",
        Kind(
            "gpu-build-lstm",
            Problem.OPERANDS,
            "LSTM with one operand for each gate",
            "The rules accept this form of LSTM, and the delegate turns it into basic operations. When the delegate then "
            "merges additions into convolutions, it reads attributes that the additions in the gates do not have. This ends "
            "the process; in builds with exceptions, the delegate fails instead.",
            "Leave the LSTM to the CPU, or unroll it into basic operators when converting.",
            "leave the LSTM to the CPU, or unroll it into basic operators",
            is_shared=True,
        ),
    ),
    FailureWording(
        "changes nothing, so the delegate removes it, but node {consumer} reads both its operand and its result",
        Kind(
            "gpu-build-identity",
            Problem.SHAPE,
            "RESHAPE or slice that changes nothing",
            "The delegate removes operations that change nothing on the GPU; their consumers then read the operand instead. "
            "This fails if a consumer already reads the operand, as in x + reshape(x).",
            "Remove the RESHAPE or slice from the model.",
            "remove the operator from the model",
            is_shared=True,
        ),
    ),
    FailureWording(
        "its constant is merged into one consumer, but has more than one",
        Kind(
            "gpu-build-shared-constant",
            Problem.CONSTANT,
            "constant with more than one consumer",
            "The delegate turns a concatenation with zeros into padding, and merges unpacked weights into their convolution. "
            "Both fail if the constant has other consumers.",
            "Give each consumer a separate constant.",
            "give each consumer a separate constant",
            is_shared=True,
        ),
    ),
    FailureWording(
        "the partition has tensors with batches of {first} and {second}, and OpenGL needs the same batch in all of them",
        Kind(
            ONE_BATCH,
            Problem.SHAPE,
            "different batches on OpenGL",
            "The rules do not compare batches. With OpenGL, the delegate refuses a partition whose tensors have different "
            "batches; OpenCL runs it.",
            "Use OpenCL, which is the default, or convert the model with a batch of 1.",
            "use OpenCL (gpu_backend), or convert the model with a batch of 1",
            is_shared=True,
        ),
    ),
)

WORDINGS: Mapping[str, FailureWording] = {wording.kind.name: wording for wording in _WORDINGS}
"""The wording of each failure, by problem code."""


def is_crash(code: str) -> bool:
    """Return whether a failure with this code ends the process."""
    return WORDINGS[code].is_crash


kernel_failure = functools.partial(decision.kernel_failure, WORDINGS)
