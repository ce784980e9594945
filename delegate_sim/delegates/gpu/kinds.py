"""The kinds of problem that the GPU delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds
from ..gpu_compatibility.kinds import OPERAND_COUNT, RANK

KINDS = (
    kinds.OPERATOR.reworded(
        meaning="The delegate has no parser for this operator, or it leaves the operator to the CPU because excluded_ops names "
        "it, or because OpenGL does not run SPLIT and SPLIT_V.",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version, and switch it off in the converter. Newer converters raise the "
        "version of FULLY_CONNECTED for weights that are quantized per channel, for 4-bit weights and for dynamic-range "
        "quantization.",
    ),
    OPERAND_COUNT,
    kinds.CONSTANT.reworded(
        title="operand that must, or must not, be constant",
        meaning="The shader needs a constant operand, whose value is in the model file. Or it can read the operand only from GPU "
        "memory, where constants are not stored.",
        advice="Store the operand in the model as a constant, or fold the operator if all of its operands are constant.",
        hint="store the operand in the model as a constant, or fold the operator",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="The GPU computes in float. Tensors in the arena must be FLOAT32 or FLOAT16. With allow_quant_ops, INT8 and "
        "UINT8 are accepted too. A few operators accept BOOL or INT32. The types of most constants are not checked.",
        advice="Convert the model so that this tensor is float, or quantized to 8 bits. For INT64 and INT32 indices and shapes, "
        "move the computation out of the model or into constants.",
        hint="convert the model with float tensors, or with 8-bit ones and allow_quant_ops",
    ),
    RANK,
    kinds.SHAPE,
    kinds.BROADCAST.reworded(
        meaning="The delegate broadcasts operands of different ranks only in a few forms: with a batch of 1, or from [b, c] to "
        "[b, h, w, c].",
        advice="Give both operands the same rank, with a RESHAPE or EXPAND_DIMS before the operator.",
        hint="give both operands the same rank with RESHAPE",
    ),
    kinds.ATTRIBUTE,
    kinds.ACTIVATION,
    kinds.QUANTIZATION.reworded(
        title="quantized operator without allow_quant_ops",
        meaning="QUANTIZE and DEQUANTIZE are accepted only if allow_quant_ops is set; the delegate then runs quantized models in "
        "float. INT16 is never accepted.",
        advice="Set allow_quant_ops (the experimental flag ENABLE_QUANT, on by default).",
        hint="convert a float model",
    ),
    kinds.NEIGHBOR.reworded(
        title="BOOL tensor between a comparison and its consumer",
        meaning="The GPU has no BOOL tensors. A comparison is accepted only if a single node reads its result, and if this node "
        "is a CAST or SELECT with a float result. A CAST from BOOL is accepted only if it has one producer and one "
        "consumer.",
        advice="Cast the result of the comparison to float once for each consumer, or keep it on the CPU.",
        hint="cast the comparison to float once for each consumer",
    ),
)
"""Every kind of problem in the rules, with the GPU delegate's wording."""
