"""The conditions from which the VX rules are made, one small maker for each demand.

Source: ``OpMapperBase::IsSupported``, which every operator goes through, and what the ``IsOpSupported`` of several mappers
have in common (``op_map.cc`` of VeriSilicon/tflite-vx-delegate). The delegate stops at the first condition that a node does
not meet, so that the order of a rule's checks decides which reason is given.

An operand that is left out meets every demand of this module. Upstream looks at it only by reading in front of the array
of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ....graph.graph import NodeView
from ....model.model import Tensor
from ....rules.rule import Check, Explanation, OpRule, listed

Condition = Callable[[NodeView], bool]
NodeFinder = Callable[[NodeView], str | None]
"""Returns what was found where the demand is not met, None where it is."""
TensorFinder = Callable[[Tensor], str | None]
"""The same of one operand or result."""

OPERATOR = "unsupported-operator"
CUSTOM_OPERATOR = "custom-operator"
TENSOR_TYPE = "tensor-type"
HYBRID = "hybrid"
RANK = "rank"
DYNAMIC_SHAPE = "dynamic-shape"
SHAPE = "shape"
CONSTANT = "constant-operand"
OPTIONAL_OPERAND = "optional-operand"
ATTRIBUTE = "attribute-value"
QUANTIZATION = "quantization"

EXPLANATIONS = {
    "vx-unsupported-operator": Explanation(
        "operator without a mapper",
        'The delegate has no mapper for this builtin operator. Its own log says only "Fallback unsupported op" and a number.',
        "Replace the operator in the model by mapped ones, or leave it to the CPU at the beginning or end of the model, where it "
        "splits nothing.",
    ),
    "vx-custom-operator": Explanation(
        "custom operator without a mapper",
        'Of custom operators the delegate takes only "vsi-npu", a network compiled beforehand. All others have the number 32 in '
        'its log ("Fallback unsupported op 32"), which does not tell one from another. They run on the CPU, by a kernel that the '
        "runtime has (for TFLite_Detection_PostProcess, for example) or the application registers.",
        "At the end of a model, as post-processing is, it does no harm. Elsewhere convert without custom operators.",
    ),
    "vx-tensor-type": Explanation(
        "type of a tensor",
        "No operand may be INT64 or STRING and no result INT64 or INT16, whatever the operator; only BROADCAST_TO may have INT64 "
        "operands. Biases, axes and shapes count too: with 16-bit activations, convolutions usually have INT64 biases. Some "
        "operators refuse further types.",
        "Convert with 8-bit or float activations, and with INT32 for axes, shapes and indices.",
    ),
    "vx-hybrid": Explanation(
        "operands of different types",
        "The delegate does not take float activations with integer weights, as dynamic-range quantisation makes them, nor other "
        "mixtures.",
        "Quantise fully (int8 with a representative data set), or keep the weights in float.",
    ),
    "vx-rank": Explanation(
        "rank of a tensor",
        "No operand may have more than six dimensions, constants included; some operators demand an exact or an equal rank.",
        "Fold or add dimensions with a RESHAPE around the operator.",
    ),
    "vx-dynamic-shape": Explanation(
        "tensor without dimensions, which counts as dynamic",
        "The delegate takes a tensor of rank 0 in the file for one whose shape is not known yet. True scalars look the same and "
        "are refused too. A tensor that has dimensions passes, even if its size is known only while running. SPLIT and SPLIT_V "
        "refuse instead a result that is allocated while running, as STRING tensors are.",
        "Give the model fixed shapes before converting it; where the result is a scalar, keep a dimension of 1.",
    ),
    "vx-shape": Explanation(
        "size of a dimension",
        "No operand or result may have a dimension of 0, and no operand a dimension over 65535 other than the first. Batches are "
        "neither taken by grouped convolutions nor sliced.",
        "Change the shapes in the model: fold or split large dimensions with a RESHAPE, and run with a batch of 1.",
    ),
    "vx-constant-operand": Explanation(
        "operand must be constant",
        "The value of this operand must stand in the model file. What the runtime computes while preparing the graph does not "
        "count.",
        "Fix the shape in the model before converting it, so that the converter folds the operand into a constant.",
    ),
    "vx-optional-operand": Explanation(
        "optional operand",
        "The operation is taken only with, or only without, this optional operand.",
        "Build the layer without projection and without auxiliary input.",
    ),
    "vx-attribute-value": Explanation(
        "value of an option",
        "The operation does not know this setting.",
        "Change the setting in the model.",
    ),
    "vx-quantization": Explanation(
        "quantisation parameters",
        "The operation does not convert between these quantised types, or needs parameters that the tensor lacks: a scale and a "
        "zero point where an 8-bit tensor has none, or one scale where there is one for each channel.",
        "Quantise activations to 8 bits with one scale for the tensor, and do not pass weights through QUANTIZE or DEQUANTIZE.",
    ),
}


def check(kind: str, needed: str, finder: NodeFinder, hint: str = "") -> Check:
    """Make a check; its code follows from the kind."""
    return Check(f"vx-{kind}", kind, needed, lambda node, _: finder(node), hint)


def found_if(condition: Condition, found: str) -> NodeFinder:
    """Return a finder of what is the same wherever it is found."""
    return lambda node: found if condition(node) else None


class TensorDemand(NamedTuple):
    """What is demanded of every operand, or every result, of a node."""

    kind: str
    needed: str
    finder: TensorFinder
    hint: str = ""


def of_inputs(*demands: TensorDemand, positions: slice = slice(None)) -> tuple[Check, ...]:
    """Return the checks that each operand (at these positions) meets all of these demands, before the next is looked at."""
    return tuple(_of_each("input", demand, demands, positions) for demand in demands)


def of_outputs(*demands: TensorDemand) -> tuple[Check, ...]:
    """Return the checks that each result meets all of these demands, before the next is looked at."""
    return tuple(_of_each("output", demand, demands, slice(None)) for demand in demands)


def _of_each(side: str, demand: TensorDemand, demands: Iterable[TensorDemand], positions: slice) -> Check:
    """Check one demand, and leave a node whose first offence lies in an earlier tensor to the demand that this offends."""
    finder, first = demand.finder, positions.start or 0

    def find(node: NodeView, _: Any) -> str | None:
        indices = node.node.inputs if side == "input" else node.node.outputs
        tensors = node.graph.tensors
        for position, index in enumerate(indices[positions], first):
            if index < 0:
                continue
            found = finder(tensors[index])
            if found is not None:
                earlier = [tensors[before] for before in indices[first:position] if before >= 0]
                return None if any(map(offends, earlier)) else f"{side} {position} {found}"
        return None

    def offends(tensor: Tensor) -> bool:
        return any(other.finder(tensor) is not None for other in demands)

    return Check(f"vx-{demand.kind}", demand.kind, demand.needed, find, demand.hint)


def not_of_type(*types: str, side: str = "inputs", hint: str = "convert with a type that is taken") -> TensorDemand:
    """No tensor of these types."""
    refused = frozenset(types)
    return TensorDemand(
        TENSOR_TYPE,
        f"{side} of other types than {listed(types)}",
        lambda tensor: f"is {tensor.type}" if tensor.type in refused else None,
        hint,
    )


MAX_RANK = 6
MAX_SIZE = 65535


def _too_many_dimensions(tensor: Tensor) -> str | None:
    return f"has rank {tensor.rank}" if len(tensor.shape) > MAX_RANK else None


def _empty_or_too_large(tensor: Tensor) -> str | None:
    shape = tensor.shape
    return f"has shape {list(shape)}" if 0 in shape or max(shape[1:], default=0) > MAX_SIZE else None


def _empty(tensor: Tensor) -> str | None:
    return f"has shape {list(tensor.shape)}" if 0 in tensor.shape else None


_INPUT_SIZES = (
    TensorDemand(RANK, f"inputs of rank at most {MAX_RANK}", _too_many_dimensions, "fold dimensions with RESHAPE"),
    TensorDemand(
        SHAPE,
        f"inputs without dimensions of 0, or over {MAX_SIZE} behind the first",
        _empty_or_too_large,
        "remove empty tensors from the model, and fold or split large dimensions",
    ),
)
_OUTPUTS = of_outputs(
    not_of_type("INT16", "INT64", side="outputs", hint="convert with INT32 for indices; quantise activations to 8 bits"),
    TensorDemand(SHAPE, "outputs without dimensions of 0", _empty, "remove empty tensors from the model"),
)
_COMMON = (
    *of_inputs(
        not_of_type(
            "INT64", "STRING", hint="convert with INT32 for axes, shapes and indices, and with 8-bit or float activations"
        ),
        *_INPUT_SIZES,
    ),
    *_OUTPUTS,
)
_COMMON_BUT_INT64 = (*of_inputs(not_of_type("STRING"), *_INPUT_SIZES), *_OUTPUTS)


def vx_rule(*checks: Check, int64_inputs: bool = False) -> OpRule:
    """Return the rule of an operator: what ``OpMapperBase::IsSupported`` demands of all, then its own checks."""
    return OpRule((*(_COMMON_BUT_INT64 if int64_inputs else _COMMON), *checks))


def vx_rules(ops: Iterable[str], *checks: Check) -> dict[str, OpRule]:
    """Give several operators the same rule."""
    return dict.fromkeys(ops, vx_rule(*checks))


def constant(position: int, name: str) -> Check:
    """The operand at a position stands in the model file (``kTfLiteMmapRo``)."""
    return check(
        CONSTANT,
        f"a constant {name}",
        lambda node: None if node.input(position).is_constant else f"{name} is not constant",
        "fix the shapes before converting, so that the converter folds this operand",
    )


def constants(name: str, *positions: int) -> Check:
    """The operands at all these positions stand in the model file."""

    def find(node: NodeView) -> str | None:
        missing = [position for position in positions if not node.input(position).is_constant]
        return f"input {missing[0]} is not constant" if missing else None

    return check(CONSTANT, f"constant {name}", find, "fix the shapes before converting, so that the converter folds them")


def output_with_dimensions() -> Check:
    """The first result has a rank other than 0, by which the delegate tells shapes that it knows from others."""
    return check(
        DYNAMIC_SHAPE,
        "an output with at least one dimension",
        lambda node: None if node.output(0).rank else "an output without dimensions",
        "fix the shapes before converting",
    )


def same_types() -> Check:
    """Input and weights have one type."""

    def find(node: NodeView) -> str | None:
        source, weights = node.input(0).type, node.input(1).type
        return None if source == weights else f"{source} input and {weights} weights"

    return check(HYBRID, "input and weights of one type", find, "quantise fully, or keep the weights in float")


def quantized_8_bits() -> TensorDemand:
    """8-bit operands have quantisation parameters (``kTfLiteNoQuantization``)."""

    def find(tensor: Tensor) -> str | None:
        unscaled = tensor.quantization is None and tensor.type in ("INT8", "UINT8")
        return f"is {tensor.type} without quantisation parameters" if unscaled else None

    return TensorDemand(QUANTIZATION, "quantisation parameters on 8-bit inputs", find, "quantise the model, or use float")


def is_affine(tensor: Tensor) -> bool:
    """``kTfLiteAffineQuantization``."""
    return tensor.quantization is not None and tensor.quantization.is_affine
