"""The conditions from which the GPU rules are made, one small maker for each demand.

Source: the helpers of ``CheckGpuDelegateCompatibility`` (``tools/versioning/gpu_compatibility.cc``), and
``IsAllAllowedTensors`` (``delegates/gpu/common/model_builder.cc``). The delegate stops at the first condition that a node
does not meet, so that the order of a rule's checks decides which reason is given.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable

from ....graph.graph import NodeView
from ....model.model import Allocation, Tensor
from ....rules.rule import Check, Explanation, OpRule, listed
from ...finders import NodeFinder, activation_outside, version_above
from ..questions import ACTIVATIONS, runtime_input_count
from ..target import Target

Condition = Callable[[NodeView], bool]

OPERATOR = "unsupported-operator"
VERSION = "operator-version"
OPERAND_COUNT = "operand-count"
CONSTANT = "constant-operand"
TENSOR_TYPE = "tensor-type"
RANK = "rank"
SHAPE = "shape"
BROADCAST = "broadcast"
ATTRIBUTE = "attribute-value"
ACTIVATION = "activation"
QUANTIZATION = "quantization"
NEIGHBOUR = "neighbouring-node"

EXPLANATIONS = {
    "gpu-unsupported-operator": Explanation(
        "operator without a parser",
        "The delegate has no parser for this operator, or the operator is left out: by excluded_ops, or because OpenGL runs no "
        "SPLIT and SPLIT_V.",
        "Replace the operator in the model by supported ones, or leave it to the CPU at the beginning or end of the model, "
        "where it splits nothing.",
    ),
    "gpu-operator-version": Explanation(
        "operator version above the maximum",
        "The converter raises an operator's version when the node uses a newer feature of it; the delegate takes versions only "
        "up to a fixed one, whether or not it could run the node.",
        "Find the feature that raised the version and switch it off in the converter. Newer converters raise the version of "
        "FULLY_CONNECTED for weights quantised per channel, or for 4-bit and dynamic-range weights.",
    ),
    "gpu-operand-count": Explanation(
        "number of runtime operands, constants and results",
        "Most operators are taken only with so many operands computed while running and so many from the model file. What the "
        "runtime computes while preparing the graph counts as computed while running.",
        "Fold operators whose operands are all constant, and make shapes, axes and permutations constants of the model.",
    ),
    "gpu-constant-operand": Explanation(
        "operand that must, or must not, be constant",
        "The shader is made for a value that must stand in the model file, or reads the operand only from GPU memory.",
        "Make the operand a constant of the model, or fold the operator if all of its operands are constant.",
    ),
    "gpu-tensor-type": Explanation(
        "type of a tensor",
        "The GPU computes in float. Tensors in the arena must be FLOAT32 or FLOAT16; with allow_quant_ops INT8 and UINT8 are "
        "taken too, and a few operators take BOOL or INT32. Constants are not looked at here.",
        "Convert the model so that this tensor is float, or 8-bit quantised. For INT64 and INT32 indices and shapes, move the "
        "computation out of the model or into constants.",
    ),
    "gpu-rank": Explanation(
        "rank of a tensor",
        "GPU tensors have batch, height, width and channels: no operand or result, constants included, may have five "
        "dimensions or more, and some operators demand an exact rank.",
        "Fold dimensions with a RESHAPE around the operator.",
    ),
    "gpu-shape": Explanation(
        "shape of a tensor",
        "The operator is taken only with these sizes.",
        "Change the shapes in the model, for example by padding or by splitting the operator in two.",
    ),
    "gpu-broadcast": Explanation(
        "broadcast of operands",
        "Operands of different rank are broadcast against each other only in a few forms: a batch of 1, or the form [b, c] "
        "against [b, h, w, c].",
        "Give both operands the same rank, with a RESHAPE or EXPAND_DIMS in front.",
    ),
    "gpu-attribute-value": Explanation(
        "value of an option",
        "The shader does not know this setting.",
        "Change the setting in the model.",
    ),
    "gpu-activation": Explanation(
        "fused activation",
        "The activation that is fused into the operator is not one that the GPU can apply there.",
        "Use another activation, or keep it as an operator of its own.",
    ),
    "gpu-quantization": Explanation(
        "quantised operator without allow_quant_ops",
        "QUANTIZE and DEQUANTIZE are taken only if the delegate was told to run quantised models, in float, and INT16 never is.",
        "Set allow_quant_ops (the experimental flag ENABLE_QUANT, on by default).",
    ),
    "gpu-neighbouring-node": Explanation(
        "BOOL tensors between comparison and consumer",
        "The GPU has no BOOL tensors of its own: a comparison is taken only if its result goes to one node, a CAST or SELECT "
        "that gives float, and a CAST from BOOL only between one producer and one consumer.",
        "Cast the comparison's result to float once for each consumer, or keep it on the CPU.",
    ),
}


_HINTS = {
    VERSION: "convert so that the operator keeps an older version",
    OPERAND_COUNT: "fold operators of constants, and make shapes, axes and permutations constants of the model",
    CONSTANT: "make the operand a constant of the model, or fold the operator",
    TENSOR_TYPE: "convert the model with float tensors, or with 8-bit ones and allow_quant_ops",
    RANK: "add or fold dimensions with RESHAPE",
    SHAPE: "change the shape in the model",
    BROADCAST: "give both operands the same rank with RESHAPE",
    ATTRIBUTE: "change the setting in the model",
    ACTIVATION: "keep the activation as an operator of its own",
    QUANTIZATION: "convert a float model",
    NEIGHBOUR: "cast the comparison to float once for each consumer",
}


def check(kind: str, needed: str, finder: NodeFinder, hint: str = "") -> Check:
    """Make a check; its code, and unless given its hint, follow from the kind."""
    return Check(f"gpu-{kind}", kind, needed, lambda node, _: finder(node), hint or _HINTS[kind])


def where(condition: Condition, words: str, *checks: Check) -> tuple[Check, ...]:
    """Return these checks for nodes that meet a condition, which the words name."""
    return tuple(_only_where(condition, words, each) for each in checks)


def _only_where(condition: Condition, words: str, inner: Check) -> Check:
    def find(node: NodeView, target: Target) -> str | None:
        return inner.finder(node, target) if condition(node) else None

    return dataclasses.replace(inner, needed=f"{inner.needed} ({words})", finder=find)


def counted(number: int, name: str) -> str:
    """Say how many of something there are."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


