"""Convolutions, pooling, resizing, matrix products, recurrent layers and custom operators."""

from __future__ import annotations

from ...graph.graph import NodeView
from ...rules.kinds import ACTIVATION, ATTRIBUTE, CONSTANT, OPERAND_COUNT, RANK, SHAPE
from ...rules.operands import OUTPUT, at_least, counted, exactly, operand
from ...rules.vocabulary import activation, check, operand_count, option, rank, refused_if, where
from .checks import (
    ACTIVATIONS,
    COMPATIBILITY,
    KNOWN_ACTIVATION,
    PoolParameters,
    case,
    convolution_operands,
    custom_pool_parameters,
    custom_strides,
    dilation,
    is_full_lstm,
    operands,
    operands_available,
    runtime_input_count,
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
    check(SHAPE, "a depth_multiplier of 1, or a single input channel", _multiplied_channels)
    .before_release("litert-2.1.0")
    .saying("depth_multiplier != 1 && input.c != 1"),
    source=COMPATIBILITY.with_symbol("CheckDepthwiseConvGpuDelegateCompatibility"),
)
TRANSPOSE_CONV = (*convolution_operands(), strides())

POOL_2D = (runtime_operands(1, 1), window(), strides(), KNOWN_ACTIVATION)


def _centers_and_corners(node: NodeView) -> str | None:
    both = node.options.align_corners and node.options.half_pixel_centers
    return "align_corners and half_pixel_centers" if both else None


RESIZE_BILINEAR = case(
    runtime_operands(1, 1),
    check(ATTRIBUTE, "at most one of align_corners and half_pixel_centers", _centers_and_corners).saying(
        "If half_pixel_centers is True, align_corners must be False."
    ),
)
RESIZE_NEAREST_NEIGHBOR = (runtime_operands(1, 1),)


def _too_many_runtime_inputs(node: NodeView) -> str | None:
    count = runtime_input_count(node)
    return counted(count, "runtime input") if count > 2 else None


def _changes_kept_rank(node: NodeView) -> str | None:
    source, result = node.input(0).shape, node.output(0).shape
    if not node.options.keep_num_dims or len(source) == len(result):
        return None
    return f"keep_num_dims with input shape {list(source)} and output shape {list(result)}"


def _say_counts(node: NodeView) -> str:
    inputs, outputs = len(node.node.inputs), len(node.node.outputs)
    return f"Expected 2 inputs and 1 output, got: {inputs} inputs and {outputs} outputs"


BATCH_MATMUL = case(operand_count(2, 1).saying(_say_counts))
FULLY_CONNECTED = case(
    operand_count(at_least(1)).saying("Expected at least 1 input"),
    option("weights_format", 0, hint="convert the weights without shuffling").saying(
        lambda node: f"Unsupported FullyConnected weights format: {node.options.weights_format}"
    ),
    check(OPERAND_COUNT, "at most 2 runtime inputs", _too_many_runtime_inputs).saying(
        "FullyConnected doesn't support more than 2 runtime inputs."
    ),
    refused_if(
        CONSTANT,
        "an input that is not constant",
        lambda node: node.input(0).is_constant,
        "a constant input",
        "compute the input at run time, or fold the operator",
    ).saying("FullyConnected doesn't support constant input."),
    check(RANK, "the same rank in input and output if keep_num_dims is set", _changes_kept_rank).saying(
        "Input and output dimensions different and FullyConnected doesn't support keep_num_dims."
    ),
)


def _activation_depth(node: NodeView) -> str | None:
    shape = node.output(3).shape
    return f"output 3 of shape {list(shape)}" if shape and shape[-1] % 4 else None


