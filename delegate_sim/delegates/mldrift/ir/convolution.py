"""Convolutions, pooling and resizing."""

from __future__ import annotations

from ....graph.graph import NodeView
from ....rules.kinds import ATTRIBUTE, CONSTANT, OPERAND_COUNT, QUANTIZATION, SHAPE
from ....rules.numbers import between, counted
from ....rules.rule import Check, OpRule
from ....rules.vocabulary import check, where
from ...gpu_compatibility import convolution
from ...gpu_compatibility.checks import Found, asked, joined
from ..demands.checks import Checks
from .checks import (
    BYTES,
    FIRST,
    FLOATS,
    HALF,
    INT32,
    RESULT,
    SECOND,
    THIRD,
    all_given,
    computed,
    constant_operands,
    counts,
    entry,
    given,
    inputs,
    not_all_constant,
    optional,
    optional_entry,
    outcome,
    outputs,
    ranked_parts,
    rule,
    support,
    typed_parts,
    versions_between,
)

_SAME = 0


def _output_size(node: NodeView, axis: int, kernel: int, dilation: int, stride: int) -> int | None:
    """``GetOutputDim``; None where a stride of 0 would end the process."""
    source = node.input(0).shape[axis]
    dilated = (kernel - 1) * dilation + 1
    if stride == 0:
        return None
    padding = 0
    if node.options.padding == _SAME:
        padding = max(0, (int((source + stride - 1) / stride) - 1) * stride + dilated - source)
    return int((source + padding - dilated) / stride) + 1


def _unlike_window(axis: int, name: str) -> Check[object]:
    letter = name[0]

    def find(node: NodeView) -> Found | None:
        source, weights, result = (list(tensor.shape) for tensor in (node.input(0), node.input(1), node.output(0)))
        dilation = getattr(node.options, f"dilation_{letter}_factor")
        stride = getattr(node.options, f"stride_{letter}")
        if result[axis] == _output_size(node, axis, weights[axis], dilation, stride):
            return None
        shapes = ", ".join(joined(each) for each in (source, weights, result))
        padding = "same" if node.options.padding == _SAME else "valid"
        end = f"padding: {padding}, dilation: {dilation}, stride: {stride}"
        found = f"input {source}, filter {weights}, output {result}"
        return Found(found, f"Input, weights, output {name} mismatch: {shapes}, {end}")

    return asked(SHAPE, f"an output as {'high' if name == 'height' else 'wide'} as the filter makes it", find)


_WINDOWS = (_unlike_window(1, "height"), _unlike_window(2, "width"))


def _mismatch(needed: str, said: str, unlike: str, one: int | None, other: int | None) -> Check[object]:
    """Demand that two of the tensors fit, by their positions; None is the output. ``unlike`` names the pair of dimensions."""
    first_axis, second_axis = (int(axis) for axis in unlike.split())

    def find(node: NodeView) -> Found | None:
        shapes = [(node.output(0) if position is None else node.input(position)).shape for position in (one, other)]
        if shapes[0][first_axis] == shapes[1][second_axis]:
            return None
        return Found(f"shapes {list(shapes[0])} and {list(shapes[1])}", f"{said}: {joined(shapes[0])}, {joined(shapes[1])}")

    return asked(SHAPE, needed, find)


_BIAS = optional(THIRD, _mismatch("a bias for each channel of the output", "Weights channel and bias mismatch", "0 0", 1, 2))
_BATCH = _mismatch("input and output of one batch size", "Input and output batch mismatch", "0 0", 0, None)
_COMPUTED: Check[object] = not_all_constant(constant_operands)

# CONV_2D


def _unlike_groups(node: NodeView) -> Found | None:
    source, weights = node.input(0).shape, node.input(1).shape
    if weights[3] and source[3] % weights[3] == 0:
        return None
    said = f"Weights channel not divisible by input channel: {joined(source)}, {joined(weights)}"
    return Found(f"input {list(source)} and filter {list(weights)}", said)


def _is_quantized_constant(node: NodeView) -> bool:
    return node.input(1).is_constant and node.input(1).type in ("INT8", "UINT8", "INT4")


def _unquantized(node: NodeView) -> Found | None:
    weights = node.input(1)
    if weights.rank not in (2, 4, 5):
        return Found(f"weights of rank {weights.rank}", f"Expected 2D, 4D, or 5D quantized tensor: {weights.name}")
    if weights.quantization is None or weights.quantization.kind != "affine":
        said = "tflite_tensor->quantization.type must be kTfLiteAffineQuantization for quantized tensors."
        return Found("weights without scales", said)
    if weights.quantization.dimension != 0:
        said = "quant_params->quantized_dimension must be 0 for quantized tensors."
        return Found(f"weights with scales along dimension {weights.quantization.dimension}", said)
    return None


