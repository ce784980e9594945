"""Matrix products, pooling and resizing."""

from __future__ import annotations

from collections.abc import Mapping

from ...foundation.limits import element_count
from ...graph.graph import NodeView
from ...model import schema
from ...rules.kinds import ATTRIBUTE, QUANTIZATION, SHAPE
from ...rules.operands import INPUT, OUTPUT, at_most, between, operand
from ...rules.vocabulary import check, rank, same_type, typed, where
from ..checks import (
    ACTIVATION_RANGE,
    FLOAT32,
    FLOAT32_INT8,
    FLOAT32_INT8_INT16,
    INT8,
    INT8_INT16,
    INT16,
    INT32,
    ONE_TO_ONE,
    SAME_TYPES,
    TWO_TO_ONE,
    affine,
    constant,
    same_parameters,
    scale,
    scales,
    symmetric,
    where_typed,
    with_cmsis_nn,
)
from ..target import HYBRID, MicroKernel, in_source
from .convolution import FILTER, bias_scale_fits, int4_filter, is_per_channel

_SECOND = operand(1)
_PER_TENSOR = "quantize the filter per tensor"


def _filter_types(node: NodeView) -> str | None:
    source, filters = node.input(0).type, node.input(1).type
    allowed = {"FLOAT32": ("FLOAT32",), "INT8": ("INT8", "INT4"), "INT16": ("INT8",)}.get(source)
    return None if allowed is None or filters in allowed else f"{source} input and {filters} filter"


def _per_channel_types(node: NodeView) -> str | None:
    source, filters = node.input(0).type, node.input(1).type
    return None if source in INT8_INT16 and filters != "INT4" else f"{source} input and {filters} filter with several scales"


def _int16_channels(node: NodeView) -> str | None:
    count = len(scales(node.input(1)))
    return f"{node.input(0).type} input and a filter with {count} scales" if count > 1 and node.input(0).type == "INT16" else None


def _channel_count(node: NodeView) -> str | None:
    quantization = affine(node.input(1))
    if quantization is None:
        return None
    channels = node.input(1).size(quantization.dimension)
    return (
        None if len(quantization.scales) == channels else f"filter with {len(quantization.scales)} scales for {channels} channels"
    )


def _product(node: NodeView) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    left, right = node.input(0).shape, node.input(1).shape
    count = max(len(left), len(right))
    # bounded: the reader limits ranks
    return (1,) * (count - len(left)) + left, (1,) * (count - len(right)) + right, count


def _batch_sizes(node: NodeView) -> str | None:
    left, right, count = _product(node)
    for first, second in zip(left[: count - 2], right[: count - 2], strict=True):
        if first != second and 1 not in (first, second):
            return f"input 0 of shape {list(node.input(0).shape)} and input 1 of shape {list(node.input(1).shape)}"
    return None


def _inner_sizes(node: NodeView) -> str | None:
    left, right, _ = _product(node)
    first = left[-2] if node.options.adj_x else left[-1]
    second = right[-1] if node.options.adj_y else right[-2]
    return None if first == second else f"inner dimensions of {first} and {second} elements"


def _product_shape(node: NodeView) -> tuple[int, ...]:
    left, right, count = _product(node)
    batch = [second if first == 1 else first for first, second in zip(left[: count - 2], right[: count - 2], strict=True)]
    return (*batch, left[-1] if node.options.adj_x else left[-2], right[-2] if node.options.adj_y else right[-1])


def _output_shape(node: NodeView) -> str | None:
    shape, result = _product_shape(node), node.output(0).shape
    if len(shape) <= len(result) and element_count(shape) == element_count(result):
        return None
    return f"output of shape {list(result)} for a product of shape {list(shape)}"


def _transposed_copies(node: NodeView) -> tuple[int, ...]:
    copies = [node.input(0)] if node.options.adj_x else []
    copies += [] if node.options.adj_y else [node.input(1)]
    return tuple(tensor.byte_size for tensor in copies)


_LARGEST_DIFFERENCE = 1e-6


def _scale_difference(node: NodeView) -> str | None:
    first, second = scale(node.input(0)), scale(node.output(0))
    return None if abs(first - second) <= _LARGEST_DIFFERENCE else f"input with scale {first:g} and output with scale {second:g}"


_SAME_ZERO_POINT = same_parameters(INPUT, OUTPUT)[1]


def _pooling(symbol: str) -> MicroKernel:
    return MicroKernel(
        in_source(
            "pooling_common.cc: PoolingPrepare",
            *where_typed(
                INPUT,
                INT8_INT16,
                check(
                    QUANTIZATION, "input and output with the same scale", _scale_difference, "quantize both with the same scale"
                ),
                _SAME_ZERO_POINT,
            ),
            typed(INPUT, FLOAT32_INT8_INT16),
        ),
        in_source(f"pooling.cc: {symbol}"),
    )


