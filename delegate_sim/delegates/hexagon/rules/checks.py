"""The conditions from which the Hexagon rules are made, one small maker for each demand (``delegates/hexagon/utils.cc``).

The delegate gives no reasons: the kinds are ours. It stops at the first condition that a node does not meet, so that the
order of a rule's checks decides which reason is given.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....graph import NodeView
from ....rules import Check, Explanation, OpRule, listed
from ...finders import NodeFinder, activation_outside, not_constant, version_above

OPERATOR = "unsupported-operator"
RANK = "rank"
VERSION = "operator-version"
OPERAND_COUNT = "operand-count"
TENSOR_TYPE = "tensor-type"
CONSTANT = "constant-operand"
ATTRIBUTE = "attribute-value"
ACTIVATION = "activation"
QUANTIZATION = "quantization"
SHAPE = "shape"

EXPLANATIONS = {
    "hexagon-unsupported-operator": Explanation(
        "operator that the delegate does not have",
        "The delegate has no layer for this operator, or leaves it out because its results are not exact enough (SUM).",
        "Replace the operator in the model by supported ones, or leave it to the CPU at the beginning or end of the model, where "
        "it splits nothing.",
    ),
    "hexagon-rank": Explanation(
        "more than four dimensions",
        "No operand or result may have more than four dimensions, whatever the operator, constants included.",
        "Fold dimensions with a RESHAPE around the operator.",
    ),
    "hexagon-operator-version": Explanation(
        "operator version that is not taken",
        "Each operator is taken in some versions only, most in versions 1 and 2. RELU, RSQRT and SQUARED_DIFFERENCE are taken in "
        "version 2 alone, which is that of int8 operands: with uint8 operands RELU stays on the CPU.",
        "Convert with int8 activations, and find the feature that raised the version and switch it off in the converter.",
    ),
    "hexagon-operand-count": Explanation(
        "number of operands",
        "The operator is taken with a fixed number of operands; optional ones that are left out count, if the node names them.",
        "Give a convolution a bias of zeros; pad with PAD in place of PADV2.",
    ),
    "hexagon-tensor-type": Explanation(
        "type of an operand",
        "The DSP computes with 8-bit quantised tensors: data and weights are INT8 or UINT8, biases, axes and shapes INT32. Float "
        "models and dynamic-range quantised ones do not run on it.",
        "Quantise fully to int8 with a representative data set.",
    ),
    "hexagon-constant-operand": Explanation(
        "operand must be constant",
        "The value of this operand must stand in the model file. What the runtime computes while preparing the graph does not "
        "count.",
        "Fix the shape in the model before converting it, so that the converter folds the operand into a constant.",
    ),
    "hexagon-attribute-value": Explanation(
        "value of an option",
        "The DSP's layer does not have this setting: strides over 3, dilated convolutions, large pooling windows and the like.",
        "Change the setting in the model.",
    ),
    "hexagon-activation": Explanation(
        "fused activation",
        "Most operators are taken with a fused RELU, RELU6 or RELU_N1_TO_1 or none; pooling and L2_NORMALIZATION only with none.",
        "Keep the activation as an operator of its own.",
    ),
    "hexagon-quantization": Explanation(
        "quantisation parameters of weights",
        "From LiteRT 2.1.5 on FULLY_CONNECTED is taken only with one scale for all of its weights.",
        "Convert without per-channel quantisation of fully connected layers; some converters have a switch for it.",
    ),
    "hexagon-shape": Explanation(
        "size of a dimension",
        "The DSP's layer demands some sizes: filters of depthwise convolutions at least 2 high, and one input channel if it is "
        "multiplied.",
        "Change the layer in the model, for example by padding the filter with zeros.",
    ),
}

QUANT8 = ("UINT8", "INT8")
INT32 = ("INT32",)
RELU_OR_NONE = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
"""``IsActivationReluOrNone``."""
MAX_RANK = 4

_HINTS = {
    RANK: "fold dimensions with RESHAPE",
    VERSION: "convert so that the operator has another version",
    OPERAND_COUNT: "give the node the operands that the operation takes",
    TENSOR_TYPE: "quantise fully to int8",
    QUANTIZATION: "convert without per-channel quantisation of fully connected layers",
    CONSTANT: "fix the shapes before converting, so that the converter folds this operand",
    ATTRIBUTE: "change the setting in the model",
    ACTIVATION: "keep the activation as an operator of its own",
    SHAPE: "change the shape in the model",
}


def check(kind: str, needed: str, finder: NodeFinder, hint: str = "") -> Check:
    """Make a check; its code, and unless given its hint, follow from the kind."""
    return Check(f"hexagon-{kind}", kind, needed, lambda node, _: finder(node), hint or _HINTS[kind])


def _ranked(side: str) -> Check:
    def find(node: NodeView) -> str | None:
        tensors = node.graph.tensors
        for position, index in enumerate(node.node.inputs if side == "input" else node.node.outputs):
            if index >= 0 and len(tensors[index].shape) > MAX_RANK:
                return f"{side} {position} of rank {tensors[index].rank}"
        return None

    return check(RANK, f"{side}s of rank at most {MAX_RANK}", find)


_RANKS = (_ranked("input"), _ranked("output"))


def _max_version(limit: int) -> Check:
    return check(VERSION, f"version at most {limit}" if limit > 1 else "version 1", version_above(limit))


ONLY_VERSION_2 = check(VERSION, "version 2", lambda node: None if node.version == 2 else f"version {node.version}")


def hexagon_rule(*checks: Check, version: int | Check = 1) -> OpRule:
    """Return the rule of an operator: ranks of all tensors, the version (its maximum, or a check), and its own checks."""
    return OpRule((*_RANKS, version if isinstance(version, Check) else _max_version(version), *checks))


def hexagon_rules(ops: Iterable[str], *checks: Check, version: int | Check = 1) -> dict[str, OpRule]:
    """Give several operators the same rule."""
    return dict.fromkeys(ops, hexagon_rule(*checks, version=version))


def input_count(*allowed: int) -> Check:
    """The number of operands, those left out included."""
    return check(
        OPERAND_COUNT,
        f"{listed(map(str, allowed))} input{'' if allowed == (1,) else 's'}",
        lambda node: None if len(node.node.inputs) in allowed else f"{len(node.node.inputs)} inputs",
    )


def _type_of(position: int, types: tuple[str, ...]) -> Check:
    def find(node: NodeView) -> str | None:
        if position >= len(node.node.inputs) or node.node.inputs[position] < 0:
            return None
        found = node.input(position).type
        return None if found in types else f"input {position} is {found}"

    return check(TENSOR_TYPE, f"input {position} of type {listed(types)}", find)


def inputs(*types: tuple[str, ...], optional: int = 0) -> tuple[Check, ...]:
    """``InputsWithCorrectTypes``: as many operands as given here, each of one of its types or left out.

    So many of the last ones may be missing altogether.
    """
    counts = range(len(types) - optional, len(types) + 1)
    return (input_count(*counts), *(_type_of(position, allowed) for position, allowed in enumerate(types)))


def all_inputs_quant8() -> tuple[Check, Check]:
    """At least one operand and one result, and every operand of 8 bits."""

    def find_count(node: NodeView) -> str | None:
        found = len(node.node.inputs), len(node.node.outputs)
        return None if min(found) > 0 else f"{found[0]} inputs and {found[1]} outputs"

    def find_type(node: NodeView) -> str | None:
        for position, tensor in enumerate(node.inputs):
            if tensor.type not in QUANT8:
                return f"input {position} is {tensor.type}"
        return None

    return (
        check(OPERAND_COUNT, "at least 1 input and 1 output", find_count).from_release("litert-2.3.0"),
        check(TENSOR_TYPE, f"inputs of type {listed(QUANT8)}", find_type),
    )


def constant(position: int, name: str) -> Check:
    """``IsConstantTensor``. An operand that is left out crashes the delegate."""
    return check(CONSTANT, f"a constant {name}", not_constant(position, name))


def activation_in(allowed: tuple[str, ...]) -> Check:
    """The fused activation is one of these."""
    return check(ACTIVATION, f"fused activation {listed(allowed)}", activation_outside(allowed))


def option_is_zero(name: str, hint: str = "") -> Check:
    """An option is 0, or not set."""
    return check(ATTRIBUTE, f"{name} 0", lambda node: f"{name} {found}" if (found := getattr(node.options, name)) else None, hint)


NO_ACTIVATION = activation_in(("NONE",))
RELU_ACTIVATION = activation_in(RELU_OR_NONE)
