"""What the NNAPI rules have of their own beside the shared vocabulary.

Source: ``NNAPIDelegateKernel::Validate`` and its ``Expect...`` helpers (``delegates/nnapi/nnapi_delegate.cc``). The delegate
collects every failure, under names of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....rules import kinds
from ....rules.kinds import Kind, Problem
from ....rules.numbers import at_most
from ....rules.operands import INPUT, OUTPUT, Operand, operand
from ....rules.rule import Check
from ....rules.source import LITERT, Source
from ....rules.vocabulary import check, check_for_target, refused_if, typed, version
from ..questions import is_hybrid
from ..target import LEVEL_NAMES, NnapiTarget

SOURCE = Source(LITERT, "tflite/delegates/nnapi/nnapi_delegate.cc", "NNAPIDelegateKernel::Validate")

UNSUPPORTED_INPUT_TYPE = "kUnsupportedInputType"
UNSUPPORTED_OUTPUT_TYPE = "kUnsupportedOutputType"
UNSUPPORTED_OPERAND_RANK = "kUnsupportedOperandRank"
UNSUPPORTED_OPERAND_VALUE = "kUnsupportedOperandValue"
UNSUPPORTED_OPERATOR_VARIANT = "kUnsupportedOperatorVariant"

FEATURE_LEVEL = Kind(
    "feature-level",
    Problem.TARGET_LEVEL,
    "feature level too low",
    "NNAPI has the operation, or this form of it, only from a later feature level on than that of the device and its runtime.",
    "Target a newer Android release or driver, or build the same from operators that NNAPI has had for longer.",
    "target a newer feature level",
    native="kUnsupportedAndroidVersion",
)
OUTPUT_TYPE = Kind(
    "output-type",
    Problem.TYPE,
    "type of the result",
    "The operation does not give results of this type at this feature level.",
    "Convert the model so that the result has another type, or insert a CAST.",
    "convert so that the result has a type that is accepted",
    native=UNSUPPORTED_OUTPUT_TYPE,
)
SCALAR_OUTPUT = Kind(
    "scalar-output",
    Problem.RANK,
    "scalar result",
    "NNAPI reductions cannot give a tensor without dimensions.",
    "Set keep_dims, and drop the dimensions afterwards if need be.",
    "set keep_dims",
    native=UNSUPPORTED_OUTPUT_TYPE,
)
PER_CHANNEL = Kind(
    "per-channel",
    Problem.QUANTIZATION,
    "weights quantised per channel",
    "Before NNAPI 1.2 all weights of a convolution share one scale.",
    "Quantise weights per tensor, or target NNAPI 1.2.",
    "quantise weights per tensor, or target NNAPI 1.2",
    native="kUnsupportedQuantizationType",
)
RESTRICTED_SCALES = Kind(
    "restricted-scales",
    Problem.QUANTIZATION,
    "scales of a quantised convolution",
    "Before NNAPI 1.2 the product of the scales of input and weights must be less than the scale of the output.",
    "Widen the output's range when quantising, or target NNAPI 1.2.",
    "widen the output's range, or target NNAPI 1.2",
    native="kNotRestrictedScaleCompliant",
)
FILTER_AREA = Kind(
    "filter-area",
    Problem.SHAPE,
    "pooling window too large",
    "Where no accelerator is specified, the delegate guards against an overflow in NNAPI's reference implementation.",
    "Name an accelerator, or pool in two steps.",
    "name an accelerator, or pool in two steps",
    native="kUnsupportedOperandSize",
)
DENSE_WEIGHTS = Kind(
    "dense-weights",
    Problem.CONSTANT,
    "DENSIFY of something that is not constant",
    "The delegate unpacks sparse weights only if they are constant, and only from NNAPI 1.3 on.",
    "Target NNAPI 1.3, or convert the model without sparse weights.",
    "target NNAPI 1.3, or convert without sparse weights",
    native="sparse-weights",  # the delegate records no failure here
)
KINDS = (
    kinds.OPERATOR.reworded(
        title="operator that NNAPI lacks",
        meaning="The delegate has no NNAPI operation for this operator, at any feature level. It has none for custom operators.",
        advice="Replace the operator in the model with operators that NNAPI has, or let another delegate take it.",
        hint="replace the operator, or let another delegate take it",
        suffix="operator",
        native="kUnsupportedOperator",
    ),
    kinds.VERSION.reworded(
        advice="Find the feature that raised the version and switch it off in the converter. For FULLY_CONNECTED and CONV_2D "
        "this is most often dynamic-range quantisation with asymmetric inputs, or int16 activations.",
        native="kUnsupportedOperatorVersion",
    ),
    FEATURE_LEVEL,
    kinds.TENSOR_TYPE.reworded(
        title="type of an operand",
        meaning="The operation does not take operands of this type at this feature level.",
        advice="Convert the model so that this tensor has another type (float, or quantised to 8 bits), or insert a CAST.",
        hint="convert so that the operand has a type that is accepted",
        suffix="input-type",
        native=UNSUPPORTED_INPUT_TYPE,
    ),
    OUTPUT_TYPE,
    kinds.RANK.reworded(
        meaning="Many NNAPI operations take at most four dimensions, and some need exactly four, or at least one.",
        native=UNSUPPORTED_OPERAND_RANK,
    ),
    SCALAR_OUTPUT,
    kinds.ACTIVATION.reworded(
        meaning="The operation cannot apply a fused activation, or not with operands of this type.",
        native="kNoActivationExpected",
    ),
    kinds.CONSTANT.reworded(
        advice="Fix the shapes of the model before converting it, so that the converter folds the operand into a constant.",
        native="kInputTensorShouldHaveConstantShape",
    ),
    kinds.OPERAND_VALUE.reworded(
        title="value of an operand or option",
        meaning="The operation is not taken with this setting at this feature level.",
        advice="Change the setting in the model, or target a newer feature level.",
        hint="change the setting in the model",
        native=UNSUPPORTED_OPERAND_VALUE,
    ),
    kinds.OPERAND_COUNT.reworded(
        meaning="Only the variants of the operator with these numbers of operands are mapped to NNAPI.",
        advice="Give the node all the operands that the mapped variant has, and no others.",
        hint="give the node the operands of a variant that is mapped",
        native=UNSUPPORTED_OPERATOR_VARIANT,
    ),
    kinds.OPTIONAL_OPERAND.reworded(
        title="CONV_2D without bias",
        meaning="The delegate takes CONV_2D only with a bias operand.",
        advice="Give the layer a bias of zeros.",
        hint="give the layer a bias, of zeros if need be",
        suffix="missing-bias",
        native="kMissingRequiredOperand",
    ),
    kinds.HYBRID.reworded(
        meaning="NNAPI has no hybrid form of this operation, or not at this feature level.",
        advice="Quantise fully (int8 with a representative data set), or keep the weights in float.",
        hint="quantise fully, or keep the weights in float",
        native="kUnsupportedHybridOperator",
    ),
    PER_CHANNEL,
    RESTRICTED_SCALES,
    kinds.QUANTIZATION.reworded(
        meaning="The operation demands particular scales and zero points.",
        native="kUnsupportedQuantizationParameters",
    ),
    FILTER_AREA,
    kinds.BROADCAST.reworded(native=UNSUPPORTED_OPERAND_VALUE),
    DENSE_WEIGHTS,
    kinds.SHAPE.reworded(
        title="operand without elements",
        meaning="Padding operations do not take tensors with a dimension of 0.",
        advice="Remove the empty tensor from the model.",
        hint="remove the empty tensor from the model",
        suffix="zero-size",
        native=UNSUPPORTED_OPERAND_VALUE,
    ),
)
"""Every kind of problem of the rules, in NNAPI's words."""