def _window_count(node: NodeView, size: int, window: int, stride: int) -> int:
    if stride <= 0:
        return size
    padding = schema.enum_names("Padding").get(node.options.padding)
    if padding == "SAME":
        return -(-size // stride)
    return max(0, (size + stride - window) // stride) if padding == "VALID" else 0


def _pooled_shape(node: NodeView) -> Mapping[int, tuple[int, ...]]:
    source, options = node.input(0).shape, node.options
    height = _window_count(node, source[1], options.filter_height, options.stride_h)
    width = _window_count(node, source[2], options.filter_width, options.stride_w)
    return {0: (source[0], height, width, source[3])}


_SIZE = operand(1, "size")


def _both_alignments(node: NodeView) -> str | None:
    both = node.options.half_pixel_centers and node.options.align_corners
    return "half_pixel_centers and align_corners are both true" if both else None


def _size_count(node: NodeView) -> str | None:
    count = node.input(1).size(0)
    return None if count == 2 else f"size with {count} elements"


_RESIZE_CHECKS = (TWO_TO_ONE, rank(INPUT, 4), rank(_SIZE, 1), typed(_SIZE, INT32))

KERNELS = {
    "BATCH_MATMUL": MicroKernel(
        in_source(
            "batch_matmul.cc: BatchMatMulPrepare",
            TWO_TO_ONE,
            typed(INPUT, FLOAT32_INT8_INT16),
            typed(_SECOND, FLOAT32_INT8_INT16),
            same_type(INPUT, _SECOND, kind=HYBRID),
            SAME_TYPES,
            rank(INPUT, between(2, 5)),
            rank(_SECOND, between(2, 5)),
            *with_cmsis_nn("batch_matmul.cc", rank(INPUT, at_most(4)), rank(_SECOND, at_most(4))),
            *where_typed(INPUT, INT16, *symmetric(INPUT, _SECOND, OUTPUT)),
            check(SHAPE, "batch dimensions that are equal or 1", _batch_sizes),
            check(SHAPE, "inner dimensions of the same size", _inner_sizes),
            check(SHAPE, "an output with as many elements and dimensions as the product", _output_shape),
        ),
        in_source("batch_matmul.cc: BatchMatMulEval"),
        shapes=lambda node: {0: _product_shape(node)},
        persistent=_transposed_copies,
    ),
    "FULLY_CONNECTED": MicroKernel(
        in_source(
            "fully_connected.cc: FullyConnectedPrepare",
            SAME_TYPES,
            *with_cmsis_nn("fully_connected.cc", typed(INPUT, FLOAT32_INT8_INT16)),
            check(HYBRID, "FLOAT32 input with FLOAT32 filter, INT8 with INT8 or INT4, or INT16 with INT8", _filter_types),
            *where(
                lambda node: node.input(0).type != "FLOAT32",
                "unless input is FLOAT32",
                *where(
                    is_per_channel,
                    "if the filter has several scales",
                    check(QUANTIZATION, "INT8 or INT16 input, and no INT4 filter", _per_channel_types, _PER_TENSOR),
                    check(QUANTIZATION, "filter with one scale for each channel", _channel_count),
                ),
                *where(lambda node: not is_per_channel(node), "if the filter has one scale", bias_scale_fits()),
                typed(OUTPUT, ("UINT8", "INT8", "INT16")),
                ACTIVATION_RANGE,
            ),
            *with_cmsis_nn(
                "fully_connected.cc",
                check(QUANTIZATION, "a filter with one scale if input is INT16", _int16_channels, _PER_TENSOR),
                *where_typed(INPUT, INT16, *symmetric(INPUT, OUTPUT)),
            ),
        ),
        in_source(
            "fully_connected.cc: FullyConnectedEval",
            typed(INPUT, FLOAT32_INT8_INT16),
            *where_typed(INPUT, INT8, typed(FILTER, ("INT8", "INT4"))),
        ),
        scratch=int4_filter,
    ),
    "AVERAGE_POOL_2D": _pooling("AverageEval"),
    "L2_POOL_2D": MicroKernel(
        in_source("l2_pool_2d.cc: L2Prepare", ONE_TO_ONE, rank(INPUT, 4), rank(OUTPUT, 4), SAME_TYPES, typed(INPUT, FLOAT32)),
        in_source("l2_pool_2d.cc: L2Eval"),
        shapes=_pooled_shape,
    ),
    "MAX_POOL_2D": _pooling("MaxEval"),
    "RESIZE_BILINEAR": MicroKernel(
        in_source(
            "resize_bilinear.cc: ResizeBilinearPrepare",
            *_RESIZE_CHECKS,
            constant(_SIZE),
            check(ATTRIBUTE, "at most one of half_pixel_centers and align_corners", _both_alignments),
        ),
        in_source("resize_bilinear.cc: ResizeBilinearEval", typed(OUTPUT, FLOAT32_INT8)),
    ),
    "RESIZE_NEAREST_NEIGHBOR": MicroKernel(
        in_source(
            "resize_nearest_neighbor.cc: ResizeNearestNeighborPrepare",
            *_RESIZE_CHECKS,
            check(SHAPE, "size with 2 elements", _size_count),
            constant(_SIZE),
        ),
        in_source("resize_nearest_neighbor.cc: ResizeNearestNeighborEval", typed(OUTPUT, FLOAT32_INT8_INT16)),
    ),
}
