"""The kinds of problem that the GPU delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ...rules.hints import by_reshape
from ..gpu_compatibility.checks import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="The delegate has no parser for this operator, or the operator is in the option excluded_ops. OpenGL does not "
        "run SPLIT and SPLIT_V.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version, and turn it off in the converter. For example, per-channel or 4-bit "
        "weights and dynamic-range quantization raise the version of FULLY_CONNECTED.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="Some operands must be constants in the model file. Other operands must not be constants, because the shader "
        "reads them from GPU memory.",
        advice="Store the operand in the model as a constant. If all operands are constant, fold the operator into a constant.",
        hint="store the operand in the model as a constant, or fold the operator into a constant",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The GPU computes in float. Tensors in the arena must be FLOAT32 or FLOAT16, or INT8 or UINT8 with "
        "allow_quant_ops. A few operators also support BOOL or INT32. The types of most constants are not checked.",
        advice="Convert the model so that this tensor is float, or quantized to 8 bits. Move computations of INT64 and INT32 "
        "indices and shapes out of the model, or store the results as constants.",
        hint="convert the model with float tensors, or with 8-bit tensors and allow_quant_ops",
    ),
    RANK,
    kinds.SHAPE,
    kinds.BROADCAST.reworded(
        meaning="The delegate broadcasts operands of different ranks only with a batch of 1, or from [b, c] to [b, h, w, c].",
        advice="Give both operands the same rank, with a RESHAPE or EXPAND_DIMS before the operator.",
        hint=by_reshape("give both operands the same rank with RESHAPE"),
    ),
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION.reworded(
        title="quantized operator without allow_quant_ops",
        meaning="QUANTIZE and DEQUANTIZE are supported only with allow_quant_ops. With this option, the delegate runs "
        "quantized models in float. INT16 is never supported.",
        advice="Set allow_quant_ops (the experimental flag ENABLE_QUANT, on by default).",
        hint="convert a float model",
    ),
    kinds.NEIGHBOR.reworded(
        title="BOOL tensor between a comparison and its consumer",
        meaning="The GPU has no BOOL tensors. A comparison is supported only if its single consumer is a CAST or SELECT with a "
        "float result. A CAST from BOOL is supported only with one producer and one consumer.",
        advice="Cast the result of the comparison to float once for each consumer, or keep the comparison on the CPU.",
        hint="cast the comparison to float once for each consumer",
    ),
)
"""Every kind of problem in the rules, with the GPU delegate's wording."""
