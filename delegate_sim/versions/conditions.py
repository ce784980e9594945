"""Conditions that version requirements test: questions about one node, and ways to combine them."""

from __future__ import annotations

from collections.abc import Callable

from ..foundation.float32 import float32, quotient
from ..graph.graph import NodeView
from ..model.model import Tensor

VersionCondition = Callable[[NodeView], bool]

FLOAT8 = ("FLOAT8_E4M3FN", "FLOAT8_E5M2")


def all_of(*conditions: VersionCondition) -> VersionCondition:
    """Every one of the conditions holds."""
    return lambda node: all(condition(node) for condition in conditions)


def any_of(*conditions: VersionCondition) -> VersionCondition:
    """At least one of the conditions holds."""
    return lambda node: any(condition(node) for condition in conditions)


def negated(condition: VersionCondition) -> VersionCondition:
    """The condition does not hold."""
    return lambda node: not condition(node)


def input_is(*types: str, at: int = 0) -> VersionCondition:
    """The operand is of one of the types."""
    return lambda node: node.input(at).type in types


def output_is(*types: str, at: int = 0) -> VersionCondition:
    """The result is of one of the types."""
    return lambda node: node.output(at).type in types


def either_is(*types: str) -> VersionCondition:
    """The first operand or the first result is of one of the types."""
    return any_of(input_is(*types), output_is(*types))


def both_are(kind: str) -> VersionCondition:
    """The first operand and the first result are of one type."""
    return all_of(input_is(kind), output_is(kind))


def option_set(option: str) -> VersionCondition:
    """The option is neither 0 nor false."""
    return lambda node: bool(getattr(node.options, option))


def option_equals(option: str, value: int) -> VersionCondition:
    """The option has this value."""
    return lambda node: bool(getattr(node.options, option) == value)


def rank_above(rank: int) -> VersionCondition:
    """The first operand has more than this many dimensions."""
    return lambda node: node.input(0).rank > rank


def _scale_count(tensor: Tensor) -> int:
    return 0 if tensor.quantization is None else len(tensor.quantization.scales)


def scale_for_each_slice(position: int, dimension: int, at_least: int = 1) -> VersionCondition:
    """There are as many scales as slices of an operand along a dimension."""

    def condition(node: NodeView) -> bool:
        tensor = node.input(position)
        count = _scale_count(tensor)
        return count >= at_least and tensor.shape[dimension : dimension + 1] == (count,)

    return condition


def is_per_channel(tensor: Tensor) -> bool:
    """Whether there are several scales, as many as slices along the dimension that the tensor names."""
    if tensor.quantization is None or _scale_count(tensor) <= 1:
        return False
    dimension = tensor.quantization.dimension
    return dimension >= 0 and tensor.shape[dimension : dimension + 1] == (_scale_count(tensor),)


def quantized_scales(*positions: int) -> VersionCondition:
    """One of the operands has scales.

    Upstream asks for a table of parameters, even an empty one. The converter writes one for every tensor, so that its INT16
    tensors always count as quantized; here a table counts only with scales in it.
    """
    return lambda node: any(_scale_count(node.input(position)) > 0 for position in positions)


def rescales_upwards(node: NodeView) -> bool:
    """The product of the scales of the operands is not below the scale of the result, in single precision."""
    tensors = (node.input(0), node.input(1), node.output(0))
    if not all(map(_scale_count, tensors)):
        return False
    first, second, result = (tensor.quantization.scales[0] for tensor in tensors if tensor.quantization)
    if not (first and second and result):
        return False
    return quotient(float32(first * second), result) >= 1


def broadcasts_above_rank_4(node: NodeView) -> bool:
    """The shapes of the operands differ, and one has more than four dimensions."""
    if len(node.inputs) < 2:
        return False
    return node.input(0).shape != node.input(1).shape and max(tensor.rank for tensor in node.inputs) > 4


def is_grouped(node: NodeView) -> bool:
    """The filter reads fewer channels than the input has."""
    source, weights = node.input(0), node.input(1)
    return source.rank > 0 and source.shape[3:4] != weights.shape[3:4]


def is_dilated(node: NodeView) -> bool:
    """A dilation is not 1."""
    return bool(node.options.dilation_w_factor != 1 or node.options.dilation_h_factor != 1)


def has_two_inputs(node: NodeView) -> bool:
    """There is no third operand, not even an omitted bias."""
    return len(node.inputs) == 2


def has_fourth_input(node: NodeView) -> bool:
    """There is a fourth operand, and it is not omitted."""
    return len(node.inputs) == 4 and node.input(3).type != "NO_TYPE"


def has_sparse_weights(node: NodeView) -> bool:
    """The second operand is stored as a sparse tensor."""
    return node.input(1).sparsity is not None


def has_operand_of_rank_5(node: NodeView) -> bool:
    """One of the first three operands has five dimensions."""
    return any(node.input(position).rank == 5 for position in range(3))


unquantized_int16_data = all_of(input_is("INT16"), negated(quantized_scales(0)))
not_power_of_two = negated(option_set("pot_scale_int16"))
full_lstm = option_equals("kernel_type", 0)


def integer_weights(activations: str, *weights: str) -> VersionCondition:
    """Weights of one of the types between operands and results of a type."""
    return all_of(both_are(activations), input_is(*weights, at=1))


def hybrid_weights(weights: int, *types: str) -> VersionCondition:
    """Quantized weights between float operands and results."""
    return all_of(both_are("FLOAT32"), input_is("INT8", *types, at=weights))


hybrid_recurrent = all_of(input_is("INT8", at=1), output_is("FLOAT32"))
"""The test of the rule for most recurrent operators, which leaves out the type of the operand."""
