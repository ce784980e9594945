"""Convolutions, matrix products and pooling.

Source: ``Conv2DOperationParser``, ``DepthwiseConvolutionOperationParser``, ``TransposeConvBuiltinOperationParser``,
``FullyConnectedOperationParser``, ``BatchedMatMulOperationParser`` and ``Pooling2DOperationParser``
(``delegates/gpu/common/model_builder.cc``), and the cases of these operators in ``CheckGpuDelegateCompatibility``
(``tools/versioning/gpu_compatibility.cc``).
"""

from __future__ import annotations

from ....graph.graph import NodeView
from ...finders import found_if
from ..questions import runtime_input_count
from .checks import (
    ATTRIBUTE,
    CONSTANT,
    OPERAND_COUNT,
    RANK,
    SHAPE,
    activation,
    check,
    convolution_operands,
    dilation,
    element_count,
    gpu_rule,
    gpu_rules,
    input_count,
    inputs_and_outputs,
    max_version,
    positive,
    ranked,
    runtime_operands,
    shape_of,
    strides,
)


def _result_rank(node: NodeView) -> str | None:
    return None if node.output(0).rank == 4 else f"output of rank {node.output(0).rank}"


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
    found, result = element_count(node.input(2)), node.output(0).shape[3]
    return None if found == result else f"bias of {found} elements, output depth {result}"


def _multiplied_channels(node: NodeView) -> str | None:
    source, multiplier = node.input(0).shape[3], node.options.depth_multiplier
    return f"depth_multiplier {multiplier} with {source} input channels" if multiplier != 1 and source != 1 else None


_DEPTHWISE_SHAPES = (
    ranked(0, (4,), "input"),
    ranked(1, (4,), "filter"),
    check(RANK, "output of rank 4", _result_rank),
    check(SHAPE, "input and output of one batch size", _other_batch),
    check(SHAPE, "a filter as deep as the output", _other_filter_depth),
    check(SHAPE, "output depth = input depth * depth_multiplier", _other_depth),
    check(SHAPE, "a bias of as many elements as the output is deep", _other_bias_size),
    check(SHAPE, "depth_multiplier 1, or 1 input channel", _multiplied_channels).before_release("litert-2.1.0"),
)


def _weights_format(node: NodeView) -> str | None:
    return "shuffled weights" if node.options.weights_format else None


def _too_many_runtime_inputs(node: NodeView) -> str | None:
    count = runtime_input_count(node)
    return f"{count} runtime inputs" if count > 2 else None


def _changes_kept_rank(node: NodeView) -> str | None:
    source, result = node.input(0), node.output(0)
    if not node.options.keep_num_dims or source.rank == result.rank:
        return None
    return f"keep_num_dims with input {shape_of(source)} and output {shape_of(result)}"


_FULLY_CONNECTED = (
    max_version(9),
    input_count("at least 1 input", lambda count: count >= 1),
    check(ATTRIBUTE, "weights_format DEFAULT", _weights_format, "convert the weights without shuffling"),
    check(OPERAND_COUNT, "at most 2 runtime inputs", _too_many_runtime_inputs),
    check(CONSTANT, "an input that is not constant", found_if(lambda node: node.input(0).is_constant, "a constant input")),
    check(RANK, "input and output of one rank with keep_num_dims", _changes_kept_rank),
)

_POOLING = (
    max_version(2),
    runtime_operands(1, 1),
    positive("filter", lambda node: (node.options.filter_height, node.options.filter_width)),
    strides(),
    activation(),
)

RULES = {
    "CONV_2D": gpu_rule(max_version(6), *convolution_operands(), strides(), dilation(), activation()),
    "DEPTHWISE_CONV_2D": gpu_rule(
        max_version(6), *convolution_operands(), strides(), dilation(), activation(), *_DEPTHWISE_SHAPES
    ),
    "TRANSPOSE_CONV": gpu_rule(max_version(3), *convolution_operands(), strides()),
    "FULLY_CONNECTED": gpu_rule(*_FULLY_CONNECTED),
    "BATCH_MATMUL": gpu_rule(inputs_and_outputs(2, 1)),
    **gpu_rules(("AVERAGE_POOL_2D", "MAX_POOL_2D"), *_POOLING),
}