_CONV_2D = rule(
    "conv",
    "IsConv2dSupported",
    versions_between(6),
    inputs(between(2, 3), "Invalid number of inputs: {}, must be 2 or 3"),
    outputs(1, "Invalid number of outputs: {}, must be 1"),
    *given(FIRST, SECOND, RESULT),
    *typed_parts(BYTES, FIRST),
    *typed_parts((*HALF, "INT4", "INT8", "UINT8"), SECOND),
    *where(
        _is_quantized_constant,
        "with constant weights of 8 or 4 bits",
        asked(QUANTIZATION, "weights with scales along their first dimension", _unquantized),
    ),
    *optional(THIRD, *typed_parts(HALF, THIRD)),
    *typed_parts(BYTES, RESULT),
    *ranked_parts(4, 4, FIRST, SECOND),
    *optional(THIRD, *ranked_parts(1, 1, THIRD)),
    *ranked_parts(4, 4, RESULT),
    asked(SHAPE, "input channels that are a multiple of the filter's", _unlike_groups),
    *_BIAS,
    _BATCH,
    _mismatch("a filter for each channel of the output", "Output and weights channel mismatch", "3 0", None, 1),
    *_WINDOWS,
    _COMPUTED,
)

# DEPTHWISE_CONV_2D


def _one_filter(node: NodeView) -> Found | None:
    weights = node.input(1).shape
    said = f"Weights output channel must be 1: {joined(weights)}"
    return None if weights[0] == 1 else Found(f"filter {list(weights)}", said)


def _unlike_multiplier(node: NodeView) -> Found | None:
    source, weights, multiplier = node.input(0).shape, node.input(1).shape, node.options.depth_multiplier
    if weights[3] == source[3] * multiplier:
        return None
    start = "Input channel, weights channel and depth multiplier mismatch: "
    found = f"input {list(source)}, filter {list(weights)}, multiplier {multiplier}"
    return Found(found, f"{start}{joined(source)}, {joined(weights)}, {multiplier}")


def _computed_bias(node: NodeView) -> str | None:
    return None if node.input(2).is_constant else "a bias that is not constant"


_DEPTHWISE = rule(
    "depthwise_conv",
    "IsDepthwiseConv2dSupported",
    versions_between(6),
    inputs(between(2, 3)),
    *counts(None),
    *all_given(),
    *typed_parts(BYTES, FIRST),
    *typed_parts((*HALF, "INT8", "UINT8"), SECOND),
    *optional_entry(THIRD, check(CONSTANT, "a constant bias", _computed_bias).saying("Unsupported runtime bias tensor")),
    *optional_entry(THIRD, *typed_parts(HALF, THIRD)),
    *typed_parts(BYTES, RESULT),
    *ranked_parts(4, 4, FIRST, SECOND),
    *optional_entry(THIRD, *ranked_parts(1, 1, THIRD)),
    *ranked_parts(4, 4, RESULT),
    asked(SHAPE, "a filter whose first size is 1", _one_filter),
    asked(SHAPE, "filter depth = input depth * depth_multiplier", _unlike_multiplier),
    *optional_entry(THIRD, _mismatch("a bias as long as the filter is deep", "Weights channel and bias mismatch", "3 0", 1, 2)),
    _BATCH,
    _mismatch("a filter as deep as the output", "Output and weights channel mismatch", "3 3", None, 1),
    *_WINDOWS,
    _COMPUTED,
)

# Pooling


def pooled(*parameters: Check[object], results: Checks = ()) -> Checks:
    """Return what pooling demands after its parameters, of which a custom operator has its own."""
    return (
        *parameters,
        *counts(1, 2 if results else 1),
        *all_given(),
        *typed_parts(FLOATS, FIRST, RESULT),
        *ranked_parts(3, 4, FIRST, RESULT),
        *results,
        *computed(FIRST),
    )


def positive(words: str, height: str, width: str) -> Check[object]:
    """Demand a height and a width of at least 1, by the names of the options."""

    def find(node: NodeView) -> Found | None:
        found = getattr(node.options, height), getattr(node.options, width)
        said = f"Unsupported {words} size: {found[0]}x{found[1]}"
        return None if min(found) > 0 else Found(f"{words} {found[0]}x{found[1]}", said)

    return asked(ATTRIBUTE, f"{words} of at least 1x1", find)


_POOL: OpRule[object] = rule(
    "pooling2d",
    "IsPooling2dSupported",
    versions_between(2),
    outputs(1, "Builtin pooling op must have exactly 1 output."),
    *pooled(positive("filter", "filter_height", "filter_width"), positive("stride", "stride_h", "stride_w")),
)

