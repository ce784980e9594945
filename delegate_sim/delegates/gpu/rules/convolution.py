"""Convolutions, pooling and resizing."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, SHAPE
from ....rules.numbers import at_most
from ....rules.operands import OUTPUT, operand
from ....rules.vocabulary import check, rank
from .checks import (
    COMPATIBILITY,
    KNOWN_ACTIVATION,
    UP_TO_2,
    UP_TO_3,
    convolution_operands,
    dilation,
    gpu_rule,
    runtime_operands,
    strides,
    window,
)


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
    found, result = node.input(2).element_count, node.output(0).shape[3]
    return None if found == result else f"bias of {found} elements, output depth {result}"


def _multiplied_channels(node: NodeView) -> str | None:
    source, multiplier = node.input(0).shape[3], node.options.depth_multiplier
    return f"depth_multiplier {multiplier} with {source} input channels" if multiplier != 1 and source != 1 else None


_DEPTHWISE = (
    rank(operand(0, "input"), 4),
    rank(operand(1, "filter"), 4),
    rank(OUTPUT, 4),
    check(SHAPE, "input and output of one batch size", _other_batch),
    check(SHAPE, "a filter as deep as the output", _other_filter_depth),
    check(SHAPE, "output depth = input depth * depth_multiplier", _other_depth),
    check(SHAPE, "a bias with as many elements as the output is deep", _other_bias_size),
    check(SHAPE, "depth_multiplier 1, or 1 input channel", _multiplied_channels).before_release("litert-2.1.0"),
)


def _centers_and_corners(node: NodeView) -> str | None:
    both = node.options.align_corners and node.options.half_pixel_centers
    return "align_corners and half_pixel_centers" if both else None


_POOL = gpu_rule(
    "Pooling2DOperationParser",
    runtime_operands(1, 1),
    window(),
    strides(),
    KNOWN_ACTIVATION,
    version_in=UP_TO_2,
    cases=(COMPATIBILITY.symbol, "CheckPooling2DGpuDelegateCompatibility"),
)

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "CONV_2D": gpu_rule(
        "Conv2DOperationParser", *convolution_operands(), strides(), dilation(), KNOWN_ACTIVATION, version_in=at_most(6)
    ),
    "DEPTHWISE_CONV_2D": gpu_rule(
        "DepthwiseConvolutionOperationParser",
        *convolution_operands(),
        strides(),
        dilation(),
        KNOWN_ACTIVATION,
        *_DEPTHWISE,
        version_in=at_most(6),
        cases=(COMPATIBILITY.symbol, "CheckDepthwiseConvGpuDelegateCompatibility"),
    ),
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": gpu_rule(
        "Resize2DOperationParser",
        runtime_operands(1, 1),
        check(ATTRIBUTE, "align_corners or half_pixel_centers, not both", _centers_and_corners),
        version_in=UP_TO_3,
    ),
    "RESIZE_NEAREST_NEIGHBOR": gpu_rule("Resize2DOperationParser", runtime_operands(1, 1), version_in=UP_TO_3),
    "TRANSPOSE_CONV": gpu_rule("TransposeConvBuiltinOperationParser", *convolution_operands(), strides(), version_in=UP_TO_3),
}
