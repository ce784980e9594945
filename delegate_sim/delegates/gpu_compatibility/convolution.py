"""Convolutions."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import SHAPE
from ...rules.operands import OUTPUT, operand
from ...rules.vocabulary import check, rank
from .checks import COMPATIBILITY, KNOWN_ACTIVATION, case, convolution_operands, dilation, strides


def _other_batch(node: NodeView) -> str | None:
    source, result = node.input(0).shape[0], node.output(0).shape[0]
    return None if source == result else f"input batch {source}, output batch {result}"


def _other_filter_depth(node: NodeView) -> str | None:
    weights, result = node.input(1).shape[3], node.output(0).shape[3]
    return None if weights == result else f"filter depth {weights}, output depth {result}"


def _other_depth(node: NodeView) -> str | None:
    source, result, multiplier = node.input(0).shape[3], node.output(0).shape[3], node.options.depth_multiplier
    return None if result == source * multiplier else f"input depth {source}, multiplier {multiplier}, output depth {result}"


def _other_bias_size(node: NodeView) -> str | None:
    if len(node.node.inputs) <= 2:
        return None
    count, result = node.input(2).element_count, node.output(0).shape[3]
    return None if count == result else f"bias of {count} elements, output depth {result}"


def _multiplied_channels(node: NodeView) -> str | None:
    source, multiplier = node.input(0).shape[3], node.options.depth_multiplier
    return f"depth_multiplier {multiplier} with {source} input channels" if multiplier != 1 and source != 1 else None


CONV_2D = (*convolution_operands(), strides(), dilation(), KNOWN_ACTIVATION)
DEPTHWISE_CONV_2D = case(
    *CONV_2D,
    rank(operand(0, "input"), 4).saying("input.dims.size != 4"),
    rank(operand(1, "filter"), 4).saying("filter.dims.size != 4"),
    rank(OUTPUT, 4).saying("output.dims.size != 4"),
    check(SHAPE, "the same batch size in input and output", _other_batch).saying("input.b != output.b"),
    check(SHAPE, "a filter with the depth of the output", _other_filter_depth).saying("filter.i != output.c"),
    check(SHAPE, "an output depth equal to input depth * depth_multiplier", _other_depth).saying(
        "output.c != input.c * depth_multiplier"
    ),
    check(SHAPE, "a bias with one element for each output channel", _other_bias_size).saying("bias.size != output.c"),
    check(SHAPE, "a depth_multiplier of 1, or a single input channel", _multiplied_channels).before_release("litert-2.1.0"),
    source=COMPATIBILITY.with_symbol("CheckDepthwiseConvGpuDelegateCompatibility"),
)
TRANSPOSE_CONV = (*convolution_operands(), strides())