# Resizing


def _resize(*further: Check[object]) -> OpRule[object]:
    return rule(
        "resize2d",
        "IsResize2DSupported",
        versions_between(3),
        inputs(between(1, 2)),
        *counts(None),
        *all_given(),
        *typed_parts(FLOATS, FIRST, RESULT),
        *computed(FIRST),
        *ranked_parts(0, 4, FIRST, RESULT),
        *further,
    )


# TRANSPOSE_CONV, of which there is a custom operator too


def _constants(node: NodeView) -> str:
    found = node.node.inputs
    bias = f", {found[2]}" if len(found) > (3 if not node.node.is_custom else 2) else ""
    return f"{_counted_wrongly_first(node)}Invalid constant inputs: {found[0]}, {found[1]}{bias}"


def _counted_wrongly_first(node: NodeView) -> str:
    """Two numbers of operands are asked for in turn, and what is said of the first stays in front of what is appended."""
    found, fewest = len(node.node.inputs), 2 if node.node.is_custom else 3
    return f"Invalid number of inputs: {found}, while expected {fewest}." if found != fewest else ""


def _all_constant(source: int) -> Check[object]:
    """The shape of the output is not asked about."""

    def find(node: NodeView) -> str | None:
        bias = source + 1 if source else 2
        read = [node.input(source), node.input(1), *([node.input(bias)] if bias < len(node.node.inputs) else [])]
        return "constant inputs only" if all(tensor.is_constant for tensor in read) else None

    return check(CONSTANT, "an input, a filter or a bias that is computed at run time", find).saying(_constants)


def _counted_twice(fewest: int) -> Check[object]:
    """``CheckInputOutputCounts`` with each of two numbers of operands; what is said is the second's."""

    def find(node: NodeView) -> Found | None:
        found, results = len(node.node.inputs), len(node.node.outputs)
        if found in (fewest, fewest + 1) and results == 1:
            return None
        if found != fewest + 1:
            said = f"Invalid number of inputs: {found}, while expected {fewest + 1}."
        else:
            said = f"Invalid number of outputs: {results}, while expected 1."
        return Found(f"{counted(found, 'input')} and {counted(results, 'output')}", said)

    return asked(OPERAND_COUNT, f"{fewest} or {fewest + 1} inputs and 1 output", find)


def transposed(source: int, *further: Check[object]) -> OpRule[object]:
    """Return the rule of a transposed convolution that has its input at a position."""
    fewest = 3 if source else 2
    read, weights, bias, result = entry(source, "input"), entry(1, "weights"), entry(fewest, "bias"), outcome(0, "output")
    return rule(
        "transpose_conv",
        "IsTransposeConvSupported",
        _counted_twice(fewest),
        *all_given(),
        *typed_parts(BYTES, read),
        *typed_parts((*HALF, "INT8", "UINT8"), weights),
        *optional_entry(bias, *typed_parts(HALF, bias)),
        *(typed_parts(INT32, entry(0, "output_shape")) if source else ()),
        *typed_parts(BYTES, result),
        _all_constant(source),
        *ranked_parts(2, 4, read, weights),
        *optional_entry(bias, *ranked_parts(1, 4, bias)),
        *ranked_parts(2, 4, result),
        *further,
    )


def _other_size(node: NodeView) -> Found | None:
    shape, result = node.input(0), node.output(0)
    if shape.rank != 1:
        return Found(f"output_shape of rank {shape.rank}", "Output shape must be a 1D tensor.")
    if shape.shape[0] != result.rank:
        start = "Passed output shape must have same number of elements as output dimensions."
        return Found(f"output_shape of {shape.shape[0]} elements for an output of rank {result.rank}", start)
    value = node.value(shape)
    if value is None or value.tolist() == list(result.shape):
        return None
    said = "Passed output shape must be equal to output dimensions"
    return Found(f"output_shape {value.tolist()}, output {list(result.shape)}", said)


_CORNERS = convolution.RESIZE_BILINEAR[1].from_source(support("resize2d", "IsResize2DSupported"))

RULES = {
    "AVERAGE_POOL_2D": _POOL,
    "CONV_2D": _CONV_2D,
    "DEPTHWISE_CONV_2D": _DEPTHWISE,
    "MAX_POOL_2D": _POOL,
    "RESIZE_BILINEAR": _resize(_CORNERS),
    "RESIZE_NEAREST_NEIGHBOR": _resize(),
    "TRANSPOSE_CONV": transposed(2, asked(SHAPE, "an output_shape that is the output's", _other_size)),
}
