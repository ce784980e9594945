"""The conditions from which the NNAPI rules are made, one small maker for each demand.

Source: ``NNAPIDelegateKernel::Validate`` and its ``Expect...`` helpers (``delegates/nnapi/nnapi_delegate.cc``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....rules.rule import Check, Explanation, listed
from ..questions import is_hybrid
from ..target import LEVEL_NAMES, Target

FLOAT = ("FLOAT32",)
FLOAT_UINT8 = ("FLOAT32", "UINT8")
QUANT8 = ("UINT8", "INT8")
FLOAT_QUANT8 = ("FLOAT32", "UINT8", "INT8")
FLOAT_INT32 = ("FLOAT32", "INT32")
FLOAT_QUANT8_INT32 = ("FLOAT32", "UINT8", "INT8", "INT32")

INPUT_TYPE = "kUnsupportedInputType"
OUTPUT_TYPE = "kUnsupportedOutputType"
OPERAND_RANK = "kUnsupportedOperandRank"
OPERAND_VALUE = "kUnsupportedOperandValue"
OPERATOR_VARIANT = "kUnsupportedOperatorVariant"
QUANTIZATION_PARAMETERS = "kUnsupportedQuantizationParameters"
CONSTANT = "kInputTensorShouldHaveConstantShape"

EXPLANATIONS = {
    "nnapi-operator": Explanation(
        "operator not mapped",
        "The delegate has no NNAPI operation for this operator, at any feature level. Custom operators never have one.",
        "Replace the operator in the model by mapped ones, or let another delegate take it.",
    ),
    "nnapi-operator-version": Explanation(
        "operator version above the maximum",
        "The converter raises an operator's version when the node uses a newer feature of it; the delegate takes versions "
        "only up to a fixed one, whether or not it could run the node.",
        "Find the feature that raised the version and switch it off in the converter. For FULLY_CONNECTED and CONV_2D this is "
        "most often dynamic-range quantisation with asymmetric inputs, or int16 activations.",
    ),
    "nnapi-feature-level": Explanation(
        "feature level too low",
        "NNAPI has the operation only from a later feature level on than the device and its runtime have.",
        "Target a newer Android release or driver, or express the operator by older ones.",
    ),
    "nnapi-input-type": Explanation(
        "type of an operand",
        "The operation does not take operands of this type at this feature level.",
        "Convert the model with another type for this tensor (float, or 8-bit quantised), or insert a CAST.",
    ),
    "nnapi-output-type": Explanation(
        "type of the result",
        "The operation does not give results of this type at this feature level.",
        "Convert the model with another type for this tensor.",
    ),
    "nnapi-rank": Explanation(
        "rank of an operand",
        "NNAPI operations take at most four dimensions here, some exactly four.",
        "Fold dimensions with a RESHAPE around the operator.",
    ),
    "nnapi-scalar-output": Explanation(
        "scalar result",
        "NNAPI reductions cannot give a tensor without dimensions.",
        "Set keep_dims, and drop the dimensions afterwards if need be.",
    ),
    "nnapi-activation": Explanation(
        "fused activation",
        "The operation cannot apply a fused activation in this form.",
        "Keep the activation as an operator of its own.",
    ),
    "nnapi-constant-operand": Explanation(
        "operand must be constant",
        "The operand decides shapes, so its value must stand in the model file. What the runtime computes while preparing "
        "the graph does not count.",
        "Fix the shape in the model before converting it, so that the converter folds the operand into a constant.",
    ),
    "nnapi-operand-value": Explanation(
        "value of an operand or option",
        "The operation does not know this setting at this feature level.",
        "Change the setting in the model, or target a newer feature level.",
    ),
    "nnapi-operand-count": Explanation(
        "number of operands",
        "Only the listed variants of the operator are mapped.",
        "Give the operator all the operands that the mapped variant has.",
    ),
    "nnapi-missing-bias": Explanation(
        "CONV_2D without bias",
        "The delegate takes convolutions only with a bias operand.",
        "Add a bias of zeros to the layer.",
    ),
    "nnapi-hybrid": Explanation(
        "float activations with quantised weights",
        "NNAPI has no hybrid form of this operation at this feature level.",
        "Quantise fully (int8 with a representative data set), or keep the weights in float.",
    ),
    "nnapi-per-channel": Explanation(
        "weights quantised per channel",
        "Before NNAPI 1.2 weights have one scale.",
        "Quantise weights per tensor, or target NNAPI 1.2.",
    ),
    "nnapi-restricted-scales": Explanation(
        "scales of a quantised convolution",
        "Before NNAPI 1.2 the product of input and weight scale must be less than the output scale.",
        "Widen the output range while quantising, or target NNAPI 1.2.",
    ),
    "nnapi-quantization": Explanation(
        "quantisation parameters",
        "The operation demands particular scales and zero points.",
        "Requantise the tensor with the parameters that are asked for.",
    ),
    "nnapi-filter-area": Explanation(
        "pooling window too large",
        "Without a named accelerator the delegate guards against an overflow in NNAPI's reference implementation.",
        "Name an accelerator, or pool in two steps.",
    ),
    "nnapi-broadcast": Explanation(
        "broadcast of operands",
        "The operation does not broadcast its operands against each other.",
        "Give both operands the same shape, with BROADCAST_TO or by tiling constants.",
    ),
    "nnapi-dense-weights": Explanation(
        "DENSIFY of what is not a constant",
        "The delegate unpacks sparse weights only from constants, and only from NNAPI 1.3 on.",
        "Target NNAPI 1.3 or convert the model without sparse weights.",
    ),
    "nnapi-zero-size": Explanation(
        "operand without elements",
        "Padding operations do not take tensors with a dimension of 0.",
        "Remove the empty tensor from the model.",
    ),
}


def max_version(limit: int) -> Check:
    """``ExpectMaxOpVersion`` and ``ExpectOpVersion``, which both allow lower versions."""
    return Check(
        "nnapi-operator-version",
        "kUnsupportedOperatorVersion",
        f"version at most {limit}",
        lambda node, _: None if node.version <= limit else f"version {node.version}",
        "convert so that the operator keeps an older version",
    )


def version_in(allowed: tuple[int, ...]) -> Check:
    """The version is one of these."""
    return Check(
        "nnapi-operator-version",
        "kUnsupportedOperatorVersion",
        f"version {listed(map(str, allowed))}",
        lambda node, _: None if node.version in allowed else f"version {node.version}",
        "convert so that the operator keeps an older version",
    )


def min_level(minimum: int) -> Check:
    """``ExpectMinAndroidSdkVersion``."""
    return Check(
        "nnapi-feature-level",
        "kUnsupportedAndroidVersion",
        LEVEL_NAMES[minimum],
        lambda _, target: None if target.level >= minimum else f"feature level {target.level}",
        "target a newer feature level",
    )


def typed(
    position: int, types: tuple[str, ...], kind: str = INPUT_TYPE, *, output: bool = False, name: str | None = None
) -> Check:
    """``ExpectTypeIn`` for the operand (or result) at a position."""
    what = name or (f"output {position}" if output else f"input {position}")

    def find(node: NodeView, _: Target) -> str | None:
        found = (node.output(position) if output else node.input(position)).type
        return None if found in types else f"{what} is {found}"

    code = "nnapi-output-type" if output else "nnapi-input-type"
    return Check(code, kind, f"{what} of type {listed(types)}", find, "convert with a type that is taken")


def output_typed(position: int, types: tuple[str, ...]) -> Check:
    """``ExpectTypeIn`` for a result."""
    return typed(position, types, OUTPUT_TYPE, output=True)


def at_most_rank(limit: int, *positions: int, kind: str = OPERAND_RANK, output: bool = False) -> Check:
    """All of these operands have at most so many dimensions."""
    side = "output" if output else "input"

    def find(node: NodeView, _: Target) -> str | None:
        ranks = [(node.output(position) if output else node.input(position)).rank for position in positions]
        return None if max(ranks) <= limit else f"{side} rank {max(ranks)}"

    return Check("nnapi-rank", kind, f"{side} rank at most {limit}", find, "fold dimensions with RESHAPE")


def ranked(allowed: tuple[int, ...], kind: str = OPERAND_RANK) -> Check:
    """The first operand has one of these numbers of dimensions."""
    return Check(
        "nnapi-rank",
        kind,
        f"input rank {listed(map(str, allowed))}",
        lambda node, _: None if node.input(0).rank in allowed else f"input rank {node.input(0).rank}",
        "add or fold dimensions with RESHAPE",
    )


def no_activation(only_int32: bool = False, kind: str = "kNoActivationExpected") -> Check:
    """No fused activation, or none where the operands are INT32."""

    def find(node: NodeView, _: Target) -> str | None:
        if only_int32 and node.input(0).type != "INT32":
            return None
        activation = node.options.fused_activation_function
        return None if activation == 0 else f"fused {schema.enum_names('ActivationFunctionType').get(activation, activation)}"

    needed = "no fused activation with INT32 operands" if only_int32 else "no fused activation"
    return Check("nnapi-activation", kind, needed, find, "keep the activation as an operator of its own")


def constant(position: int, name: str, kind: str = CONSTANT) -> Check:
    """The operand at a position stands in the model file."""
    return Check(
        "nnapi-constant-operand",
        kind,
        f"a constant {name}",
        lambda node, _: None if node.input(position).is_constant else f"{name} is not constant",
        "fix the shapes before converting, so that the converter folds this operand",
    )


def constant_if_present(position: int, name: str) -> Check:
    """As ``constant``, where the node has an operand at this position at all."""
    check = constant(position, name)

    def find(node: NodeView, target: Target) -> str | None:
        return check.finder(node, target) if len(node.inputs) > position else None

    return Check(check.code, check.kind, check.needed, find, check.hint)


def constant_int32(position: int, name: str) -> Check:
    """The operand at a position is a constant of type INT32."""

    def find(node: NodeView, _: Target) -> str | None:
        tensor = node.input(position)
        if tensor.type == "INT32" and tensor.is_constant:
            return None
        return f"{name} is {tensor.type}, {'constant' if tensor.is_constant else 'not constant'}"

    return Check("nnapi-constant-operand", INPUT_TYPE, f"a constant INT32 {name}", find, f"make the {name} a constant INT32")


def input_count(allowed: tuple[int, ...] | range, needed: str, kind: str = OPERATOR_VARIANT) -> Check:
    """The number of operands, those left out included."""
    return Check(
        "nnapi-operand-count",
        kind,
        needed,
        lambda node, _: None if len(node.inputs) in allowed else f"{len(node.inputs)} inputs",
    )


def not_hybrid() -> Check:
    """``IsHybridOperator``: float activations with quantised weights."""
    return Check(
        "nnapi-hybrid",
        "kUnsupportedHybridOperator",
        "operands that are all float or all quantised",
        lambda node, _: "float input with quantised weights" if is_hybrid(node) else None,
        "quantise fully, or keep the weights in float",
    )


def restricted_scales() -> Check:
    """``ExpectIsRestrictedScalesCompliant``, in float32 as there, for UINT8 inputs."""

    def find(node: NodeView, _: Target) -> str | None:
        first, weights, result = node.input(0), node.input(1), node.output(0)
        if first.type != "UINT8":
            return None
        product = np.float32(first.scale) * np.float32(weights.scale)
        return (
            None
            if product < np.float32(result.scale)
            else f"input scale * weight scale = {product:g}, output scale {result.scale:g}"
        )

    return Check(
        "nnapi-restricted-scales",
        "kNotRestrictedScaleCompliant",
        "input scale * weight scale below the output scale",
        find,
        "widen the output range, or target NNAPI 1.2",
    )


def option(needed: str, finder: Callable[[NodeView], str | None], hint: str = "", kind: str = OPERAND_VALUE) -> Check:
    """A condition on options or on values of operands."""
    return Check("nnapi-operand-value", kind, needed, lambda node, _: finder(node), hint)


def option_is(name: str, wanted: int, label: str, kind: str = OPERAND_VALUE) -> Check:
    """An option has this value."""
    return option(
        f"{label} {wanted}",
        lambda node: None if (found := getattr(node.options, name)) == wanted else f"{label} {found}",
        kind=kind,
    )


def option_unset(name: str) -> Check:
    """A boolean option is not set."""
    return option(f"{name} false", lambda node: f"{name} true" if getattr(node.options, name) else None)


def not_scalar_output() -> Check:
    """The result has dimensions."""
    return Check(
        "nnapi-scalar-output",
        OUTPUT_TYPE,
        "a result with at least one dimension",
        lambda node, _: None if node.output(0).rank else "a scalar result",
        "set keep_dims",
    )


def has_elements() -> Check:
    """No dimension of the first operand is 0."""
    return Check(
        "nnapi-zero-size",
        OPERAND_VALUE,
        "an input without a dimension of 0",
        lambda node, _: f"input shape {list(node.input(0).shape)}" if 0 in node.input(0).shape else None,
    )


def quantized_as(tensor: Callable[[NodeView], Tensor], name: str, needed: str, holds: Callable[[Tensor], bool]) -> Check:
    """Quantisation parameters of one tensor."""

    def find(node: NodeView, _: Target) -> str | None:
        found = tensor(node)
        return None if holds(found) else f"{name} scale {found.scale:g}, zero point {found.zero_point}"

    return Check("nnapi-quantization", QUANTIZATION_PARAMETERS, f"{name} with {needed}", find)


float_operand = partial(typed, 0, FLOAT)
float_uint8_operand = partial(typed, 0, FLOAT_UINT8)
float_quant8_operand = partial(typed, 0, FLOAT_QUANT8)
float_quant8_int32_operand = partial(typed, 0, FLOAT_QUANT8_INT32)