def max_version(limit: int) -> Check:
    """``CheckMaxSupportedOpVersion``."""
    return check(VERSION, f"version at most {limit}", version_above(limit))


def constant_input_count(node: NodeView) -> int:
    """Operands in the model file."""
    tensors = node.graph.tensors
    return sum(1 for index in node.node.inputs if index >= 0 and tensors[index].is_constant)


def runtime_operands(runtime: int, outputs: int) -> Check:
    """``CheckInputsOutputs``."""

    def find(node: NodeView) -> str | None:
        found = runtime_input_count(node)
        if found != runtime:
            return counted(found, "runtime input")
        return None if len(node.node.outputs) == outputs else counted(len(node.node.outputs), "output")

    return check(OPERAND_COUNT, f"{counted(runtime, 'runtime input')} and {counted(outputs, 'output')}", find)


def operands(runtime: int, constant: int, outputs: int) -> Check:
    """``CheckInputsConstsOutputs``."""
    inner = runtime_operands(runtime, outputs)

    def find(node: NodeView, target: Target) -> str | None:
        found = constant_input_count(node)
        return counted(found, "constant input") if found != constant else inner.finder(node, target)

    parts = (counted(runtime, "runtime input"), counted(constant, "constant input"), counted(outputs, "output"))
    return Check(inner.code, inner.kind, f"{parts[0]}, {parts[1]} and {parts[2]}", find, inner.hint)


def one_or_two_operands() -> Check:
    """``CheckInputsConstsOutputs`` for two runtime inputs, or for one with a constant."""

    def find(node: NodeView) -> str | None:
        runtime, constant, outputs = runtime_input_count(node), constant_input_count(node), len(node.node.outputs)
        if (runtime, constant) in ((2, 0), (1, 1)) and outputs == 1:
            return None
        return f"{counted(runtime, 'runtime input')}, {counted(constant, 'constant input')}, {counted(outputs, 'output')}"

    return check(OPERAND_COUNT, "2 runtime inputs, or a runtime and a constant one, and 1 output", find)


def convolution_operands() -> tuple[Check, Check]:
    """``CheckConvolutionInputOutput``: weights may be constant or computed while running."""
    return (
        _convolution_operands(0, "at most 2 runtime inputs").before_release("litert-2.1.6"),
        _convolution_operands(1, "1 or 2 runtime inputs").from_release("litert-2.1.6"),
    )


def _convolution_operands(fewest: int, needed: str) -> Check:
    def find(node: NodeView) -> str | None:
        runtime = runtime_input_count(node)
        if not fewest <= runtime <= 2:
            return counted(runtime, "runtime input")
        if len(node.node.outputs) != 1:
            return counted(len(node.node.outputs), "output")
        return "no operand 1" if len(node.node.inputs) < 2 else None

    return check(OPERAND_COUNT, f"{needed}, weights and 1 output", find)


def input_count(needed: str, allowed: Callable[[int], bool]) -> Check:
    """The number of operands, those left out included."""
    return check(
        OPERAND_COUNT, needed, lambda node: None if allowed(len(node.node.inputs)) else counted(len(node.node.inputs), "input")
    )


def inputs_and_outputs(inputs: int, outputs: int) -> Check:
    """The number of operands and of results, those left out included."""

    def find(node: NodeView) -> str | None:
        found = len(node.node.inputs), len(node.node.outputs)
        return None if found == (inputs, outputs) else f"{counted(found[0], 'input')} and {counted(found[1], 'output')}"

    return check(OPERAND_COUNT, f"{counted(inputs, 'input')} and {counted(outputs, 'output')}", find)


def strides() -> Check:
    """``CheckStrides``."""
    return positive("strides", lambda node: (node.options.stride_h, node.options.stride_w))