FLOAT = ("FLOAT32",)
QUANT8 = ("UINT8", "INT8")
FLOAT_UINT8 = ("FLOAT32", "UINT8")
FLOAT_INT32 = ("FLOAT32", "INT32")
FLOAT_UINT8_INT32 = ("FLOAT32", "INT32", "UINT8")
FLOAT_QUANT8 = ("FLOAT32", *QUANT8)
FLOAT_QUANT8_INT32 = (*FLOAT_QUANT8, "INT32")
INT32 = ("INT32",)

_helper = SOURCE.with_symbol

FLOAT_OPERAND = typed(INPUT, FLOAT).from_source(_helper("ExpectIsFloatOperator"))
FLOAT_UINT8_OPERAND = typed(INPUT, FLOAT_UINT8).from_source(_helper("ExpectIsFloatOrUint8Operator"))
FLOAT_QUANT8_OPERAND = typed(INPUT, FLOAT_QUANT8).from_source(_helper("ExpectIsFloatOrQuant8Operator"))
FLOAT_QUANT8_INT32_OPERAND = typed(INPUT, FLOAT_QUANT8_INT32).from_source(_helper("ExpectIsFloatQuant8OrInt32Operator"))


def max_op_version(limit: int) -> Check[Any]:
    """``ExpectMaxOpVersion``."""
    return version(at_most(limit)).from_source(_helper("ExpectMaxOpVersion"))


