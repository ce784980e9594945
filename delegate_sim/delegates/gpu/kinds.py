"""The kinds of problem that the GPU delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ..gpu_compatibility.kinds import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="The delegate has no parser for this operator, or leaves it out: because excluded_ops names it, or because "
        "OpenGL does not run SPLIT and SPLIT_V.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version and switch it off in the converter. Newer converters raise the version "
        "of FULLY_CONNECTED for weights that are quantized per channel, and for 4-bit and dynamic-range weights.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="The shader needs the value of this operand in the model file, or can read the operand only from GPU memory, "
        "where constants are not.",
        advice="Make the operand a constant of the model, or fold the operator if all of its operands are constant.",
        hint="make the operand a constant of the model, or fold the operator",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The GPU computes in float. Tensors in the arena must be FLOAT32 or FLOAT16; with allow_quant_ops INT8 and UINT8 "
        "are accepted too, and a few operators accept BOOL or INT32. The types of most constants are not looked at.",
        advice="Convert the model so that this tensor is float, or quantized to 8 bits. For INT64 and INT32 indices and shapes, "
        "move the computation out of the model or into constants.",
        hint="convert the model with float tensors, or with 8-bit ones and allow_quant_ops",
    ),
    RANK,
    kinds.SHAPE,
    kinds.BROADCAST.reworded(
        meaning="Operands of different ranks are broadcast against each other only in a few forms: with a batch of 1, or [b, c] "
        "against [b, h, w, c].",
        advice="Give both operands the same rank, with a RESHAPE or EXPAND_DIMS in front of the operator.",
        hint="give both operands the same rank with RESHAPE",
    ),
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION.reworded(
        title="quantized operator without allow_quant_ops",
        meaning="QUANTIZE and DEQUANTIZE are accepted only if the delegate is told to run quantized models, in float; INT16 is "
        "never accepted.",
        advice="Set allow_quant_ops (the experimental flag ENABLE_QUANT, on by default).",
        hint="convert a float model",
    ),
    kinds.NEIGHBOR.reworded(
        title="BOOL tensors between a comparison and what reads it",
        meaning="The GPU has no BOOL tensors of its own: a comparison is accepted only if one node alone reads its result, a "
        "CAST or SELECT that gives float, and a CAST from BOOL only between one producer and one consumer.",
        advice="Cast the result of the comparison to float once for each consumer, or keep it on the CPU.",
        hint="cast the comparison to float once for each consumer",
    ),
)
"""Every kind of problem in the rules, with the GPU delegate's wording."""
