"""The conditions from which the Core ML rules are made, one small maker for each demand (``delegates/coreml``).

The delegate names no kinds: they are ours. It stops at the first condition that a node does not meet, so that the order of
a rule's checks decides which reason is given.

Where some of its functions cannot find an operand they return an error status, which reads as "supported"; elsewhere the
delegate uses such an operand as if it were there, and crashes. The makers say which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, Explanation, OpRule, listed
from ...finders import NodeFinder, activation_outside, version_above

OPERATOR = "unsupported-operator"
VERSION = "operator-version"
TENSOR_TYPE = "tensor-type"
OPERAND_COUNT = "operand-count"
CONSTANT = "constant-operand"
RANK = "rank"
SHAPE = "shape"
BROADCAST = "broadcast"
ATTRIBUTE = "attribute-value"
ACTIVATION = "activation"
TARGET_VERSION = "coreml-version"

EXPLANATIONS = {
    "coreml-unsupported-operator": Explanation(
        "operator without a layer",
        "The delegate has no Core ML layer for this operator.",
        "Replace the operator in the model by supported ones, or leave it to the CPU at the beginning or end of the model, where "
        "it splits nothing.",
    ),
    "coreml-operator-version": Explanation(
        "operator version above the maximum",
        "The delegate takes operators in version 1 only, but for DEPTHWISE_CONV_2D (2) and FULLY_CONNECTED (6). Converters raise "
        "the version when the node uses a newer feature: of RESIZE_BILINEAR half_pixel_centers, of many operators a data type.",
        "Find the feature that raised the version and switch it off in the converter.",
    ),
    "coreml-tensor-type": Explanation(
        "type of an operand",
        "The data must be FLOAT32. Weights may also be float16 constants. Quantised models do not run on this delegate.",
        "Convert a float32 model, or one with float16 weights.",
    ),
    "coreml-operand-count": Explanation(
        "operand left out",
        "The delegate looks at this operand whether or not the node has it, and crashes the process if it does not.",
        "Give the node the operand, for example a bias of zeros.",
    ),
    "coreml-constant-operand": Explanation(
        "operand must be constant",
        "The value of this operand becomes part of the Core ML model, so it must stand in the model file.",
        "Fix the shape in the model before converting it, so that the converter folds the operand into a constant.",
    ),
    "coreml-rank": Explanation(
        "number of dimensions",
        "The operation is taken only for some numbers of dimensions.",
        "Add or fold dimensions with a RESHAPE around the operator.",
    ),
    "coreml-shape": Explanation(
        "size of a dimension",
        "Core ML's layer demands some sizes: FULLY_CONNECTED takes one row of input, filters are at most 16384 wide and high.",
        "Run with a batch of 1, and flatten the input in front of a fully connected layer.",
    ),
    "coreml-broadcast": Explanation(
        "shapes that are not broadcast",
        "Operands of ADD and MUL must have equal batches, unless one is a constant number; equal height and width, unless both "
        "are 1 in one operand; and equal channels, unless there is 1. No operand may have more than four dimensions.",
        "Give both operands equal shapes, for example by repeating the smaller one.",
    ),
    "coreml-attribute-value": Explanation(
        "value of an option",
        "Core ML's layer does not have this setting.",
        "Change the setting in the model.",
    ),
    "coreml-activation": Explanation(
        "fused activation",
        "Pooling and CONCATENATION are taken without a fused activation only, and no operator with SIGN_BIT.",
        "Keep the activation as an operator of its own.",
    ),
    "coreml-coreml-version": Explanation(
        "operator for Core ML 2 only",
        "RESHAPE is taken only when models are made for Core ML 2; from version 3 on the delegate leaves it to the CPU.",
        "Set coreml_version to 2 where RESHAPE splits the model into too many partitions.",
    ),
}

_HINTS = {
    VERSION: "convert so that the operator keeps an older version",
    TENSOR_TYPE: "convert a float model",
    OPERAND_COUNT: "give the node the operand",
    CONSTANT: "fix the shapes before converting, so that the converter folds this operand",
    RANK: "add or fold dimensions with RESHAPE",
    SHAPE: "change the shape in the model",
    BROADCAST: "give both operands equal shapes",
    ATTRIBUTE: "change the setting in the model",
    ACTIVATION: "keep the activation as an operator of its own",
}

FLOAT_TYPES = ("FLOAT32", "FLOAT16")


def check(kind: str, needed: str, finder: NodeFinder, hint: str = "") -> Check:
    """Make a check; its code, and unless given its hint, follow from the kind."""
    return Check(f"coreml-{kind}", kind, needed, lambda node, _: finder(node), hint or _HINTS[kind])


def coreml_rule(*checks: Check, version: int = 1, data: int = 0) -> OpRule:
    """Return the rule of an operator: its version, the type of its data (the operand at this position), its own checks."""
    versions = check(VERSION, f"version at most {version}" if version > 1 else "version 1", version_above(version))
    return OpRule((versions, present(data, "data"), _float_data(data), *checks))


def coreml_rules(ops: Iterable[str], *checks: Check) -> dict[str, OpRule]:
    """Give several operators the same rule."""
    return dict.fromkeys(ops, coreml_rule(*checks))


def is_left_out(node: NodeView, position: int) -> bool:
    """Whether the node does not have this operand."""
    return position >= len(node.node.inputs) or node.node.inputs[position] < 0


def present(position: int, name: str) -> Check:
    """The node has this operand; without it the delegate crashes."""
    return check(
        OPERAND_COUNT,
        f"{name} (input {position})",
        lambda node: f"no {name}, which crashes the delegate" if is_left_out(node, position) else None,
    )


def _float_data(position: int) -> Check:
    def find(node: NodeView) -> str | None:
        found = node.input(position).type
        return None if found == "FLOAT32" else f"input {position} is {found}"

    return check(TENSOR_TYPE, f"input {position} of type FLOAT32", find)


def constant(position: int, name: str) -> tuple[Check, Check]:
    """The operand stands in the model file; without the operand the delegate crashes."""
    return present(position, name), constant_if_present(position, name)


def constant_if_present(position: int, name: str) -> Check:
    """The operand stands in the model file, or is left out."""
    return of_operand(
        position, CONSTANT, f"a constant {name}", lambda tensor: None if tensor.is_constant else f"{name} is not constant"
    )


def float_if_present(position: int, name: str) -> Check:
    """The operand is of a float type, or left out."""
    return of_operand(
        position,
        TENSOR_TYPE,
        f"{name} of type {listed(FLOAT_TYPES)}",
        lambda tensor: None if tensor.type in FLOAT_TYPES else f"{name} of type {tensor.type}",
    )


def of_operand(position: int, kind: str, needed: str, finder: Callable[[Tensor], str | None], hint: str = "") -> Check:
    """Demand something of an operand, if there is one."""

    def find(node: NodeView) -> str | None:
        return None if is_left_out(node, position) else finder(node.input(position))

    return check(kind, needed, find, hint)


NO_ACTIVATION = check(ACTIVATION, "no fused activation", activation_outside(("NONE",)))