def dilation() -> Check:
    """``CheckDilation``."""
    return positive("dilation", lambda node: (node.options.dilation_h_factor, node.options.dilation_w_factor))


def positive(name: str, sizes: Callable[[NodeView], tuple[int, int]]) -> Check:
    """Height and width of an option are at least 1."""

    def find(node: NodeView) -> str | None:
        height, width = sizes(node)
        return f"{name} {height}x{width}" if height <= 0 or width <= 0 else None

    return check(ATTRIBUTE, f"{name} of at least 1x1", find)


def activation(finder: NodeFinder | None = None) -> Check:
    """``IsActivationSupported``, of the builtin options unless there is a finder."""
    return check(ACTIVATION, "an activation other than SIGN_BIT", finder or activation_outside(ACTIVATIONS))


def activation_in(*allowed: str) -> Check:
    """The fused activation is one of these."""
    return check(ACTIVATION, f"a fused {listed(allowed)}", activation_outside(allowed))


def option_is_zero(name: str) -> Check:
    """An option is 0, or not set."""
    return check(ATTRIBUTE, f"{name} 0", lambda node: f"{name} {found}" if (found := getattr(node.options, name)) else None)


def constant_int32_axes() -> Check:
    """``CheckAxesAreInt32Const``."""

    def find(node: NodeView) -> str | None:
        axes = node.input(1)
        if axes.is_constant and axes.type == "INT32":
            return None
        return f"axes are {axes.type}, {'constant' if axes.is_constant else 'not constant'}"

    return check(CONSTANT, "constant INT32 axes", find)


def typed(position: int, types: tuple[str, ...], name: str) -> Check:
    """The operand at a position has one of these types."""
    return check(
        TENSOR_TYPE,
        f"{name} of type {listed(types)}",
        lambda node: None if (found := node.input(position).type) in types else f"{name} of type {found}",
    )


def ranked(position: int, allowed: tuple[int, ...], name: str) -> Check:
    """The operand at a position has one of these numbers of dimensions."""
    return check(
        RANK,
        f"{name} of rank {listed(map(str, allowed))}",
        lambda node: None if (found := node.input(position).rank) in allowed else f"{name} of rank {found}",
    )


def shape_of(tensor: Tensor) -> str:
    """Write a shape as people do."""
    return f"[{', '.join(map(str, tensor.shape))}]"


def element_count(tensor: Tensor) -> int:
    """``NumElements``."""
    return math.prod(tensor.shape)


def allow_quant_ops() -> Check:
    """``NewOperationParser``: operators that have a parser only if quantised nodes are taken."""
    return Check(
        f"gpu-{QUANTIZATION}",
        QUANTIZATION,
        "allow_quant_ops",
        lambda _, target: None if target.allow_quant_ops else "allow_quant_ops is off",
        "set allow_quant_ops, or convert a float model",
    )


_FLOAT = frozenset({"FLOAT32", "FLOAT16"})
_QUANTIZED = frozenset({"INT8", "UINT8"})
MAX_RANK = 4


def gpu_rule(*checks: Check, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()) -> OpRule:
    """Return the rule of an operator: its own checks, and those of all tensors; these types are taken beyond the usual."""
    return OpRule((*checks, *_tensor_checks("input", inputs), *_tensor_checks("output", outputs)))


def _tensor_checks(side: str, further_types: tuple[str, ...]) -> tuple[Check, Check]:
    """``IsAllAllowedTensors``; of types, only those of tensors in the arena count."""
    float_types = _FLOAT.union(further_types)
    all_types = float_types | _QUANTIZED

    def indices(node: NodeView) -> tuple[int, ...]:
        return node.node.inputs if side == "input" else node.node.outputs

    def find_rank(node: NodeView) -> str | None:
        tensors = node.graph.tensors
        for position, index in enumerate(indices(node)):
            if index >= 0 and len(tensors[index].shape) > MAX_RANK:
                return f"{side} {position} of rank {tensors[index].rank}"
        return None

    def find_type(node: NodeView, target: Target) -> str | None:
        tensors = node.graph.tensors
        allowed = all_types if target.allow_quant_ops else float_types
        for position, index in enumerate(indices(node)):
            if index >= 0 and tensors[index].type not in allowed and tensors[index].allocation is Allocation.ARENA:
                return f"{side} {position} of type {tensors[index].type}"
        return None

    names = ("FLOAT32", "FLOAT16", *(name for name in further_types if name not in _FLOAT))
    return (
        check(RANK, f"{side}s of rank at most {MAX_RANK}", find_rank),
        Check(
            f"gpu-{TENSOR_TYPE}",
            TENSOR_TYPE,
            f"{side}s of type {listed(names)}, or with allow_quant_ops INT8 or UINT8",
            find_type,
            _HINTS[TENSOR_TYPE],
        ),
    )


def gpu_rules(
    ops: Iterable[str], *checks: Check, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
) -> dict[str, OpRule]:
    """Give several operators the same rule."""
    return dict.fromkeys(ops, gpu_rule(*checks, inputs=inputs, outputs=outputs))
