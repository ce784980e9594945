"""Failures to initialize the kernel of a partition: their codes and messages."""

from __future__ import annotations

import functools

from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import FailureWording, kinds_of_failures

_FAILURES = (
    FailureWording(
        "{tensor} is {type}, a type that NNAPI operands cannot have",
        shared_kind(
            "nnapi-tensor-type",
            Problem.TYPE,
            "tensor type that NNAPI lacks",
            "The rules look at the types of some operands only. If a tensor that they let pass has a type that NNAPI lacks, "
            "the kernel of the whole partition fails.",
            "Convert the model so that this tensor has another type; for INT64 and float64 tensors INT32 and float32 are usual.",
            "convert with another type for this tensor",
        ),
    ),
    FailureWording(
        "an operand is left out that the delegate expects to be there",
        shared_kind(
            "nnapi-absent-operand",
            Problem.OPERANDS,
            "operand left out",
            "The delegate uses the index -1 of an operand that is left out as if it were a tensor, which crashes the process.",
            "Give the node the operand, for example a bias of zeros.",
            "give the node the operand",
        ),
    ),
    FailureWording(
        "{tensor} has shape {shape}, whose last dimension the delegate divides by",
        shared_kind(
            "nnapi-division-by-zero",
            Problem.SHAPE,
            "division by a size of 0",
            "The delegate divides by the last dimension of the result of a FULLY_CONNECTED that keeps dimensions, and by the "
            "channels of the filter of a grouped CONV_2D. With allow_dynamic_dimensions the shapes are those of the file, which "
            "has none, or 0, where it does not know them: on x86, where this was seen, the process ends. Processors that divide "
            "by 0 without a trap, such as ARM's, go on with a size of 0, which is not simulated.",
            "Give the model fixed shapes before converting it, or leave allow_dynamic_dimensions off.",
            "leave allow_dynamic_dimensions off, or give the model fixed shapes",
        ),
        is_crash=True,
    ),
    FailureWording(
        "NNAPI has no accelerator named {found}; the profile has {known}",
        shared_kind(
            "nnapi-accelerator-unknown",
            Problem.DRIVER,
            "accelerator that the phone does not have",
            "The accelerator that the options name is not among the devices of the profile, so the delegate cannot be applied.",
            "Name one of the phone's devices, or none.",
            "name one of the phone's devices",
        ),
    ),
    FailureWording(
        "{op} has no NNAPI operation",
        shared_kind(
            "nnapi-unmapped-operator",
            Problem.OPERATOR,
            "operator without an NNAPI operation",
            "The delegate accepted the node, but has no operation to map it to.",
            "Replace the operator with mapped ones.",
            "replace the operator with mapped ones",
        ),
    ),
    FailureWording(
        "{tensor} is a scalar and {found}; scalars here must be constants of type FLOAT32, UINT8, INT8 or INT32",
        shared_kind(
            "nnapi-scalar-operand",
            Problem.RANK,
            "scalar operand of MAXIMUM or MINIMUM",
            "The delegate copies a scalar operand into a tensor with one element. It can do so only with constants of some "
            "types, and float16 is not one of them.",
            "Give the operand a dimension (shape [1]), or convert the model without float16 weights.",
            "give the operand the shape [1], or convert without float16 weights",
        ),
    ),
    FailureWording(
        "{tensor} has {found} elements; NNAPI takes this operand as one number",
        shared_kind(
            "nnapi-scalar-value",
            Problem.OPERANDS,
            "operand with more than one element",
            "NNAPI takes this operand as a scalar, which the delegate can make only from a tensor with exactly one element.",
            "Give the operand exactly one element.",
            "give the operand exactly one element",
        ),
    ),
    FailureWording(
        "{tensor} is {type}; NNAPI takes this operand as a number of another type",
        shared_kind(
            "nnapi-scalar-type",
            Problem.TYPE,
            "type of an operand that becomes a number",
            "The axis of ARG_MAX and ARG_MIN, the operands of FILL and the padding value of PAD and PADV2 become numbers of the "
            "NNAPI operation. The delegate can read them only from some types.",
            "Convert the model so that shapes and axes are INT32, and values FLOAT32 or of the type of the data.",
            "convert with another type for this operand",
        ),
    ),
    FailureWording(
        "{tensor} is {type}; the results between the NNAPI operations of {op} can only be FLOAT32, UINT8 or INT8",
        shared_kind(
            "nnapi-intermediate-type",
            Problem.TYPE,
            "type of an intermediate result",
            "The delegate builds this node from more than one NNAPI operation, and the tensor between them cannot have this "
            "type.",
            "Convert the model so that the tensor is float32 or quantized to 8 bits.",
            "convert with another type for this tensor",
        ),
    ),
    FailureWording(
        "{tensor} is {type} and has quantization parameters other than those of the input; only UINT8 and INT8 can be "
        "requantized",
        shared_kind(
            "nnapi-requantize-type",
            Problem.TYPE,
            "MEAN that changes the quantization",
            "Where scale or zero point of input and result differ, the delegate appends an addition that requantizes the "
            "result. That works with 8-bit results only.",
            "Remove the quantization parameters from float tensors, or quantize the result to 8 bits.",
            "remove the quantization parameters from float tensors",
        ),
    ),
    FailureWording(
        "axis {axis} does not fit a tensor of shape {shape}",
        shared_kind(
            "nnapi-axis",
            Problem.SHAPE,
            "axis along which the node cannot be split up",
            "The delegate builds this node from other operations, and cannot do so along this axis.",
            "Use another axis, with TRANSPOSE around the node; from feature level 6 on, PACK takes every axis.",
            "use another axis",
        ),
    ),
    FailureWording(
        "splits into {count} parts, with {size} elements along the axis and {outputs} outputs",
        shared_kind(
            "nnapi-split-count",
            Problem.SHAPE,
            "number of parts",
            "The number of parts, the size along the axis and the number of outputs of UNPACK must be equal.",
            "Correct the options of the node.",
            "correct the node's options",
        ),
    ),
    FailureWording(
        "a part has size {size}",
        shared_kind(
            "nnapi-split-size",
            Problem.SHAPE,
            "size of a part",
            "Each part of SPLIT_V becomes a SLICE, whose size must be positive.",
            "Leave empty parts out.",
            "leave empty parts out",
        ),
    ),
    FailureWording(
        "has {count} intermediate tensors; NNAPI's quantized LSTM needs 5",
        shared_kind(
            "nnapi-lstm-intermediates",
            Problem.QUANTIZATION,
            "quantized LSTM of another variant",
            "NNAPI takes the variant of the integer LSTM with five intermediate tensors. TFLite also has one with twelve.",
            "Convert the LSTM in the variant with five intermediate tensors.",
            "convert the LSTM with five intermediate tensors",
        ),
    ),
    FailureWording(
        "{tensor} holds sparse weights of type {type} {found}",
        shared_kind(
            "nnapi-sparse-weights",
            Problem.CONSTANT,
            "sparse weights that cannot be unpacked",
            "The delegate unpacks sparse weights of CONV_2D itself. It needs their sparsity parameters, and FLOAT32, FLOAT16 or "
            "INT8 values.",
            "Convert the model without sparse weights.",
            "convert without sparse weights",
        ),
    ),
    FailureWording(
        "the {side}s of the partition have no bytes",
        shared_kind(
            "nnapi-empty-pool",
            Problem.SHAPE,
            "partition without input or output bytes",
            "The delegate keeps all inputs of a partition in one pool of memory and all outputs in another. Constants do not "
            "count. A pool of 0 bytes cannot be created, so a partition that reads only constants and empty tensors, or writes "
            "only empty ones, fails.",
            "Fold nodes whose operands are all constant before or while converting, and remove empty tensors from the model.",
            "fold nodes that read only constants, and remove empty tensors",
        ),
    ),
)

_WORDINGS = {failure.kind.name: failure for failure in _FAILURES}
KINDS = kinds_of_failures(_WORDINGS)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, _WORDINGS)
