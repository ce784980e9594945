"""The conditions from which the XNNPACK rules are made, one small maker for each demand.

Source: the ``Check`` functions of ``Subgraph`` (``delegates/xnnpack/xnnpack_delegate.cc``). The delegate stops at the first
condition that a node does not meet, so that the order of a rule's checks decides which reason is given. It says why only in
builds with XNNPACK_DELEGATE_ENABLE_LOGGING.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ....graph.graph import NodeView
from ....model import schema
from ....model.model import Tensor
from ....rules.rule import Check, Explanation, listed
from ..datatypes import are_usable_scales, first_zero_point, is_usable_zero_point
from ..target import Target

NodeFinder = Callable[[NodeView], str | None]
"""Returns what was found where the demand is not met, None where it is."""
TargetFinder = Callable[[NodeView, Target], str | None]
"""The same, for demands that depend on the target."""

OPERATOR = "unsupported-operator"
VERSION = "operator-version"
OPERAND_COUNT = "operand-count"
OPTIONAL_OPERAND = "optional-operand"
CONSTANT = "constant-operand"
TENSOR_TYPE = "tensor-type"
HYBRID = "hybrid"
RANK = "rank"
SHAPE = "shape"
VALUE = "operand-value"
ATTRIBUTE = "attribute-value"
ACTIVATION = "activation"
QUANTIZATION = "quantization"
NEIGHBOUR = "neighbouring-node"

EXPLANATIONS = {
    "xnnpack-unsupported-operator": Explanation(
        "operator that XNNPACK does not run",
        "The delegate has no operator of XNNPACK for this one. The CPU kernels of the runtime run it.",
        "Nothing needs to be done: both run on the CPU. A node that splits a partition costs a little time at the border.",
    ),
    "xnnpack-operator-version": Explanation(
        "operator version that is left out",
        "Version 8 of FULLY_CONNECTED has sparse weights, which the CPU kernel runs itself.",
        "Convert without sparse weights, or leave the node to the CPU kernel.",
    ),
    "xnnpack-operand-count": Explanation(
        "number of operands and results",
        "The delegate takes the operator only with so many operands and results, those left out included; CONCATENATION with two "
        "to five operands, SPLIT with two to four results.",
        "Split the node into several smaller ones.",
    ),
    "xnnpack-optional-operand": Explanation(
        "optional operand left out",
        "CONV_2D and DEPTHWISE_CONV_2D are taken only with a bias.",
        "Convert with a bias, of zeros if need be.",
    ),
    "xnnpack-constant-operand": Explanation(
        "operand that must be constant",
        "Weights, biases, axes, shapes and the like must stand in the model file, or be made from constants by DEQUANTIZE or "
        "DENSIFY alone. What the runtime computes while preparing the graph does not count.",
        "Make the operand a constant of the model, for example by fixing shapes before converting. For FULLY_CONNECTED with "
        "weights that are computed, set the flag dynamic_fully_connected.",
    ),
    "xnnpack-tensor-type": Explanation(
        "type of a tensor",
        "Most operators run in FLOAT32 and FLOAT16, and many in INT8 (with the flag qs8) and UINT8 (with qu8). Other types run "
        "on the CPU kernels, 16-bit activations included.",
        "Convert with float or 8-bit activations, and with INT32 for axes and shapes; leave the flags qs8 and qu8 on.",
    ),
    "xnnpack-hybrid": Explanation(
        "operands of different types",
        "The operands and the result must have one type. Weights of 8 bits and below with float activations are taken only by "
        "CONV_2D, FULLY_CONNECTED, BATCH_MATMUL and TRANSPOSE_CONV; the first two refuse them if the flag "
        "disable_dynamically_quantized_ops is set. A float bias must have the type of float weights, or be FLOAT32.",
        "Quantise fully (int8 with a representative data set), or keep weights and biases in the type of the activations.",
    ),
    "xnnpack-rank": Explanation(
        "number of dimensions",
        "XNNPACK's tensors have at most six dimensions, and some operators demand an exact number.",
        "Fold or add dimensions with a RESHAPE around the operator.",
    ),
    "xnnpack-shape": Explanation(
        "sizes of a tensor",
        "The delegate takes the sizes that stand in the model file. No dimension may be 0, and operands must fit each other.",
        "Give the model fixed shapes before converting it.",
    ),
    "xnnpack-operand-value": Explanation(
        "value of a constant operand",
        "The delegate does not run the operator with this value of an operand.",
        "Change the value in the model.",
    ),
    "xnnpack-attribute-value": Explanation(
        "value of an option",
        "The delegate does not run the operator with this setting.",
        "Change the setting in the model.",
    ),
    "xnnpack-activation": Explanation(
        "fused activation",
        "XNNPACK fuses RELU, RELU6 and RELU_N1_TO_1 only, which bound the result.",
        "Keep the activation as an operator of its own.",
    ),
    "xnnpack-quantization": Explanation(
        "quantisation parameters",
        "8-bit activations need one scale for the tensor; weights one for the tensor or one for each output channel. Scales must "
        "be positive, zero points must be in range, and the ratio of scales must be one that XNNPACK can compute with.",
        "Quantise activations per tensor and weights per tensor or per output channel, with a representative data set.",
    ),
    "xnnpack-neighbouring-node": Explanation(
        "depends on the nodes around it",
        "A VAR_HANDLE is taken with the nodes that read or assign its variable, which must agree in type and shape. A DEQUANTIZE "
        "or DENSIFY of constants is taken unless a node that is refused reads its result.",
        "Look at the reasons of the nodes that read the result, or at the other nodes of the variable.",
    ),
}

_HINTS = {
    OPERAND_COUNT: "split the node into smaller ones",
    OPTIONAL_OPERAND: "convert with a bias, of zeros if need be",
    CONSTANT: "make the operand a constant of the model",
    TENSOR_TYPE: "convert with float or 8-bit tensors",
    HYBRID: "quantise fully, or keep all operands in one type",
    RANK: "add or fold dimensions with RESHAPE",
    SHAPE: "give the model fixed shapes before converting it",
    VALUE: "change the value in the model",
    ATTRIBUTE: "change the setting in the model",
    ACTIVATION: "keep the activation as an operator of its own",
    QUANTIZATION: "quantise activations per tensor, with a representative data set",
    NEIGHBOUR: "look at the reasons of the nodes around it",
}

MAX_RANK = 6
"""``XNN_MAX_TENSOR_DIMS``."""


def check(kind: str, needed: str, finder: NodeFinder, hint: str = "") -> Check:
    """Make a check; its code, and unless given its hint, follow from the kind."""
    return check_for_target(kind, needed, lambda node, _: finder(node), hint)


def check_for_target(kind: str, needed: str, finder: TargetFinder, hint: str = "") -> Check:
    """Make a check that depends on the target."""
    return Check(f"xnnpack-{kind}", kind, needed, finder, hint or _HINTS[kind])


class Operand(NamedTuple):
    """One operand or result of a node: what to call it, and how to get it."""

    name: str
    tensor: Callable[[NodeView], Tensor]


def operand(position: int, name: str = "input") -> Operand:
    """The operand at a position."""
    return Operand(name, lambda node: node.input(position))


def result(position: int = 0, name: str = "output") -> Operand:
    """The result at a position."""
    return Operand(name, lambda node: node.output(position))


INPUT = operand(0)
OUTPUT = result()


def counting_from(release: str, *checks: Check) -> tuple[Check, ...]:
    """Return these checks for releases of the runtime from this one on."""
    return tuple(each.from_release(release) for each in checks)


def counting_before(release: str, *checks: Check) -> tuple[Check, ...]:
    """Return these checks for releases of the runtime before this one."""
    return tuple(each.before_release(release) for each in checks)


class Types(NamedTuple):
    """Types of a tensor: those always taken, whether INT8 and UINT8 with one scale are, and FLOAT16 from which release on."""

    always: tuple[str, ...]
    signed: bool = False
    unsigned: bool = False
    float16_from: str | None = None

    def or_float16_from(self, release: str) -> Types:
        """Return these types, and FLOAT16 in releases of the runtime from this one on."""
        return self._replace(float16_from=release)

    def checks(self, make: Callable[[Types], Check]) -> tuple[Check, ...]:
        """Return the check that is made of these types; if FLOAT16 came with a release, one for before and one for after."""
        if self.float16_from is None:
            return (make(self),)
        before = self._replace(float16_from=None)
        after = before._replace(always=(*self.always, "FLOAT16"))
        return make(before).before_release(self.float16_from), make(after).from_release(self.float16_from)

    def words(self) -> str:
        """Return the types for a sentence."""
        eight_bits = [name for name, taken in (("INT8 (qs8)", self.signed), ("UINT8 (qu8)", self.unsigned)) if taken]
        return listed((*self.always, *eight_bits))

    def takes(self, name: str, target: Target) -> bool:
        """Whether a type is taken."""
        return (
            name in self.always
            or (name == "INT8" and self.signed and target.signed_8_bits)
            or (name == "UINT8" and self.unsigned and target.unsigned_8_bits)
        )


FLOAT32 = Types(("FLOAT32",))
FLOAT32_OR_INT8 = Types(("FLOAT32",), signed=True)
FLOAT32_OR_8_BITS = Types(("FLOAT32",), signed=True, unsigned=True)
EIGHT_BITS = Types((), signed=True, unsigned=True)

FLOAT16_ACTIVATIONS = "litert-1.3.0"
"""The release from which on operators of one float operand take FLOAT16."""
FLOAT16_ARITHMETIC = "litert-2.1.3"
"""The same of other arithmetic, and of operators that move values."""
FLOAT16_LAYERS = "litert-2.2.0"
"""The same of convolutions, matrix products, pooling, reductions, SOFTMAX, padding and resizing."""


def typed(which: Operand, types: Types) -> tuple[Check, ...]:
    """``CheckTensorFloatType``, ``CheckTensorFloatOrQUInt8Type`` and the like: the type, and one scale with 8 bits."""
    tensor_of = which.tensor

    def of_types(taken: Types) -> Check:
        always = frozenset(taken.always)

        def find(node: NodeView, target: Target) -> str | None:
            name = tensor_of(node).type
            return None if name in always or taken.takes(name, target) else f"{which.name} of type {name}"

        return check_for_target(TENSOR_TYPE, f"{which.name} of type {taken.words()}", find)

    of_type = types.checks(of_types)
    return (*of_type, one_scale(which)) if types.signed or types.unsigned else of_type


def one_scale(which: Operand) -> Check:
    """An 8-bit tensor has one scale, of dimension 0."""
    tensor_of = which.tensor

    def find(node: NodeView) -> str | None:
        tensor = tensor_of(node)
        is_taken = tensor.type not in ("INT8", "UINT8") or has_one_scale(tensor)
        return None if is_taken else f"{which.name} with {scales_of(tensor)}"

    return check(QUANTIZATION, f"one scale for the 8-bit {which.name}", find)


def has_one_scale(tensor: Tensor) -> bool:
    """Whether a tensor is quantised as a whole."""
    quantization = tensor.quantization
    return quantization is not None and quantization.is_affine and quantization.dimension == 0 and len(quantization.scales) == 1


def scales_of(tensor: Tensor) -> str:
    """Say how a tensor is quantised."""
    quantization = tensor.quantization
    if quantization is None:
        return "no quantisation parameters"
    if not quantization.is_affine:
        return f"{quantization.kind} quantisation"
    count = len(quantization.scales)
    return f"{count} scale{'' if count == 1 else 's'} along dimension {quantization.dimension}"


def integers(which: Operand, *types: str) -> Check:
    """``CheckTensorType`` and the like, for shapes and axes."""
    return check(
        TENSOR_TYPE,
        f"{which.name} of type {listed(types)}",
        lambda node: None if (found := which.tensor(node).type) in types else f"{which.name} of type {found}",
        f"convert with {listed(types)} for this operand",
    )


def weights(position: int, dimension: Callable[[NodeView], int], words: str) -> tuple[Check, ...]:
    """``CheckTensorFloat32OrQCInt8Type``: a scale for the tensor or, with INT8, for each channel of one dimension."""

    def find(node: NodeView) -> str | None:
        tensor = node.input(position)
        if tensor.type == "INT8":
            return _unusable_weights(tensor, dimension(node))
        if tensor.type != "UINT8" or (has_one_scale(tensor) and _has_valid_parameters(tensor)):
            return None
        return f"weights with {scales_of(tensor)}"

    *of_type, _ = typed(operand(position, "weights"), FLOAT32_OR_8_BITS.or_float16_from(FLOAT16_LAYERS))
    needed = f"usable scales and zero points of 8-bit weights: one for the tensor, or with INT8 one for each slice along {words}"
    return (*of_type, check(QUANTIZATION, needed, find, "quantise weights per tensor or per output channel"))


def _unusable_weights(tensor: Tensor, dimension: int) -> str | None:
    quantization = tensor.quantization
    if quantization is None or not quantization.is_affine:
        return f"weights with {scales_of(tensor)}"
    if quantization.is_per_channel:
        if quantization.dimension != dimension:
            return f"weights with {scales_of(tensor)}"
        return None if _has_valid_channels(tensor, "INT8") else "weights with unusable scales, or zero points other than 0"
    return None if _has_valid_parameters(tensor) else "weights with an unusable scale or zero point"


def _has_valid_parameters(tensor: Tensor) -> bool:
    """``xnn_validate_quantized_tensor``."""
    quantization = tensor.quantization
    return (
        quantization is not None
        and are_usable_scales(quantization.scales)
        and is_usable_zero_point(tensor.type, quantization)
        and tensor.rank <= MAX_RANK
    )


def _has_valid_channels(tensor: Tensor, zero_point_of: str = "") -> bool:
    """``xnn_validate_channelwise_quantized_tensor``; zero points of INT32 are not looked at."""
    quantization = tensor.quantization
    return (
        quantization is not None
        and (not zero_point_of or first_zero_point(quantization) == 0)
        and quantization.dimension < tensor.rank <= MAX_RANK
        and are_usable_scales(quantization.scales)
    )


def bias(position: int) -> tuple[Check, ...]:
    """``CheckTensorFloat32OrFloat16OrQCInt32Type``, for a bias that is there."""

    def find_type(node: NodeView, target: Target) -> str | None:
        name = node.input(position).type
        return None if name in ("FLOAT32", "FLOAT16") or (name == "INT32" and target.signed_8_bits) else f"bias of type {name}"

    def find(node: NodeView) -> str | None:
        tensor = node.input(position)
        quantization = tensor.quantization
        if tensor.type != "INT32":
            return None
        if quantization is None or not quantization.is_affine or quantization.dimension != 0:
            return f"bias with {scales_of(tensor)}"
        is_valid = _has_valid_channels(tensor) if quantization.is_per_channel else _has_valid_parameters(tensor)
        return None if is_valid else "bias with an unusable scale or zero point"

    return (
        check_for_target(TENSOR_TYPE, "bias of type FLOAT32, FLOAT16 or INT32 (qs8)", find_type),
        check(QUANTIZATION, "usable scales of an INT32 bias, along dimension 0", find),
    )


def where_given(position: int, *checks: Check) -> tuple[Check, ...]:
    """Return these checks for nodes that have the optional operand at a position."""
    return tuple(where(lambda node: _is_given(node, position), "if there is one", each) for each in checks)


def _is_given(node: NodeView, position: int) -> bool:
    indices = node.node.inputs
    return position < len(indices) and indices[position] >= 0


def where(condition: Callable[[NodeView], bool], words: str, inner: Check) -> Check:
    """Return a check for nodes that meet a condition, which the words name."""

    def find(node: NodeView, target: Target) -> str | None:
        return inner.finder(node, target) if condition(node) else None

    return replace(inner, needed=f"{inner.needed} ({words})", finder=find)


def operands(inputs: int, outputs: int = 1, most: int | None = None) -> Check:
    """``CheckNumInputsAndOutputs``: the number of operands (from ``inputs`` to ``most``) and of results."""
    most = inputs if most is None else most
    needed = f"{inputs} to {counted(most, 'input')}" if most > inputs else counted(inputs, "input")

    def find(node: NodeView) -> str | None:
        found = len(node.node.inputs), len(node.node.outputs)
        if inputs <= found[0] <= most and found[1] == outputs:
            return None
        return f"{counted(found[0], 'input')} and {counted(found[1], 'output')}"

    return check(OPERAND_COUNT, f"{needed} and {counted(outputs, 'output')}", find)


def counted(number: int, name: str) -> str:
    """Say how many of something there are."""
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


def shaped(which: Operand, least: int, most: int | None = None) -> tuple[Check, Check]:
    """``CheckTensorShape``: the number of dimensions, exact or in a range, and no dimension of 0."""
    most = least if most is None else most
    words = f"rank {least}" if most == least else f"rank {least} to {most}" if least else f"rank at most {most}"
    tensor_of = which.tensor

    def find_rank(node: NodeView) -> str | None:
        rank = len(tensor_of(node).shape)
        return None if least <= rank <= most else f"{which.name} of rank {rank}"

    def find_size(node: NodeView) -> str | None:
        shape = tensor_of(node).shape
        return f"{which.name} {list(shape)}" if shape and min(shape) <= 0 else None

    return (
        check(RANK, f"{which.name} of {words}", find_rank),
        check(SHAPE, f"{which.name} without dimensions of 0", find_size),
    )


def vector(which: Operand) -> Check:
    """``CheckShapeTensorShape`` without squeezing: a shape is a vector."""
    return check(
        RANK,
        f"{which.name} of rank 1",
        lambda node: None if (rank := which.tensor(node).rank) == 1 else f"{which.name} of rank {rank}",
    )


def constant(which: Operand) -> Check:
    """``CheckTensorStaticAllocation``: in the model file (``kTfLiteMmapRo``)."""
    return check(
        CONSTANT,
        f"constant {which.name}",
        lambda node: None if which.tensor(node).is_constant else f"{which.name} is not constant",
    )


def constant_or_unpacked(which: Operand) -> Check:
    """``CheckTensorStaticAllocation`` unless a node before makes the tensor from constants alone."""

    def find(node: NodeView, target: Target) -> str | None:
        tensor = which.tensor(node)
        return None if tensor.is_constant or tensor.index in target.unpacking.producers else f"{which.name} is not constant"

    return check_for_target(CONSTANT, f"constant {which.name}, or made from constants by DEQUANTIZE or DENSIFY", find)


def float_bias_like_weights(weights_at: int, bias_at: int) -> tuple[Check, Check]:
    """``CheckFilterAndBiasTypes``, for which elided DEQUANTIZE nodes leave their float16 constants."""

    def different(node: NodeView, target: Target, *of_any_weights: str) -> str | None:
        found = _type_before_dequantize(node.input(weights_at), target)
        if found not in ("FLOAT16", "FLOAT32"):
            return None
        of_bias = _type_before_dequantize(node.input(bias_at), target)
        return None if of_bias in (found, *of_any_weights) else f"{found} weights and {of_bias} bias"

    same = check_for_target(HYBRID, "float weights with a bias of their type", different)
    same_or_float32 = check_for_target(
        HYBRID,
        "float weights with a bias of their type, or FLOAT16 weights with a FLOAT32 bias",
        lambda node, target: different(node, target, "FLOAT32"),
    )
    return same.from_release("litert-1.4.0").before_release("litert-2.2.0"), same_or_float32.from_release("litert-2.2.0")


def _type_before_dequantize(tensor: Tensor, target: Target) -> str:
    """``GetTensorType``."""
    return "FLOAT16" if tensor.index in target.unpacking.elided_float16 else tensor.type


RELU_TO_RELU6 = (0, 1, 2, 3)
"""``TfLiteFusedActivation``: none, RELU, RELU_N1_TO_1 and RELU6, which bound results."""


def activation() -> Check:
    """``ConvertActivationToOutputRange``; what the schema does not know counts as none when the model is loaded."""

    def find(node: NodeView) -> str | None:
        name = schema.enum_names("ActivationFunctionType").get(node.options.fused_activation_function)
        return f"fused {name}" if name in ("TANH", "SIGN_BIT") else None

    return check(ACTIVATION, "activation RELU, RELU6 or RELU_N1_TO_1, or none", find)


def padding() -> Check:
    """``CalculatePadding``: without options, a node has no padding mode."""

    def find(node: NodeView) -> str | None:
        return None if padding_mode(node) else "no padding mode"

    return check(ATTRIBUTE, "padding SAME or VALID", find)


def padding_mode(node: NodeView) -> str | None:
    """The padding of a builtin operator: SAME, VALID, or None."""
    return None if node.options.table is None else schema.enum_names("Padding").get(node.options.padding)


def positive(*names: str) -> Check:
    """All these options are at least 1."""

    def find(node: NodeView) -> str | None:
        wrong = [name for name in names if getattr(node.options, name) <= 0]
        return f"{wrong[0]} {getattr(node.options, wrong[0])}" if wrong else None

    return check(ATTRIBUTE, f"{' and '.join(names)} of at least 1", find)


def float32_ratio(numerator: float, denominator: float) -> float:
    """Divide as float32 numbers."""
    with np.errstate(all="ignore"):
        return float(np.float32(numerator) / np.float32(denominator))


def only_scale(tensor: Tensor) -> float | None:
    """``GetTensorScaleOrDefault``: the scale of an 8-bit tensor that is quantised as a whole."""
    if tensor.type not in ("INT8", "UINT8") or not has_one_scale(tensor):
        return None
    return tensor.scale