_FULL = (
    operand_count(exactly(20, 24)).saying(
        lambda node: f"Expected 20 or 24 input tensors, but node has {len(node.node.inputs)} input(s)."
    ),
    operand_count(outputs=1).saying(lambda node: f"Expected 1 output tensor, but node has {len(node.node.outputs)} output(s)."),
    activation(("SIGMOID", "TANH")).saying(
        lambda node: f"Only sigmoid or tanh activation is supported, but node has {node.options.fused_activation_function}"
    ),
)
_BASIC = (
    operands(3, 2, 4),
    check(SHAPE, "a multiple of 4 as the last dimension of output 3", _activation_depth)
    .from_release("litert-2.1.6")
    .saying("BasicLSTM activation depth must be a multiple of 4."),
    activation(("TANH",)).saying(
        lambda node: f"Only TANH activation is supported. but node has {node.options.fused_activation_function}"
    ),
    option("cell_clip", 0).saying("cell_clip is not supported."),
    option("proj_clip", 0).saying("proj_clip is not supported."),
)
LSTM = case(
    *where(is_full_lstm, "in the full form", *_FULL), *where(lambda node: not is_full_lstm(node), "in the basic form", *_BASIC)
)

_FUNCTION = COMPATIBILITY.with_symbol("CheckCustomOpsGpuDelegateCompatibility")
_POOL_FUNCTION = COMPATIBILITY.with_symbol("CheckPooling2DGpuDelegateCompatibility")

_OPTIONS = (
    check(
        ATTRIBUTE,
        "custom options",
        lambda node: None if node.node.custom_options is not None else "no custom options",
        "give the operator its parameters as custom options",
    )
    .from_source(COMPATIBILITY.with_symbol("RetrieveCustomInitialData"))
    .saying("Unable to retrieve custom_initial_data.")
)


def _pool(node: NodeView) -> PoolParameters:
    parameters = custom_pool_parameters(node)
    assert parameters is not None  # ensured by the check before
    return parameters


def _transposed_strides(node: NodeView) -> tuple[int, int]:
    strides = custom_strides(node)
    assert strides is not None  # ensured by the check before
    return strides


def _pool_activation(node: NodeView) -> str | None:
    activation = _pool(node).activation
    return None if activation in ACTIVATIONS else f"fused {activation}"


_WINDOW = window(lambda node: (_pool(node).filter_height, _pool(node).filter_width))
_STRIDES = strides(lambda node: (_pool(node).stride_height, _pool(node).stride_width))
_ACTIVATION = (
    check(ACTIVATION, KNOWN_ACTIVATION.needed, _pool_activation)
    .from_source(COMPATIBILITY.with_symbol("IsActivationSupported"))
    .saying("TfLiteFusedActivation.kTfLiteActSignBit")
)


def _resampler_ranks(node: NodeView) -> str | None:
    source, warp = node.input(0).rank, node.input(1).rank
    return None if source == warp == 4 else f"source of rank {source} and warp of rank {warp}"


def _resampler_batches(node: NodeView) -> str | None:
    source, warp = node.input(0).shape[0], node.input(1).shape[0]
    return None if source == warp else f"source batch {source}, warp batch {warp}"


def _warp_depth(node: NodeView) -> str | None:
    shape = node.input(1).shape
    return None if shape[3] >= 2 else f"warp of shape {list(shape)}"


CUSTOM_TRANSPOSE_CONV = case(
    operands_available(operand_count(at_least(2)), 1), _OPTIONS, strides(_transposed_strides), source=_FUNCTION
)
"""Checks of Convolution2DTransposeBias."""
MAX_POOLING_WITH_ARGMAX = case(
    _OPTIONS.saying("Unable to retrieve builtin_data."),
    runtime_operands(1, 2),
    _WINDOW,
    _STRIDES,
    _ACTIVATION,
    source=_POOL_FUNCTION,
)
MAX_UNPOOLING = case(runtime_operands(2, 1), _OPTIONS, _WINDOW, _STRIDES, source=_FUNCTION)
RESAMPLER = case(
    runtime_operands(2, 1),
    check(RANK, "source and warp of rank 4", _resampler_ranks).from_release("litert-2.1.6").saying("src or warp dims size != 4"),
    check(SHAPE, "the same batch size in source and warp", _resampler_batches)
    .from_release("litert-2.1.6")
    .saying("src.b != warp.b"),
    check(SHAPE, "a warp of depth 2 or more", _warp_depth).from_release("litert-2.1.6").saying("warp.c < 2"),
    source=_FUNCTION,
)
