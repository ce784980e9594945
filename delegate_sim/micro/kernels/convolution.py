"""Convolutions and transposed convolutions."""

from __future__ import annotations

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...rules.kinds import QUANTIZATION, SHAPE
from ...rules.operands import INPUT, OUTPUT, Operand, exactly, operand
from ...rules.rule import Check
from ...rules.vocabulary import check, operand_count, rank, same_type, typed, where
from ..checks import (
    ACTIVATION_RANGE,
    FLOAT32_INT8_INT16,
    INT8,
    INT8_INT16,
    INT16,
    SAME_TYPES,
    affine,
    quantized,
    scale,
    scales,
    symmetric,
    where_typed,
    with_cmsis_nn,
)
from ..target import HYBRID, TENSOR_TYPE, MicroKernel, in_source

FILTER = operand(1, "filter")
BIAS = operand(2, "bias")
_LARGEST_BIAS_ERROR = 0.02


def type_pairs(source: Operand, *pairs: tuple[str, str], same: bool = False) -> Check[object]:
    """Require that the types of an operand and the filter are one of these pairs. With ``same``, equal types are also allowed."""
    words = "input and filter of the same type, or " if same else ""
    needed = words + ", ".join([f"{first} input with {second} filter" for first, second in pairs])

    def find(node: NodeView) -> str | None:
        types = source.tensor(node).type, FILTER.tensor(node).type
        return None if types in pairs or (same and types[0] == types[1]) else f"{types[0]} input and {types[1]} filter"

    return check(HYBRID, needed, find)


def bias_scale_fits(source: Operand = INPUT, bias: Operand = BIAS) -> Check[object]:
    """Require that the bias scale is the input scale times the filter scale (``GetQuantizedConvolutionMultipler``)."""

    def find(node: NodeView) -> str | None:
        product = scale(source.tensor(node)) * scale(FILTER.tensor(node))
        steps = scale(node.output(0))
        if bias.is_given(node):
            difference = abs(product - scale(bias.tensor(node)))
            if not steps or not difference / steps <= _LARGEST_BIAS_ERROR:
                return f"bias scale {scale(bias.tensor(node)):g}, but input scale times filter scale is {product:g}"
        return None if product >= 0 else f"input scale times filter scale is {product:g}"

    hint = "quantize the bias with the input scale times the filter scale"
    return check(QUANTIZATION, "a bias scale equal to the input scale times the filter scale", find, hint)


def _scale_count(axis: int) -> Check[object]:
    def find(node: NodeView) -> str | None:
        filters = FILTER.tensor(node)
        count, channels = len(scales(filters)), filters.size(axis)
        return None if count in (1, channels) else f"filter with {count} scales and {channels} output channels"

    return check(QUANTIZATION, "filter with 1 scale, or one for each output channel", find)


def is_per_channel(node: NodeView) -> bool:
    """Return whether the filter has several scales."""
    return len(scales(FILTER.tensor(node))) > 1


def _channel_axis(axis: int) -> Check[object]:
    def find(node: NodeView) -> str | None:
        filters = FILTER.tensor(node)
        quantization = affine(filters)
        channels = filters.size(axis)
        if quantization is None:
            return None
        along = filters.size(quantization.dimension)
        return (
            None
            if len(quantization.scales) == channels == along
            else f"filter with scales along dimension {quantization.dimension}"
        )

    return check(QUANTIZATION, "filter with one scale for each output channel", find)


def _quantization(axis: int, source: Operand, bias: Operand = BIAS) -> tuple[Check[object], ...]:
    return where(
        lambda node: source.tensor(node).type != "FLOAT32",
        "unless input is FLOAT32",
        *quantized(source, FILTER),
        *where(
            is_per_channel,
            "if the filter has several scales",
            typed(source, INT8_INT16),
            typed(FILTER, ("INT8", "INT4")),
            _channel_axis(axis),
        ),
        *where_typed(source, ("UINT8",), bias_scale_fits(source, bias)),
        *where_typed(source, ("INT8", "UINT8", "INT16"), typed(OUTPUT, ("UINT8", "INT8", "INT16")), ACTIVATION_RANGE),
    )


def int4_filter(node: NodeView) -> tuple[int, ...]:
    """Return the size of the buffer into which the kernel unpacks an INT4 filter."""
    filters = FILTER.tensor(node)
    return (element_count(filters.shape),) if filters.type == "INT4" else ()


