"""Conditions on a node that decide its operator version, and functions that combine conditions."""

from __future__ import annotations

from collections.abc import Callable

from ..foundation.float32 import float32, quotient
from ..graph.graph import NodeView
from ..model.model import Tensor

VersionCondition = Callable[[NodeView], bool]

FLOAT8 = ("FLOAT8_E4M3FN", "FLOAT8_E5M2")


def all_of(*conditions: VersionCondition) -> VersionCondition:
    """Return a condition that holds if all given conditions hold."""
    return lambda node: all(condition(node) for condition in conditions)


def any_of(*conditions: VersionCondition) -> VersionCondition:
    """Return a condition that holds if at least one given condition holds."""
    return lambda node: any(condition(node) for condition in conditions)


def negated(condition: VersionCondition) -> VersionCondition:
    """Return a condition that holds if the given condition does not hold."""
    return lambda node: not condition(node)


def input_is(*types: str, at: int = 0) -> VersionCondition:
    """Return the condition that the operand at a position has one of the given types."""
    return lambda node: node.input(at).type in types


def output_is(*types: str, at: int = 0) -> VersionCondition:
    """Return the condition that the result at a position has one of the given types."""
    return lambda node: node.output(at).type in types


def either_is(*types: str) -> VersionCondition:
    """Return the condition that the first operand or the first result has one of the given types."""
    return any_of(input_is(*types), output_is(*types))


def both_are(kind: str) -> VersionCondition:
    """Return the condition that the first operand and the first result both have this type."""
    return all_of(input_is(kind), output_is(kind))


def option_set(option: str) -> VersionCondition:
    """Return the condition that the value of an option is not 0 or false."""
    return lambda node: bool(getattr(node.options, option))


def option_equals(option: str, value: int) -> VersionCondition:
    """Return the condition that an option has this value."""
    return lambda node: bool(getattr(node.options, option) == value)


def rank_above(rank: int) -> VersionCondition:
    """Return the condition that the first operand has more than ``rank`` dimensions."""
    return lambda node: node.input(0).rank > rank


def _scale_count(tensor: Tensor) -> int:
    return 0 if tensor.quantization is None else len(tensor.quantization.scales)


def scale_for_each_slice(position: int, dimension: int, at_least: int = 1) -> VersionCondition:
    """Return the condition that an operand has one scale for each slice along a dimension, and at least ``at_least`` scales."""

    def condition(node: NodeView) -> bool:
        tensor = node.input(position)
        count = _scale_count(tensor)
        return count >= at_least and tensor.shape[dimension : dimension + 1] == (count,)

    return condition


def is_per_channel(tensor: Tensor) -> bool:
    """Return whether a tensor has several scales, one for each slice along its quantized dimension."""
    if tensor.quantization is None or _scale_count(tensor) <= 1:
        return False
    dimension = tensor.quantization.dimension
    return dimension >= 0 and tensor.shape[dimension : dimension + 1] == (_scale_count(tensor),)


def quantized_scales(*positions: int) -> VersionCondition:
    """Return the condition that at least one of the operands has scales.

    Upstream only tests whether the tensor has a table of quantization parameters. The converter writes this table for every
    tensor, so upstream treats all INT16 tensors as quantized. This condition ignores tables without scales.
    """
    return lambda node: any(_scale_count(node.input(position)) > 0 for position in positions)


def rescales_upwards(node: NodeView) -> bool:
    """Return whether the product of the operand scales is greater than or equal to the result scale, in single precision."""
    tensors = (node.input(0), node.input(1), node.output(0))
    if not all(map(_scale_count, tensors)):
        return False
    first, second, result = (tensor.quantization.scale for tensor in tensors if tensor.quantization)
    if not (first and second and result):
        return False
    return quotient(float32(first * second), result) >= 1


def broadcasts_above_rank_4(node: NodeView) -> bool:
    """Return whether the shapes of the operands differ, and an operand has more than four dimensions."""
    if len(node.inputs) < 2:
        return False
    return node.input(0).shape != node.input(1).shape and max(tensor.rank for tensor in node.inputs) > 4


def is_grouped(node: NodeView) -> bool:
    """Return whether filter and input have different numbers of channels, as in a grouped convolution."""
    source, weights = node.input(0), node.input(1)
    return source.rank > 0 and source.shape[3:4] != weights.shape[3:4]


unquantized_int16_data = all_of(input_is("INT16"), negated(quantized_scales(0)))
not_power_of_two = negated(option_set("pot_scale_int16"))
full_lstm = option_equals("kernel_type", 0)


def integer_weights(activations: str, *weights: str) -> VersionCondition:
    """Return the condition that operand and result have the type ``activations``, and that the weights have one of the types."""
    return all_of(both_are(activations), input_is(*weights, at=1))


def hybrid_weights(weights: int, *types: str) -> VersionCondition:
    """Return the condition that operand and result are FLOAT32, and that the weights are INT8 or of one of the types.

    ``weights`` is the position of the weights among the operands.
    """
    return all_of(both_are("FLOAT32"), input_is("INT8", *types, at=weights))


hybrid_recurrent = all_of(input_is("INT8", at=1), output_is("FLOAT32"))
"""Upstream's test for hybrid weights in most recurrent operators. The test does not look at the first operand."""