def op_version(limit: int) -> Check[Any]:
    """``ExpectOpVersion``, which allows lower versions as well."""
    return version(at_most(limit)).from_source(_helper("ExpectOpVersion"))


def level_demand(minimum: int) -> Check[NnapiTarget]:
    """Demand a feature level of at least this."""

    def find(_: NodeView, target: NnapiTarget) -> str | None:
        return None if target.level >= minimum else f"feature level {target.level}"

    return check_for_target(FEATURE_LEVEL, LEVEL_NAMES[minimum], find)


def min_level(minimum: int) -> Check[NnapiTarget]:
    """``ExpectMinAndroidSdkVersion``."""
    return level_demand(minimum).from_source(_helper("ExpectMinAndroidSdkVersion"))


def type_in(which: Operand, types: Collection[str]) -> Check[Any]:
    """``ExpectTypeIn`` of an operand or a result."""
    kind = OUTPUT_TYPE if which.is_result else kinds.TENSOR_TYPE
    return typed(which, types, kind=kind).from_source(_helper("ExpectTypeIn"))


def constant_int32(which: Operand) -> Check[Any]:
    """Demand a constant of type INT32."""

    def find(node: NodeView) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.type == "INT32" and tensor.is_constant else f"{which.name} is {type_and_storage(tensor)}"

    found = check(kinds.CONSTANT, f"a constant INT32 {which.name}", find, f"make the {which.name} a constant of type INT32")
    return found.reported_as(UNSUPPORTED_INPUT_TYPE)


def type_and_storage(tensor: Tensor) -> str:
    """Say of what type a tensor is, and whether it is constant."""
    return f"{tensor.type}, {'constant' if tensor.is_constant else 'not constant'}"


NOT_HYBRID = refused_if(
    kinds.HYBRID, "operands that are all float or all quantised", is_hybrid, "float input with quantised weights"
).from_source(_helper("IsHybridOperator"))


def _unrestricted_scales(node: NodeView) -> str | None:
    """For UINT8 inputs, in float32 as in the original."""
    first, weights, output = INPUT.tensor(node), operand(1).tensor(node), OUTPUT.tensor(node)
    if first.type != "UINT8":
        return None
    product = np.float32(first.scale) * np.float32(weights.scale)
    if product < np.float32(output.scale):
        return None
    return f"input scale * weight scale = {product:g}, output scale {output.scale:g}"


RESTRICTED_SCALES_ONLY = check(
    RESTRICTED_SCALES, "input scale * weight scale below the output scale", _unrestricted_scales
).from_source(_helper("ExpectIsRestrictedScalesCompliant"))


def fused(node: NodeView) -> str | None:
    """Find a fused activation; unlike elsewhere, one that is not known counts."""
    found = node.options.fused_activation_function
    return f"fused {schema.enum_names('ActivationFunctionType').get(found, found)}" if found else None


NO_ACTIVATION = check(kinds.ACTIVATION, "no fused activation", fused)


def quantized_as(which: Operand, needed: str, holds: Callable[[Tensor], bool], hint: str) -> Check[Any]:
    """Demand particular quantisation parameters of a tensor."""

    def find(node: NodeView) -> str | None:
        found = which.tensor(node)
        return None if holds(found) else f"{which.name} scale {found.scale:g}, zero point {found.zero_point}"

    return check(kinds.QUANTIZATION, f"{which.name} with {needed}", find, hint)