_CONV_COUNT = operand_count(exactly(2, 3), 1)

_TRANSPOSED_INPUT = operand(2, "input")
_TRANSPOSED_BIAS = operand(3, "bias")

_TRANSPOSED_TYPES = same_type(_TRANSPOSED_INPUT, OUTPUT, kind=TENSOR_TYPE)
_PAIRS = (("FLOAT32", "FLOAT32"), ("INT16", "INT8"), ("INT8", "INT4"), ("INT8", "INT8"))


def _other_batch(node: NodeView) -> str | None:
    counts = node.input(0).size(0), node.output(0).size(0)
    return None if counts[0] == counts[1] else f"batch size {counts[0]} of input and {counts[1]} of output"


def _ungrouped(node: NodeView) -> str | None:
    channels, own = node.input(0).size(3), node.input(1).size(3)
    return None if own > 0 and channels % own == 0 else f"{channels} input channels and {own} filter channels"


def _transpose_scratch(node: NodeView) -> tuple[int, ...]:
    elements = node.output(0).element_count
    kind = node.input(2).type
    sizes: tuple[int, ...] = ()
    if kind == "INT8":
        sizes = (4 * elements,)
    elif kind == "INT16":
        sizes = (8 * elements,)
        if _TRANSPOSED_BIAS.tensor(node).type == "INT16":
            sizes += (8 * _TRANSPOSED_BIAS.tensor(node).element_count,)
    return sizes


KERNELS = {
    "CONV_2D": MicroKernel(
        in_source(
            "conv_common.cc: ConvPrepare",
            SAME_TYPES,
            type_pairs(INPUT, *_PAIRS),
            *where_typed(INPUT, INT8_INT16, *quantized(FILTER), _scale_count(0)),
            *with_cmsis_nn(
                "conv.cc",
                rank(INPUT, 4),
                rank(FILTER, 4),
                rank(OUTPUT, 4),
                check(SHAPE, "input and output of the same batch size", _other_batch),
                check(SHAPE, "a number of input channels that is a multiple of the filter channels", _ungrouped),
            ),
            _CONV_COUNT,
            *_quantization(0, INPUT),
            *with_cmsis_nn("conv.cc", *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT))),
        ),
        in_source(
            "conv.cc: ConvEval",
            *where_typed(INPUT, INT16, *where(BIAS.is_given, "if a bias is given", typed(BIAS, ("INT32", "INT64")))),
        ),
        scratch=int4_filter,
    ),
    "DEPTHWISE_CONV_2D": MicroKernel(
        in_source(
            "depthwise_conv_common.cc: DepthwiseConvPrepare",
            *where_typed(INPUT, INT8, *quantized(FILTER), _scale_count(3)),
            type_pairs(INPUT, ("INT8", "INT4"), ("INT16", "INT8"), same=True),
            *with_cmsis_nn(
                "depthwise_conv.cc",
                SAME_TYPES,
                typed(INPUT, FLOAT32_INT8_INT16),
                type_pairs(INPUT, *_PAIRS),
                *where_typed(INPUT, INT16, *quantized(FILTER), *symmetric(INPUT, OUTPUT), _scale_count(3)),
            ),
            _CONV_COUNT,
            *_quantization(3, INPUT),
        ),
        in_source(
            "depthwise_conv.cc: DepthwiseConvEval",
            typed(INPUT, FLOAT32_INT8_INT16),
            *where_typed(INPUT, INT16, typed(FILTER, INT8)),
        ),
        scratch=int4_filter,
    ),
    "TRANSPOSE_CONV": MicroKernel(
        in_source(
            "transpose_conv.cc: TransposeConvPrepare",
            type_pairs(_TRANSPOSED_INPUT, ("INT16", "INT8"), same=True),
            *where_typed(_TRANSPOSED_INPUT, INT8_INT16, *quantized(FILTER), _scale_count(0)),
            *with_cmsis_nn("transpose_conv.cc", _TRANSPOSED_TYPES, typed(_TRANSPOSED_INPUT, FLOAT32_INT8_INT16)),
            operand_count(exactly(3, 4), 1),
            *_quantization(0, _TRANSPOSED_INPUT, _TRANSPOSED_BIAS),
        ),
        in_source("transpose_conv.cc: TransposeConvEval", _TRANSPOSED_TYPES, typed(_TRANSPOSED_INPUT, FLOAT32_INT8_INT16)),
        scratch=_transpose_scratch,
    ),
}
