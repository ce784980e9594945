"""Kinds of problem that NNAPI's rules and drivers report, with titles and advice that are specific to NNAPI."""

from __future__ import annotations

from ...rules import kinds
from ...rules.hints import in_code
from ...rules.kinds import Kind, Problem

UNSUPPORTED_INPUT_TYPE = "kUnsupportedInputType"
UNSUPPORTED_OUTPUT_TYPE = "kUnsupportedOutputType"
UNSUPPORTED_OPERAND_RANK = "kUnsupportedOperandRank"
UNSUPPORTED_OPERAND_VALUE = "kUnsupportedOperandValue"
UNSUPPORTED_OPERATOR_VARIANT = "kUnsupportedOperatorVariant"

PREFIX = "nnapi-runtime-"
"""Prefix of the codes of problems that the runtime reports."""

FEATURE_LEVEL = Kind(
    "feature-level",
    Problem.TARGET_LEVEL,
    "feature level too low",
    "The operation, or this form of the operation, needs a higher feature level than the device and its runtime have.",
    "Use a newer Android release or driver, or use older operators for the same computation.",
    "use a newer feature level",
    native="kUnsupportedAndroidVersion",
)
OUTPUT_TYPE = Kind(
    "output-type",
    Problem.TYPE,
    "type of the result",
    "At this feature level, the operation does not support results of this type.",
    "Convert the model so that the result has another type, or insert a CAST.",
    "convert so that the result has a supported type",
    native=UNSUPPORTED_OUTPUT_TYPE,
)
SCALAR_OUTPUT = Kind(
    "scalar-output",
    Problem.RANK,
    "scalar result",
    "NNAPI reductions cannot have a scalar result.",
    "Set keep_dims, and remove the dimensions afterwards if necessary.",
    "set keep_dims",
    native=UNSUPPORTED_OUTPUT_TYPE,
)
PER_CHANNEL = Kind(
    "per-channel",
    Problem.QUANTIZATION,
    "weights quantized per channel",
    "Before NNAPI 1.2, all weights of a convolution must share one scale.",
    "Quantize weights per tensor, or use NNAPI 1.2.",
    "quantize weights per tensor, or use NNAPI 1.2",
    native="kUnsupportedQuantizationType",
)
RESTRICTED_SCALES = Kind(
    "restricted-scales",
    Problem.QUANTIZATION,
    "scales of a quantized convolution",
    "Before NNAPI 1.2, input scale * weight scale must be less than the output scale.",
    "Widen the output's range when quantizing, or use NNAPI 1.2.",
    in_code("widen the output's range, or use NNAPI 1.2"),
    native="kNotRestrictedScaleCompliant",
)
FILTER_AREA = Kind(
    "filter-area",
    Problem.SHAPE,
    "pooling window too large",
    "If no accelerator is specified, the delegate refuses large windows, because NNAPI's reference implementation overflows.",
    "Choose an accelerator, or pool in two steps.",
    "choose an accelerator, or pool in two steps",
    native="kUnsupportedOperandSize",
)
DENSE_WEIGHTS = Kind(
    "dense-weights",
    Problem.CONSTANT,
    "DENSIFY of a tensor that is not constant",
    "The delegate unpacks sparse weights only if they are constant, and only from NNAPI 1.3 on.",
    "Target NNAPI 1.3, or convert the model without sparse weights.",
    "use NNAPI 1.3, or convert without sparse weights",
    native="sparse-weights",  # the delegate records no failure here
)
DRIVER = Kind(
    "nnapi-driver",
    Problem.DRIVER,
    "rejected by the driver",
    "From NNAPI 1.2 on, the delegate asks the accelerator's driver about the operations of each partition. A node stays on the "
    "CPU if the driver rejects one of its operations. If a partition has sparse or float16 values, a single rejected operation "
    "leaves all nodes of the partition to the CPU.",
    "Replace the operator, or choose another accelerator. The simulation knows a driver's rejections only from the options "
    "driver_rejects and driver.",
    "replace the operator, or use a driver that accepts the operation",
    is_shared=True,
)
HIDDEN = Kind(
    PREFIX + "hidden",
    Problem.TARGET_LEVEL,
    "operation above the driver's feature level",
    "The NNAPI runtime passes only operations of the driver's feature level to the driver. The delegate adds some operations "
    "that need a higher level, for example if it lowers HARD_SWISH below NNAPI 1.3. The runtime does not pass these operations "
    "to the driver, so the driver cannot accept them.",
    "Choose a device with a newer driver, or use older operations for the same computation.",
    "choose a device with a newer driver",
    is_shared=True,
)
FLOAT16_ALL_OR_NOTHING = Kind(
    "float16-all-or-nothing",
    Problem.QUANTIZATION,
    "driver rejects part of a model with float16 weights",
    "In a model with float16 weights, the delegate changes the operands of all supported nodes before it asks the driver. If "
    "the driver rejects any operation, the delegate reverts the changes and delegates nothing.",
    "Convert the model with float32 or 8-bit weights, or remove the operators that the driver rejects.",
    "convert the model with float32 or 8-bit weights",
    is_shared=True,
)
KINDS = (
    kinds.OPERATOR.reworded(
        title="operator that NNAPI lacks",
        meaning="The delegate has no NNAPI operation for this operator at any feature level. It supports no custom operators.",
        advice="Replace the operator in the model with operators that NNAPI has, or let another delegate take the node.",
        hint="replace the operator, or let another delegate take the node",
        suffix="operator",
        native="kUnsupportedOperator",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version, and turn it off in the converter. For FULLY_CONNECTED and CONV_2D, the "
        "feature is usually dynamic-range quantization with asymmetric inputs, or INT16 activations.",
        native="kUnsupportedOperatorVersion",
    ),
    FEATURE_LEVEL,
    kinds.TENSOR_TYPE.reworded(
        title="type of an operand",
        meaning="At this feature level, the operation does not support operands of this type.",
        advice="Convert the model so that this tensor has another type (float, or quantized to 8 bits), or insert a CAST.",
        suffix="input-type",
        native=UNSUPPORTED_INPUT_TYPE,
    ),
    OUTPUT_TYPE,
    kinds.RANK.reworded(
        meaning="Many NNAPI operations support at most four dimensions. Some need exactly four dimensions, or at least one.",
        native=UNSUPPORTED_OPERAND_RANK,
    ),
    SCALAR_OUTPUT,
    kinds.ACTIVATION.reworded(
        meaning="The operation does not support this fused activation for operands of this type.",
        native="kNoActivationExpected",
    ),
    kinds.CONSTANT.reworded(native="kInputTensorShouldHaveConstantShape"),
    kinds.OPERAND_VALUE.reworded(
        title="value of an operand or option",
        meaning="The operation does not support this setting at this feature level.",
        advice="Change the setting in the model, or use a newer feature level.",
        hint="change the setting in the model",
        native=UNSUPPORTED_OPERAND_VALUE,
    ),
    kinds.OPERAND_COUNT.reworded(
        meaning="The delegate supports the operator only with certain numbers of operands.",
        advice="Give the node a supported number of operands.",
        hint="give the node a supported number of operands",
        native=UNSUPPORTED_OPERATOR_VARIANT,
    ),
    kinds.OPTIONAL_OPERAND.reworded(
        title="CONV_2D without bias",
        meaning="The delegate supports CONV_2D only with a bias operand.",
        suffix="missing-bias",
        native="kMissingRequiredOperand",
    ),
    kinds.HYBRID.reworded(
        meaning="At this feature level, NNAPI does not support this operation with float activations and quantized weights.",
        advice="Quantize fully (int8 with a representative data set), or keep the weights in float.",
        hint="quantize fully, or keep the weights in float",
        native="kUnsupportedHybridOperator",
    ),
    PER_CHANNEL,
    RESTRICTED_SCALES,
    kinds.QUANTIZATION.reworded(
        meaning="The operation requires certain scales and zero points.",
        native="kUnsupportedQuantizationParameters",
    ),
    FILTER_AREA,
    kinds.BROADCAST.reworded(native=UNSUPPORTED_OPERAND_VALUE),
    DENSE_WEIGHTS,
    kinds.SHAPE.reworded(
        title="operand without elements",
        meaning="Padding operations do not support tensors with a dimension of 0.",
        advice="Remove the empty tensor from the model.",
        hint="remove the empty tensor from the model",
        suffix="zero-size",
        native=UNSUPPORTED_OPERAND_VALUE,
    ),
)
"""Every kind of problem that the rules report, with texts that are specific to NNAPI."""
