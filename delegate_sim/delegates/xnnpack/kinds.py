"""The kinds of problem that the XNNPACK delegate's rules report, with the delegate's own wording where needed."""

from __future__ import annotations

from ...rules import kinds

KINDS = (
    kinds.OPERATOR.reworded(
        title="operator that XNNPACK does not run",
        meaning="The delegate has no operator of XNNPACK for this one. The CPU kernels of the runtime run it.",
        advice="Nothing needs to be done: both run on the CPU. A node that splits a partition costs a little time.",
        hint="leave the node to its CPU kernel",
    ),
    kinds.VERSION.reworded(
        title="operator version that is left to the CPU kernel",
        meaning="Version 8 of FULLY_CONNECTED has sparse weights, which the CPU kernel runs itself.",
        advice="Convert without sparse weights, or leave the node to the CPU kernel.",
        hint="convert without sparse weights",
    ),
    kinds.OPERAND_COUNT.reworded(
        meaning="The operator is accepted only with certain numbers of operands and results, those left out included; "
        "CONCATENATION with two to five operands, SPLIT with two to four results.",
        advice="Split the node into several smaller ones.",
        hint="split the node into smaller ones",
    ),
    kinds.OPTIONAL_OPERAND,
    kinds.CONSTANT.reworded(
        meaning="Weights, biases, axes and shapes must be stored in the model file, or computed from constants by "
        "DEQUANTIZE or DENSIFY only. Values that the runtime computes while it prepares the graph do not count.",
        advice="Make the operand a constant of the model, for example by fixing shapes before converting. For FULLY_CONNECTED "
        "with weights that are computed, set the flag dynamic_fully_connected.",
        hint="make the operand a constant of the model",
    ),
    kinds.TENSOR_TYPE.reworded(
        meaning="Most operators run in FLOAT32 and FLOAT16, and many in INT8 (with the flag qs8) and UINT8 (with qu8). Other "
        "types run on the CPU kernels, 16-bit activations included.",
        advice="Convert with float or 8-bit activations, and with INT32 for axes and shapes; leave the flags qs8 and qu8 on.",
        hint="convert with float or 8-bit tensors",
    ),
    kinds.HYBRID.reworded(
        title="operands of different types",
        meaning="The operands and the result must have one type. Weights of 8 bits and below with float activations are accepted "
        "only for CONV_2D, FULLY_CONNECTED, BATCH_MATMUL and TRANSPOSE_CONV; for the first two not if the flag "
        "disable_dynamically_quantized_ops is set. A float bias must have the type of float weights, or be FLOAT32.",
        advice="Quantize fully (int8 with a representative data set), or keep weights and biases in the type of the activations.",
    ),
    kinds.RANK.reworded(
        meaning="XNNPACK's tensors have at most six dimensions, and some operators demand an exact number.",
    ),
    kinds.SHAPE.reworded(
        meaning="The delegate takes the sizes from the model file. No dimension may be 0, and operands must fit each other.",
        advice="Give the model fixed shapes before converting it.",
        hint="give the model fixed shapes before converting it",
    ),
    kinds.OPERAND_VALUE,
    kinds.ATTRIBUTE,
    kinds.ACTIVATION.reworded(meaning="XNNPACK fuses only RELU, RELU6 and RELU_N1_TO_1, which bound the result."),
    kinds.QUANTIZATION.reworded(
        meaning="8-bit activations need one scale for the tensor; weights one for the tensor or one for each output channel. "
        "Scales must be positive, zero points must be in range, and the ratio of scales must be one that XNNPACK can compute "
        "with.",
        advice="Quantize activations per tensor and weights per tensor or per output channel, with a representative data set.",
        hint="quantize activations per tensor, with a representative data set",
    ),
    kinds.NEIGHBOR.reworded(
        meaning="A VAR_HANDLE is accepted together with the nodes that read or assign its variable, which must agree in type and "
        "shape. A DEQUANTIZE or DENSIFY of constants is accepted unless a refused node reads its result.",
        advice="Look at the reasons of the nodes that read the result, or at the other nodes of the variable.",
    ),
)
"""Every kind of problem in the rules, with the delegate's wording."""
