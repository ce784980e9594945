"""The kinds of problem that the XNNPACK delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds

KINDS = (
    kinds.OPERATOR.reworded(
        title="operator that XNNPACK does not run",
        meaning="XNNPACK has no operator for this one, so a CPU kernel of the runtime runs it.",
        advice="You need not do anything: XNNPACK and the kernels of the runtime both run on the CPU. A node that splits a "
        "partition costs a little time.",
        hint="leave the node to its CPU kernel",
    ),
    kinds.VERSION.reworded(
        title="operator version that is left to the CPU kernel",
        meaning="Version 8 of FULLY_CONNECTED has sparse weights. The delegate leaves it to the CPU kernel.",
        advice="Convert without sparse weights, or leave the node to the CPU kernel.",
        hint="convert without sparse weights",
    ),
    kinds.OPERAND_COUNT.reworded(
        meaning="The operator is accepted only with certain numbers of operands and results. Operands that are left out count "
        "too. A CONCATENATION may have two to five operands, and a SPLIT two to four results.",
        advice="Split the node into several smaller ones.",
        hint="split the node into smaller ones",
    ),
    kinds.OPTIONAL_OPERAND,
    kinds.CONSTANT.reworded(
        meaning="Weights, biases, axes and shapes must be stored in the model file, or be the result of a DEQUANTIZE or DENSIFY "
        "of a constant. Values that the runtime computes while it prepares the graph do not count as constant.",
        advice="Store the operand in the model as a constant, for example by fixing shapes before converting. For a "
        "FULLY_CONNECTED whose weights are computed at run time, set the flag dynamic_fully_connected.",
        hint="store the operand in the model as a constant",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="Most operators support FLOAT32 and FLOAT16. Many also support INT8 (with the flag qs8) and UINT8 (with the flag "
        "qu8). Nodes with other types, such as 16-bit activations, run on the CPU kernels.",
        advice="Convert with float or 8-bit activations, and with INT32 for axes and shapes; leave the flags qs8 and qu8 on.",
        hint="convert with float or 8-bit tensors",
    ),
    kinds.HYBRID.reworded(
        title="operands of different types",
        meaning="The operands and the result must have the same type. Only CONV_2D, FULLY_CONNECTED, BATCH_MATMUL and "
        "TRANSPOSE_CONV accept weights of 8 or fewer bits with float activations; CONV_2D and FULLY_CONNECTED do not if "
        "the flag disable_dynamically_quantized_ops is set. With float weights, a float bias must have the type of the "
        "weights, or be FLOAT32.",
        advice="Quantize fully (int8 with a representative data set), or keep weights and biases in the type of the activations.",
    ),
    kinds.RANK.reworded(
        meaning="XNNPACK's tensors have at most six dimensions, and some operators require an exact number.",
    ),
    kinds.SHAPE.reworded(
        meaning="The delegate uses the sizes in the model file. No dimension may be 0, and the sizes of the operands must match.",
        advice="Give the model fixed shapes before converting it.",
        hint="give the model fixed shapes before converting it",
    ),
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION.reworded(meaning="XNNPACK fuses only RELU, RELU6 and RELU_N1_TO_1, which bound the result."),
    kinds.QUANTIZATION.reworded(
        meaning="8-bit activations need one scale for the tensor. Weights need one scale for the tensor, or one for each output "
        "channel. Scales must be positive, zero points must be in range, and XNNPACK must be able to compute with the "
        "ratio of the scales.",
        advice="With a representative data set, quantize activations per tensor, and weights per tensor or per output channel.",
        hint="quantize activations per tensor, with a representative data set",
    ),
    kinds.NEIGHBOR.reworded(
        meaning="A VAR_HANDLE is accepted only if nodes that read or assign its variable are accepted; these nodes must have the "
        "same type and shape. A DEQUANTIZE or DENSIFY of constants is accepted unless a refused node reads its result.",
        advice="Look at the refusals of the nodes that read the result, or of the other nodes of the variable.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
