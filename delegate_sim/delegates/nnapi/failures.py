"""Codes and messages of failures to initialize the kernel of a partition."""

from __future__ import annotations

import functools

from ...refusal import Effect, Stage
from ...rules.kinds import Problem, shared_kind
from .. import decision
from ..decision import kinds_by_code

KINDS = kinds_by_code(
    shared_kind(
        "nnapi-tensor-type",
        Problem.TYPE,
        "tensor type that NNAPI lacks",
        "The rules do not check the types of all operands. If an operand has a type that NNAPI does not have, the kernel of "
        "the whole partition fails.",
        "Convert the model so that this tensor has another type, such as INT32 instead of INT64, or FLOAT32 instead of FLOAT64.",
        "convert with another type for this tensor",
        template="{tensor} is {type}, a type that NNAPI operands cannot have",
    ),
    shared_kind(
        "nnapi-absent-operand",
        Problem.OPERANDS,
        "missing operand",
        "An omitted operand has the tensor index -1. The delegate uses the index -1 like the index of a tensor, so the "
        "process crashes.",
        "Give the node the operand, for example a bias of zeros.",
        "give the node the operand",
        template="an operand that the delegate requires is missing",
    ),
    shared_kind(
        "nnapi-division-by-zero",
        Problem.SHAPE,
        "division by a size of 0",
        "For a FULLY_CONNECTED with keep_num_dims, the delegate divides by the last dimension of the result. For a grouped "
        "CONV_2D, it divides by the number of filter channels. With allow_dynamic_dimensions, unknown sizes are missing or "
        "0. On x86, the division ends the process. On ARM, the delegate continues with a size of 0, but this is not "
        "simulated.",
        "Fix the shapes of the model before you convert it, or turn allow_dynamic_dimensions off.",
        "turn allow_dynamic_dimensions off, or fix the shapes before converting",
        template="{tensor} has shape {shape}, and the delegate divides by its last dimension",
        effect=Effect.CRASH,
    ),
    shared_kind(
        "nnapi-accelerator-unknown",
        Problem.DRIVER,
        "accelerator that the phone does not have",
        "The profile has no device with the name of the accelerator, so the delegate cannot be applied.",
        "Choose one of the phone's devices, or no accelerator.",
        "choose one of the phone's devices",
        template="NNAPI has no accelerator named {found}; the accelerators in the profile are {known}",
        stage=Stage.ACCEPTING,
    ),
    shared_kind(
        "nnapi-unmapped-operator",
        Problem.OPERATOR,
        "operator without an NNAPI operation",
        "The delegate accepted the node, but has no NNAPI operation for it.",
        "Replace the operator with operators that have an NNAPI operation.",
        "replace the operator with operators that have an NNAPI operation",
        template="{op} has no NNAPI operation",
    ),
    shared_kind(
        "nnapi-scalar-operand",
        Problem.RANK,
        "scalar operand of MAXIMUM or MINIMUM",
        "The delegate copies a scalar operand into a tensor with one element. The operand must be a constant, and its type "
        "must not be FLOAT16.",
        "Give the operand a dimension (shape [1]), or convert the model without float16 weights.",
        "give the operand the shape [1], or convert without float16 weights",
        template="{tensor} is a scalar and {found}; a scalar operand of this node must be a FLOAT32, UINT8, INT8 or "
        "INT32 constant",
    ),
    shared_kind(
        "nnapi-scalar-value",
        Problem.OPERANDS,
        "operand with more than one element",
        "NNAPI takes a scalar for this operand. The delegate can create the scalar only from a tensor with one element.",
        "Give the operand exactly one element.",
        "give the operand exactly one element",
        template="{tensor} has {found} elements, but NNAPI takes a single number for this operand",
    ),
    shared_kind(
        "nnapi-scalar-type",
        Problem.TYPE,
        "type of a scalar operand",
        "NNAPI takes numbers for the axis of ARG_MAX and ARG_MIN, the operands of FILL, and the padding value of PAD and "
        "PADV2. The delegate can read these numbers only from some types.",
        "Convert the model with INT32 shapes and axes, and with values that are FLOAT32 or have the type of the data.",
        "convert with another type for this operand",
        template="{tensor} is {type}, but NNAPI takes a number of another type for this operand",
    ),
    shared_kind(
        "nnapi-intermediate-type",
        Problem.TYPE,
        "type of an intermediate result",
        "The delegate builds this node from several NNAPI operations. Tensors between these operations cannot have this type.",
        "Convert the model so that the tensor is float32 or quantized to 8 bits.",
        "convert with another type for this tensor",
        template="{tensor} is {type}, but intermediate results of {op} must be FLOAT32, UINT8 or INT8",
    ),
    shared_kind(
        "nnapi-requantize-type",
        Problem.TYPE,
        "MEAN that changes the quantization",
        "If the input and the result differ in scale or zero point, the delegate appends an addition that requantizes "
        "the result. This works only with 8-bit results.",
        "Remove the quantization parameters from float tensors, or quantize the result to 8 bits.",
        "remove the quantization parameters from float tensors",
        template="{tensor} is {type}, and its scale or zero point differs from that of the input; only UINT8 and "
        "INT8 can be requantized",
    ),
    shared_kind(
        "nnapi-axis",
        Problem.SHAPE,
        "unsupported axis",
        "The delegate builds this node from several NNAPI operations. These operations do not support this axis.",
        "Use another axis, with a TRANSPOSE before and after the node. From feature level 6 on, PACK supports every axis.",
        "use another axis",
        template="axis {axis} does not fit a tensor of shape {shape}",
    ),
    shared_kind(
        "nnapi-split-count",
        Problem.SHAPE,
        "number of parts",
        "The number of parts, the size along the axis and the number of outputs of UNPACK must be equal.",
        "Correct the options of the node.",
        "correct the node's options",
        template="splits into {count} parts, but has {size} elements along the axis and {outputs} outputs",
    ),
    shared_kind(
        "nnapi-split-size",
        Problem.SHAPE,
        "size of a part",
        "Each part of SPLIT_V becomes a SLICE. The size of a SLICE must be positive.",
        "Remove empty parts.",
        "remove empty parts",
        template="a part has size {size}",
    ),
    shared_kind(
        "nnapi-lstm-intermediates",
        Problem.QUANTIZATION,
        "unsupported variant of the quantized LSTM",
        "NNAPI supports the quantized LSTM with five intermediate tensors. TFLite also has a variant with twelve.",
        "Convert the LSTM to the variant with five intermediate tensors.",
        "convert the LSTM to the variant with five intermediate tensors",
        template="has {count} intermediate tensors; NNAPI's quantized LSTM needs 5",
    ),
    shared_kind(
        "nnapi-sparse-weights",
        Problem.CONSTANT,
        "sparse weights that cannot be unpacked",
        "The delegate unpacks the sparse weights of a CONV_2D itself. The weights must have sparsity parameters and the "
        "type FLOAT32, FLOAT16 or INT8.",
        "Convert the model without sparse weights.",
        "convert without sparse weights",
        template="{tensor} has sparse weights of type {type} {found}",
    ),
    shared_kind(
        "nnapi-empty-pool",
        Problem.SHAPE,
        "partition without input or output bytes",
        "The delegate has one memory pool for the inputs of a partition, without constants, and one for the outputs. A pool "
        "of 0 bytes cannot be created. Therefore, a partition fails if it reads only constants and empty tensors, or writes "
        "only empty tensors.",
        "Before or while you convert the model, fold nodes that read only constants, and remove empty tensors.",
        "fold nodes that read only constants, and remove empty tensors",
        template="the {side}s of the partition have no bytes",
    ),
)
"""The kind of each failure, by its code."""

kernel_failure = functools.partial(decision.kernel_failure, KINDS)
