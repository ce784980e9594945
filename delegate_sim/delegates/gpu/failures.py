"""Why the delegate's own model of a partition cannot be built: the codes, and all wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.rule import Explanation
from .. import base
from ..base import FailureWording

_WORDINGS: Mapping[str, FailureWording] = {
    "gpu-build-rank": FailureWording(
        "{tensor} has shape {shape}; tensors of the delegate's model have 1 to 4 dimensions",
        "give the tensor a dimension, for example with keep_dims",
        Explanation(
            "scalar tensor in a partition",
            "The rules refuse tensors of five dimensions and more, but not scalars. The delegate's model has no place for a "
            "scalar that is computed while running.",
            "Keep a dimension (keep_dims of reductions, shape [1]), or fold what computes the scalar into a constant.",
        ),
    ),
    "gpu-build-constant-operand": FailureWording(
        "{tensor} is constant, where the delegate reads a tensor that is computed while running",
        "fold the operator, or compute the operand in the graph",
        Explanation(
            "constant where a runtime tensor is read",
            "The rule counts constants, but does not look where they stand. Building the model reads this operand from GPU "
            "memory, where constants are not.",
            "Fold the operator, or exchange the operands if the order does not matter.",
        ),
    ),
    "gpu-build-runtime-operand": FailureWording(
        "{tensor} is computed while running, where the delegate reads a constant",
        "make the operand a constant of the model",
        Explanation(
            "runtime tensor where a constant is read",
            "The rule does not ask whether this operand is constant. Building the model reads its value, which is not there "
            "yet: the process crashes, or takes what happens to be in memory.",
            "Make the operand a constant of the model.",
        ),
        is_crash=True,
    ),
    "gpu-build-unscaled-constant": FailureWording(
        "{tensor} is a constant of type {type} without scale and zero point, with which the delegate would make it float",
        "convert the model with quantisation parameters for this constant",
        Explanation(
            "integer constant without scale",
            "The rules do not look at constants. Building the model makes 8-bit and INT32 constants float with their "
            "quantisation parameters, and crashes if there are none.",
            "Convert the model so that the constant has scale and zero point, or is float.",
        ),
        is_crash=True,
    ),
    "gpu-build-missing-operand": FailureWording(
        "an operand is left out that the delegate reads",
        "give the node the operand",
        Explanation(
            "operand left out",
            "The delegate reads an operand that the node leaves out.",
            "Give the node the operand.",
        ),
    ),
    "gpu-build-operand-count": FailureWording(
        "{found}",
        "give the node exactly the operands that it needs",
        Explanation(
            "number of operands",
            "Building the model counts operands again, and counts those that are left out as constants.",
            "Give the node exactly the operands that it needs.",
        ),
    ),
    "gpu-build-output-count": FailureWording(
        "has {found} results, where the delegate's model has one",
        "give the node one result",
        Explanation(
            "number of results",
            "The delegate's model has one result for this operation.",
            "Give the node one result.",
        ),
    ),
    "gpu-build-quantization": FailureWording(
        "{tensor} is {type} {found}",
        "quantise the tensor with one scale and zero point",
        Explanation(
            "quantisation of a tensor",
            "8-bit tensors that are computed while running must have one scale and one zero point.",
            "Convert the model so that every 8-bit tensor has quantisation parameters, activations per tensor.",
        ),
    ),
    "gpu-build-constant-type": FailureWording(
        "{tensor} is a constant of type {type}, which the delegate cannot read as {wanted}",
        "convert with another type for this constant",
        Explanation(
            "type of a constant",
            "The rules do not look at the types of constants. Weights and other values are read from float, 8-bit or INT32 "
            "constants; 4-bit, INT16 and INT64 ones cannot be read as float.",
            "Convert the model so that the constant has one of these types.",
        ),
    ),
    "gpu-build-constant-shape": FailureWording(
        "{tensor} is a constant of shape {shape}; the delegate reads it only with {needed}",
        "give the constant another shape",
        Explanation(
            "shape of a constant",
            "The rules do not look at the shapes of most constants. Each operator reads its constants in one layout.",
            "Give the constant the layout that is asked for, by adding or dropping dimensions of size 1.",
        ),
    ),
    "gpu-build-sparsity": FailureWording(
        "{tensor} has no sparsity parameters",
        "convert without sparse weights",
        Explanation(
            "DENSIFY of what is not sparse",
            "The constant that DENSIFY unpacks has no sparsity parameters.",
            "Convert the model without sparse weights.",
        ),
    ),
    "gpu-build-shape": FailureWording(
        "{tensor} has shape {shape}; needs {needed}",
        "change the shape, or split the operator",
        Explanation(
            "shape that the delegate's model cannot have",
            "The rules accept the node without looking at this shape, and building the model refuses it.",
            "Change the shape in the model, for example by dropping groups or by packing constants differently.",
        ),
    ),
    "gpu-build-axis": FailureWording(
        "axis {axis} does not fit {tensor} of shape {shape}",
        "use an axis of the tensor",
        Explanation(
            "axis out of range",
            "The axis is none of the tensor's.",
            "Use an axis of the tensor.",
        ),
    ),
    "gpu-build-slice": FailureWording(
        "slices {found}; needs {needed}",
        "slice with as many values as the input has dimensions",
        Explanation(
            "slice that the delegate's model cannot express",
            "The delegate takes three values as height, width and channels in STRIDED_SLICE, whatever the rank, and as batch, "
            "width and channels in SLICE of three dimensions. If the sizes that follow are not those of the result, building "
            "the model fails.",
            "Give the input four dimensions with a RESHAPE, and slice all four of them.",
        ),
    ),
    "gpu-build-activation": FailureWording(
        "has the fused activation {found}, which the GPU lacks",
        "keep the activation as an operator of its own",
        Explanation(
            "fused activation",
            "The rule does not look at the activation of this operator, and building the model refuses it.",
            "Keep the activation as an operator of its own.",
        ),
    ),
    "gpu-build-repeated-operand": FailureWording(
        "{tensor} stands twice among the operands or results",
        "replace the operator by one with a single operand, or copy the tensor",
        Explanation(
            "the same tensor twice",
            "In the delegate's model an operation reads a tensor once. ADD, MUL and CONCATENATION are rewritten for that; "
            "other operators are not.",
            "Replace the operator (x / x, x - x, a SELECT between equal values), or put an operation in between.",
        ),
    ),
    "gpu-build-in-place": FailureWording(
        "{tensor} is both operand and result",
        "give the node a result of its own",
        Explanation(
            "operand that is also the result",
            "In the delegate's model an operation cannot write what it reads.",
            "Give the node a result of its own.",
        ),
    ),
    "gpu-build-variable": FailureWording(
        "{tensor} {found}",
        "keep variables out of the partition, or convert the LSTM with variable states",
        Explanation(
            "variable tensor",
            "A variable in a partition must get a new value from each node that reads it. Only LSTM does that, for its two "
            "states, which must be variables.",
            "Convert recurrent layers as LSTM with variable states, and leave other operators with variables to the CPU.",
        ),
    ),
    "gpu-build-lstm": FailureWording(
        "an LSTM with one operand for each gate breaks the clean-up of the delegate's model",
        "leave the LSTM to the CPU, or unroll it into basic operators",
        Explanation(
            "LSTM with one operand for each gate",
            "The rules accept this form of LSTM, and it is turned into basic operations. Merging additions into convolutions "
            "then reads attributes that the additions in its gates do not have, which ends the process or, in builds with "
            "exceptions, fails.",
            "Leave the LSTM to the CPU, or unroll it into basic operators while converting.",
        ),
    ),
    "gpu-build-identity": FailureWording(
        "changes nothing and is to be removed, but node {consumer} reads both its operand and its result",
        "remove the operator from the model",
        Explanation(
            "RESHAPE or slice that changes nothing",
            "The delegate removes operations that change nothing on the GPU, and lets their consumers read the operand "
            "instead. That fails if a consumer reads the operand already, as in x + reshape(x).",
            "Remove the RESHAPE or slice from the model.",
        ),
    ),
    "gpu-build-shared-constant": FailureWording(
        "the constant behind it is merged into one consumer, but has more",
        "give each consumer a constant of its own",
        Explanation(
            "constant with more than one consumer",
            "The delegate merges zeros that are joined to a tensor into padding, and unpacked weights into their convolution. "
            "Both fail if the constant has other consumers.",
            "Give each consumer a constant of its own.",
        ),
    ),
}

EXPLANATIONS: Mapping[str, Explanation] = {code: wording.explanation for code, wording in _WORDINGS.items()}
"""What stands behind the code of each failure."""


def is_crash(code: str) -> bool:
    """Whether the process ends at this failure."""
    return _WORDINGS[code].is_crash


kernel_failure = functools.partial(base.kernel_failure, _WORDINGS)
