"""Failures to build the delegate's own model of a partition: problem codes and wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.kinds import Kind, Problem
from .. import decision
from ..decision import FailureWording

_WORDINGS = (
    FailureWording(
        "{tensor} has shape {shape}; tensors of the delegate's model have 1 to 4 dimensions",
        Kind(
            "gpu-build-rank",
            Problem.RANK,
            "scalar tensor in a partition",
            "The rules refuse tensors of five dimensions and more, but not scalars. The delegate's model has no place for a "
            "scalar that is computed at run time.",
            "Keep a dimension (keep_dims of reductions, shape [1]), or fold the scalar into a constant.",
            "give the tensor a dimension, for example with keep_dims",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is constant, where the delegate reads a tensor that is computed at run time",
        Kind(
            "gpu-build-constant-operand",
            Problem.CONSTANT,
            "constant where a runtime tensor is read",
            "The rule counts constants, but not in which positions they are. Building the model reads this operand from GPU "
            "memory, where constants are not.",
            "Fold the operator, or exchange the operands if their order does not matter.",
            "fold the operator, or compute the operand in the graph",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is computed at run time, where the delegate reads a constant",
        Kind(
            "gpu-build-runtime-operand",
            Problem.CONSTANT,
            "runtime tensor where a constant is read",
            "The rule does not ask whether this operand is constant. Building the model reads its value before it is "
            "computed: the process crashes, or reads arbitrary memory.",
            "Make the operand a constant of the model.",
            "make the operand a constant of the model",
            is_shared=True,
        ),
        is_crash=True,
    ),
    FailureWording(
        "{tensor} is a constant of type {type} without the scale and zero point that the delegate needs to make it float",
        Kind(
            "gpu-build-unscaled-constant",
            Problem.QUANTIZATION,
            "integer constant without scale",
            "The rules do not look at constants. Building the model makes 8-bit and INT32 constants float with their "
            "quantization parameters, and crashes if there are none.",
            "Convert the model so that the constant has scale and zero point, or is float.",
            "convert the model with quantization parameters for this constant",
            is_shared=True,
        ),
        is_crash=True,
    ),
    FailureWording(
        "an operand is left out that the delegate reads",
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
            "Building the model counts operands again, and counts those that are left out as constants.",
            "Give the node exactly the operands that it needs.",
            "give the node exactly the operands that it needs",
            is_shared=True,
        ),
    ),
    FailureWording(
        "has {found} results, where the delegate's model has one",
        Kind(
            "gpu-build-output-count",
            Problem.OPERANDS,
            "number of results",
            "The delegate's model has one result for this operation.",
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
            "Convert the model so that every 8-bit tensor has quantization parameters, activations per tensor.",
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
            "The rules do not look at the types of constants. Weights and other values are read from float, 8-bit or INT32 "
            "constants; 4-bit, INT16 and INT64 ones cannot be read as float.",
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
            "The rules do not look at the shapes of most constants. Each operator reads its constants in one layout.",
            "Give the constant the layout that is asked for, by adding or dropping dimensions of size 1.",
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
            "shape that the delegate's model cannot have",
            "The rules accept the node without looking at this shape, and building the model refuses it.",
            "Change the shape in the model, for example by dropping groups or by packing constants differently.",
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
            "The delegate takes three values as height, width and channels in STRIDED_SLICE, whatever the rank, and as batch, "
            "width and channels in SLICE of three dimensions. If the sizes that follow are not those of the result, building "
            "the model fails.",
            "Give the input four dimensions with a RESHAPE, and slice all four of them.",
            "slice with as many values as the input has dimensions",
            is_shared=True,
        ),
    ),
    FailureWording(
        "has the fused activation {found}, which the GPU does not have",
        Kind(
            "gpu-build-activation",
            Problem.ATTRIBUTE,
            "fused activation",
            "The rule does not look at the activation of this operator, and building the model refuses it.",
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
            "In the delegate's model an operation reads a tensor once. ADD, MUL and CONCATENATION are rewritten for that; "
            "other operators are not.",
            "Replace the operator (x / x, x - x, a SELECT between equal values), or put an operation in between.",
            "replace the operator with one that has a single operand, or copy the tensor",
            is_shared=True,
        ),
    ),
    FailureWording(
        "{tensor} is both operand and result",
        Kind(
            "gpu-build-in-place",
            Problem.OPERANDS,
            "operand that is also the result",
            "In the delegate's model an operation cannot write what it reads.",
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
            "A variable in a partition must get a new value from each node that reads it. Only LSTM does that, for its two "
            "states, which must be variables.",
            "Convert recurrent layers as LSTM with variable states, and leave other operators with variables to the CPU.",
            "keep variables out of the partition, or convert the LSTM with variable states",
            is_shared=True,
        ),
    ),
    FailureWording(
        "an LSTM with one operand for each gate breaks the clean-up of the delegate's model",
        Kind(
            "gpu-build-lstm",
            Problem.OPERANDS,
            "LSTM with one operand for each gate",
            "The rules accept this form of LSTM, and it is turned into basic operations. Merging additions into convolutions "
            "then reads attributes that the additions in its gates do not have, which ends the process or, in builds with "
            "exceptions, fails.",
            "Leave the LSTM to the CPU, or unroll it into basic operators when converting.",
            "leave the LSTM to the CPU, or unroll it into basic operators",
            is_shared=True,
        ),
    ),
    FailureWording(
        "changes nothing and is to be removed, but node {consumer} reads both its operand and its result",
        Kind(
            "gpu-build-identity",
            Problem.SHAPE,
            "RESHAPE or slice that changes nothing",
            "The delegate removes operations that change nothing on the GPU, and lets their consumers read the operand "
            "instead. That fails if a consumer reads the operand already, as in x + reshape(x).",
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
            "The delegate merges zeros that are joined to a tensor into padding, and unpacked weights into their convolution. "
            "Both fail if the constant has other consumers.",
            "Give each consumer a separate constant.",
            "give each consumer a separate constant",
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
