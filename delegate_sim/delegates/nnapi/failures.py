"""Why the kernel of a partition cannot be initialised: the codes, and all wording."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ...rules.rule import Explanation
from .. import base
from ..base import FailureWording

_WORDINGS: Mapping[str, FailureWording] = {
    "nnapi-tensor-type": FailureWording(
        "{tensor} is {type}, a type that NNAPI operands cannot have",
        "convert with another type for this tensor",
        Explanation(
            "tensor type that NNAPI lacks",
            "The rules look at the types of some operands only. A tensor that they let pass and NNAPI has no type for makes "
            "the kernel of the whole partition fail.",
            "Convert the model so that this tensor has another type; for INT64 and float64 tensors INT32 and float32 are usual.",
        ),
    ),
    "nnapi-absent-operand": FailureWording(
        "an operand is left out that the delegate expects to be there",
        "give the node the operand",
        Explanation(
            "operand left out",
            "The delegate uses the index -1 of an operand that is left out as if it were a tensor, which crashes the process.",
            "Give the node the operand, for example a bias of zeros.",
        ),
    ),
    "nnapi-unmapped-operator": FailureWording(
        "{op} has no NNAPI operation",
        "replace the operator by mapped ones",
        Explanation(
            "operator without an NNAPI operation",
            "The delegate accepted the node and has no operation to map it to.",
            "Replace the operator by mapped ones.",
        ),
    ),
    "nnapi-scalar-operand": FailureWording(
        "{tensor} is a scalar and {found}; scalars here must be constants of type FLOAT32, UINT8, INT8 or INT32",
        "give the operand the shape [1], or convert without float16 weights",
        Explanation(
            "scalar operand of MAXIMUM or MINIMUM",
            "The delegate copies a scalar operand into a tensor with one element. It can do so only with constants of some "
            "types, and float16 is none of them.",
            "Give the operand a dimension (shape [1]), or convert the model without float16 weights.",
        ),
    ),
    "nnapi-scalar-value": FailureWording(
        "{tensor} has {found} elements; NNAPI takes this operand as one number",
        "give the operand exactly one element",
        Explanation(
            "operand with more than one element",
            "NNAPI takes this operand as a scalar, which the delegate can make only from a tensor with exactly one element.",
            "Give the operand exactly one element.",
        ),
    ),
    "nnapi-scalar-type": FailureWording(
        "{tensor} is {type}; NNAPI takes this operand as a number of another type",
        "convert with another type for this operand",
        Explanation(
            "type of an operand that becomes a number",
            "The axis of ARG_MAX and ARG_MIN, the operands of FILL and the padding value of PAD and PADV2 become numbers of "
            "the NNAPI operation. The delegate can read them only from some types.",
            "Convert the model so that shapes and axes are INT32, and values FLOAT32 or of the type of the data.",
        ),
    ),
    "nnapi-intermediate-type": FailureWording(
        "{tensor} is {type}; the results between the NNAPI operations of {op} can only be FLOAT32, UINT8 or INT8",
        "convert with another type for this tensor",
        Explanation(
            "type of a result in between",
            "The delegate makes more than one NNAPI operation of this node, and the tensor between them cannot have this type.",
            "Convert the model so that the tensor is float32 or quantised to 8 bits.",
        ),
    ),
    "nnapi-requantize-type": FailureWording(
        "{tensor} is {type} and has other quantisation parameters than the input; only UINT8 and INT8 can be requantised",
        "remove the quantisation parameters from float tensors",
        Explanation(
            "MEAN that changes the quantisation",
            "Where scale or zero point of input and result differ, the delegate appends an addition that requantises the "
            "result. That works with 8-bit results only.",
            "Remove the quantisation parameters from float tensors, or quantise the result to 8 bits.",
        ),
    ),
    "nnapi-axis": FailureWording(
        "axis {axis} does not fit a tensor of shape {shape}",
        "use another axis",
        Explanation(
            "axis that cannot be lowered",
            "The delegate makes other operations of this node, and cannot do so along this axis.",
            "Use another axis, with a transposition around the node; PACK takes every axis from feature level 6 on.",
        ),
    ),
    "nnapi-split-count": FailureWording(
        "splits into {count} parts, with {size} elements along the axis and {outputs} outputs",
        "correct the node's options",
        Explanation(
            "number of parts",
            "The number of parts, the size along the axis and the number of outputs of UNPACK must be equal.",
            "Correct the options of the node.",
        ),
    ),
    "nnapi-split-size": FailureWording(
        "a part has size {size}",
        "leave empty parts out",
        Explanation(
            "size of a part",
            "Each part of SPLIT_V becomes a SLICE, whose size must be positive.",
            "Leave empty parts out.",
        ),
    ),
    "nnapi-lstm-intermediates": FailureWording(
        "has {count} intermediate tensors; NNAPI's quantised LSTM needs 5",
        "convert the LSTM with five intermediate tensors",
        Explanation(
            "quantised LSTM of another variant",
            "NNAPI takes the variant of the integer LSTM with five intermediate tensors. TFLite also has one with twelve.",
            "Convert the LSTM in the variant with five intermediate tensors.",
        ),
    ),
    "nnapi-sparse-weights": FailureWording(
        "{tensor} holds sparse weights of type {type} {found}",
        "convert without sparse weights",
        Explanation(
            "sparse weights that cannot be unpacked",
            "The delegate unpacks sparse weights of CONV_2D itself. It needs their sparsity parameters, and FLOAT32, FLOAT16 "
            "or INT8 values.",
            "Convert the model without sparse weights.",
        ),
    ),
    "nnapi-empty-pool": FailureWording(
        "the {side}s of the partition have no bytes",
        "fold nodes that read only constants, and remove empty tensors",
        Explanation(
            "partition without input or output bytes",
            "The delegate keeps all inputs of a partition in one pool of memory and all outputs in another. Constants do not "
            "count. A pool of 0 bytes cannot be created, so a partition fails that reads only constants and empty tensors, or "
            "writes only empty ones.",
            "Fold nodes whose operands are all constant before or while converting, and remove empty tensors from the model.",
        ),
    ),
}

EXPLANATIONS: Mapping[str, Explanation] = {code: wording.explanation for code, wording in _WORDINGS.items()}
"""What stands behind the code of each failure."""

kernel_failure = functools.partial(base.kernel_failure, _WORDINGS)
